"""The answer to ``/api/steps``: how a learner comes to its model, change by change, as its solver makes them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..estimators import SVC, Pegasos, Perceptron
from ..grams import Dense
from ..problems import Iterate, certify
from ..runtime import Array, check_interrupt
from ..solvers.svm import levels_of, one_step
from .requests import chosen, whole
from .scene import Scene, least_mistake_bound

# What is seen of an algorithm: its steps as the page shows them, and what bounds them.


@dataclass(frozen=True)
class Watched:
    """The steps of an algorithm, a bound with its name and sentence, and whether it came to its end."""

    steps: list[dict[str, Any]]
    bound: dict[str, Any]
    converged: bool


def changed(before: Array, after: Array) -> dict[str, float]:
    """The coefficients that a step has changed, by the number of their point."""
    places = np.flatnonzero(before != after)
    return {str(place): value for place, value in zip(places.tolist(), after[places].tolist(), strict=True)}


def rounded(value: float) -> str:
    """A number as sentences say it.

    Examples
    --------
    >>> rounded(-0.30001), rounded(0.0), rounded(-0.0)
    ('−0.3', '0', '0')
    """
    return f"{value + 0.0:.3g}".replace("-", "−")


# Pegasos, step by step: every step is a checkpoint of the run.


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


# The Perceptron, mistake by mistake: the path that a voted one keeps of its updates.


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


# The exact soft margin, pair by pair: the step that the solver of SVC makes, one at a time from zero.


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
        check_interrupt()
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
    watched: Watched = _ALGORITHMS[algorithm](scene, scene.seen(scene.X), most)
    return {"steps": watched.steps, "bound": watched.bound, "converged": watched.converged}
