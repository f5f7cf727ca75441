"""What a fit has in memory at once: the arrays that count, in bytes.

Of n items a matrix in memory takes 8·n² bytes; one that is computed tile by tile takes what its solver keeps beside it,
the coordinates of all items along some directions. Landmarks have a feature each for every item, 8·n·m bytes, where
that has room; else those of a sample and a block of similarities take what there is. The exact soft margin keeps the
block of the items that are in question, in single precision.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import sparse

from .._validation.memory import bytes_of
from ..estimators.binary_machine import LOOKED_UP
from ..grams.base import Gram
from ..grams.basis import TOGETHER, directions
from ..grams.dense import Dense
from ..grams.nystrom import Nystrom
from ..kernels.engine.pairing import TILE_COLUMNS, TILE_ROWS
from ..solvers.svm.smo import WORKING_SET

if TYPE_CHECKING:
    from .trials import Trial

__all__ = ["Footprint", "footprint", "held"]

#: Vectors of n numbers that a solver on a kernel matrix has at once, and of features that one on landmarks has.
_VECTORS = 40
#: Coefficients of an item for each score: those of the machines, and those of the model.
_COEFFICIENTS = 2
#: The part of the items that the exact soft margin has about as a rule.
_IN_QUESTION = 0.6
#: Copies of the rows that a fit makes: as seen from their mean, in double and in single precision. A fit of rows that
#: are read already begins with these, and does not count them.
_COPIES = 2
#: Numbers in the tiles of a kernel matrix, with what is made of them on the way.
_TILES = 5 * TILE_ROWS * TILE_COLUMNS
#: Items that the exact soft margin begins with, those that it takes on at most as long as few are free, and by how many
#: times a block may be larger than the one before it.
_FIRST, _TAKEN, _GROWTH = 1024, 8 * 1024, 3


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
    def of(cls, machine: Any, n: int, trial: Trial | None = None) -> Footprint:
        """By the rules of :class:`mercer.grams.Placement`, for float64 rows; blocks as a trial has shown them."""
        room, rank = bytes_of(machine.memory), getattr(machine, "rank", None)
        vectors = 8.0 * n * (_VECTORS + (_COEFFICIENTS * trial.scores if trial else 0))
        if rank is not None:
            rank = min(int(rank), n)
            if machine.placement.single or Nystrom.fits(n, rank, machine.memory):
                return cls("Nystrom", Nystrom.takes(n, rank) + vectors)
            beside = Nystrom.beside(0, rank)
            return cls("Streamed", 0.75 * (room - beside) + beside + vectors)
        if machine.placement.single:
            return cls("Lazy", _blocks(n, room, trial, _share(machine, trial)) + vectors)
        vectors += 8.0 * n * min(n, TOGETHER)
        if machine.placement.holds(n):
            left = min(Gram.workspace, (room - 8 * n * n) // 2)
            return cls("Dense", 8.0 * n * n + 8.0 * n * directions(n, left) + Dense.rounding(n, left) + vectors)
        return cls("Lazy", 8.0 * n * directions(n, room) + vectors)


def _share(machine: Any, trial: Trial | None) -> float:
    """The part of the rows that one of many machines learns from: two classes, as a rule."""
    if trial is None or trial.scores == 1 or getattr(machine, "strategy", None) != "ovo":
        return 1.0
    return 2 / (0.5 + np.sqrt(0.25 + 2 * trial.scores))


def _blocks(n: int, room: int, trial: Trial | None, part: float) -> float:
    """Bytes of the largest block of an exact soft margin, of the one before it, and of working sets.

    Machines of few rows, a ``part`` of all, have their matrix in memory, in both precisions.

    The items in question are a part of all, as in the trial, as long as there is room for them. A trial of few rows has
    all of them in its block and tells nothing.
    """
    if part < 1 and part * n <= LOOKED_UP:
        return (4.0 + 8.0) * (part * n) ** 2
    if trial is not None and trial.n == n:
        return float(trial.blocks)
    n = int(part * n)
    most = min(_TAKEN, float(np.sqrt(0.2 * room / 4)))
    told = trial is not None and part * trial.n > 2 * _FIRST
    share = trial.largest / (part * trial.n) if trial is not None and told else _IN_QUESTION
    largest = n if n <= 2 * _FIRST else min(share * n, most)
    before = 0.0 if n <= 2 * _FIRST else min(largest, _GROWTH * _FIRST)
    sets = 0.0 if largest <= WORKING_SET else 2 * 4.0 * WORKING_SET**2
    return 4.0 * (largest**2 + before**2) + sets


def footprint(machine: Any, rows: Any, n: int, trial: Trial | None = None) -> float:
    """Bytes of a fit of n rows like these: the rows with their copies, and the arrays of :class:`Footprint`."""
    share = held(rows) * n / max(1, _count(rows))
    tiles = _TILES * (4.0 if machine.placement.single else 8.0)
    return _COPIES * share + tiles + Footprint.of(machine, n, trial).arrays


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
