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
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from typing import Any, NamedTuple

from .._presentation.html import Markup, table_html, tag
from .._runtime.compile import Array
from .column_effects import column_effects
from .named_weights import feature_weights, marked_features
from .opened_model import OpenedModel
from .support_items import Supporter, supporters

__all__ = ["Explanation", "Push", "Supporter", "explain"]


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
