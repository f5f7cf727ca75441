"""What a solver may ask of a kernel matrix, wherever that matrix lives."""

from __future__ import annotations

from copy import copy
from functools import cached_property
from typing import Any

import numpy as np
from scipy import linalg

from ..runtime.compile import Array
from ..runtime.numerics import Solve, cholesky_solver, gather
from .span import KernelSpan, Span
from .walk import GramRows, Walk

# Room for some rows of a kernel matrix, in which the newest takes the place of the oldest.


class RowRing:
    """A buffer of rows and who owns which.

    Parameters
    ----------
    n : int
        Items, and numbers in a row.
    capacity : int
        Rows that have room.
    dtype : dtype

    Examples
    --------
    >>> ring = RowRing(3, 2, np.float32)
    >>> ring.claim(np.array([0, 2])).tolist(), ring.claim(np.array([1])).tolist()
    ([0, 1], [0])
    >>> ring.place.tolist(), ring.evicted
    ([-1, 0, 1], True)
    """

    def __init__(self, n: int, capacity: int, dtype: Any) -> None:
        self.capacity = capacity
        self.rows = np.empty((capacity, n), dtype)
        #: Where the row of each item is, −1 if it is not here.
        self.place = np.full(n, -1)
        self.owner = np.full(capacity, -1)
        self.next = 0
        #: Whether a row had to go to make room for another.
        self.evicted = False

    def claim(self, items: Array) -> Array:
        """Places for the rows of these items, at most ``capacity`` of them, in a row until the buffer begins anew."""
        places = (self.next + np.arange(items.size)) % self.capacity
        old = self.owner[places]
        old = old[old >= 0]
        self.evicted |= bool(old.size)
        self.place[old] = -1
        self.owner[places] = items
        self.place[items] = places
        self.next = int((self.next + items.size) % self.capacity)
        return places


#: So many items at most are solved for at once, and how often what rounding leaves is solved for again.
_LARGEST_INVERSE, _CORRECTIONS = 3000, 2


class Gram:
    """A symmetric n × n matrix of similarities. A solver uses these methods and never asks for the type.

    A subclass writes ``__len__``, :meth:`diag`, :meth:`matvec` and :meth:`rows`; with these every solver runs. Whatever
    else it can do better than by products and rows, it writes besides.
    """

    #: Whether rows are at hand (or K·z needs none), so that keeping copies of some is of no use.
    ready: bool = False
    #: Whether computing a row takes much longer than reading it from memory.
    expensive: bool = True
    #: Whether factorising the matrix of many items takes less time than many looks at its rows.
    factorises: bool = False
    #: Whether a product means a pass over items that are computed, or read, anew.
    by_passes: bool = False
    #: The numbers of the items that stand for all, where the matrix is approximated by them; these items, where others
    #: are not in memory; and the share of the trace that they leave out.
    landmarks: Array | None = None
    landmark_items: Any = None
    missing: float = 0.0
    #: The Gram of some items, and their numbers, where these show the way to those who would pass over all of them.
    sample: Gram | None = None
    drawn: Array
    #: The relative error of products, where it is more than rounding in float64.
    error: float = 0.0
    #: Bytes that a solver may fill with what helps it along.
    workspace: int = 128_000_000
    #: The type of the numbers that :meth:`rows` gives.
    dtype: np.dtype = np.dtype(np.float64)

    # -- to be written by subclasses ------------------------------------------------------------------------------

    def __len__(self) -> int:
        raise NotImplementedError

    def diag(self) -> Array:
        """The n self-similarities, in float64."""
        raise NotImplementedError

    def matvec(self, z: Array) -> Array:
        """K·z in float64, for a vector or for several as the columns of a matrix."""
        raise NotImplementedError

    def rows(self, index: Any) -> Array:
        """The rows of the items in ``index``, (len(index), n)."""
        raise NotImplementedError

    # -- what follows from these, and may be written for less ------------------------------------------------------

    def lengths(self) -> Array:
        """‖φ(x)‖ of the items as they were given: how large the parts of a score are that rounding works on."""
        return np.sqrt(np.maximum(self.diag(), 0.0))

    def square(self, z: Array) -> float:
        """‖w‖² = zᵀKz, summed over the columns of z."""
        return float(np.vdot(z, self.matvec(z)))

    def model(self, z: Array) -> Array:
        """The model vector of :meth:`walk` for the model with coefficients z: the scores of all items."""
        return self.matvec(z)

    def block(self, rows: Array, columns: Array, out: Array) -> None:
        """Write the part of the matrix in these rows and columns into a float32 array.

        Where both are the same object, only half of it need be computed.
        """
        out[:] = self.rows(rows)[:, columns]

    def scores(self, rows: Array, columns: Array, z: Array) -> Array:
        """K[rows, columns]·z in float64."""
        full = np.zeros((len(self), *np.shape(z)[1:]))
        full[columns] = z
        return self.matvec(full)[rows]

    def fill(self, rows: Array, out: Array) -> None:
        """Write the rows of these items into a float32 array."""
        out[:] = self.rows(rows)

    def in_memory(self) -> tuple[Array, Array] | None:
        """A float32 matrix that is there already and the places of these items in it, where they are most of it."""
        return None

    def rounded(self) -> Gram | None:
        """The same matrix in single precision, where products with it are quicker and nearly as exact."""
        return None

    def features(self) -> Any | None:
        """Φ with K = Φ·Φᵀ, a row for each item, where the items are known by their features."""
        return None

    def coefficients(self, weights: Array) -> Array:
        """The coefficients of the landmarks in models with these weights (a row each)."""
        raise NotImplementedError

    def inverse(self, index: Array, ridge: Array) -> Solve | None:
        """Solves (K[index, index] + diag(ridge))·x = r for columns r, in float64; ``None`` for too many items."""
        if index.size > _LARGEST_INVERSE:
            return None
        K = np.array(self.take(index).rows(np.arange(index.size)), dtype=np.float64)
        try:
            once = cholesky_solver(K, ridge)
        except linalg.LinAlgError:
            return None
        K[np.diag_indices_from(K)] += ridge

        def solve(right: Array) -> Array:
            x = np.zeros(right.shape)
            for _ in range(1 + _CORRECTIONS):
                x += once(right - K @ x)
            return x

        return solve

    def exact(self) -> Gram:
        """The same matrix with products in float64, where those here are less exact and such are to be had."""
        return self

    def take(self, index: Any) -> Gram:
        """The Gram of these items alone, sharing what can be shared."""

        return Repeated(self, np.arange(len(self))[index])

    def scaled(self, factor: float) -> Gram:
        """The Gram of ``factor``·K, in float64 where it is in memory."""

        return Multiple(self, factor)

    def scores_and_square(self, z: Array, w: Array | None = None) -> tuple[Array, float]:
        """The scores of all items and ‖w‖², for the model with coefficients z, or with weights w where it has them."""
        if w is None:
            scores = self.matvec(z)
            return scores, float(np.vdot(z, scores))
        return self.span.scores(self.span.vector(z, w)), float(np.vdot(w, w))

    @cached_property
    def span(self) -> Span:
        """The space of all sums of the items.

        It knows a copy of this Gram, which shares the matrix: a circle of the two would outlive their last user.
        """
        return KernelSpan(copy(self))

    @property
    def capacity(self) -> int:
        """How many rows have room in the workspace."""
        n = len(self)
        return min(n, max(1, self.workspace // max(1, n * self.dtype.itemsize)))

    def walk(self) -> Walk:
        """The moves of a mistake-driven loop over this Gram, which asks for a row when it has made a mistake there."""
        n, capacity = len(self), self.capacity
        ring = RowRing(n, capacity, self.dtype)

        def fetch(wanted: Array) -> None:
            """Compute these rows into the buffer, in the places of the rows that have been there longest."""
            wanted = np.unique(wanted[ring.place[wanted] < 0])
            if wanted.size > capacity:
                raise MemoryError(
                    f"a step needs {wanted.size} rows of the kernel matrix at once, memory={self.workspace} holds "
                    f"{capacity}; raise memory or use smaller batches."
                )
            rows = self.rows(wanted)
            ring.rows[ring.claim(wanted)] = rows

        return Walk(GramRows.of(ring.rows, ring.place, np.arange(n)), n, fetch)


# A multiple of a kernel matrix, wherever that lives.


class Multiple(Gram):
    """The Gram of ``factor``·K.

    Parameters
    ----------
    gram : Gram
    factor : float

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams import Dense
    >>> Multiple(Dense(np.eye(2)), 3.0).matvec(np.array([1.0, 2.0]))
    array([3., 6.])
    """

    def __init__(self, gram: Gram, factor: float) -> None:
        self.gram, self.factor = gram, factor
        self.ready, self.expensive, self.workspace = gram.ready, gram.expensive, gram.workspace
        self.error = gram.error

    def __len__(self) -> int:
        return len(self.gram)

    def diag(self) -> Array:
        return self.factor * self.gram.diag()

    def matvec(self, z: Array) -> Array:
        return self.factor * self.gram.matvec(z)

    def rows(self, index: Any) -> Array:
        return self.factor * self.gram.rows(index)

    def exact(self) -> Gram:
        exact = self.gram.exact()
        return self if exact is self.gram else Multiple(exact, self.factor)


# A kernel matrix in which items appear more than once: what is computed of an item is computed once.


class Repeated(Gram):
    """The Gram of items of another one, of which some come several times.

    Parameters
    ----------
    gram : Gram
    index : array
        The item of ``gram`` that stands in each place.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams import Lazy
    >>> from mercer.kernels import Linear
    >>> twice = Lazy(Linear(), np.array([[1.0], [2.0]])).take([0, 1, 0, 1])
    >>> type(twice).__name__, twice.matvec(np.array([1.0, 0.0, 0.0, 1.0]))
    ('Repeated', array([3., 6., 3., 6.]))
    """

    def __init__(self, gram: Gram, index: Any) -> None:
        self.gram, self.index = gram, np.asarray(index, dtype=np.int64)
        self.ready, self.expensive, self.factorises = gram.ready, gram.expensive, gram.factorises
        self.error = gram.error

    def __len__(self) -> int:
        return self.index.size

    def diag(self) -> Array:
        return self.gram.diag()[self.index]

    def lengths(self) -> Array:
        return self.gram.lengths()[self.index]

    def _merged(self, places: Array, z: Array) -> tuple[Array, Array]:
        """The items in these places, each once, and what is multiplied with them altogether."""
        items, where = np.unique(self.index[places], return_inverse=True)
        sums = np.zeros((items.size, *z.shape[1:]))
        np.add.at(sums, where, z)
        return items, sums

    def matvec(self, z: Array) -> Array:
        items, sums = self._merged(np.arange(self.index.size), np.asarray(z, dtype=np.float64))
        full = np.zeros((len(self.gram), *sums.shape[1:]))
        full[items] = sums
        return self.gram.matvec(full)[self.index]

    def inverse(self, index: Array, ridge: Array) -> Solve | None:
        items = self.index[index]
        return self.gram.inverse(items, ridge) if np.unique(items).size == items.size else None

    def rows(self, index: Any) -> Array:
        return self.gram.rows(self.index[index])[:, self.index]

    def block(self, rows: Array, columns: Array, out: Array) -> None:
        some, there = np.unique(self.index[rows], return_inverse=True)
        others, here = (some, there) if rows is columns else np.unique(self.index[columns], return_inverse=True)
        small = np.empty((some.size, others.size), np.float32)
        self.gram.block(some, others, small)
        gather(small, there, here, out)

    def scores(self, rows: Array, columns: Array, z: Array) -> Array:
        some, there = np.unique(self.index[rows], return_inverse=True)
        return self.gram.scores(some, *self._merged(columns, z))[there]

    def fill(self, rows: Array, out: Array) -> None:
        once = np.empty((rows.size, len(self.gram)), np.float32)
        self.gram.fill(self.index[rows], once)
        gather(once, np.arange(rows.size), self.index, out)

    def exact(self) -> Gram:
        exact = self.gram.exact()
        return self if exact is self.gram else Repeated(exact, self.index)

    def take(self, index: Any) -> Gram:
        return self.gram.take(self.index[np.asarray(index)])

    def scaled(self, factor: float) -> Repeated:
        return Repeated(self.gram.scaled(factor), self.index)
