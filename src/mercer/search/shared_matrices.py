"""The kernel matrices of a search: one at a time, of which the Grams of all folds are views."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._runtime.compile import Array
from ..grams import Placement, is_linear
from ..kernels import Kernel
from ..kernels.shared_statistics import SharedStatistics


class SharedMatrices:
    """Kernel matrices of all items, made from statistics that kernels share.

    Parameters
    ----------
    memory : int
        Bytes that statistics and matrices may take together.
    matrices : int, default=2
        How many will be asked for at most: what they share is not kept for one alone.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams import Placement
    >>> from mercer.kernels import Gaussian
    >>> matrices = SharedMatrices(memory=10**6)
    >>> matrices.matrix(Gaussian(gamma=0.25), np.array([[0.0], [2.0]]), Placement()).round(4)
    array([[1.    , 0.3679],
           [0.3679, 1.    ]])
    """

    def __init__(self, memory: int, matrices: int = 2) -> None:
        self.memory, self.matrices = memory, matrices
        #: Those of one kind of items at a time: the memory is for all of them.
        self._shared: dict[Any, SharedStatistics] = {}

    @property
    def nbytes(self) -> int:
        """What statistics and matrices take now."""
        return sum(shared.nbytes for shared in self._shared.values())

    def at_once(self, spare: int) -> int:
        """How many matrices like the last one have room at a time, with so many bytes to spare."""
        return min((shared.at_once(spare) for shared in self._shared.values()), default=1)

    def matrix(
        self, kernel: Kernel, items: Any, placement: Placement, reader: Kernel | None = None, place: int = 0
    ) -> Array | None:
        """The matrix of a kernel on all items; ``None`` where it does not fit, where features take its place, where
        it is computed on a graphics card, or where a machine is to learn the weights of the kernel.

        ``reader`` is the kernel that read the items, where that is another: one whose parameters were open then. The
        next matrix with the same ``place`` is made in the memory of this one.
        """
        if is_linear(kernel) or kernel.learns or placement.rank is not None or placement.device is not None:
            return None
        if kernel.precomputed:
            matrix = items
        else:
            rounded = placement.rounded(kernel, items)
            # Rows of numbers serve every kernel that wants them in this form; other items serve the one that read them.
            key = (str(rounded.dtype), kernel.translation_invariant) if kernel.on_rows else (reader or kernel)
            if key not in self._shared:
                self._shared.clear()
                self._shared[key] = SharedStatistics(rounded, self.memory, keep=self.matrices > 1)
            if not self._shared[key].fits:
                return None
            matrix = self._shared[key].matrix(kernel, place)
        return matrix.astype(np.float32, copy=False) if placement.single else matrix
