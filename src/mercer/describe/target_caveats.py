"""What a learner of numbers may stumble over in its target, each in a plain sentence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from .._runtime.compile import Array

if TYPE_CHECKING:
    from ..io import Table
    from .facts import ColumnFacts, Description

__all__ = ["about_numbers"]

#: A target is skewed beyond this, and far from the others beyond so many widths of its middle half.
_SKEWED, _FAR = 1.0, 20.0
#: The share of rows with one value that is worth a word, and correlations that are no chance.
_REPEATED, _WITH_ROWS = 0.2, 0.95
#: Rows from which on an order of the target means something.
_ENOUGH = 20


def about_numbers(found: Description, table: Table) -> Iterator[str]:
    """Warnings about a target of numbers."""
    assert table.y is not None
    facts, y = found.values, table.y[table.labelled].astype(np.float64)
    if facts is None or facts.distinct == 0:
        return
    name = f"The target {found.target!r}"
    if facts.distinct == 1:
        yield f"{name} has the same value in every row, {y[0]:g}: there is nothing to learn."
        return
    if y.size >= _ENOUGH and np.array_equal(np.diff(y), np.ones(y.size - 1)):
        yield f"{name} numbers the rows: is it an identifier? Name another column with --target."
        return
    if y.size >= _ENOUGH and abs(_rank_correlation(np.arange(y.size), y)) > _WITH_ROWS:
        yield (
            f"{name} goes up or down with the row numbers: rows in the order of the target, or of time? Rows are drawn "
            "at random for the test, so values after the last ones may be predicted worse."
        )
    yield from _about_tails(name, facts, y)
    common, count = _commonest(y)
    if facts.distinct > 2 and count > _REPEATED * y.size:
        yield f"{name} is {common:g} in {100 * count / y.size:.0f} % of the rows: is that a value, or a word for none?"


def _about_tails(name: str, facts: ColumnFacts, y: Array) -> Iterator[str]:
    lower, middle, upper = np.quantile(y, [0.25, 0.5, 0.75])
    far = float(np.abs(y - middle).max())
    if facts.skew is not None and facts.skew > _SKEWED and y.min() > 0:
        yield (
            f"{name} is positive and skewed (skew {facts.skew:.1f}): a few large values decide; consider learning "
            "its logarithm."
        )
    elif upper > lower and far > _FAR * (upper - lower):
        yield (
            f"{name} has values up to {far / (upper - lower):.0f} widths of its middle half away from the median: look "
            "at them, or use a loss that they pull less (huber, svr)."
        )


def _rank_correlation(a: Array, b: Array) -> float:
    from scipy.stats import spearmanr

    return float(spearmanr(a, b).statistic) if np.ptp(b) > 0 else 0.0


def _commonest(y: Array) -> tuple[float, int]:
    values, counts = np.unique(y, return_counts=True)
    place = int(counts.argmax())
    return float(values[place]), int(counts[place])
