"""Classes and novelties: decision values on a grid, and what each point is to the machine."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from ..estimators import KernelModel
from ..intervals import Conformal
from ..margins import Bound, decision_margins, leave_one_out_bound, margin_bound, norm, vc_bound
from ..messages import counted
from ..runtime import Array
from .requests import grid_asked, number, numbers
from .scene import MOST_POINTS, Learned, Scene, bytes_text, floats_text, grid_of, least_mistake_bound, plain

# What the points say of new ones: errors that were counted, and bounds of the library, where they are defined.


def estimates(learned: Learned, wrong: Array, margins: Array) -> list[dict[str, Any]]:
    """Everything that can be said of classes and of novelties, each with its name, its value, a text and a note."""
    scene = learned.scene
    if scene.task == "novelty":
        return [counted_share("points outside", wrong, f"At most a share ν = {scene.nu:g}, but for the tolerance.")]
    found = [counted_share("training error", wrong, "Points that the machine learned from say too little of new ones.")]
    if scene.learner == "nu-svc":
        short = margins < 1 - learned.machine.tol
        found.append(counted_share("within the margin", short, f"At most a share ν = {scene.nu:g}."))
    if scene.learner == "svc" and learned.machine.converged_:  # the argument is one about the solution
        note = "Without a point that is no support vector the machine is the same, and right on it."
        found.append(_bounded(leave_one_out_bound(learned.machine, wrong.size), note))
    if scene.learner == "kernel-perceptron":
        found += _mistakes(learned)
    return [*found, *_of_margin(learned, margins), *_of_dimension(learned, wrong)]


def estimate(name: str, value: float, text: str, note: str) -> dict[str, Any]:
    """One line of the panel."""
    return {"name": name, "value": float(value), "text": text, "note": note}


def counted_share(name: str, wrong: Array, note: str) -> dict[str, Any]:
    """How many points are so."""
    return estimate(name, wrong.mean(), f"{int(wrong.sum())} of {wrong.size}", note)


def _bounded(bound: Bound, note: str, name: str = "") -> dict[str, Any]:
    text = f"≤ {float(bound):.3g}"
    return estimate(name or bound.name, float(bound), text if float(bound) < 1 else f"{text}: says nothing here", note)


def _mistakes(learned: Learned) -> list[dict[str, Any]]:
    """The mistakes on the way and their bound, of a Perceptron of two classes."""
    made = learned.machine.mistakes_
    if len(made) > 1:
        return []
    bound = least_mistake_bound(learned.scene, learned.X, max(1, learned.machine.n_iter_))
    passes = counted(learned.machine.n_iter_, "pass", "passes")
    note = f"In {passes} over the points; by the best of three soft margins as the u of Novikoff's bound."
    return [estimate("mistakes on the way", made[0].sum(), f"{made[0].sum()} ≤ {float(bound):.0f}", note)]


def _of_margin(learned: Learned, margins: Array) -> list[dict[str, Any]]:
    """The order of the error by the margin in feature space, where all points are on their side."""
    if np.size(learned.machine.intercept_) > 1 or margins.min() <= 0:
        return []
    radius, length = float(np.sqrt(np.max(learned.machine.kernel_.diag(learned.X)))), norm(model=learned.machine)
    if not (length > 0 and radius > 0):
        return []
    bound = margin_bound(radius, float(margins.min()) / length, margins.size)
    note = f"(L/γ)²/n with a margin γ = {bound.parts['γ']:.3g} in feature space, L = {radius:.3g}; constants left out."
    return [estimate("order of the error by the margin", float(bound), f"~ {float(bound):.3g}", note)]


def _of_dimension(learned: Learned, wrong: Array) -> list[dict[str, Any]]:
    """The bound of Vapnik and Chervonenkis, where the kernel has finitely many features."""
    features = learned.machine.kernel_.features(learned.X[:1])
    if features is None or np.size(learned.machine.intercept_) > 1 or features.shape[1] >= wrong.size:
        return []
    bound = vc_bound(float(wrong.mean()), features.shape[1] + 1, wrong.size)
    note = f"With probability 0.95; a plane in {features.shape[1]} dimensions."
    return [_bounded(bound, note, "VC bound on the error")]


def plane(learned: Learned, across: Array, up: Array) -> dict[str, Any]:
    """The grid and the points, scored together."""
    scene, width, height = learned.scene, across.size, up.size
    several = scene.task == "classes" and len(scene.names) > 2
    places = np.concatenate([cells_of(across, up), scene.points])
    pairs = learned.pair_scores(places) if several else None
    scores = learned.scores(places) if pairs is None else learned.machine.decisions_of(pairs)
    on_grid, own = scores[: width * height], scores[width * height :]
    margins = own if scene.task == "novelty" else decision_margins(own, _codes(learned))
    alpha = coefficients(learned)
    support = alpha > 0
    wrong = margins < 0 if scene.task == "novelty" else learned.machine.predictions_of(own) != scene.labels
    return {
        "grid": None if several else grid_of(on_grid, width, height),
        "classes": _winners(learned, on_grid, pairs, width, height) if several else None,
        "points": {
            "score": plain(own if own.ndim == 1 else own.max(axis=1)),
            "alpha": plain(alpha),
            "slack": plain(_slack(learned, margins)),
            "support": support.tolist(),
            "wrong": wrong.tolist(),
            "margin": plain(margins),
        },
        "levels": [-1, 0, 1] if scene.offered.margins and not several else [0],
        "support": int(support.sum()),
        "estimates": estimates(learned, wrong, margins),
    }


def cells_of(across: Array, up: Array) -> Array:
    """The places of a grid, row by row from the bottom."""
    cells = np.empty((up.size, across.size, 2))
    cells[:, :, 0], cells[:, :, 1] = across, up[:, None]
    return cells.reshape(-1, 2)


def _codes(learned: Learned) -> Array:
    """The place of each point's class among those that the machine knows."""
    return np.searchsorted(learned.machine.classes_, learned.scene.labels)


def coefficients(learned: Learned) -> Array:
    """The largest coefficient of each point in any score; zeros where the machine keeps weights and no points."""
    alpha = np.zeros(len(learned.scene.points))
    if hasattr(learned.machine, "dual_coef_"):
        alpha[learned.machine.support_] = np.abs(learned.machine.dual_coef_).max(axis=0)
    return alpha


def _slack(learned: Learned, margins: Array) -> Array:
    """How far each point falls short of its margin."""
    if learned.scene.task == "novelty":
        return np.maximum(0.0, -margins)
    return np.maximum(0.0, 1.0 - margins) if learned.scene.offered.margins else np.zeros(margins.size)


def _winners(learned: Learned, scores: Array, pairs: Array | None, width: int, height: int) -> dict[str, Any]:
    """Which class wins in each cell, and by how much."""
    if scores.ndim == 1:
        winner, lead = (scores >= 0).astype(int), np.abs(scores)
    else:
        winner = scores.argmax(axis=1)
        best = np.sort(scores, axis=1)
        lead = (
            best[:, -1] - best[:, -2] if pairs is None else lead_of_pairs(pairs[: winner.size], winner, scores.shape[1])
        )
    classes = learned.machine.classes_[winner]
    return {"width": width, "height": height, "winner": bytes_text(classes), "lead": floats_text(lead)}


def lead_of_pairs(pairs: Array, winner: Array, classes: int) -> Array:
    """How narrowly the winner wins against any other class, by the machines of pairs; 0 where another beats it.

    Votes jump by one where a pair's machine changes its mind; this goes to zero there, so that boundaries can be drawn.

    Examples
    --------
    >>> lead_of_pairs(np.array([[-2.0, -0.5, 3.0]]), np.array([0]), 3)  # (0, 1), (0, 2), (1, 2)
    array([0.5])
    """
    lead = np.full(winner.size, np.inf)
    for column, (first, second) in enumerate(combinations(range(classes), 2)):
        for_winner = np.where(winner == first, -pairs[:, column], pairs[:, column])
        lead = np.where((winner == first) | (winner == second), np.minimum(lead, for_winner), lead)
    return np.maximum(lead, 0.0)


# Numbers: the curve, its bands, and what each point is to the machine.


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
    around = scene.around(scene.offered.build(scene))
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


# The answer to ``/api/boundary``: the boundary of any coefficients, such as those after a step.


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
    X, places = scene.seen(scene.X), scene.seen(cells_of(across, up))
    support = np.flatnonzero(coef)
    model = KernelModel(scene.parsed.resolved(X), support, X[support], coef[None, support], np.array([intercept]))
    return {"grid": grid_of(model.scores(places, "1GB")[:, 0], across.size, up.size)}
