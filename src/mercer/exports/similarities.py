"""The formula of a kernel between a row and the support rows of a model.

Kernels that are functions of one statistic say it themselves: their ``apply`` is given a symbol in the place of
numbers. The others are rules that join the formulas of their parts.
"""

from __future__ import annotations

from functools import singledispatch
from typing import Any

import numpy as np

from .._runtime.compile import Array
from ..io.table import DataError
from ..kernels import Equal, Kernel, Mixture, Normalised, OfStatistic, Power, Product, Quadratic, ScaledColumns, Sum
from ..kernels import Scaled as ScaledKernel
from ..kernels.categories import AGREEMENT, Categories
from ..kernels.engine.parts import part_of
from ..kernels.engine.statistics import DISTANCE, DOT, MANHATTAN, SQUARED_DISTANCE
from ..kernels.on_columns import OnColumns
from ..kernels.symbols import Symbol, Untraceable, traced
from .computation import Node, OfSupport, Own, Pair, numbers_of
from .input_columns import Cells, Inputs
from .nodes import Beside, Linear, Scaled

__all__ = ["own_similarity", "similarity"]

_STATISTICS = {DOT: "dot", SQUARED_DISTANCE: "squared_distance", DISTANCE: "distance", MANHATTAN: "manhattan"}

Given = Node | Cells


def _refusal(kernel: Any, reason: str = "") -> DataError:
    return DataError(
        f"the kernel {kernel} cannot be exported: {reason}kernels on rows of numbers and on categories can, if they "
        "are functions of dot products or distances, and sums, products and powers of such, normalised or on columns; "
        "keep this model as a model file (mercer.save)."
    )


def _traced(kernel: OfStatistic, leaf: Any) -> Symbol:
    """The formula that a kernel makes of its statistic."""
    start: Any = Symbol("leaf", leaf)
    try:
        found: Any = traced(kernel.apply, start)
    except Untraceable as error:
        raise _refusal(kernel, f"{error}; ") from None
    if not isinstance(found, Symbol):
        raise _refusal(kernel)
    return found


@singledispatch
def similarity(kernel: Kernel, given: Given, items: Any, inputs: Inputs) -> Symbol:
    """The formula of k(x, z) for a row x of the input and the support items z."""
    raise _refusal(kernel)


@similarity.register
def _(kernel: OfStatistic, given: Given, items: Any, inputs: Inputs) -> Symbol:
    if kernel.statistic is AGREEMENT:
        levels, codes = _categories(given, items, inputs)
        if isinstance(kernel, Equal):
            return Symbol("leaf", Pair("equal", levels, codes))
        return _traced(kernel, Pair("agreement", levels, codes))
    if kernel.statistic not in _STATISTICS:
        raise _refusal(kernel)
    rows, statistic = inputs.rows(given), _STATISTICS[kernel.statistic]
    _, leaf = inputs.once((statistic, rows, id(items)), lambda: (items, Pair(statistic, rows, numbers_of(items))))
    return _traced(kernel, leaf)


def _categories(given: Given, items: Categories, inputs: Inputs) -> tuple[Node, Array]:
    """The numbers of the categories of a row, and of the support items."""
    if not isinstance(given, Cells):
        raise DataError("a kernel on categories sees columns as they are; this one comes after steps that change them.")
    columns = zip(given.cells, items.levels, strict=True)
    return Beside(tuple(inputs.level(cell, list(known)) for cell, known in columns)), numbers_of(items.codes)


@similarity.register
def _(kernel: OnColumns, given: Given, items: Any, inputs: Inputs) -> Symbol:
    return similarity(kernel.kernel, inputs.chosen(given, kernel.names), part_of(items, 0), inputs)


@similarity.register
def _(kernel: Sum, given: Given, items: Any, inputs: Inputs) -> Symbol:
    left = similarity(kernel.left, given, part_of(items, 0), inputs)
    return left + similarity(kernel.right, given, part_of(items, 1), inputs)


@similarity.register
def _(kernel: Product, given: Given, items: Any, inputs: Inputs) -> Symbol:
    left = similarity(kernel.left, given, part_of(items, 0), inputs)
    return left * similarity(kernel.right, given, part_of(items, 1), inputs)


@similarity.register
def _(kernel: ScaledKernel, given: Given, items: Any, inputs: Inputs) -> Symbol:
    return float(kernel.scale) * similarity(kernel.kernel, given, items, inputs)


@similarity.register
def _(kernel: Power, given: Given, items: Any, inputs: Inputs) -> Symbol:
    return similarity(kernel.kernel, given, items, inputs) ** int(kernel.exponent)


@similarity.register
def _(kernel: Normalised, given: Given, items: Any, inputs: Inputs) -> Symbol:
    value = similarity(kernel.kernel, given, items, inputs)
    value = value * Symbol("leaf", OfSupport(numbers_of(kernel._inverse_lengths(items))))
    own = own_similarity(kernel.kernel, given, items, inputs)
    if isinstance(own, Symbol):
        return value * Symbol("inverse_length", own)
    return value * (1 / np.sqrt(own) if own > 0 else 0.0)


@similarity.register
def _(kernel: Mixture, given: Given, items: Any, inputs: Inputs) -> Symbol:
    terms = [
        factor * similarity(each, given, kernel._part(items, place), inputs) for place, each, factor in kernel._active()
    ]
    if not terms:
        raise _refusal(kernel)
    return sum(terms[1:], terms[0])


@similarity.register
def _(kernel: Quadratic, given: Given, items: Any, inputs: Inputs) -> Symbol:
    rows, directions = inputs.rows(given), numbers_of(kernel.features(np.eye(len(kernel.B))))
    mapped = Linear(rows, directions, np.zeros(directions.shape[1]))
    return Symbol("leaf", Pair("dot", mapped, numbers_of(kernel.features(items))))


@similarity.register
def _(kernel: ScaledColumns, given: Given, items: Any, inputs: Inputs) -> Symbol:
    return similarity(kernel.kernel, _weighted(kernel, given, inputs), kernel.part_items(items)[0], inputs)


def _weighted(kernel: ScaledColumns, given: Given, inputs: Inputs) -> Node:
    weights = np.asarray(kernel.weights, dtype=np.float64)
    return Scaled(inputs.rows(given), np.zeros(weights.size), weights, np.zeros(weights.size))


# -- of a row with itself -----------------------------------------------------------------------------------------


@singledispatch
def own_similarity(kernel: Kernel, given: Given, items: Any, inputs: Inputs) -> Any:
    """The formula of k(x, x); a number where it is the same for all rows."""
    raise _refusal(kernel)


@own_similarity.register
def _(kernel: OfStatistic, given: Given, items: Any, inputs: Inputs) -> Any:
    if kernel.statistic is DOT:
        return _traced(kernel, Own(inputs.rows(given)))
    if kernel.statistic is not AGREEMENT and kernel.statistic not in _STATISTICS:
        raise _refusal(kernel)
    return float(kernel.diag(items[:1])[0])  # of a distance of nothing, or of categories that are the same


@own_similarity.register
def _(kernel: OnColumns, given: Given, items: Any, inputs: Inputs) -> Any:
    return own_similarity(kernel.kernel, inputs.chosen(given, kernel.names), part_of(items, 0), inputs)


@own_similarity.register
def _(kernel: Sum, given: Given, items: Any, inputs: Inputs) -> Any:
    left = own_similarity(kernel.left, given, part_of(items, 0), inputs)
    return left + own_similarity(kernel.right, given, part_of(items, 1), inputs)


@own_similarity.register
def _(kernel: Product, given: Given, items: Any, inputs: Inputs) -> Any:
    left = own_similarity(kernel.left, given, part_of(items, 0), inputs)
    return left * own_similarity(kernel.right, given, part_of(items, 1), inputs)


@own_similarity.register
def _(kernel: ScaledKernel, given: Given, items: Any, inputs: Inputs) -> Any:
    return float(kernel.scale) * own_similarity(kernel.kernel, given, items, inputs)


@own_similarity.register
def _(kernel: Power, given: Given, items: Any, inputs: Inputs) -> Any:
    return own_similarity(kernel.kernel, given, items, inputs) ** int(kernel.exponent)


@own_similarity.register
def _(kernel: Normalised, given: Given, items: Any, inputs: Inputs) -> Any:
    own = own_similarity(kernel.kernel, given, items, inputs)
    if not isinstance(own, Symbol):
        return 1.0 if own > 0 else 0.0
    inverse = Symbol("inverse_length", own)
    return own * (inverse * inverse)


@own_similarity.register
def _(kernel: Mixture, given: Given, items: Any, inputs: Inputs) -> Any:
    return sum(
        factor * own_similarity(each, given, kernel._part(items, place), inputs)
        for place, each, factor in kernel._active()
    )


@own_similarity.register
def _(kernel: Quadratic, given: Given, items: Any, inputs: Inputs) -> Any:
    directions = numbers_of(kernel.features(np.eye(len(kernel.B))))
    return Symbol("leaf", Own(Linear(inputs.rows(given), directions, np.zeros(directions.shape[1]))))


@own_similarity.register
def _(kernel: ScaledColumns, given: Given, items: Any, inputs: Inputs) -> Any:
    return own_similarity(kernel.kernel, _weighted(kernel, given, inputs), kernel.part_items(items)[0], inputs)
