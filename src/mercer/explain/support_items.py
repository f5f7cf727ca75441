"""The training items that a kernel machine is made of: which class each is of, and which are like a new one."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from .._runtime.compile import Array
from .._validation.labels import plain_label
from .._validation.objects import chosen
from .._validation.unwrapped import layers
from ..estimators.model import KernelModel
from ..kernels import Kernel
from ..kernels.engine.parts import Parts, length, part_of
from ..kernels.on_columns import OnColumns
from .opened_model import Direction, OpenedModel

__all__ = [
    "Supporter",
    "Supporters",
    "nearest_support",
    "support_items",
    "support_labels",
    "support_lines",
    "supporters",
]


#: Letters of a training item that are shown.
_LETTERS = 70


class Supporter(NamedTuple):
    """A training item, how similar it is (as a cosine), what it adds to the score, and its class where it has one.

    ``place`` is its number from 0. ``prepared`` says that steps of a pipeline have made the numbers of ``item``.
    """

    place: int
    item: Any
    similarity: float
    value: float
    label: Any = None
    prepared: bool = False

    def facts(self) -> dict[str, Any]:
        """Everything by name; rows of numbers as lists."""
        item = self.item.tolist() if hasattr(self.item, "tolist") else self.item
        return {**self._asdict(), "item": item}

    @property
    def where(self) -> str:
        """Which training row it is, counted from 1."""
        return training_row(self.place)

    @property
    def words(self) -> str:
        """The item in one line; empty where nobody would recognise it, as numbers that were prepared.

        Examples
        --------
        >>> Supporter(0, {"age": 30.123456789, "job": "cook"}, 1.0, 0.5).words
        "age=30.12, job='cook'"
        """
        text = "" if self.item is None or self.prepared else _in_few_digits(self.item)
        return text if len(text) <= _LETTERS else f"{text[: _LETTERS - 1]}…"

    @property
    def title(self) -> str:
        """Which training row it is, and the item where somebody would recognise it."""
        return f"{self.where}: {self.words}" if self.words else self.where


def training_row(place: int) -> str:
    """A training row in words, given its number from 0."""
    return f"training row {place + 1}"


def _in_few_digits(item: Any) -> str:
    if isinstance(item, dict):
        return ", ".join(f"{name}={_in_few_digits(value)}" for name, value in item.items())
    if isinstance(item, np.ndarray):
        return f"[{', '.join(map(_in_few_digits, item.tolist()))}]"
    return f"{item:.4g}" if isinstance(item, float) else repr(item)


def support_labels(model: Any) -> list[Any]:
    """The class of each support item, in the order of ``support_``; ``None`` where there are no classes.

    The signs of its coefficients tell: losses of a margin fall, so that an item pushes the scores of its own class up
    and those of others down. Of a machine for each pair of classes all that an item takes part in agree on its class.
    Of a machine for each class its own may not need it. It is then on the right side there, so that its score tells;
    where that leaves a doubt, as it may in a model that is not converged, the class is ``None``.

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
    opened = OpenedModel(model)
    machine = opened.machine
    if not isinstance(machine._model, KernelModel):
        return []
    coef = machine._model.coef
    if not hasattr(machine, "classes_"):
        return [None] * coef.shape[1]
    classes = [plain_label(label) for label in machine.classes_]
    if len(classes) == 2:
        return [classes[int(z > 0)] for z in coef[0]]
    if not opened.pairs:
        return [None if k is None else classes[k] for k in _own_class(machine, coef)]
    votes = np.zeros((len(classes), coef.shape[1]))
    for z, (first, second) in zip(coef, combinations(range(len(classes)), 2), strict=True):
        votes[second] += z > 0
        votes[first] += z < 0
    return [classes[k] for k in votes.argmax(axis=0)]


def _own_class(machine: Any, coef: Array) -> list[int | None]:
    """The number of each item's class where every class has a machine: the one that it pushes up, or by its score."""
    pushed = coef > 0
    doubtful = np.flatnonzero(~pushed.any(axis=0))
    possible = pushed.copy()
    if doubtful.size and machine._model.items is not None:
        scores = machine._model.scores(machine._model.items[doubtful], machine.memory).T
        possible[:, doubtful] = (coef[:, doubtful] == 0) & (scores > 0)
    return [int(column.argmax()) if column.sum() == 1 else None for column in possible.T]


class Supporters(NamedTuple):
    """The support items that decide most about an item, and those most like it; the first of each comes first."""

    deciding: list[Supporter]
    similar: list[Supporter]


def supporters(opened: OpenedModel, direction: Direction, rows: Any, top: int) -> Supporters:
    """The support items that count for one item; none for a model of weights alone."""
    fitted = opened.machine._model
    if not isinstance(fitted, KernelModel):
        return Supporters([], [])
    similarities = fitted.similarities(rows, slice(0, 1))[0].astype(np.float64)
    cosines = similarities
    if fitted.items is not None:  # a precomputed kernel does not say how long items are
        lengths = np.sqrt(fitted.kernel.diag(fitted.items).astype(np.float64) * float(fitted.kernel.diag(rows)[0]))
        cosines = np.divide(similarities, lengths, out=np.zeros_like(similarities), where=lengths > 0)
    values = (direction.signs @ fitted.coef) * similarities
    labels = support_labels(opened.model)
    prepared = opened.prepares_rows

    def ranked(by: Array) -> list[Supporter]:
        best = np.argsort(-by, kind="stable")[:top]
        given = support_items(opened, best)
        return [
            Supporter(int(fitted.support[k]), item, float(cosines[k]), float(values[k]), labels[k], prepared)
            for k, item in zip(best.tolist(), given, strict=True)
        ]

    return Supporters(ranked(np.abs(values)), ranked(cosines))


def support_items(opened: OpenedModel, places: Array) -> list[Any]:
    """Some of the support items as a user would write each of them; ``None`` where the kernel is precomputed."""
    if opened.machine._model.items is None:
        return [None] * places.size
    found = chosen(opened.machine.support_vectors_, places)
    if sparse.issparse(found):
        names, rows = opened.column_names(found.shape[1]), sparse.csr_array(found)
        return [
            {names[k]: float(rows[[row]].toarray()[0, k]) for k in rows[[row]].indices} for row in range(len(places))
        ]
    if isinstance(found, np.ndarray) and not opened.prepares_rows and hasattr(opened.machine, "feature_names_in_"):
        return [dict(zip(opened.machine.feature_names_in_, row, strict=True)) for row in found.tolist()]
    return _listed(found, opened.machine.kernel_)


def _listed(items: Any, kernel: Kernel) -> list[Any]:
    """Items as a user would write each of them: rows of a table as values by column."""
    if hasattr(items, "columns"):
        return [dict(zip(items.columns, row, strict=True)) for row in items.to_numpy().tolist()]
    if isinstance(items, Parts):
        return [_by_column(items, kernel, place) or _form(items)[place] for place in range(length(items))]
    return list(items)


def _by_column(items: Any, kernel: Kernel, place: int) -> dict[Any, Any]:
    """The values of one item in the columns that a kernel names."""
    if isinstance(kernel, OnColumns):
        value = part_of(items, 0)[place]
        values = value if isinstance(value, (list, np.ndarray)) else [value]
        return {name: plain_label(each) for name, each in zip(kernel.names, values, strict=False)}
    forms = zip(kernel.parts(), kernel.part_items(items), strict=True)
    return {name: value for part, form in forms for name, value in _by_column(form, part, place).items()}


def _form(items: Any) -> Any:
    """The first of the forms that items have in an expression."""
    return _form(items.forms[0]) if isinstance(items, Parts) else items


def nearest_support(
    model: Any, item: Any, *, top: int = 3, where: Callable[[int], str] = training_row
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
        ``"row"``: where it stands, ``"place"``: its number, ``"label"``: its class (``None`` where there are none),
        ``"similarity"``: the cosine in feature space, ``"adds"``: what it adds to the score of the predicted class.
        Empty for a linear model, which keeps no training items.

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
    return [
        {
            "row": where(each.place),
            "place": each.place,
            "label": each.label,
            "similarity": each.similarity,
            "adds": each.value,
        }
        for each in supporters(opened, direction, opened.items(one), top).similar
    ]


def support_lines(model: Any, table: Any) -> list[int | str] | None:
    """The lines of a file at which the support items of a model begin, in their order.

    Parameters
    ----------
    model : fitted estimator
    table : Table
        What it was fitted on.

    Returns
    -------
    list or None
        Numbers, or words where rows are those of a sheet or of several files; ``None`` where the model keeps no
        training items, or the table has no lines.

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
    lines: Any = table.lines
    for layer in layers(model):
        if hasattr(layer, "filter_"):
            lines = lines[layer.filter_.keep(table.X)]
    return lines[fitted.support].tolist()
