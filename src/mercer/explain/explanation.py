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

from collections import defaultdict
from dataclasses import dataclass, fields
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from .._presentation.html import Markup, table_html, tag
from .._runtime.compile import Array
from ..estimators.base import KernelMachine
from ..estimators.model import KernelModel, LinearModel

__all__ = ["Explanation", "Push", "Supporter", "explain"]


class Push(NamedTuple):
    """A feature and what it adds to the score."""

    name: str
    value: float


class Supporter(NamedTuple):
    """A training item, how similar it is (as a cosine), and what it adds to the score."""

    place: int
    item: Any
    similarity: float
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
    """

    label: Any
    predicted: Any
    score: float
    intercept: float
    rest: float
    features: list[Push]
    deciding: list[Supporter]
    similar: list[Supporter]

    def facts(self) -> dict[str, Any]:
        """Everything as plain dictionaries and lists."""
        plain = {each.name: getattr(self, each.name) for each in fields(self)}
        lists = {name: [each._asdict() for each in plain[name]] for name in ("features", "deciding", "similar")}
        return {**plain, **lists}

    @property
    def _title(self) -> str:
        what = f"score {self.score:+.4g}" + ("" if self.label is None else f" for {self.label!r}")
        return f"predicted {self.predicted!r}; {what}, of which {self.intercept:+.4g} is the intercept"

    def __str__(self) -> str:
        lines = [self._title]
        for title, sign in (("pushes up", 1), ("pushes down", -1)):
            pushes = [push for push in self.features if push.value * sign > 0]
            lines += [f"{title}:"] * bool(pushes) + [f"  {push.value:+.4g}  {push.name}" for push in pushes]
        if self.features:
            lines.append(f"all else: {self.rest:+.4g}")
        for title, items in (("training items that decide most:", self.deciding), ("most similar:", self.similar)):
            lines += [title] * bool(items)
            lines += [
                f"  {each.value:+.4g}  similarity {each.similarity:.3f}  item {each.place}: {each.item!r:.70}"
                for each in items
            ]
        return "\n".join(lines)

    def _repr_html_(self) -> Markup:
        pushes = [[push.name, f"{push.value:+.4g}"] for push in self.features]
        rest = [["all else", f"{self.rest:+.4g}"]] if pushes else []
        tables = [table_html(self._title, pushes + rest, heads=["feature", "adds"] if pushes else ())]
        for title, items in (("training items that decide most", self.deciding), ("most similar", self.similar)):
            rows = [[f"item {e.place}", f"{e.item!r:.70}", f"{e.similarity:.3f}", f"{e.value:+.4g}"] for e in items]
            tables += [table_html(title, rows, heads=["", "item", "similarity", "adds"])] * bool(rows)
        return tag("div", tables)


def explain(model: Any, item: Any, *, label: Any = None, top: int = 10) -> Explanation:
    """Take the score of one item apart: by the features of the kernel, and by the training items.

    Parameters
    ----------
    model : fitted estimator of mercer
    item : one row, string, set, graph, or a frame with one row
    label : object, optional
        The class whose score is explained; the predicted one by default.
    top : int, default=10
        How many features and training items are named.

    Returns
    -------
    Explanation
    """
    if not isinstance(model, KernelMachine):
        raise TypeError(f"explain takes a fitted machine of mercer, got {type(model).__name__}.")
    check_is_fitted(model, "_model")
    if getattr(model, "variant", "") == "voted":
        raise ValueError("a vote of many models has no single score to explain; fit with variant='averaged'.")
    scores = model._model.intercept.size
    if scores > 1 and not hasattr(model, "classes_"):
        raise ValueError(f"explain takes one prediction apart, and this model makes {scores} for a row; fit one alone.")
    one = _alone(model, item)
    predicted = model.predict(one)[0].item()
    label, signs = _direction(model, predicted if label is None else label)
    fitted: LinearModel | KernelModel = model._model
    rows = model.read_items(one, model.kernel_)
    intercept = float(signs @ fitted.intercept)
    if isinstance(fitted, LinearModel):
        pushes = _of_columns(model, signs @ fitted.coef, rows)
        score = intercept + sum(push.value for push in pushes)
        supporters: list[Supporter] = []
    else:
        coefficients = signs @ fitted.coef
        similarities = fitted.similarities(rows, slice(0, 1))[0].astype(np.float64)
        score = intercept + float(coefficients @ similarities)
        pushes = _of_features(fitted, coefficients, rows)
        supporters = _supporters(model, fitted, coefficients, similarities, rows)
    pushes.sort(key=lambda push: (-float(f"{abs(push.value):.9g}"), push.name))  # of equals, the first by name
    named = pushes[:top]
    return Explanation(
        label=label,
        predicted=predicted,
        score=score,
        intercept=intercept,
        rest=score - intercept - sum(push.value for push in named),
        features=named,
        deciding=sorted(supporters, key=lambda each: -abs(each.value))[:top],
        similar=sorted(supporters, key=lambda each: -each.similarity)[:top],
    )


def _alone(model: Any, item: Any) -> Any:
    """A collection of this item only."""
    if hasattr(item, "columns") or sparse.issparse(item):
        if item.shape[0] != 1:
            raise ValueError(f"explain takes one item; this table has {item.shape[0]} rows.")
        return item
    kernel = model.kernel_
    if kernel.on_rows:
        rows = np.atleast_2d(np.asarray(item))
        if rows.shape[0] != 1:
            raise ValueError(f"explain takes one item; this array has {rows.shape[0]} rows.")
        return rows
    return [item]


def _direction(model: Any, label: Any) -> tuple[Any, Array]:
    """The class, and how each machine of the model counts for it: for (+1), against (−1) or not at all (0)."""
    if not hasattr(model, "classes_"):
        return None, np.ones(1)
    classes = model.classes_.tolist()
    if label not in classes:
        raise ValueError(f"the model knows no class {label!r}; its classes are {', '.join(map(repr, classes))}.")
    position, machines = classes.index(label), model._model.intercept.size
    if len(classes) == 2:
        return label, np.array([1.0 if position else -1.0])
    if machines == len(classes) and getattr(model, "strategy", "ovr") == "ovr":
        return label, np.eye(machines)[position]
    pairs = combinations(range(len(classes)), 2)
    return label, np.array([(second == position) - (first == position) for first, second in pairs], dtype=np.float64)


def _of_columns(model: Any, weights: Array, rows: Any) -> list[Push]:
    """What each column adds to the score of a linear model."""
    values = weights * (rows.toarray() if sparse.issparse(rows) else rows)[0]
    names = getattr(model, "feature_names_in_", [f"x{k}" for k in range(values.size)])
    return [Push(str(name), float(value)) for name, value in zip(names, values, strict=True) if value]


def _of_features(fitted: KernelModel, coefficients: Array, rows: Any) -> list[Push]:
    """What each named feature adds: φ(x)·w with w = Σⱼ zⱼφ(xⱼ), for the features that x has."""
    own = None if fitted.items is None else fitted.kernel.named_features(rows)
    theirs = None if own is None else fitted.kernel.named_features(fitted.items)
    if own is None or theirs is None:
        return []
    weights = dict.fromkeys(own[0], 0.0)
    for z, features in zip(coefficients, theirs, strict=True):
        for name in weights.keys() & features.keys():
            weights[name] += z * features[name]
    values: dict[str, float] = defaultdict(float)
    for name, weight in weights.items():
        values[name.text] += float(weight * own[0][name])
    return [Push(text, value) for text, value in values.items() if value]


def _supporters(
    model: Any, fitted: KernelModel, coefficients: Array, similarities: Array, rows: Any
) -> list[Supporter]:
    if fitted.items is None:  # a precomputed kernel does not say how long items are
        cosines, items = similarities, [None] * similarities.size
    else:
        lengths = np.sqrt(fitted.kernel.diag(fitted.items).astype(np.float64) * float(fitted.kernel.diag(rows)[0]))
        cosines = np.divide(similarities, lengths, out=np.zeros_like(similarities), where=lengths > 0)
        items = _listed(model.support_vectors_)
    values = coefficients * similarities
    return [
        Supporter(int(place), item, float(cosine), float(value))
        for place, item, cosine, value in zip(fitted.support, items, cosines, values, strict=True)
    ]


def _listed(items: Any) -> list[Any]:
    if hasattr(items, "columns"):
        return [dict(zip(items.columns, row, strict=True)) for row in items.to_numpy().tolist()]
    return items.toarray().tolist() if sparse.issparse(items) else list(items)
