"""How costs grow with the rows, and what a fit will take before it begins.

Examples
--------
>>> from mercer.growth import PowerLaw
>>> print(PowerLaw.fitted({"n": [1, 2, 4], "d": [1, 3, 1]}, [2.0, 24.0, 32.0]))
2 · n^2.00 · d^1.00
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import _safe_indexing

from .checks.parameters import bytes_of, machine_of, parameter_prefix
from .estimators.pairs import LOOKED_UP
from .grams.base import Gram
from .grams.dense import Dense
from .grams.landmarks import Nystrom
from .grams.span import TOGETHER, directions
from .kernels.engine.tiles import TILE_COLUMNS, TILE_ROWS
from .runtime.compile import Array
from .runtime.interrupts import heed
from .solvers.svm.smo import WORKING_SET, watched_blocks

__all__ = [
    "Footprint",
    "Foretold",
    "PowerLaw",
    "Trial",
    "footprint",
    "foretell",
    "grown",
    "held",
    "in_bytes",
    "in_seconds",
    "rank_for",
    "recommendation",
    "trials",
]

# What a fit has in memory at once: the arrays that count, in bytes.
#
# Of n items a matrix in memory takes 8·n² bytes; one that is computed tile by tile takes what its solver keeps beside
# it, the coordinates of all items along some directions. Landmarks have a feature each for every item, 8·n·m bytes,
# where that has room; else those of a sample and a block of similarities take what there is. The exact soft margin
# keeps the block of the items that are in question, in single precision.


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


# Costs that grow with powers of sizes, from what they were at some sizes.
#
# A cost c·n^a·d^b has the logarithm  log c + a·log n + b·log d: the exponents are the coefficients of a least-squares
# fit of logarithms to logarithms.


@dataclass(frozen=True)
class PowerLaw:
    """A cost of coefficient · Π size^exponent.

    Examples
    --------
    >>> law = PowerLaw.fitted({"n": [100, 200, 400]}, [1.0, 4.0, 16.0])
    >>> round(law.exponents["n"], 6), round(law(n=800), 6)
    (2.0, 64.0)
    """

    coefficient: float
    exponents: Mapping[str, float]

    @classmethod
    def fitted(cls, sizes: Mapping[str, Sequence[float]], costs: Sequence[float]) -> PowerLaw:
        """The law that is nearest to some costs, in logarithms; one list of sizes for each name, as long as costs."""
        values = np.asarray(costs, dtype=np.float64)
        table = np.array([np.asarray(size, dtype=np.float64) for size in sizes.values()]).reshape(len(sizes), -1)
        if table.shape[1] != values.size or values.size <= len(sizes):
            raise ValueError(f"{len(sizes)} exponents need more than {len(sizes)} costs, with all sizes of each.")
        if not (np.all(values > 0) and np.all(table > 0)):
            raise ValueError("sizes and costs of a power law must be greater than 0.")
        columns = np.vstack([np.ones(values.size), np.log(table)]).T
        found = np.linalg.lstsq(columns, np.log(values), rcond=None)[0]
        return cls(float(np.exp(found[0])), dict(zip(sizes, map(float, found[1:]), strict=True)))

    def __call__(self, **sizes: float) -> float:
        """The cost at other sizes."""
        factors = [float(sizes[name]) ** exponent for name, exponent in self.exponents.items()]
        return self.coefficient * float(np.prod(factors))

    def __str__(self) -> str:
        return " · ".join([f"{self.coefficient:.3g}", *(f"{name}^{e:.2f}" for name, e in self.exponents.items())])


# Short fits of some of the rows: what a machine costs on these data and on this computer.


#: Seconds from which on a trial is long enough to go by, and rows of the shortest one: in general, for conjugate
#: gradients (small matrices are factorised as a whole, and not in single precision), and for each landmark.
_LONG, _FEWEST, _BY_PRODUCTS, _FOR_EACH = 0.4, 250, 4096, 4
#: Twice the rows that take less than so many times as long hardly count yet: larger trials follow, unless all of them
#: have taken so many times what is long.
_HARDLY, _PATIENCE = 1.3, 12.0
#: A trial whose rows take more than so many times what rows took in the one before is made again.
_AT_MOST = 1.5
#: So many different targets, or fewer, are taken for classes.
_CLASSES = 100
#: Rows of the fit before all others, which loads what is compiled.
_WARM = 100


@dataclass(frozen=True)
class Trial:
    """A fit of so many rows and its seconds.

    Also known are the items of its largest block and the bytes of all, where it is that of an exact soft margin, and
    how many scores it gives: a machine each, where there are many classes.
    """

    n: int
    seconds: float
    largest: int = 0
    blocks: int = 0
    scores: int = 1


def trials(estimator: Any, X: Any, y: Any, n: int, seed: int = 0, long: float = _LONG) -> list[Trial]:
    """Fits of more and more rows, twice as many each time, until one is long or all rows are in it.

    Each is placed as the fit of all n rows will be: where their matrix has no room, that of a trial has none either.
    """
    order = _shuffled(y, np.random.default_rng(seed))
    found: list[Trial] = []
    for size in (min(_WARM, order.size), *_sizes(machine_of(estimator), n, order.size)):
        heed()
        some = np.sort(order[:size])
        model, rows, targets = _placed(estimator, size, n), _safe_indexing(X, some), _safe_indexing(y, some)
        trial = _tried(model, rows, targets)
        # What is long once may have been in somebody's way, or compiled; no cost grows as quickly as that.
        if found and trial.seconds >= long and trial.seconds > _AT_MOST * found[-1].seconds * size / found[-1].n:
            trial = min(trial, _tried(model, rows, targets), key=lambda each: each.seconds)
        found.append(trial)
        if len(found) > 2 and ((_grows(found) and trial.seconds >= long) or _spent(found[1:]) > _PATIENCE * long):
            break
    return found[1:]


def _grows(found: list[Trial]) -> bool:
    """Whether the last trial took longer than the one before, so that the rows are what takes the time."""
    return found[-1].seconds > _HARDLY * found[-2].seconds


def _spent(found: list[Trial]) -> float:
    return sum(trial.seconds for trial in found)


def _sizes(machine: Any, n: int, last: int) -> Iterator[int]:
    """Rows of the trials after the first, which loads what is compiled."""
    landmarks = getattr(machine, "rank", None) or 0
    by_products = not landmarks and not machine.placement.single and n > _BY_PRODUCTS
    size = max(_BY_PRODUCTS if by_products else _FEWEST, _FOR_EACH * landmarks)
    while size < last:
        yield size
        size *= 2
    yield last


def _shuffled(y: Any, rng: np.random.Generator) -> Array:
    """All rows in random order; where y holds classes, with a row of each before all others."""
    values = np.asarray(y)
    order = rng.permutation(len(values))
    if values.ndim > 1:
        return order
    kinds, first = np.unique(values[order].astype(str), return_index=True)
    return order if kinds.size > _CLASSES else np.concatenate([order[first], np.delete(order, first)])


def _placed(estimator: Any, size: int, n: int) -> Any:
    """The estimator with so little memory that a Gram of ``size`` items is of the kind that one of n items is."""
    model = clone(estimator)
    machine = machine_of(model)
    if not hasattr(machine, "memory") or getattr(machine, "kernel", None) is None:
        return model
    kind, rank = Footprint.of(machine, n).gram, getattr(machine, "rank", None)
    if kind != Footprint.of(machine, size).gram:
        room = 8 * size * (size if kind == "Lazy" else min(rank or size, size)) - 1
        model.set_params(**{f"{parameter_prefix(model)}memory": room})
    return model


def _tried(model: Any, X: Any, y: Any) -> Trial:
    begin = time.perf_counter()
    with warnings.catch_warnings(), watched_blocks() as seen:
        warnings.simplefilter("ignore")
        model.fit(X, y)
    seconds = time.perf_counter() - begin
    largest, blocks = (max(each, default=0) for each in (zip(*seen, strict=True) if seen else ((), ())))
    return Trial(len(y), seconds, largest, blocks, np.size(getattr(machine_of(model), "intercept_", 0.0)))


# How long a fit will take and how much memory, before it begins.
#
# The exponents are known: a matrix of n² similarities is made and multiplied with, landmarks look at every row once.
# What stands before the power is the data's own, and the computer's: trials on some of the rows tell. How quickly the
# number of support vectors or of steps grows with the rows is the data's own as well, so the exponent is taken from the
# trials, within the limits that are known for the machine.


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


# Which fit to choose: exact where there is time for it, by landmarks where there is not, or on a graphics card.


#: Seconds that anybody waits, and seconds from which on a graphics card is worth a word.
_PATIENT, _LONG_FIT = 120.0, 1200.0
#: Ranks that are spoken of, and landmarks for each √n: machines generalise with about that many.
_RANKS, _TIMES_ROOT = (100, 200, 300, 500, 1000, 2000), 3.0


def rank_for(n: int) -> int:
    """A number of landmarks that stands for n rows, about 3·√n.

    Examples
    --------
    >>> rank_for(10_000), rank_for(100_000), rank_for(10**9)
    (300, 1000, 2000)
    """
    return int(min(_RANKS, key=lambda rank: abs(np.log(rank / (_TIMES_ROOT * np.sqrt(max(1, n)))))))


def recommendation(exact: Foretold, low_rank: Foretold, rank: int, memory: float, card: bool) -> str:
    """One sentence on what to do, for the exact fit and the one on landmarks as foretold.

    Parameters
    ----------
    exact, low_rank : Foretold
    rank : int
        The landmarks of the second.
    memory : float
        Bytes of memory that the computer has.
    card : bool
        Whether it has a graphics card that can be used.
    """
    if exact.seconds <= _PATIENT and exact.bytes <= memory:
        return f"exact: {in_seconds(exact.seconds)} and {in_bytes(exact.bytes)} are nothing to save on."
    short = "time" if exact.bytes <= memory else "memory"
    if card:
        return f"exact on the graphics card (--set device=cuda), as the processor is short of {short}."
    words = (
        f"landmarks (--set rank={rank}): {in_seconds(low_rank.seconds)} in place of {in_seconds(exact.seconds)}"
        if short == "time"
        else f"landmarks (--set rank={rank}): an exact fit takes {in_bytes(exact.bytes)}, more than this computer has"
    )
    gpu = (
        " A graphics card (device=cuda) would make the exact fit many times faster."
        if exact.seconds > _LONG_FIT
        else ""
    )
    return f"{words}.{gpu}"


def in_seconds(value: float) -> str:
    """A time in words, as exact as it can be foretold.

    Examples
    --------
    >>> in_seconds(0.4), in_seconds(44.0), in_seconds(700.0), in_seconds(2e4)
    ('less than a second', 'about 44 s', 'about 12 minutes', 'about 5.6 hours')
    """
    if value < 1:
        return "less than a second"
    if value < 100:
        return f"about {value:.0f} s"
    if value < 5400:
        return f"about {value / 60:.0f} minutes"
    return f"about {value / 3600:.2g} hours" if value < 2e5 else f"about {value / 86400:.0f} days"


def in_bytes(value: float) -> str:
    """A size in words.

    Examples
    --------
    >>> in_bytes(3e5), in_bytes(4.2e8), in_bytes(7.77e10)
    ('less than 1 MB', '420 MB', '78 GB')
    """
    if value < 1e6:
        return "less than 1 MB"
    return f"{value / 1e6:.2g} MB" if value < 9.95e7 else f"{value / 1e6:.0f} MB" if value < 1e9 else _gigabytes(value)


def _gigabytes(value: float) -> str:
    return f"{value / 1e9:.1f} GB" if value < 1e10 else f"{value / 1e9:.0f} GB"
