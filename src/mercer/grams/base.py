"""What a solver may ask of a kernel matrix, wherever that matrix lives."""

from __future__ import annotations

from copy import copy
from functools import cached_property
from typing import Any

import numpy as np
from scipy import linalg

from .._runtime.cholesky import Solve, cholesky_solver
from .._runtime.compile import Array
from .row_ring import RowRing
from .span import KernelSpan, Span
from .walk import GramRows, Walk

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
        from .repeated import Repeated

        return Repeated(self, np.arange(len(self))[index])

    def scaled(self, factor: float) -> Gram:
        """The Gram of ``factor``·K, in float64 where it is in memory."""
        from .multiple import Multiple

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
