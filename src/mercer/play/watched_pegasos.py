"""Pegasos, step by step: every step is a checkpoint of the run."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._runtime.compile import Array
from ..estimators import Pegasos
from ..problems import certify
from .scene import Scene
from .watched import Watched, changed, rounded

__all__ = ["watch_pegasos"]


def watch_pegasos(scene: Scene, X: Array, most: int) -> Watched:
    """The first steps of Pegasos on a scene, and the average that it predicts by where all of them are shown."""
    every = scene.epochs * len(X)
    count = min(every, most)
    machine = Pegasos(
        scene.parsed, lam=scene.lam, steps=count, average=False, checkpoints=range(1, count + 1),
        random_state=scene.seed,
    )  # fmt: skip
    (problem,), (solution,) = machine._solve(data := machine._training(X, scene.y, None))
    K, signs = data.kernel.matrix(X, X), problem.y
    z, b = np.zeros(len(X)), 0.0
    steps: list[dict[str, Any]] = []
    for stage, (item,) in zip(solution.stages, solution.drawn_last, strict=True):
        t = len(steps) + 1
        margin = float(signs[item] * (K[item] @ z + b))
        violated = margin < 1
        why = (
            f"Step {t}: y·f(x) = {rounded(margin)} < 1, violated: shrink w by 1 − 1/{t}, add y·φ(x)/(λ·{t})."
            if violated
            else f"Step {t}: y·f(x) = {rounded(margin)} ≥ 1, fine: only shrink w by 1 − 1/{t}."
        )
        steps.append({"at": [int(item)], "why": why, "changed": violated, "coef": changed(z, stage.z),
                      "intercept": float(stage.b)})  # fmt: skip
        z, b = stage.z, float(stage.b)
    average, certificate = None, certify(problem, solution)
    if count == every:
        machine.set_params(average="tail", checkpoints=None)
        average = machine._solve(data)[1][0]
        certificate = certify(problem, average)
        why = "Pegasos predicts by the average of the models after each step of the later half."
        steps.append({"at": [], "why": why, "changed": True, "coef": changed(z, average.z),
                      "intercept": float(average.b)})  # fmt: skip
    steps[-1] |= {"objective": certificate.objective, "gap": certificate.gap}
    sentence = (
        f"The last model's objective of {certificate.objective:.4g} is at most {certificate.gap:.2g} above the least "
        "possible one, by its duality gap."
    )
    return Watched(
        steps,
        {"name": "duality gap", "value": certificate.gap, "sentence": sentence},
        certificate.gap <= 1e-2 * certificate.objective,
    )
