"""A search on disk: what is done is kept, so that a search that was killed goes on where it stopped.

One JSON object a line. The first says which search the journal belongs to; every other holds a line of cells that were
computed together, with all digits of their decision values. A line is written in one piece when its cells are done; the
rest of a line that was cut off is overlooked.
"""

from __future__ import annotations

import base64
import json
import os
import threading
from pathlib import Path
from typing import Any

import numpy as np

from .._runtime.compile import Array
from .outcome import Outcome


class Journal:
    """The file of one search.

    Parameters
    ----------
    path : str or Path
    fingerprint : str
        What the search is about: rows, labels, estimator. A journal of another search is refused.
    """

    def __init__(self, path: str | Path, fingerprint: str) -> None:
        self.path = Path(path)
        self._lock = threading.Lock()
        self.known: dict[tuple[str, str], Outcome] = {}
        header = {"journal": "mercer search", "version": 1, "fingerprint": fingerprint}
        if not self.path.parent.is_dir():
            raise ValueError(f"there is no folder {str(self.path.parent)!r} for the journal; make it first.")
        if not self.path.exists() or not self.path.stat().st_size:
            with open(self.path, "w", encoding="utf-8") as file:
                file.write(json.dumps(header) + "\n")
            return
        lines = self.path.read_text(encoding="utf-8", errors="replace").split("\n")
        first = _parsed(lines[0])
        if first is None or first.get("journal") != "mercer search":
            raise ValueError(f"{str(self.path)!r} is not the journal of a search; name another file.")
        if first != header:
            raise ValueError(
                f"the journal {str(self.path)!r} belongs to a search on other rows, labels or another estimator; name "
                "another file, or remove it to start anew."
            )
        for line in lines[1:]:
            record = _parsed(line)
            cells = record.get("cells") if record else None
            for cell in cells if isinstance(cells, list) else []:
                outcome = Outcome(_read(cell["rows"]), _read(cell["decision"]), cell["seconds"], cell["error"])
                self.known[cell["setting"], cell["fold"]] = outcome
        if lines[-1]:  # a record was cut off: begin on a new line
            with open(self.path, "a", encoding="utf-8") as file:
                file.write("\n")

    def write(self, cells: dict[tuple[str, str], Outcome]) -> None:
        """Add the cells of one unit of work, all or none."""
        record = {
            "cells": [
                {
                    "setting": setting,
                    "fold": fold,
                    "rows": _written(outcome.rows),
                    "decision": _written(outcome.decision),
                    "seconds": outcome.seconds,
                    "error": outcome.error,
                }
                for (setting, fold), outcome in cells.items()
            ]
        }
        with self._lock, open(self.path, "a", encoding="utf-8") as file:
            file.write(json.dumps(record) + "\n")
            file.flush()
            os.fsync(file.fileno())


def _parsed(line: str) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


def _written(values: Array) -> dict[str, Any]:
    data = base64.b64encode(np.ascontiguousarray(values).tobytes()).decode("ascii")
    return {"dtype": values.dtype.str, "shape": list(values.shape), "data": data}


def _read(value: dict[str, Any]) -> Array:
    return np.frombuffer(base64.b64decode(value["data"]), np.dtype(value["dtype"])).reshape(value["shape"])
