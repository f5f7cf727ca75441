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

from ..composition import machine_of, parameter_prefix
from ..kernels import Polynomial
from ..runtime import Array
from ..search import SharedCells, is_simpler, setting_key
from .fit import collected_warnings
from .requests import SLIDERS, chosen, grid_asked, numbers, whole
from .scene import Learned, Scene, frame_around, grid_of, learn, plain

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
    estimator = scene.around(machine)
    name = f"{parameter_prefix(estimator)}{plan.cost}"
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


# The answer to ``/api/lift``: the plane lifted into space, where a flat cut separates what a curve had to.
#
# The kernel ⟨x, z⟩² is the dot product of the three features φ(x) = (x₁², √2·x₁x₂, x₂²). A machine with this kernel is
# f(x) = ⟨w, φ(x)⟩ + b: in the space of φ its boundary is a plane, and in the plane of x a conic section.


_SQUARE = Polynomial(degree=2, gamma=1.0, coef0=0.0)
_NAMES = ["x₁²", "√2·x₁x₂", "x₂²"]
#: Scores that differ by less than this part of their size are the same up to the tolerance of a solver's digits.
_SAME = 1e-6
_CELLS = 49


def lift(request: dict[str, Any]) -> dict[str, Any]:
    """The points of a scene in space: by the map of the squared kernel, or by the scores of the scene's own machine.

    The request has a ``scene`` and a ``way``, "map" or "height"; for heights also ``box`` and ``size`` of the grid,
    where it should not be a frame around the points.

    Examples
    --------
    >>> scene = {"points": [[0.0, 1.0], [1.0, 0.0], [0.0, 3.0], [3.0, 0.0]], "labels": [0, 0, 1, 1], "C": 1000}
    >>> answer = lift({"scene": scene, "way": "map"})
    >>> answer["points"][3], [round(each, 2) for each in answer["plane"]["normal"]], round(answer["plane"]["offset"], 2)
    ([9.0, 0.0, 0.0], [0.25, 0.0, 0.25], -1.25)
    """
    way = chosen(request.get("way", "map"), "way", ("map", "height"))
    scene = Scene.of(request.get("scene"))
    if scene.task == "numbers":
        raise ValueError("numbers have no boundary to lift; choose a scene of classes or of novelties.")
    if not len(scene.points):
        raise ValueError("there are no points to lift; add some.")
    with collected_warnings() as notes:
        answer = _mapped(scene) if way == "map" else _height(scene, request)
    return {**answer, "notes": notes}


def _mapped(scene: Scene) -> dict[str, Any]:
    lifted = _features(scene.seen(scene.points))
    plane, scores, note = None, None, _without_plane(scene)
    if not note:
        learned = learn(scene, kernel=_SQUARE)
        scores = learned.scores(scene.points)
        plane = _plane(learned, lifted, scores)
        note = _words(scene, scores) if plane else f"The {scene.offered.title} bends in this space: it has no plane."
    return {
        "names": _NAMES,
        "points": lifted.tolist(),
        "plane": plane,
        "scores": None if scores is None else plain(scores),
        "note": note,
    }


def _features(rows: Array) -> Array:
    """φ: the last columns of the library's own feature map, in which those of lower degree count nothing."""
    return _SQUARE.features(rows)[:, -3:]


def _without_plane(scene: Scene) -> str:
    """Why there is no plane to draw; empty where there is one."""
    if scene.task == "classes" and len(scene.names) > 2:
        return "A plane separates two classes; a machine of more has one for each pair of them."
    if scene.task == "classes" and np.unique(scene.labels).size < 2:
        return "There is nothing to separate yet; add points of both classes."
    return "" if len(scene.points) > 1 else "One point is too few for a machine; add more."


def _plane(learned: Learned, lifted: Array, scores: Array) -> dict[str, Any] | None:
    """w and b of f = ⟨w, φ⟩ + b, read from the scores of four places; ``None`` where f is no such function."""
    s = float(np.abs(learned.X).max()) or 1.0
    b, first, third, both = learned.machine.decision_function(np.array([[0.0, 0.0], [s, 0.0], [0.0, s], [s, s]]))
    normal = np.array([first - b, (both - first - third + b) / np.sqrt(2), third - b]) / s**2
    wanted = lifted @ normal + b
    size = float(np.abs(scores).max()) or 1.0
    if np.abs(wanted - scores).max() > _SAME * size:
        return None
    return {"normal": normal.tolist(), "offset": float(b)}


def _words(scene: Scene, scores: Array) -> str:
    inside = scores >= 0
    wrong = int((~inside).sum() if scene.task == "novelty" else ((scores > 0) != scene.labels).sum())
    where = "beyond the plane" if scene.task == "novelty" else "on the wrong side of the plane"
    return f"{scene.offered.title} with the kernel ⟨x, z⟩²: {wrong} of {scores.size} points lie {where}."


def _height(scene: Scene, request: dict[str, Any]) -> dict[str, Any]:
    if scene.task == "classes" and len(scene.names) > 2:
        raise ValueError("a surface shows one score, and more than two classes have several; choose two classes.")
    across, up = grid_asked({"box": frame_around(scene.points), "size": [_CELLS, _CELLS]} | request)
    learned = learn(scene)
    cells = np.column_stack([axis.ravel() for axis in np.meshgrid(across, up)])
    scores = learned.scores(np.concatenate([cells, scene.points]))
    return {
        "box": [float(end) for end in (across[0], across[-1], up[0], up[-1])],
        "grid": grid_of(scores[: len(cells)], across.size, up.size),
        "scores": plain(scores[len(cells) :]),
        "levels": [-1, 0, 1] if scene.offered.margins else [0],
        "note": f"The height is the score of the {scene.offered.title} with {learned.machine.kernel_}.",
    }
