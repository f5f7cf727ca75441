"""Cells of a search as JSON, with all digits of their decision values, and back again: every value is checked."""

from __future__ import annotations

import base64
import math
from typing import Any

import numpy as np

from .._runtime.compile import Array
from .outcome import Outcome

__all__ = ["cell_of_record", "record_of_cell"]

Key = tuple[str, str]


def record_of_cell(key: Key, outcome: Outcome) -> dict[str, Any]:
    """A cell as values of JSON."""
    return {
        "setting": key[0],
        "fold": key[1],
        "rows": _written(outcome.rows),
        "decision": _written(outcome.decision),
        "seconds": float(outcome.seconds),
        "error": outcome.error,
    }


def cell_of_record(record: Any, n_rows: int) -> tuple[Key, Outcome] | None:
    """The cell that a record holds, of a search on so many rows; ``None`` where it does not make sense."""
    try:
        key = record["setting"], record["fold"]
        rows, decision = _read(record["rows"], "i"), _read(record["decision"], "fiub")
        seconds, error = record["seconds"], record["error"]
    except (KeyError, TypeError, ValueError):
        return None
    fits = (
        all(isinstance(part, str) for part in key)
        and (error is None or isinstance(error, str))
        and isinstance(seconds, float)
        and math.isfinite(seconds)
        and seconds >= 0
        and rows.ndim == 1
        and decision.ndim >= 1
        and len(decision) == len(rows)
        and (rows.size == 0 or (rows[0] >= 0 and rows[-1] < n_rows and bool((np.diff(rows) > 0).all())))
    )
    return (key, Outcome(rows, decision, seconds, error)) if fits else None


def _written(values: Array) -> dict[str, Any]:
    data = base64.b64encode(np.ascontiguousarray(values).tobytes()).decode("ascii")
    return {"dtype": values.dtype.str, "shape": list(values.shape), "data": data}


def _read(value: dict[str, Any], kinds: str) -> Array:
    dtype = np.dtype(value["dtype"])
    if dtype.kind not in kinds:
        raise ValueError("numbers of another kind")
    return np.frombuffer(base64.b64decode(value["data"], validate=True), dtype).reshape(value["shape"])
