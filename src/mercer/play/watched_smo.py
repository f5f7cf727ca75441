"""The exact soft margin, pair by pair: the step that the solver of SVC makes, one at a time from zero."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._runtime.compile import Array
from .._runtime.interrupts import heed
from ..estimators import SVC
from ..grams import Dense
from ..problems import Iterate, certify
from ..solvers.svm.smo import levels_of, one_step
from .scene import Scene
from .watched import Watched, changed, rounded

__all__ = ["watch_smo"]

_TOLERANCE = 1e-3


def watch_smo(scene: Scene, X: Array, most: int) -> Watched:
    """Steps on the dual of a scene's soft margin, each on the pair that gains most."""
    machine = SVC(scene.parsed, C=scene.C, tol=_TOLERANCE)
    data = machine._training(X, scene.y, None)
    K = data.kernel.matrix(X, X)
    (stated,) = machine._machines(data)
    problem = stated.problem.on(Dense(K))
    dual = problem.box_dual
    assert dual is not None
    single, z, group = K.astype(np.float32), np.zeros(len(X)), np.zeros(len(X), np.int64)
    F = problem.y.astype(np.float32)
    steps: list[dict[str, Any]] = []
    gap = np.inf
    b, certificate = 0.0, certify(problem, Iterate(z, 0.0))
    while len(steps) < most:
        heed()
        before, forces = z.copy(), F.copy()
        pair = one_step(single, F, z, dual.low, dual.high, 0.9 * _TOLERANCE)
        levels, gap = levels_of(problem.y - K @ z, z, dual.low, dual.high, group)
        b = float(levels[0])
        certificate = certify(problem, Iterate(z.copy(), b))
        facts = {"intercept": b, "objective": certificate.objective, "gap": certificate.gap}
        if pair.size < 2:
            solved = f"No pair violates its condition by more than {_TOLERANCE:g}: this is the solution."
            stuck = "A step in single precision gains nothing more here; SVC itself goes on in double precision."
            why = solved if gap <= _TOLERANCE else stuck
            steps.append({"at": [], "why": why, "changed": False, "coef": {}, **facts})
            break
        i, j = pair
        violation = rounded(float(forces[i]) - float(forces[j]))
        why = (
            f"Step {len(steps) + 1}: for this pair y − f(x) differs by {violation}, so the dual gains by moving "
            f"{rounded(float(z[i] - before[i]))} from one coefficient to the other{_stopped(dual, z, i, j)}."
        )
        steps.append({"at": [int(i), int(j)], "why": why, "changed": True, "coef": changed(before, z), **facts})
    sentence = (
        f"The objective of {certificate.objective:.4g} is at most {certificate.gap:.2g} above the least possible one, "
        "by its duality gap."
    )
    about = {"name": "duality gap", "value": certificate.gap, "sentence": sentence}
    return Watched(steps, about, bool(gap <= _TOLERANCE))


def _stopped(dual: Any, z: Array, i: int, j: int) -> str:
    """Where a step ended at a bound, in words."""
    ended = [name for name, at in (("C", _at_cost(dual, z, i) or _at_cost(dual, z, j)), ("0", not (z[i] and z[j])))
             if at]  # fmt: skip
    return f", up to its bound of {' and '.join(ended)}" if ended else ""


def _at_cost(dual: Any, z: Array, i: int) -> bool:
    return z[i] != 0 and z[i] in (dual.low[i], dual.high[i])
