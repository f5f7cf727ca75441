"""The boundaries of all learners on one plane."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from .._compile import Array
from ..displays import DecisionBoundary
from .plain import number, numbers, text
from .preparation import split_model
from .tune import sample

#: Points along each side of the grid, rows drawn on it, rows that the plane is computed from.
_GRID, _POINTS, _ROWS = 48, 220, 2000


def boundaries(models: Mapping[str, Any], X: Any, y: Array) -> dict[str, Any] | None:
    """The plane, some rows on it, and every learner's response; ``None`` where there are fewer than two features."""
    kept = sample(y, _ROWS, seed=0)
    if kept is not None:
        X, y = _safe_indexing(X, kept), y[kept]
    prepare, _ = split_model(next(iter(models.values())))
    rows = prepare.transform(X)
    if rows.shape[1] < 2:
        return None
    shown = {
        name: DecisionBoundary.from_estimator(split_model(model)[1], rows, y, grid=_GRID, max_points=_POINTS)
        for name, model in models.items()
    }
    any_one = next(iter(shown.values()))
    names = prepare.get_feature_names_out() if any_one.slice_of == 2 else any_one.axis_names
    return {
        "axes": [text(name) for name in names],
        "features": any_one.slice_of,
        "horizontal": numbers(any_one.horizontal, 4),
        "vertical": numbers(any_one.vertical, 4),
        "points": [numbers(point, 4) for point in any_one.points],
        "codes": any_one.codes.tolist(),
        "responses": {name: [_row(values) for values in one.response] for name, one in shown.items()},
    }


def _row(values: Array) -> list[Any]:
    whole = np.rint(values)
    return whole.astype(int).tolist() if np.array_equal(whole, values) else [number(value, 3) for value in values]
