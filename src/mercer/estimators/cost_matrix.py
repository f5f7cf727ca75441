"""What mistakes cost: ``costs[i, j]`` for the answer j where the truth is i.

A machine that knows probabilities p needs nothing else: the answer j costs Σᵢ pᵢ·costs[i, j] on average, and the least
is the best answer. A machine that knows none is told by weights. For a pair of classes they say all: a mistake on a row
of class i can only be the answer j, so its weight is costs[i, j]. Against all other classes at once a mistake may be
any of several answers, and the weight is their mean cost.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._runtime.compile import Array
from .._validation.labels import plain_label
from .._validation.parameters import is_number, shown

__all__ = ["cheapest", "cost_matrix", "mean_costs", "pair_costs"]


def cost_matrix(costs: Any, classes: Array, owner: str) -> Array:
    """The costs as a matrix in the order of the classes, checked.

    Parameters
    ----------
    costs : array of shape (n_classes, n_classes), or dict
        A dict names what costs something else than 1: ``{(true, answered): cost}``.
    classes : array
    owner : str
        Who is asked, for messages.

    Returns
    -------
    array of shape (n_classes, n_classes)

    Examples
    --------
    >>> cost_matrix({("ill", "well"): 10}, np.array(["ill", "well"]), "SVC")
    array([[ 0., 10.],
           [ 1.,  0.]])
    """
    k = classes.size
    matrix = _of_pairs(costs, classes, owner) if isinstance(costs, Mapping) else _of_rows(costs, owner)
    if matrix.shape != (k, k):
        raise ValueError(
            f"{owner}: costs must have a row and a column for each of the {k} classes, shape ({k}, {k}), got "
            f"{matrix.shape}."
        )
    if not (np.isfinite(matrix) & (matrix >= 0)).all():
        i, j = np.argwhere(~(np.isfinite(matrix) & (matrix >= 0)))[0]
        raise ValueError(
            f"{owner}: costs must be finite numbers of at least 0, but costs[{i}, {j}] is {matrix[i, j]:g}."
        )
    if matrix.diagonal().any():
        i = int(np.argmax(matrix.diagonal() != 0))
        raise ValueError(
            f"{owner}: right answers cost nothing, but costs[{i}, {i}] is {matrix[i, i]:g}; set the diagonal to 0."
        )
    if not matrix.any():
        raise ValueError(f"{owner}: costs are all 0, so that any answer is as good as any other.")
    return matrix


def _of_rows(costs: Any, owner: str) -> Array:
    try:
        return np.asarray(costs, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"{owner}: costs must be a square table of numbers or a dict {{(true, answered): cost}}, got "
            f"{shown(costs)}."
        ) from None


def _of_pairs(costs: Mapping, classes: Array, owner: str) -> Array:
    matrix = 1.0 - np.eye(classes.size)
    places = {plain_label(label): place for place, label in enumerate(classes)}
    for pair, cost in costs.items():
        labels = [plain_label(label) for label in pair] if isinstance(pair, tuple) else []
        if len(labels) != 2:
            raise ValueError(f"{owner}: costs as a dict have pairs (true, answered) as keys, got {shown(pair)}.")
        unknown = next((label for label in labels if label not in places), None)
        if unknown is not None:
            raise ValueError(f"{owner}: costs name {unknown!r}, which is none of the classes {shown(list(places))}.")
        if not is_number(cost):
            raise ValueError(f"{owner}: the cost of {shown(pair)} must be a number, got {shown(cost)}.")
        matrix[places[labels[0]], places[labels[1]]] = cost
    return matrix


def pair_costs(matrix: Array, classes: Array, owner: str) -> Array:
    """The costs as weights of pairs of classes, none of which may be 0."""
    free = (matrix == 0) & ~np.eye(len(matrix), dtype=bool)
    if free.any():
        i, j = (plain_label(classes[place]) for place in np.argwhere(free)[0])
        raise ValueError(
            f"{owner}: answering {j!r} where {i!r} is true costs nothing, and a machine learns nothing of rows without "
            "weight; give it a small cost, or use probabilities (KernelClassifier, Calibrated)."
        )
    return matrix


def mean_costs(matrix: Array, classes: Array, owner: str) -> Array:
    """What a mistake on each class costs on average over the wrong answers: 1, where all mistakes cost 1."""
    means = matrix.sum(axis=1) / (len(matrix) - 1)
    if not means.all():
        label = plain_label(classes[int(np.argmin(means))])
        raise ValueError(
            f"{owner}: mistakes on class {label!r} cost nothing, and a machine learns nothing of rows without weight; "
            "give them a small cost, or use probabilities (KernelClassifier, Calibrated)."
        )
    return means


def cheapest(probabilities: Array, matrix: Array) -> Array:
    """For each row of probabilities the number of the class whose answer is expected to cost least.

    Examples
    --------
    >>> cheapest(np.array([[0.2, 0.8], [0.01, 0.99]]), np.array([[0.0, 10.0], [1.0, 0.0]]))
    array([0, 1])
    """
    return (probabilities @ matrix).argmin(axis=1)
