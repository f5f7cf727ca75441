"""Numbers: the curve, its bands, and what each point is to the machine."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from .._runtime.compile import Array
from ..intervals import Conformal
from .base64_arrays import plain
from .estimates import estimate
from .learned import Learned
from .plane import coefficients
from .scene import Scene

__all__ = ["band_method", "curve"]

#: Points up to which leaving out each of them is quick: it takes one eigendecomposition.
_FEW = 500


def curve(learned: Learned, across: Array) -> dict[str, Any]:
    """The predictions along the axis of the inputs, with the band that new targets are within."""
    scene = learned.scene
    predicted = learned.predictions(np.concatenate([across, scene.points[:, 0]])[:, None])
    columns = predicted.reshape(len(predicted), -1)
    middle = columns[:, columns.shape[1] // 2]
    own = middle[across.size :]
    residual = scene.points[:, 1] - own
    width, alpha = _half_width(learned), coefficients(learned)
    slack = np.maximum(0.0, np.abs(residual) - width)
    shown: dict[str, Any] = {
        "grid": None,
        "classes": None,
        "curve": {"x": plain(across), "y": plain(middle[: across.size])},
        "points": {
            "score": plain(own),
            "alpha": plain(alpha),
            "slack": plain(slack),
            "support": (alpha > 0).tolist(),
            "wrong": [False] * own.size,
            "margin": plain(residual),
        },
        "levels": [],
        "support": int((alpha > 0).sum()),
        "estimates": [_root_mean_square("training error", residual, "Of points that the machine learned from.")],
        **_bands(learned, across),
    }
    shown["estimates"] += shown.pop("unseen")
    if hasattr(learned.machine, "quantiles_"):
        levels = zip(learned.machine.quantiles_.tolist(), columns[: across.size].T, strict=True)
        shown["quantiles"] = [{"q": level, "y": plain(values)} for level, values in levels]
    if width > 0:
        line = middle[: across.size]
        shown["tube"] = {"epsilon": width, "low": plain(line - width), "high": plain(line + width)}
    return shown


def _half_width(learned: Learned) -> float:
    """Half the width of the tube; 0 where there is none."""
    if learned.scene.learner == "svr":
        return learned.scene.epsilon
    return float(getattr(learned.machine, "epsilon_", 0.0))


def band_method(scene: Scene) -> str:
    """How :class:`mercer.Conformal` learns what errors are like on new points: exactly where that is quick."""
    return "jackknife+" if scene.learner == "kernel-ridge" and len(scene.points) <= _FEW else "split"


def _bands(learned: Learned, across: Array) -> dict[str, Any]:
    """The interval of new targets, from errors of points that were not learned from; or why there is none."""
    scene = learned.scene
    method = band_method(scene)
    machine = scene.offered.build(scene)
    around = make_pipeline(StandardScaler(), machine) if scene.scaled else machine
    try:
        model = Conformal(around, method, coverage=scene.coverage, random_state=scene.seed).fit(scene.X, scene.y)
        low, high = model.predict_interval(across[:, None]).T
    except ValueError as refused:
        return {"bands": [], "unseen": [estimate("band of new targets", 0.0, "none", str(refused))]}
    name = f"{100 * scene.coverage:g} % of new targets"
    note = (
        "Of each point by the machine that was fitted without it."
        if method == "jackknife+"
        else f"Of {model.errors_.size} points that were held out."
    )
    return {
        "bands": [{"name": name, "low": plain(low), "high": plain(high)}],
        # Of quantiles, errors are distances from the outer ones, which says something else.
        "unseen": []
        if hasattr(learned.machine, "quantiles_")
        else [_root_mean_square("error on new points", model.errors_, note)],
    }


def _root_mean_square(name: str, errors: Array, note: str) -> dict[str, Any]:
    value = float(np.sqrt(np.mean(errors**2)))
    return estimate(name, value, f"{value:.3g} (root mean square)", note)
