"""The figures a script shows, kept in one form: what, value, bar, ok, note."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


class Results:
    """A list of figures, each beside what it is measured against."""

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []

    def add(self, what: str, value: Any, bar: Any, ok: bool, note: str) -> None:
        self.rows.append({"what": what, "value": value, "bar": bar, "ok": bool(ok), "note": note})

    def count_ok(self) -> int:
        return sum(row["ok"] for row in self.rows)

    def write(self, path: str | Path | None) -> None:
        """Write the figures as JSON, where a path was given."""
        if path:
            Path(path).write_text(json.dumps(self.rows, indent=1, ensure_ascii=False) + "\n")
