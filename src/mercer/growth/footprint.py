"""What a fit has in memory at once: the arrays that count, in bytes.

Of n items a matrix in memory takes 8·n² bytes; one that is computed tile by tile takes what its solver keeps beside it,
the coordinates of all items along some directions. Landmarks have a feature each for every item, 8·n·m bytes, where
that has room; else those of a sample and a block of similarities take what there is. The exact soft margin keeps the
block of the items that are in question, in single precision.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from .._validation.memory import bytes_of
from ..grams.base import Gram
from ..grams.basis import directions
from ..grams.nystrom import Nystrom
from ..solvers.svm.smo import WORKING_SET

__all__ = ["Footprint", "footprint", "held"]

#: Vectors of n numbers that a solver on a kernel matrix has at once, and of features that one on landmarks has.
_VECTORS = 40
#: The part of the items that the exact soft margin has about as a rule.
_IN_QUESTION = 0.6
#: Copies of the rows that a fit makes: as seen from their mean, in double and in single precision. A fit of rows that
#: are read already begins with these, and does not count them.
_COPIES = 2
#: Tiles of a kernel matrix, with what is made of them on the way, and what is loaded with compiled code.
_TILES = 2.5e7
#: Items that the exact soft margin begins with, and those that it takes on at most as long as few are free.
_FIRST, _TAKEN = 1024, 8 * 1024


class Footprint:
    """What a machine's arrays take for n rows, and the Gram that it then has.

    Parameters
    ----------
    gram : {"Dense", "Lazy", "Nystrom", "Streamed"}
    arrays : float
        Bytes beside the rows themselves.

    Examples
    --------
    >>> from mercer import KernelClassifier
    >>> Footprint.of(KernelClassifier(), 10_000).gram, Footprint.of(KernelClassifier(), 100_000).gram
    ('Dense', 'Lazy')
    """

    def __init__(self, gram: str, arrays: float) -> None:
        self.gram, self.arrays = gram, arrays

    @classmethod
    def of(cls, machine: Any, n: int) -> Footprint:
        """By the rules of :class:`mercer.grams.Placement`, for float64 rows."""
        room, rank = bytes_of(machine.memory), getattr(machine, "rank", None)
        vectors = 8.0 * _VECTORS * n
        if rank is not None:
            rank = min(int(rank), n)
            # Φ, and T with the factor that it comes from, and the matrix of Newton's method.
            if machine.placement.single or Nystrom.fits(n, rank, machine.memory):
                return cls("Nystrom", 8.0 * n * rank + 4 * 8.0 * rank * rank + vectors)
            return cls("Streamed", 0.75 * room + 4 * 8.0 * rank * rank + vectors)
        if machine.placement.single:
            items = n if n <= 2 * _FIRST else _IN_QUESTION * min(n, _TAKEN)
            sets = 0.0 if n <= WORKING_SET else 2 * 4.0 * WORKING_SET**2
            return cls("Lazy", min(4.0 * items * items, 0.2 * room) + sets + vectors)
        if machine.placement.holds(n):
            return cls("Dense", 8.0 * n * n + 8.0 * n * directions(n, Gram.workspace) + vectors)
        return cls("Lazy", 8.0 * n * directions(n, room) + vectors)


def footprint(machine: Any, rows: Any, n: int) -> float:
    """Bytes of a fit of n rows like these: the rows with their copies, and the arrays of :class:`Footprint`."""
    share = held(rows) * n / max(1, _count(rows))
    return _COPIES * share + _TILES + Footprint.of(machine, n).arrays


def held(rows: Any) -> float:
    """Bytes of some rows as numbers; of what is not rows of numbers, about what its items take."""
    if sparse.issparse(rows):
        return float(rows.data.nbytes + rows.indices.nbytes + rows.indptr.nbytes)
    if isinstance(rows, np.ndarray):
        return 8.0 * rows.size
    if hasattr(rows, "shape") and len(rows.shape) == 2:
        return 8.0 * rows.shape[0] * rows.shape[1]
    return 100.0 * len(rows)


def _count(rows: Any) -> int:
    return rows.shape[0] if hasattr(rows, "shape") else len(rows)
