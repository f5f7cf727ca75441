"""Why a fitted model says what it says about one item.

Examples
--------
>>> from mercer import SVC
>>> from mercer.explain import explain
>>> from mercer.kernels import Spectrum
>>> model = SVC(Spectrum(p=2), C=10).fit(["abab", "baba", "cdcd", "dcdc"], ["left", "left", "right", "right"])
>>> [push.name for push in explain(model, "abad").features]
["'ab'", "'ba'"]
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.base import is_classifier
from sklearn.utils import check_random_state

from ..checks.labels import plain_label
from ..checks.tables import chosen, is_missing
from ..composition import parts_before
from ..margins import decision_margins
from ..preprocess import ReadColumns
from ..presentation import Markup, table_html, tag
from ..runtime.arrays import Array
from .opened_model import (
    Direction,
    OpenedModel,
    Supporter,
    feature_weights,
    marked_features,
    nearest_support,
    supporters,
    training_row,
)

# What each column of a row does to its score, whatever the model makes of it: beside the values of other rows.
#
# A column is taken away from a row x by giving it the values of other rows instead: f(x) less the mean of f over x with
# the values that some other rows have in that column. It needs no feature that has a name and no typical value, so that
# numbers, words, dates and texts are treated alike.


#: Other rows whose values are tried, and rows scored at once.
_OTHERS, _BLOCK = 50, 5000
#: Smaller changes than this share of a score are rounding.


def column_effects(
    opened: OpenedModel, one: Any, among: Any, direction: Direction, *, random_state: Any = 0
) -> dict[str, float]:
    """By column, how much the score of a row is above its mean over the values that other rows have there.

    Empty where rows have no columns, or are sparse.
    """
    if not opened.takes_columns or sparse.issparse(one) or sparse.issparse(among):
        return {}
    row, others = as_frame(one), as_frame(among)
    names = list(row.columns)
    if list(others.columns) != names:
        others = others[names] if set(names) <= set(others.columns) else others.set_axis(names, axis=1)
    count = min(_OTHERS, len(others))
    drawn = np.sort(check_random_state(random_state).permutation(len(others))[:count])
    others = others.iloc[drawn].reset_index(drop=True)
    base = pd.concat([row] * count, ignore_index=True)
    score = float(opened.scores(one, direction)[0])
    at_once = max(1, _BLOCK // count)
    effects: dict[str, float] = {}
    for begin in range(0, len(names), at_once):
        some = names[begin : begin + at_once]
        tried = pd.concat([_with_column(base, others, name) for name in some], ignore_index=True)
        scores = opened.scores(as_given(tried, among), direction).reshape(len(some), count)
        changes = score - scores.mean(axis=1)
        changes[np.abs(changes) < _ROUNDING * np.abs(scores).max(axis=1)] = 0.0
        effects |= {str(name): float(change) for name, change in zip(some, changes, strict=True)}
    return effects


def _with_column(base: Any, others: Any, name: Any) -> Any:
    changed = base.copy(deep=False)
    changed[name] = others[name]
    return changed


def as_frame(X: Any) -> Any:
    """Rows as a pandas frame, whose columns can be changed one by one."""
    if hasattr(X, "iloc"):
        return X
    return X.to_pandas() if hasattr(X, "to_pandas") else pd.DataFrame(np.asarray(X))


def as_given(frame: Any, like: Any) -> Any:
    """A frame as the user gives rows: an array where those are one."""
    return frame if hasattr(like, "columns") else frame.to_numpy()


#: What to do where a kernel has no features that could be named.
_WITH_OTHER_ROWS = "Give other rows too, among=X, to see what each column does."
#: Smaller parts of a score than this share of its largest are rounding.
_ROUNDING = 1e-12


class Push(NamedTuple):
    """A feature and what it adds to the score."""

    name: str
    value: float


@dataclass(frozen=True)
class Explanation:
    """The score of one item, taken apart. Printing it says what pushes it up and down.

    The score is ``intercept`` plus the values of the features named and the ``rest`` that they leave; it is also
    ``intercept`` plus the values of all training items that the model is made of.

    Attributes
    ----------
    label : object
        The class that the score speaks for (``None`` in a regression): the predicted one, unless another was asked for.
    predicted : object
    score, intercept, rest : float
    features : list of Push
        Largest pushes first; empty where the kernel has no features that can be named.
    deciding : list of Supporter
        The training items that add most to the score, or take most from it.
    similar : list of Supporter
        Those most like the item.
    columns : list of Push
        How much the score is above what it would be on average with the values that other rows have in a column;
        largest first. Empty where no other rows were given (``among``).
    cells : dict
        What the row holds in each column, where columns have names.
    notes : list of str
        What to know about the numbers, in sentences: the unit that a scaler gave them, a threshold other than zero.
    """

    label: Any
    predicted: Any
    score: float
    intercept: float
    rest: float
    features: list[Push]
    deciding: list[Supporter]
    similar: list[Supporter]
    columns: list[Push] = field(default_factory=list)
    cells: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def facts(self) -> dict[str, Any]:
        """Everything as plain dictionaries and lists."""
        plain = {each.name: getattr(self, each.name) for each in fields(self)}
        pushes = {name: [each._asdict() for each in plain[name]] for name in ("features", "columns")}
        items = {name: [each.facts() for each in plain[name]] for name in ("deciding", "similar")}
        return {**plain, **pushes, **items}

    def named(self, push: Push) -> str:
        """A feature or column with what the row holds there, where that is known."""
        if push.name not in self.cells:
            return push.name
        cell = self.cells[push.name]
        return f"{push.name} = {f'{cell:.6g}' if isinstance(cell, float) else cell!s:.60}"

    @property
    def title(self) -> str:
        what = f"score {self.score:+.4g}" + ("" if self.label is None else f" for {self.label!r}")
        said = repr(self.predicted) if self.label is not None else f"{self.predicted:.6g}"
        return f"predicted {said}; {what}, of which {self.intercept:+.4g} is the intercept"

    def __str__(self) -> str:
        lines = [self.title, *self.notes]
        for title, sign in (("pushes up", 1), ("pushes down", -1)):
            pushes = [push for push in self.features if push.value * sign > 0]
            lines += [f"{title}:"] * bool(pushes) + [f"  {push.value:+.4g}  {self.named(push)}" for push in pushes]
        if self.features:
            lines.append(f"all else: {self.rest:+.4g}")
        lines += ["beside other values of the column:"] * bool(self.columns)
        lines += [f"  {push.value:+.4g}  {self.named(push)}" for push in self.columns]
        for title, items in (("training items that decide most:", self.deciding), ("most similar:", self.similar)):
            lines += [title] * bool(items)
            lines += [f"  {each.value:+.4g}  similarity {each.similarity:.3f}  {each.title}" for each in items]
        return "\n".join(lines)

    def _repr_html_(self) -> Markup:
        pushes = [[self.named(push), f"{push.value:+.4g}"] for push in self.features]
        rest = [["all else", f"{self.rest:+.4g}"]] if pushes else []
        heads = ["feature", "adds"] if pushes else ()
        tables = [table_html(self.title, pushes + rest, heads=heads, notes=self.notes)]
        if self.columns:
            rows = [[self.named(push), f"{push.value:+.4g}"] for push in self.columns]
            tables.append(table_html("beside other values of the column", rows, heads=["column", "adds"]))
        for title, items in (("training items that decide most", self.deciding), ("most similar", self.similar)):
            rows = [[each.title, f"{each.similarity:.3f}", f"{each.value:+.4g}"] for each in items]
            tables += [table_html(title, rows, heads=["", "similarity", "adds"])] * bool(rows)
        return tag("div", tables)


def explain(
    model: Any,
    item: Any,
    *,
    label: Any = None,
    top: int = 10,
    among: Any = None,
    names: Sequence[str] | None = None,
    random_state: Any = 0,
) -> Explanation:
    """Take the score of one item apart: by the features of the kernel, by columns, and by the training items.

    Parameters
    ----------
    model : fitted estimator
        A machine of mercer, or a pipeline, search, calibration or threshold around one: features then have the names
        that the steps before the machine give to them.
    item : one row, string, set, graph, or a frame with one row
        A row with columns may also be a row of a frame, or a dict.
    label : object, optional
        The class whose score is explained; the predicted one by default.
    top : int, default=10
        How many features, columns and training items are named.
    among : frame or array, optional
        Other rows, such as the training rows: what each column of the row does is then told by comparison with the
        values that these have in it.
    names : sequence of str, optional
        What the columns of sparse rows are called; x0, x1, … by default.
    random_state : int, RandomState or None, default=0
        Draws some of the other rows where they are many.

    Returns
    -------
    Explanation

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from mercer import SVC
    >>> from mercer.explain import explain
    >>> people = pd.DataFrame({"age": [20, 30, 60, 70], "shoes": [40, 44, 44, 40]})
    >>> model = make_pipeline(StandardScaler(), SVC("linear")).fit(people, ["young", "young", "old", "old"])
    >>> found = explain(model, {"age": 65, "shoes": 40})
    >>> found.predicted, [found.named(push) for push in found.features], found.notes
    ('old', ['age = 65'], ['Each number counts in standard deviations from the mean of its column.'])
    """
    opened = OpenedModel(model, names)
    one = opened.alone(item)
    predicted = opened.predicted(one)
    direction = opened.direction(predicted if label is None else label)
    rows = opened.items(one)
    score = float(opened.scores(one, direction)[0])
    pushes = _pushes(opened, direction.signs, rows)
    named = pushes[:top]
    training = supporters(opened, direction, rows, top)
    unnamed = "" if pushes or among is not None or not opened.takes_columns else _WITH_OTHER_ROWS
    said = (opened.units if pushes else "", opened.threshold, opened.logarithms, opened.pairs, unnamed)
    return Explanation(
        label=direction.label,
        predicted=predicted,
        score=score,
        intercept=direction.intercept,
        rest=_rest(score, direction.intercept, named),
        features=named,
        deciding=training.deciding,
        similar=training.similar,
        columns=[] if among is None else _columns(opened, one, among, direction, random_state)[:top],
        cells=_cells(one),
        notes=list(filter(None, said)),
    )


def _rest(score: float, intercept: float, named: list[Push]) -> float:
    """What features leave of a score; rounding leaves nothing."""
    parts = [score, -intercept, *(-push.value for push in named)]
    rest = math.fsum(parts)
    return rest if abs(rest) > _ROUNDING * max(map(abs, parts)) else 0.0


def _pushes(opened: OpenedModel, signs: Array, rows: Any) -> list[Push]:
    """What each named feature adds: φ(x)·w, for the features that x has; the largest first, of equals by name."""
    own = marked_features(opened, rows)
    weights = None if own is None else feature_weights(opened, signs, own[0])[0]
    if own is None or weights is None:
        return []
    values: dict[str, float] = defaultdict(float)
    for name, value in own[0].items():
        values[name.text] += float(weights[name] * value)
    return _ranked([Push(text, value) for text, value in values.items() if value])


def _columns(opened: OpenedModel, one: Any, among: Any, direction: Any, random_state: Any) -> list[Push]:
    found = column_effects(opened, one, among, direction, random_state=random_state)
    return _ranked([Push(name, value) for name, value in found.items() if value])


def _ranked(pushes: list[Push]) -> list[Push]:
    return sorted(pushes, key=lambda push: (-float(f"{abs(push.value):.9g}"), push.name))


def _cells(one: Any) -> dict[str, Any]:
    """The values of a row whose columns have names."""
    if not hasattr(one, "columns"):
        return {}
    return {str(name): plain_cell(one[name].to_numpy()[0]) for name in one.columns}


def plain_cell(value: Any) -> Any:
    """A cell as a value of Python's own; dates as text."""
    if hasattr(value, "dtype") and value.dtype.kind in "mM":
        return str(value)[:19].removesuffix("T00:00:00")
    return value.item() if hasattr(value, "item") else value


# Which rows a model gets wrong, most of all, and which training items made it so.


#: Columns of a row that are shown, and letters of a cell.
_CELLS, _LETTERS = 12, 120


def _row(place: int) -> str:
    return f"row {place + 1}"


def wrong_rows(
    model: Any,
    X: Any,
    y: Any,
    where: Callable[[int], str] = _row,
    *,
    top: int = 10,
    nearest: int = 3,
    where_trained: Callable[[int], str] = training_row,
    trained_labels: Any = None,
) -> list[dict[str, Any]]:
    """The rows that a fitted model is most wrong about, as plain values.

    Of classes those whose score is farthest on the wrong side; of numbers those whose prediction is farthest off.

    Parameters
    ----------
    model : fitted estimator
    X : frame, array, sparse matrix or collection of strings, sets or graphs
    y : array
        Their true labels or numbers.
    where : callable, optional
        Says where a row of X stands, given its number from 0, such as ``Table.where``.
    top : int, default=10
    nearest : int, default=3
        How many support items are named beside each row.
    where_trained : callable, optional
        As ``where``, for the rows that the model was fitted on.
    trained_labels : array, optional
        The labels or numbers of these rows. By default what the coefficients tell of them.

    Returns
    -------
    list of dict
        ``"row"``, ``"label"``, ``"answer"``, ``"score"`` (how far on the wrong side: of classes the score of the label
        less the best of the others, of numbers the truth less the prediction), ``"cells"`` by column, and
        ``"nearest"``: support items with ``"row"``, ``"label"`` and ``"similarity"``, none for models without such.

    Examples
    --------
    >>> from mercer import SVC
    >>> from mercer.explain import wrong_rows
    >>> model = SVC("gaussian(gamma=1)").fit([[0.0], [1.0], [5.0]], ["near", "near", "far"])
    >>> [(each["row"], each["answer"]) for each in wrong_rows(model, [[0.5], [4.0]], ["near", "near"])]
    [('row 2', 'far')]
    """
    truth = np.asarray(y)
    classes = is_classifier(model)
    margins = _margins(model, X, truth) if classes else -np.abs(truth.astype(np.float64) - model.predict(X))
    answers = np.asarray(model.predict(X))
    wrong = np.flatnonzero(answers != truth)
    worst = wrong[np.argsort(margins[wrong], kind="stable")][:top]
    beside = _nearest(model, nearest, where_trained, trained_labels)
    out = []
    for place in worst.tolist():
        one = chosen(X, np.array([place]))
        score = margins[place] if classes else float(truth[place]) - float(answers[place])
        out.append(
            {
                "row": where(place),
                "label": _plain(truth[place]),
                "answer": _plain(answers[place]),
                "score": float(f"{float(score):.6g}"),
                "cells": _cells_of(one),
                "nearest": beside(one),
            }
        )
    return out


def _margins(model: Any, X: Any, truth: Array) -> Array:
    """The score of each row's label less the best of the others; of models without scores, of their probabilities."""
    numbers = {label: k for k, label in enumerate(model.classes_.tolist())}
    codes = np.array([numbers.get(label, 0) for label in truth.tolist()])
    if hasattr(model, "decision_function"):
        return np.asarray(decision_margins(model.decision_function(X), codes))
    if hasattr(model, "predict_proba"):
        likely = np.asarray(model.predict_proba(X))
        return np.asarray(decision_margins(likely if likely.shape[1] > 2 else likely[:, 1] - likely[:, 0], codes))
    return np.where(np.asarray(model.predict(X)) == truth, 1.0, -1.0)


def _nearest(model: Any, count: int, where: Callable[[int], str], labels: Any) -> Callable[[Any], list[dict[str, Any]]]:
    """What tells the support items that are most like a row; nothing where a model has none."""
    try:
        opened = OpenedModel(model)
    except (TypeError, ValueError):
        return lambda one: []
    structured = not opened.takes_columns and not opened.machine.kernel_.on_rows

    def found(one: Any) -> list[dict[str, Any]]:
        near = nearest_support(model, one[0] if structured else one, top=count, where=where)
        return [
            {
                "row": each["row"],
                "label": _plain(each["label"] if labels is None else labels[each["place"]]),
                "similarity": float(f"{each['similarity']:.4g}"),
            }
            for each in near
        ]

    return found


def _cells_of(one: Any) -> dict[str, Any]:
    if hasattr(one, "columns"):
        names = list(one.columns)[:_CELLS]
        return {str(name): _plain(plain_cell(one[name].to_numpy()[0])) for name in names}
    if hasattr(one, "toarray"):
        row = one.toarray()[0]
        return {f"x{k + 1}": _plain(row[k]) for k in np.flatnonzero(row)[:_CELLS]}
    if isinstance(one, np.ndarray) and one.ndim == 2:
        return {f"x{k}": _plain(value) for k, value in enumerate(one[0, :_CELLS])}
    return {"item": _plain(one[0])}


def _plain(value: Any) -> Any:
    """A value of JSON's kinds: numbers to six digits, everything else as a text that is not endless."""
    value = plain_label(value)
    if is_missing(value):
        return None
    if isinstance(value, (bool, int)):
        return value
    if isinstance(value, float):
        return float(f"{value:.6g}") if np.isfinite(value) else None
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= _LETTERS else text[: _LETTERS - 1] + "…"


# Values of new rows far outside of what a model was trained on, where its predictions are guesses.


#: A value is far outside where it is beyond the training range by more than this share of the range's width.
_BEYOND = 0.5


class FarValue(NamedTuple):
    """A value, the place of its row, and the smallest and largest value of its column in training."""

    row: int
    column: str
    value: float
    low: float
    high: float


def far_values(model: Any, X: Any) -> list[FarValue]:
    """The numbers of new rows that are far outside the training range of their column.

    That is beyond the smallest or largest training value by more than half of what lies between these two. Models know
    no such rows, and what they predict there is a guess.

    Parameters
    ----------
    model : fitted estimator
        A :class:`mercer.TableClassifier` or :class:`mercer.TableRegressor`, or a pipeline that
        :func:`mercer.preprocess.pipeline` has made.
    X : frame or array of new rows

    Returns
    -------
    list of FarValue
        Those furthest outside first; none where the model does not remember ranges.

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer import TableRegressor
    >>> from mercer.explain import far_values
    >>> stones = pd.DataFrame({"width": [4.1, 5.2, 6.0, 7.3], "depth": [61.0, 60.5, 62.5, 59.0]})
    >>> model = TableRegressor().fit(stones, [400, 700, 1200, 2100])
    >>> far_values(model, pd.DataFrame({"width": [5.0, 31.8], "depth": [61.0, 61.0]}))
    [FarValue(row=1, column='width', value=31.8, low=4.1, high=7.3)]
    """
    reading = next((part for part, _ in parts_before(model) if isinstance(part, ReadColumns)), None)
    ranges = getattr(reading, "ranges_", {})
    if reading is None or not ranges:
        return []
    rows = reading.transform(X)
    found = []
    for name, (low, high) in ranges.items():
        values = rows[name].to_numpy() if hasattr(rows, "columns") else rows[:, [*reading.kinds].index(name)]
        beyond = np.maximum(low - values, values - high)
        for row in np.flatnonzero(beyond > _BEYOND * (high - low)).tolist():
            share = beyond[row] / (high - low) if high > low else np.inf
            found.append((share, FarValue(row, name, float(values[row]), low, high)))
    return [far for _, far in sorted(found, key=lambda each: (-each[0], each[1].row))]
