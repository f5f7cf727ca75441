"""The lines of ``/api/surface``: cross-validated errors over γ and what an error costs, one line a finished γ.

All values along C, λ or ν on all folds share a kernel matrix and go on from each other, as in ``KernelSearchCV``
(:mod:`mercer.search.shared_cells`).
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.model_selection import KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from .._runtime.compile import Array
from .._validation.unwrapped import machine_of
from ..search.content_keys import setting_key
from ..search.shared_cells import SharedCells
from ..search.simpler import is_simpler
from .asked import numbers, whole
from .on_offer import SLIDERS
from .scene import Scene

__all__ = ["Plan", "surface"]

_MOST_VALUES = 16
#: Seconds for one fit, and for all of them.
_FIT_LIMIT, _LIMIT = 0.25, 30.0


@dataclass(frozen=True)
class Plan:
    """A scene, and the values and folds that it is to be tried with, checked."""

    scene: Scene
    cost: str
    costs: list[float]
    gammas: list[float]
    folds: list[tuple[Array, Array]]

    @classmethod
    def of(cls, request: dict[str, Any]) -> Plan:
        """The plan of a request."""
        scene = Scene.of(request.get("scene"))
        scene.refuse_few()
        cost = scene.offered.cost
        if cost is None:
            raise ValueError(f"{scene.offered.title} has no surface; choose a learner with C, λ or ν.")
        costs, gammas = (_values(request.get(name), name) for name in (cost, "gamma"))
        if "?" not in scene.kernel and len(gammas) > 1:
            raise ValueError("the kernel has no ? that γ could stand for; write for example 'gaussian(gamma=?)'.")
        replace(scene, gamma=gammas[0]).parsed  # noqa: B018  a kernel that cannot be read is refused here
        return cls(scene, cost, costs, gammas, _folds(scene, whole(request.get("folds", 5), "folds", 2, 10)))


def _values(given: Any, name: str) -> list[float]:
    slider = SLIDERS[name]
    values = numbers(given, f"the values of {name}", _MOST_VALUES, farthest=slider.most)
    if not values.size or values.min() < slider.least:
        raise ValueError(f"{name} should be one to {_MOST_VALUES} values from {slider.least:g} to {slider.most:g}.")
    return values.tolist()


def _folds(scene: Scene, folds: int) -> list[tuple[Array, Array]]:
    """Folds drawn by the scene's seed; fewer where a class, or the whole, has fewer points."""
    if scene.task == "classes":
        counts = np.bincount(scene.labels)
        least = int(counts[counts > 0].min())
        if least < 2:
            raise ValueError("a class has one point alone; cross-validation needs two points of each.")
        return list(StratifiedKFold(min(folds, least), shuffle=True, random_state=scene.seed).split(scene.X, scene.y))
    return list(KFold(min(folds, len(scene.points)), shuffle=True, random_state=scene.seed).split(scene.X))


def surface(request: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """One line for each γ as it is finished, and a last one with the best setting and the simplest that is as good.

    Examples
    --------
    >>> points = [[0, 0], [0, 1], [1, 0], [5, 5], [5, 6], [6, 5]]
    >>> scene = {"points": points, "labels": [0, 0, 0, 1, 1, 1]}
    >>> lines = list(surface({"scene": scene, "C": [1, 10], "gamma": [0.1], "folds": 3}))
    >>> lines[0]["errors"], lines[-1]["best"]
    ([0.0, 0.0], {'C': 1.0, 'gamma': 0.1, 'error': 0.0})
    """
    plan = Plan.of(request)
    begun = time.monotonic()
    tried: list[dict[str, Any]] = []
    for gamma in plan.gammas:
        errors = _errors(plan, gamma, begun + _LIMIT)
        mean, spread = errors.mean(axis=1), errors.std(axis=1, ddof=1) / np.sqrt(errors.shape[1])
        yield {"gamma": gamma, "errors": _known(mean), "se": _known(spread)}
        tried += [
            {plan.cost: cost, "gamma": gamma, "error": error, "se": se}
            for cost, error, se in zip(plan.costs, mean.tolist(), spread.tolist(), strict=True)
            if np.isfinite(error)
        ]
    if not tried:
        raise ValueError("no setting could be fitted in time; use fewer points or a simpler kernel.")
    least = min(tried, key=lambda each: each["error"])
    yield {
        "done": True,
        "best": _simplest([each for each in tried if each["error"] <= least["error"]]),
        "one_se": _simplest([each for each in tried if each["error"] <= least["error"] + least["se"]]),
        "seconds": time.monotonic() - begun,
        "fits": len(tried) * len(plan.folds),
    }


def _errors(plan: Plan, gamma: float, deadline: float) -> Array:
    """The error of each value of the cost on each fold; NaN where there is none."""
    scene = replace(plan.scene, gamma=gamma)
    machine = scene.offered.build(scene)
    if hasattr(machine, "time_limit"):
        machine.time_limit = _FIT_LIMIT
    estimator = make_pipeline(StandardScaler(), machine) if scene.scaled else machine
    name = f"{estimator.steps[-1][0]}__{plan.cost}" if scene.scaled else plan.cost
    settings = [{name: cost} for cost in plan.costs]
    cells = SharedCells.of(estimator, scene.X, scene.y, deadline=deadline)
    assert cells is not None
    cells.run(settings, plan.folds)
    errors = np.full((len(settings), len(plan.folds)), np.nan)
    for row, setting in enumerate(settings):
        key = setting_key(setting)
        for column, (train, test) in enumerate(plan.folds):
            outcome = cells.outcome(key, train)
            if outcome is not None and outcome.error is None:
                errors[row, column] = _error(scene, machine_of(estimator), outcome.of(test), train, test)
    return errors


def _error(scene: Scene, machine: Any, decisions: Array, train: Array, test: Array) -> float:
    """The share of wrong labels; of numbers the root of the mean square, or 1 − D² of quantiles."""
    y = np.asarray(scene.y)
    if scene.task == "classes":
        machine.classes_ = np.unique(y[train])
        return float(np.mean(machine.predictions_of(decisions) != y[test]))
    predicted = machine.predictions_of(decisions)
    if predicted.ndim == 2:
        return 1.0 - machine.score_of(y[test], predicted)
    return float(np.sqrt(np.mean((predicted - y[test]) ** 2)))


def _simplest(settings: list[dict[str, Any]]) -> dict[str, Any]:
    """Of settings that are as good as each other, one that no other is simpler than, with the least error."""
    params = [{name: each[name] for name in each if name not in ("error", "se")} for each in settings]
    plain = [
        each for each, own in zip(settings, params, strict=True) if not any(is_simpler(other, own) for other in params)
    ]
    best = min(plain, key=lambda each: each["error"])
    return {name: value for name, value in best.items() if name != "se"}


def _known(values: Array) -> list[float | None]:
    return [value if np.isfinite(value) else None for value in values.tolist()]
