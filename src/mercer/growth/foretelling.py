"""How long a fit will take and how much memory, before it begins.

The exponents are known: a matrix of n² similarities is made and multiplied with, landmarks look at every row once. What
stands before the power is the data's own, and the computer's: trials on some of the rows tell. How quickly the number
of support vectors or of steps grows with the rows is the data's own as well, so the exponent is taken from the trials,
within the limits that are known for the machine.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._validation.unwrapped import machine_of
from .footprint import Footprint, footprint
from .trials import Trial, trials

__all__ = ["Foretold", "foretell"]

#: By the Gram of a machine, the least and the largest exponent of n in its seconds.
_SMOOTH, _SOFT_MARGIN, _LOW_RANK = (1.5, 2.1), (1.3, 2.1), (0.8, 1.05)
#: Times of less than so many seconds are what chance makes of them; a part of them grows with the rows, at least.
_SHORT, _AT_LEAST = 0.1, 0.1


@dataclass(frozen=True)
class Foretold:
    """What a fit of ``n`` rows will take: about so many seconds, and so many bytes beside what the process has."""

    n: int
    seconds: float
    bytes: float
    #: Where the kernel matrix will be: "Dense", "Lazy", "Nystrom" or "Streamed".
    gram: str
    trials: tuple[Trial, ...] = ()


def foretell(estimator: Any, X: Any, y: Any, n: int | None = None, seed: int = 0) -> Foretold:
    """Foretell the cost of ``estimator.fit(X, y)`` from short fits of some of the rows.

    Parameters
    ----------
    estimator : kernel machine, or a pipeline that ends with one
    X : array, sparse matrix, frame or list of items
    y : array
    n : int, optional
        Rows of the fit in question, where X holds only some of them.
    seed : int, default=0
        By which rows are drawn.

    Returns
    -------
    Foretold

    Examples
    --------
    >>> from mercer import SVC
    >>> from mercer.datasets import make_xor
    >>> from mercer.growth import foretell
    >>> X, y = make_xor(3000, random_state=0)
    >>> found = foretell(SVC(), X, y, n=1_000_000)
    >>> found.gram, found.bytes > 4e8, found.n
    ('Lazy', True, 1000000)
    """
    n = len(y) if n is None else int(n)
    machine = machine_of(estimator)
    found = trials(estimator, X, y, n, seed)
    gram = Footprint.of(machine, n).gram
    limits = _LOW_RANK if gram in ("Nystrom", "Streamed") else _SOFT_MARGIN if machine.placement.single else _SMOOTH
    sizes = [trial.n for trial in found]
    seconds = grown(sizes, [trial.seconds for trial in found], n, *limits)
    return Foretold(n, seconds, footprint(machine, X, n, found[-1]), gram, tuple(found))


def grown(sizes: Sequence[float], costs: Sequence[float], n: int, least: float, most: float) -> float:
    """The cost of n rows, from the last two of those that are known and an exponent within limits.

    Where costs have grown less than that, a part of them does not depend on the rows: c + b·n^least goes through both,
    or, as short times are what chance makes of them, through the last with some part that grows.

    Examples
    --------
    >>> grown([200, 400], [4.0, 16.0], 800, 1.0, 3.0), grown([200, 400], [7.0, 9.0], 800, 1.0, 3.0)
    (64.0, 13.0)
    """
    if len(sizes) < 2:
        return float(costs[-1] * (n / sizes[-1]) ** (0.5 * (least + most)))
    exponent = np.log(costs[-1] / costs[-2]) / np.log(sizes[-1] / sizes[-2])
    if exponent < least:
        slope = (costs[-1] - costs[-2]) / (sizes[-1] ** least - sizes[-2] ** least)
        grows = _AT_LEAST if costs[-1] < _SHORT else 0.0
        slope = max(slope, grows * costs[-1] / sizes[-1] ** least)
        return float(costs[-1] + slope * (n**least - sizes[-1] ** least))
    return float(costs[-1] * (n / sizes[-1]) ** min(round(float(exponent), 9), most))
