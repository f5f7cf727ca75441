"""Where the kernel matrix of a machine is to live: what chooses the Gram of a fit."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ..checks.parameters import bytes_of, memory_in_words, size_in_words
from ..kernels import Kernel, Linear
from ..kernels.engine.statistics import is_thin, near_origin
from ..kernels.engine.tiles import length, shared_dtype, small_matrix
from ..messages import guide
from ..rows import Rows
from ..runtime.compile import Array
from .base import Gram
from .dense import Dense, Features, Lazy
from .span import directions

#: The largest self-similarity that single precision is used for.
_SINGLE = 1e30
#: Items, and numbers in a row of them, whose matrix is computed at once in double precision: asking for some of its
#: values would cost as much, and threads would begin when one has ended.
FEW_ITEMS, _NARROW = 1000, 64


def is_linear(kernel: Kernel) -> bool:
    """Whether a machine with this kernel is known by its weights. A class derived from ``Linear`` may be anything."""
    return type(kernel) is Linear


@dataclass(frozen=True)
class Placement:
    """What a machine allows for its kernel matrix. Which Gram it gets follows from that and from the kernel alone.

    Parameters
    ----------
    memory : int or str, default="1GB"
        What a kernel matrix, or the rows of it that are kept, may take.
    precision : type, default=numpy.float64
        ``numpy.float32`` for a solver that finds its way in single precision and is certified in double. Such a solver
        looks at few rows of the matrix, which are computed when it asks for them.
    centred : bool, default=False
        Whether features may be moved to their mean, as an intercept that is not regularised makes up for it.
    rank : int, optional
        Stand in for the matrix with its approximation by so many landmarks: :class:`.Nystrom` where its features fit
        into the memory, else :class:`.Streamed`.
    landmarks : {"pivoted", "uniform", "farthest"}, default="pivoted"
        How these are chosen.
    device : {"cuda"}, optional
        Compute the matrix on a graphics card, see :class:`.Cuda`. A linear machine has none.
    by_passes : bool, default=True
        Whether a solver in double precision asks for nothing but passes over all items.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams import Placement
    >>> from mercer.kernels import Gaussian, Linear
    >>> X = np.zeros((1000, 2))
    >>> for kernel, memory in ((Gaussian(), "1GB"), (Gaussian(), "1MB"), (Linear(), "1MB")):
    ...     print(type(Placement(memory).gram(kernel, X)).__name__)
    Dense
    Lazy
    Features
    """

    memory: int | str = "1GB"
    precision: type[np.floating] = np.float64
    centred: bool = False
    rank: int | None = None
    landmarks: str = "pivoted"
    device: str | None = None
    by_passes: bool = True

    @property
    def single(self) -> bool:
        """Whether single precision is enough."""
        return self.precision is np.float32

    def gram(self, kernel: Kernel, items: Any, weight: Array | None = None) -> Gram:
        """The Gram of a kernel on checked items.

        Features where the model is linear, or where landmarks stand for all items; in memory where it fits. An item of
        no weight is no landmark.
        """
        counted = None if weight is None or weight.all() else np.flatnonzero(weight)
        if isinstance(items, Rows):
            return self._of_rows(kernel, items, counted)
        if is_linear(kernel):
            return Features.around_mean(items) if self.centred else Features(items)
        if self.rank is not None:
            from .landmarks import Nystrom
            from .streamed import Streamed

            # A solver that looks at rows in no order needs all features at hand.
            fits = Nystrom.fits(length(items), self.rank, self.memory)
            if kernel.precomputed or not (fits or self._passes):
                return Nystrom.of(kernel, items, self.rank, self.landmarks, self.memory, among=counted)
            streamed = Streamed.of(kernel, items, self.rank, self.landmarks, self.memory, counted=counted)
            return streamed.held() if fits else streamed
        if kernel.precomputed:
            return Dense(items, room=bytes_of(self.memory))
        if self.device is not None:
            if kernel.learns:
                raise ValueError(f"{kernel} is to learn its weights, which needs the processor; leave device out.")
            from .cuda import Cuda

            return Cuda(kernel, items)
        own = kernel.gram(items)
        if own is not None:
            return own
        if self.single and self.is_small(kernel, items):
            K = small_matrix(kernel, items)
            return Dense(K, room=bytes_of(self.memory) - K.nbytes)
        # Weights that are to be learned would make another matrix. A Python function is asked once for each pair.
        if (
            (self.single and kernel.splits)
            or kernel.learns
            or not self.holds(length(items), shared_dtype(items, items).itemsize)
        ):
            return Lazy(kernel, self.rounded(kernel, items), self.memory)
        K = kernel.matrix(items, items)
        return Dense(K, room=bytes_of(self.memory) - K.nbytes)

    def holds(self, n: int, itemsize: int = 8) -> bool:
        """Whether the matrix of n items has room, with what solvers keep beside it: coordinates of all items.

        Examples
        --------
        >>> Placement("1GB").holds(10_000), Placement("1GB").holds(11_180)
        (True, False)
        """
        memory = bytes_of(self.memory)
        return n * n * itemsize + 8 * n * directions(n, memory) <= memory

    def is_small(self, kernel: Kernel, items: Any) -> bool:
        """Whether the matrix is quickly made, and has room in double precision beside a copy in single precision.

        Examples
        --------
        >>> from mercer.kernels import Gaussian
        >>> Placement().is_small(Gaussian(), np.zeros((1000, 2))), Placement().is_small(Gaussian(), np.zeros((2000, 2)))
        (True, False)
        """
        n = length(items)
        few = n <= FEW_ITEMS and 12 * n * n <= bytes_of(self.memory)
        narrow = kernel.on_rows and items.shape[1] <= _NARROW
        return few and narrow and kernel.splits and kernel.trusted and not kernel.learns

    @property
    def _passes(self) -> bool:
        return self.by_passes and not self.single

    def _of_rows(self, kernel: Kernel, rows: Rows, counted: Array | None) -> Gram:
        """The Gram of items that need not be in memory: their features are, where a solver needs that or it is better.

        Those of a linear kernel are the columns themselves.
        """
        from .landmarks import Nystrom
        from .streamed import Scattered, Streamed

        n = len(rows)
        width = int(rows.n_columns or 0) if is_linear(kernel) else min(self.rank or n, n)
        fits = 8 * width * n <= bytes_of(self.memory) if is_linear(kernel) else Nystrom.fits(n, width, self.memory)
        if is_linear(kernel):
            if not fits:
                raise ValueError(
                    f"{n} rows of {width} numbers take {size_in_words(8 * width * n)}, more than "
                    f"{memory_in_words(self.memory)}, and a linear machine needs them at hand; raise memory, or use "
                    "kernel='gaussian' with rank=1000."
                )
            items = rows[np.arange(n)].astype(np.float64, copy=False)
            return Features.around_mean(items) if self.centred else Features(items)
        if self.rank is None and self._passes and rows.apart:
            return Scattered(kernel, rows)
        if self.rank is None:
            raise ValueError(
                f"the kernel matrix of {n} rows that are not in memory is more than a machine can look at; say "
                "rank=1000 for an approximation by landmarks, which KernelClassifier, KernelRegressor and SVC have "
                f"{guide('memory')}."
            )
        if not (self._passes or fits):
            raise ValueError(
                f"{width} landmarks of {n} rows take {size_in_words(Nystrom.takes(n, width))}, more than "
                f"{memory_in_words(self.memory)}, and this machine needs all of them at hand; use "
                "KernelClassifier(loss='squared_hinge', rank=...), which passes over the rows, raise memory, or lower "
                "rank."
            )
        streamed = Streamed.of(kernel, rows, self.rank, self.landmarks, self.memory, counted=counted)
        return streamed.held() if fits and not (rows.apart and self._passes) else streamed

    @staticmethod
    def exact(kernel: Kernel, items: Any, gram: Gram) -> Gram:
        """The same matrix as that of ``gram`` with nothing rounded to float32, and never in memory as a whole."""
        exact = gram.exact()
        if exact is not gram:
            return exact
        if isinstance(gram, Dense) and (kernel.precomputed or gram.K.dtype == np.float64):
            return gram
        if gram.features() is not None:
            return gram
        own = kernel.gram(items)
        if own is not None:
            return own
        return Lazy(kernel, items.astype(np.float64, copy=False) if hasattr(items, "astype") else items)

    def rounded(self, kernel: Kernel, items: Any) -> Any:
        """The items in this precision, as far as the kernel stands it.

        Dense rows of a kernel that sees only differences are moved to their mean first. Rows near the origin that are
        mostly zeros stay where they are, for the sake of the zeros.
        """
        if not self.single or not kernel.on_rows or items.dtype == np.float32 or not _fits_single(kernel, items):
            return items
        if not sparse.issparse(items) and kernel.translation_invariant and not (is_thin(items) and near_origin(items)):
            items = items - items.mean(axis=0)
        return items.astype(np.float32)


def _fits_single(kernel: Kernel, rows: Any) -> bool:
    """Whether float32 can hold the rows, and their kernel values: |k(x, z)|² ≤ k(x, x)·k(z, z)."""
    largest = max(-float(rows.min()), float(rows.max())) if min(rows.shape) else 0.0
    fits = largest == 0 or 1 / np.sqrt(_SINGLE) < largest < np.sqrt(_SINGLE)
    return bool(fits) and _in_range(kernel, rows)


def _in_range(kernel: Kernel, rows: Any) -> bool:
    """Whether self-similarities, and those of the parts that they come from, are neither too large nor too small."""
    values = kernel.diag(rows)
    seen = values[values > 0]
    if not (np.isfinite(values).all() and (not seen.size or (seen.max() < _SINGLE and seen.min() > 1 / _SINGLE))):
        return False
    return not kernel.of_parts or all(_in_range(part, rows) for part in kernel.parts())
