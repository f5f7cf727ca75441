"""Where the public data sets are. None of them is part of the project."""

from __future__ import annotations

import os
from pathlib import Path


def data_path(name: str, given: str | None = None) -> Path | None:
    """A data file: as given, in ``$MERCER_DATA``, or in ``../shared/data``; ``None``, said aloud, where absent."""
    home = os.environ.get("MERCER_DATA") or Path(__file__).resolve().parents[2] / "shared" / "data"
    path = Path(given) if given else Path(home) / name
    if path.exists():
        return path
    print(f"skipped: {path} is not there; name the file with --data, or its folder in MERCER_DATA.")
    return None
