"""The answer to ``/api/boundary``: the boundary of any coefficients, such as those after a step."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..estimators.model import KernelModel
from .asked import grid_asked, number, numbers
from .base64_arrays import grid_of
from .learned import scaler_of
from .plane import cells_of
from .scene import MOST_POINTS, Scene

__all__ = ["boundary"]

_LARGEST = 1e15


def boundary(request: dict[str, Any]) -> dict[str, Any]:
    """f(x) = Σ coefⱼ·k(xⱼ, x) + intercept on a grid.

    Examples
    --------
    >>> scene = {"points": [[1, 0], [0, 1]], "labels": [0, 1], "kernel": "linear"}
    >>> request = {"scene": scene, "coef": [1, 0], "intercept": 0, "box": [0, 1, 0, 1], "size": [2, 2]}
    >>> boundary(request)["grid"]["values"]  # 0, 1, 0, 1 along x₁
    'AAAAAAAAgD8AAAAAAACAPw=='
    """
    across, up = grid_asked(request)
    scene = Scene.of(request.get("scene"))
    coef = numbers(request.get("coef", []), "the coefficients", MOST_POINTS, farthest=_LARGEST)
    if coef.size != len(scene.points):
        raise ValueError(f"there are {len(scene.points)} points and {coef.size} coefficients; each point has one.")
    intercept = number(request.get("intercept", 0), "intercept", -_LARGEST, _LARGEST)
    scaler, places = scaler_of(scene), cells_of(across, up)
    X = scene.X
    if scaler is not None:
        X, places = scaler.transform(X), scaler.transform(places)
    support = np.flatnonzero(coef)
    model = KernelModel(scene.parsed.resolved(X), support, X[support], coef[None, support], np.array([intercept]))
    return {"grid": grid_of(model.scores(places, "1GB")[:, 0], across.size, up.size)}
