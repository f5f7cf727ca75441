"""The answer to ``/api/lift``: the plane lifted into space, where a flat cut separates what a curve had to.

The kernel ⟨x, z⟩² is the dot product of the three features φ(x) = (x₁², √2·x₁x₂, x₂²). A machine with this kernel is
f(x) = ⟨w, φ(x)⟩ + b: in the space of φ its boundary is a plane, and in the plane of x a conic section.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._runtime.compile import Array
from ..kernels.vectors import Polynomial
from .asked import chosen, grid_asked
from .base64_arrays import grid_of, plain
from .heard import hearing
from .learned import Learned, learn, scaler_of
from .scene import Scene

__all__ = ["lift"]

_SQUARE = Polynomial(degree=2, gamma=1.0, coef0=0.0)
_NAMES = ["x₁²", "√2·x₁x₂", "x₂²"]
#: Scores that differ by less than this part of their size are the same up to the tolerance of a solver's digits.
_SAME = 1e-6
_CELLS = 49


def lift(request: dict[str, Any]) -> dict[str, Any]:
    """The points of a scene in space: by the map of the squared kernel, or by the scores of the scene's own machine.

    Parameters
    ----------
    request : dict
        ``scene``, and ``way``: "map" or "height"; for heights also ``box`` and ``size`` of the grid, where it should
        not be a frame around the points.

    Returns
    -------
    dict

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
    with hearing() as notes:
        answer = _mapped(scene) if way == "map" else _height(scene, request)
    return {**answer, "notes": notes}


def _mapped(scene: Scene) -> dict[str, Any]:
    scaler = scaler_of(scene)
    seen = scene.points if scaler is None else scaler.transform(scene.points)
    lifted = _features(seen)
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
    across, up = grid_asked({"box": _frame(scene.points), "size": [_CELLS, _CELLS]} | request)
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


def _frame(points: Array) -> list[float]:
    """A box around the points, a little wider than they are."""
    low, high = points.min(axis=0), points.max(axis=0)
    wider = np.where(high > low, 0.12 * (high - low), 1.0)
    return np.column_stack([low - wider, high + wider]).ravel().tolist()
