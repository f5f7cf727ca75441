"""Weights of features that have names: substrings, words, items, subtrees, columns.

A kernel machine has w = Σⱼ zⱼφ(xⱼ) over its support items. Where the features of the kernel have names, w can be read.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from typing import Any

import numpy as np

from .._runtime.compile import Array
from ..estimators.model import LinearModel
from ..kernels.readable import InColumns, Name
from .opened_model import OpenedModel

__all__ = ["feature_values", "feature_weights"]

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

    Parameters
    ----------
    opened : OpenedModel
    signs : array
        How much each score of the machine counts.
    wanted : collection of Name, optional
        These features only.

    Returns
    -------
    dict or None, int
        ``None`` where the features of the kernel have no names.
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
