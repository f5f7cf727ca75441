"""A fitted model opened up: the machine inside, the rows as they reach it, and what its scores speak for.

A pipeline, a search, a calibration or a tuned threshold around a machine leaves its scores as they are: what is said
about them is said about the whole.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.compose import TransformedTargetRegressor
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, OneHotEncoder, StandardScaler
from sklearn.utils.validation import check_is_fitted

from ..checks.labels import plain_label
from ..checks.tables import chosen, is_missing
from ..composition import feature_names, layers, machine_of, parts_before, rows_at_machine, steps_before
from ..estimators.base import KernelMachine
from ..estimators.model import KernelModel, LinearModel
from ..kernels import Kernel
from ..kernels.columns import OnColumns
from ..kernels.engine.tiles import Parts, length, part_of
from ..kernels.text_form import InColumns, Name
from ..preprocess.numbers import Standardised
from ..runtime.arrays import Array

# What the features that reach a machine are called, in the words of the user's table.


_MISSING = "missingindicator_"


def feature_words(model: Any) -> list[str]:
    """The names of the features that reach the machine of a fitted model; none where they have no names.

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer import SVC
    >>> from mercer import read
    >>> from mercer.preprocess import pipeline
    >>> table = read(pd.DataFrame({"age": [31, None, 54], "job": ["cook", None, "smith"], "ill": [0, 0, 1]}))
    >>> feature_words(pipeline(table, SVC()).fit(table.X, table.y))
    ['age', 'age is missing', 'job = cook', 'job = smith', 'job is missing']
    """
    known: dict[str, str] = {}
    for part, _ in parts_before(model):
        if isinstance(part, OneHotEncoder) and hasattr(part, "feature_names_in_"):
            for column, words in zip(part.feature_names_in_, part.categories_, strict=True):
                known |= {f"{column}_{word}": f"{column} = {word}" for word in words if not is_missing(word)}
                known |= {f"{column}_{word}": f"{column} is missing" for word in words if is_missing(word)}
                known[f"{column}_infrequent_sklearn"] = f"{column} is a rare word"
    return [
        f"{name.removeprefix(_MISSING)} is missing" if name.startswith(_MISSING) else known.get(name, name)
        for name in feature_names(model)
    ]


#: What a number counts in once a scaler has seen it.
_UNITS = {
    StandardScaler: "in standard deviations from the mean of its column",
    Standardised: "in standard deviations from the mean of its column",
    MinMaxScaler: "from 0, the smallest of its column, to 1, the largest",
    MaxAbsScaler: "as a share of the largest of its column",
}


class Direction(NamedTuple):
    """A class, how much each score of a machine counts for it, and what is added to their sum.

    ``label`` is ``None`` where numbers are predicted, or outliers.
    """

    label: Any
    signs: Array
    intercept: float


class OpenedModel:
    """A fitted model and the machine in it; ``names`` are those of the columns that reach it, where rows do not tell.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from mercer import SVC
    >>> model = make_pipeline(StandardScaler(), SVC("linear")).fit([[0.0], [1.0]], ["no", "yes"])
    >>> OpenedModel(model).units
    'Each number counts in standard deviations from the mean of its column.'
    """

    def __init__(self, model: Any, names: Sequence[str] | None = None) -> None:
        if hasattr(model, "fit"):
            check_is_fitted(model)
        machine = machine_of(model)
        if not isinstance(machine, KernelMachine):
            raise TypeError(
                f"explain takes a fitted machine of mercer, or a pipeline or search around one; got "
                f"{type(machine).__name__}."
            )
        check_is_fitted(machine, "_model")
        if getattr(machine, "variant", "") == "voted":
            raise ValueError("a vote of many models has no single score to explain; fit with variant='averaged'.")
        if not hasattr(machine, "predict"):
            raise ValueError(
                f"explain takes a prediction apart, and {type(machine).__name__} predicts nothing: it makes "
                f"{machine.answers} of items."
            )
        scores = machine._model.intercept.size
        if scores > 1 and not hasattr(machine, "classes_"):
            raise ValueError(
                f"explain takes one prediction apart, and this model makes {scores} for a row; fit one alone."
            )
        if getattr(machine, "multilabel_", False):
            raise ValueError("explain takes one label of a row apart, and this model gives it many; fit one alone.")
        self.model, self.machine, self.names = model, machine, names

    @property
    def takes_columns(self) -> bool:
        """Whether a row is given as values of columns, rather than as a string, a set or a graph."""
        kernel = self.machine.kernel_
        return bool(steps_before(self.model)) or (kernel.on_rows and not kernel.precomputed) or _binds_columns(kernel)

    @property
    def prepares_rows(self) -> bool:
        """Whether steps before the machine have made the numbers that it sees."""
        return bool(steps_before(self.model)) and self.machine.kernel_.on_rows

    def alone(self, item: Any) -> Any:
        """A collection of this item only."""
        if self.takes_columns and isinstance(item, Mapping):
            import pandas as pd

            return pd.DataFrame([dict(item)])
        if self.takes_columns and hasattr(item, "to_frame") and not hasattr(item, "columns"):
            return item.to_frame().T.infer_objects()  # a row of a frame
        if hasattr(item, "columns") or sparse.issparse(item):
            if item.shape[0] != 1:
                raise ValueError(f"explain takes one item; this table has {item.shape[0]} rows.")
            return item
        if self.takes_columns or self.machine.kernel_.on_rows:
            words = any(isinstance(value, str) for value in np.ravel(np.asarray(item, dtype=object)))
            rows = np.atleast_2d(np.asarray(item, dtype=object if words else None))
            if rows.shape[0] != 1:
                raise ValueError(f"explain takes one item; this array has {rows.shape[0]} rows.")
            return rows
        return [item]

    def items(self, X: Any) -> Any:
        """The user's rows as the kernel takes them."""
        return self.machine.read_items(rows_at_machine(self.model, X), self.machine.kernel_)

    def column_names(self, count: int) -> list[str]:
        """The names of the columns that reach the machine; x0, x1, … where nobody has given them any."""
        if self.names is not None and len(self.names) == count:
            return list(self.names)
        known = feature_words(self.model)
        if not known and not steps_before(self.model):
            known = [str(name) for name in getattr(self.machine, "feature_names_in_", [])]
        return known if len(known) == count else [f"x{k}" for k in range(count)]

    @property
    def units(self) -> str:
        """In what a number counts that a scaler has seen, as a sentence; empty where it counts as it is."""
        parts = [part for part, _ in parts_before(self.model)]
        found = next((words for part in parts for kind, words in _UNITS.items() if isinstance(part, kind)), None)
        return "" if found is None else f"Each number counts {found}."

    @property
    def logarithms(self) -> str:
        """That scores are logarithms of predictions, as a sentence; empty where they are not."""
        if not any(isinstance(layer, TransformedTargetRegressor) for layer in layers(self.model)):
            return ""
        return "The score is the logarithm of the prediction: what is added to one multiplies the other."

    @property
    def threshold(self) -> str:
        """At which score another class is answered, as a sentence; empty where that is zero."""
        for layer in layers(self.model):
            if hasattr(layer, "best_threshold_"):
                second = plain_label(self.machine.classes_[1])
                return f"{second!r} is answered from a score of {layer.best_threshold_:.4g} for it, not from 0."
        return ""

    @property
    def pairs(self) -> str:
        """That a score sums those of pairs of classes, as a sentence; empty where it does not."""
        classes, scores = getattr(self.machine, "classes_", ()), self.machine._model.intercept.size
        if len(classes) <= 2 or getattr(self.machine, "strategy", "ovr") == "ovr":
            return ""
        return f"The score of a class sums those of {len(classes) - 1} of {scores} machines for pairs of classes."

    def predicted(self, one: Any) -> Any:
        """The prediction for one item, as a value of Python's own."""
        return plain_label(self.model.predict(one)[0])

    def direction(self, label: Any) -> Direction:
        """How each score of the machine counts for a class: for it (+1), against it (−1) or not at all (0)."""
        machine, intercepts = self.machine, self.machine._model.intercept
        if not hasattr(machine, "classes_"):
            times, _, plus = machine.decision_terms
            return Direction(None, np.array([times]), times * float(intercepts[0]) + plus)
        classes = machine.classes_.tolist()
        if label not in classes:
            raise ValueError(f"the model knows no class {label!r}; its classes are {', '.join(map(repr, classes))}.")
        position, scores = classes.index(label), intercepts.size
        if len(classes) == 2:
            signs = np.array([1.0 if position else -1.0])
        elif not self.pairs:
            signs = np.eye(scores)[position]
        else:
            pairs = combinations(range(len(classes)), 2)
            signs = np.array([(second == position) - (first == position) for first, second in pairs], dtype=np.float64)
        return Direction(label, signs, float(signs @ intercepts))

    def scores(self, X: Any, direction: Direction) -> Array:
        """The score of each of the user's rows for a class, or what a regressor or a detector says of it."""
        machine = self.machine
        if machine.decision_terms[1]:
            return machine.decision_function(rows_at_machine(self.model, X))
        return machine._model.scores(self.items(X), machine.memory) @ direction.signs


def _binds_columns(kernel: Any) -> bool:
    return isinstance(kernel, OnColumns) or any(_binds_columns(part) for part in kernel.parts())


# Weights of features that have names: substrings, words, items, subtrees, columns.
#
# A kernel machine has w = Σⱼ zⱼφ(xⱼ) over its support items. Where the features of the kernel have names, w can be
# read.


#: Items whose features are listed at once, and features listed before the support items that count least are left out.
_AT_ONCE, _MOST = 64, 4_000_000


def feature_values(opened: OpenedModel, items: Any) -> list[dict[str, float]] | None:
    """For each item its features by name, the values of those of one name added up; ``None`` where they have no names.

    Examples
    --------
    >>> from mercer import SVC
    >>> from mercer.kernels import Spectrum
    >>> opened = OpenedModel(SVC(Spectrum(p=2)).fit(["abab", "cdcd"], ["left", "right"]))
    >>> feature_values(opened, opened.items(["abd"]))
    [{"'ab'": 1.0, "'bd'": 1.0}]
    """
    return _added_up(marked_features(opened, items))


def _added_up(features: list[dict[Name, float]] | None) -> list[dict[str, float]] | None:
    if features is None:
        return None
    out = []
    for each in features:
        values: dict[str, float] = defaultdict(float)
        for name, value in each.items():
            values[name.text] += value
        out.append(dict(values))
    return out


def marked_features(opened: OpenedModel, items: Any) -> list[dict[Name, float]] | None:
    """For each item its features, those of one name in several parts of a kernel apart."""
    fitted = opened.machine._model
    if isinstance(fitted, LinearModel):
        features: Any = LinearModel.kernel.named_features(items)
    elif fitted.items is None:
        return None
    else:
        features = fitted.kernel.named_features(items)
    if features is None or not fitted.kernel.on_rows:
        return features
    names = opened.column_names(items.shape[1])
    return [{Name(_by_columns(name, names), name.mark): value for name, value in each.items()} for each in features]


def _by_columns(name: Name, names: list[str]) -> str:
    """A feature of rows of numbers by the names of its columns: a product has several, one from each factor."""
    return " and ".join(mark.text(names) for mark in _columns_in(name.mark)) or name.text


def _columns_in(mark: Any) -> Iterator[InColumns]:
    if isinstance(mark, InColumns):
        yield mark
    elif isinstance(mark, tuple):
        for part in mark:
            yield from _columns_in(part)


def feature_weights(
    opened: OpenedModel, signs: Array, wanted: Collection[Name] | None = None
) -> tuple[dict[Name, float] | None, int]:
    """w by the name of each feature, and how many support items are left out of it because there are too many.

    ``signs`` are how much each score of the machine counts, ``wanted`` the only features that are asked for. There are
    no weights (``None``) where the features of the kernel have no names.
    """
    fitted = opened.machine._model
    coefficients = signs @ fitted.coef
    if isinstance(fitted, LinearModel):
        names = [InColumns.name([(k, "")]) for k in range(coefficients.size)]
        texts = opened.column_names(coefficients.size)
        found = {Name(text, name.mark): float(w) for text, name, w in zip(texts, names, coefficients, strict=True)}
        return (found if wanted is None else {name: found[name] for name in wanted}), 0
    weights: dict[Name, float] = defaultdict(float) if wanted is None else dict.fromkeys(wanted, 0.0)
    heaviest = np.argsort(-np.abs(coefficients), kind="stable")
    listed = 0
    for begin in range(0, heaviest.size, _AT_ONCE):
        some = heaviest[begin : begin + _AT_ONCE]
        if fitted.items is None or (features := marked_features(opened, fitted.items[some])) is None:
            return None, 0
        for z, each in zip(coefficients[some], features, strict=True):
            for name in each if wanted is None else weights.keys() & each.keys():
                weights[name] += z * each[name]
            listed += len(each)
        if listed > _MOST:
            return weights, int(heaviest.size - begin - some.size)
    return weights, 0


# The training items that a kernel machine is made of: which class each is of, and which are like a new one.


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
    where that leaves a doubt, as it may in a model that is not converged, the class is ``None``. A squared loss rises
    beyond its target, so that scores have to tell as well (:func:`_on_squared_loss`). Landmarks are of no class: they
    stand for all items.

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
    if not hasattr(machine, "classes_") or getattr(machine, "rank", None) is not None:
        return [None] * coef.shape[1]
    classes = [plain_label(label) for label in machine.classes_]
    if getattr(machine, "has_squared_loss", False):
        if machine._model.items is None:
            return [None] * coef.shape[1]
        coef = _on_squared_loss(coef, machine._model.scores(machine._model.items, machine.memory).T)
    if len(classes) == 2:
        return [classes[int(z > 0)] for z in coef[0]]
    if not opened.pairs:
        return [None if k is None else classes[k] for k in _own_class(machine, coef)]
    votes = np.zeros((len(classes), coef.shape[1]))
    for z, (first, second) in zip(coef, combinations(range(len(classes)), 2), strict=True):
        votes[second] += z > 0
        votes[first] += z < 0
    return [classes[k] for k in votes.argmax(axis=0)]


def _on_squared_loss(coef: Array, scores: Array) -> Array:
    """1 where an item's target is 1, else −1, of coefficients z and scores f.

    z = w·(y − f)/λn, with the weight w of the item. Where f is between both targets the sign of z tells y, and such
    items tell w/λn, which is the same for all rows of a class. Beyond them each target would have made another z, and
    the nearer one made it.
    """
    targets = np.sign(scores)
    for z, f, y in zip(coef, scores, targets, strict=True):
        between = np.abs(f) < 1
        y[between] = np.where(z[between] > 0, 1, -1)
        rates = [np.median(z[own] / (side - f[own])) for side in (1, -1) if (own := between & (y == side)).any()]
        if rates:
            up, down = (np.abs(z - rate * (side - f)) for rate, side in ((rates[0], 1), (rates[-1], -1)))
            y[~between] = np.where(up < down, 1, -1)[~between]
    return targets


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
