"""Classes and novelties: decision values on a grid, and what each point is to the machine."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np

from .._runtime.compile import Array
from ..margins import decision_margins
from .base64_arrays import bytes_text, floats_text, grid_of, plain
from .estimates import estimates
from .learned import Learned

__all__ = ["cells_of", "coefficients", "plane"]


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
