"""The Perceptron, mistake by mistake: the path that a voted one keeps of its updates."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._runtime.compile import Array
from ..estimators import Perceptron
from .rivals import least_mistake_bound
from .scene import Scene
from .watched import Watched, changed, rounded

__all__ = ["watch_perceptron"]


def watch_perceptron(scene: Scene, X: Array, most: int) -> Watched:
    """The updates of the Perceptron of a scene, in their order."""
    machine = Perceptron(scene.parsed, epochs=scene.epochs, variant="voted", random_state=scene.seed)
    data, (solution,) = machine._solve(machine._training(X, scene.y, None), machine._solver())
    path = solution.path
    assert path is not None
    K, signs = data.kernel.matrix(X, X), data.signs(0, 2)
    z, b, scores = np.zeros(len(X)), 0.0, np.zeros(len(X))
    steps: list[dict[str, Any]] = []
    for item, coefficient, visit in zip(path.item[:most], path.coefficient, path.step, strict=False):
        before = z.copy()
        margin = float(signs[item] * (scores[item] + b))
        z[item] += coefficient
        b += float(coefficient)
        scores += coefficient * K[item]
        why = f"Visit {visit + 1}: y·f(x) = {rounded(margin)} is not above 0, a mistake: add y·φ(x)."
        steps.append({"at": [int(item)], "why": why, "changed": True, "coef": changed(before, z), "intercept": b,
                      "mistakes": len(steps) + 1})  # fmt: skip
    whole = len(steps) == len(path.item)
    if whole:
        clean = f"No mistake in a whole pass: the Perceptron has ended after {path.steps} visits."
        last = f"The {solution.n_iter} epochs are over, with {int(solution.trace[-1])} mistakes in the last."
        why = clean if not solution.trace[-1] else last
        steps.append({"at": [], "why": why, "changed": False, "coef": {}, "intercept": b, "mistakes": len(path.item)})
    bound = least_mistake_bound(scene, X, max(1, solution.n_iter))
    sentence = (
        f"In {solution.n_iter} passes over these points a Perceptron makes at most {float(bound):.0f} mistakes, in any "
        f"order; this one made {len(path.item)}."
    )
    about = {"name": "mistakes", "value": float(bound), "sentence": sentence}
    return Watched(steps, about, whole and not solution.trace[-1])
