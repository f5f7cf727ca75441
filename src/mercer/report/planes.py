"""The boundaries of all learners, each on a plane."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from .._runtime.compile import Array
from ..displays import DecisionBoundary
from .plain import number, numbers, text
from .preparation import split_model
from .tuning import sample

#: Points along each side of the grid, rows drawn on it, rows that the plane is computed from.
_GRID, _POINTS, _ROWS = 48, 220, 2000
#: Of more features than this, as those of texts, no plane shows anything.
_WIDEST = 500


def boundaries(models: Mapping[str, Any], X: Any, y: Array) -> dict[str, Any] | None:
    """Every learner's plane, some rows on it, and the responses; ``None`` where features are fewer than two, or many.

    Each learner has the plane of its own prepared rows: one that was fitted on fewer rows may know fewer words, and
    so have fewer features.
    """
    kept = sample(y, _ROWS, seed=0)
    if kept is not None:
        X, y = _safe_indexing(X, kept), y[kept]
    shown = {}
    for name, model in models.items():
        prepare, learner = split_model(model)
        rows = prepare.transform(X)
        if not 2 <= rows.shape[1] <= _WIDEST:
            return None
        shown[name] = DecisionBoundary.from_estimator(learner, rows, y, grid=_GRID, max_points=_POINTS)
    first = next(iter(shown.values()))
    names = split_model(next(iter(models.values())))[0].get_feature_names_out()
    return {
        "axes": [text(name) for name in (names if first.slice_of == 2 else first.axis_names)],
        "features": first.slice_of,
        "learners": {name: _plain(one) for name, one in shown.items()},
    }


def _plain(display: DecisionBoundary) -> dict[str, Any]:
    return {
        "horizontal": numbers(display.horizontal, 4),
        "vertical": numbers(display.vertical, 4),
        "points": [numbers(point, 4) for point in display.points],
        "codes": display.codes.tolist(),
        "response": [_row(values) for values in display.response],
    }


def _row(values: Array) -> list[Any]:
    whole = np.rint(values)
    return whole.astype(int).tolist() if np.array_equal(whole, values) else [number(value, 3) for value in values]
