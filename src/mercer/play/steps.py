"""The answer to ``/api/steps``: how a learner comes to its model, change by change, as its solver makes them."""

from __future__ import annotations

from typing import Any

import numpy as np

from .asked import chosen, whole
from .learned import scaler_of
from .scene import Scene
from .watched import Watched
from .watched_pegasos import watch_pegasos
from .watched_perceptron import watch_perceptron
from .watched_smo import watch_smo

__all__ = ["steps"]

_ALGORITHMS = {"perceptron": watch_perceptron, "pegasos": watch_pegasos, "smo": watch_smo}
_MOST = 2000


def steps(request: dict[str, Any]) -> dict[str, Any]:
    """The steps of an algorithm on a scene of two classes, ``most`` of them at most.

    Examples
    --------
    >>> scene = {"points": [[0, 0], [1, 1]], "labels": [0, 1], "kernel": "linear"}
    >>> answer = steps({"scene": scene, "algorithm": "perceptron"})
    >>> answer["steps"][0]["why"], answer["converged"]
    ('Visit 1: y·f(x) = 0 is not above 0, a mistake: add y·φ(x).', True)
    """
    algorithm = chosen(request.get("algorithm", "smo"), "algorithm", _ALGORITHMS)
    most = whole(request.get("most", 300), "most", 1, _MOST)
    scene = Scene.of(request.get("scene"))
    if scene.task != "classes":
        raise ValueError("steps are shown of learners of classes; choose the task 'classes'.")
    scene.refuse_few()
    present = np.unique(scene.labels)
    if present.size > 2:
        raise ValueError(f"there are points of {present.size} classes; steps are shown of two.")
    scaler = scaler_of(scene)
    X = scene.X if scaler is None else scaler.transform(scene.X)
    watched: Watched = _ALGORITHMS[algorithm](scene, X, most)
    return {"steps": watched.steps, "bound": watched.bound, "converged": watched.converged}
