"""The size of a target, by which parameters that depend on its unit are chosen."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["spread_of"]

#: The middle half of a bell-shaped target is so many standard deviations wide.
_QUARTILES = 1.349


def spread_of(y: Any) -> float:
    """The spread of a target: its standard deviation as the middle half of the values shows it.

    A few huge values do not change it. Where half of the values are the same it is the standard deviation itself, and
    1 where all are. It has two digits, as no more are meant.

    Examples
    --------
    >>> spread_of([1, 2, 3, 4, 1e9]), spread_of([0, 0, 0, 0, 10]), spread_of([7, 7])
    (1.5, 4.0, 1.0)
    """
    values = np.asarray(y, dtype=np.float64)
    lower, upper = np.quantile(values, [0.25, 0.75])
    largest = float(np.abs(values).max(initial=0.0)) or 1.0
    spread = (upper - lower) / _QUARTILES or largest * float(np.std(values / largest)) or 1.0
    return float(f"{spread:.2g}")
