"""The training items that a kernel machine is made of: which class each is of, and which are like a new one."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from .._runtime.compile import Array
from .._validation.labels import plain_label
from .._validation.unwrapped import layers
from ..estimators.model import KernelModel
from .opened_model import Direction, OpenedModel

__all__ = ["Supporter", "nearest_support", "support_labels", "support_lines", "supporters"]


class Supporter(NamedTuple):
    """A training item, how similar it is (as a cosine), what it adds to the score, and its class where it has one."""

    place: int
    item: Any
    similarity: float
    value: float
    label: Any = None


def support_labels(model: Any) -> list[Any]:
    """The class of each support item, in the order of ``support_``; ``None`` where there are no classes.

    The signs of its coefficients tell: losses of a margin fall, so that an item pushes the scores of its own class up
    and those of others down. Of a machine for each pair of classes all that an item takes part in agree on its class.

    Parameters
    ----------
    model : fitted estimator
        A kernel machine, or a pipeline or search around one.

    Examples
    --------
    >>> from mercer import SVC
    >>> from mercer.explain import support_labels
    >>> support_labels(SVC("gaussian").fit([[0.0], [1.0], [5.0]], ["near", "near", "far"]))
    ['far', 'near', 'near']
    """
    machine = OpenedModel(model).machine
    if not isinstance(machine._model, KernelModel):
        return []
    coef = machine._model.coef
    if not hasattr(machine, "classes_"):
        return [None] * coef.shape[1]
    classes = [plain_label(label) for label in machine.classes_]
    if len(classes) == 2:
        return [classes[int(z > 0)] for z in coef[0]]
    if coef.shape[0] == len(classes) and getattr(machine, "strategy", "ovr") == "ovr":
        return [classes[k] for k in coef.argmax(axis=0)]
    votes = np.zeros((len(classes), coef.shape[1]))
    for z, (first, second) in zip(coef, combinations(range(len(classes)), 2), strict=True):
        votes[second] += z > 0
        votes[first] += z < 0
    return [classes[k] for k in votes.argmax(axis=0)]


def supporters(opened: OpenedModel, direction: Direction, rows: Any) -> list[Supporter]:
    """All support items beside one item, in the order of the training rows; none for a model of weights alone."""
    fitted = opened.machine._model
    if not isinstance(fitted, KernelModel):
        return []
    similarities = fitted.similarities(rows, slice(0, 1))[0].astype(np.float64)
    if fitted.items is None:  # a precomputed kernel does not say how long items are
        cosines, items = similarities, [None] * similarities.size
    else:
        lengths = np.sqrt(fitted.kernel.diag(fitted.items).astype(np.float64) * float(fitted.kernel.diag(rows)[0]))
        cosines = np.divide(similarities, lengths, out=np.zeros_like(similarities), where=lengths > 0)
        items = listed(opened.machine.support_vectors_)
    values = (direction.signs @ fitted.coef) * similarities
    labels = support_labels(opened.model)
    return [
        Supporter(int(place), item, float(cosine), float(value), label)
        for place, item, cosine, value, label in zip(fitted.support, items, cosines, values, labels, strict=True)
    ]


def listed(items: Any) -> list[Any]:
    """Items as a user would write each of them."""
    if hasattr(items, "columns"):
        return [dict(zip(items.columns, row, strict=True)) for row in items.to_numpy().tolist()]
    return items.toarray().tolist() if sparse.issparse(items) else list(items)


def _training_row(place: int) -> str:
    return f"training row {place + 1}"


def nearest_support(
    model: Any, item: Any, *, top: int = 3, where: Callable[[int], str] = _training_row
) -> list[dict[str, Any]]:
    """The support items of a kernel machine that are most like an item.

    Parameters
    ----------
    model : fitted estimator
        A kernel machine, or a pipeline, search or calibration around one.
    item : one row, string, set, graph, or a frame with one row
    top : int, default=3
    where : callable, optional
        Says where a training row stands, given its number from 0.

    Returns
    -------
    list of dict
        ``"row"``: where it stands, ``"label"``: its class (``None`` where there are none), ``"similarity"``: the
        cosine in feature space, ``"adds"``: what it adds to the score of the predicted class. Empty for a linear model,
        which keeps no training items.

    Examples
    --------
    >>> from mercer import SVC
    >>> from mercer.explain import nearest_support
    >>> model = SVC("gaussian(gamma=1)").fit([[0.0], [1.0], [5.0]], ["near", "near", "far"])
    >>> [(each["row"], each["label"]) for each in nearest_support(model, [4.5], top=2)]
    [('training row 3', 'far'), ('training row 2', 'near')]
    """
    opened = OpenedModel(model)
    one = opened.alone(item)
    direction = opened.direction(opened.predicted(one))
    found = sorted(supporters(opened, direction, opened.items(one)), key=lambda each: -each.similarity)
    return [
        {"row": where(each.place), "label": each.label, "similarity": each.similarity, "adds": each.value}
        for each in found[:top]
    ]


def support_lines(model: Any, table: Any) -> list[int] | None:
    """The lines of a file at which the support items of a model begin, in their order.

    Parameters
    ----------
    model : fitted estimator
    table : Table
        What it was fitted on.

    Returns
    -------
    list of int or None
        ``None`` where the model keeps no training items, or the table has no lines.

    Examples
    --------
    >>> import mercer
    >>> table = mercer.read("moons:50")
    >>> support_lines(mercer.SVC("gaussian(gamma=1)").fit(table.X, table.y), table) is None  # built in, not from a file
    True
    """
    machine = list(layers(model))[-1]
    fitted = getattr(machine, "_model", None)
    if table.lines is None or not isinstance(fitted, KernelModel):
        return None
    lines: Array = table.lines
    for layer in layers(model):
        if hasattr(layer, "filter_"):
            lines = lines[layer.filter_.keep(table.X)]
    return [int(line) for line in lines[fitted.support]]
