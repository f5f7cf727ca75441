"""The matrices of the kernels of a mixture, and their weighted sum."""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np

from .._runtime.combine import weighted_sum
from .._runtime.compile import Array
from .._validation.memory import bytes_of
from ..grams import Dense, Gram, Lazy, Placement
from ..kernels import Kernel, Mixture
from ..kernels.engine.parts import length

#: Matrices besides those of the kernels: a sum, and the one before it.
_SUMS = 2


class Components:
    """The kernels of a mixture on some items.

    Their matrices are in memory where all of them fit; else the sum alone is, made anew for other weights; else rows of
    the sum are computed when asked for.

    Parameters
    ----------
    kernel : Mixture
        Resolved on the items.
    items : collection
        As the kernel works on them.
    placement : Placement
        What the machine allows.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams import Placement
    >>> from mercer.kernels import Gaussian, Linear, Mixture
    >>> kernel = Mixture([Linear(), Gaussian(gamma=1.0)], scales=[1.0, 0.5])
    >>> components = Components(kernel, np.array([[1.0], [2.0]]), Placement())
    >>> components.gram(np.array([0.5, 0.25])).rows([0]).round(4)
    array([[1.    , 1.1839]])
    """

    def __init__(self, kernel: Mixture, items: Any, placement: Placement) -> None:
        self.kernel, self.items, self.placement = kernel, items, placement
        kind = self._kind(len(kernel.kernels) + _SUMS)
        self.held = kind is not None
        self.grams: list[Gram] = [
            Lazy(part, form, placement.memory) if kind is None else Dense(_matrix(part, form, kind))
            for part, form in zip(kernel.kernels, kernel.part_items(self._rounded(kind)), strict=True)
        ]

    def _kind(self, matrices: int) -> type[np.floating] | None:
        """The numbers of so many matrices that fit into the memory; float32 only where the machine allows it."""
        kinds = (np.float64, np.float32) if self.placement.single else (np.float64,)
        numbers, room = matrices * length(self.items) ** 2, bytes_of(self.placement.memory)
        return next((kind for kind in kinds if numbers * np.dtype(kind).itemsize <= room), None)

    def _rounded(self, kind: type[np.floating] | None) -> Any:
        """The items, rounded as far as their matrices are."""
        return self.items if kind is np.float64 else self.placement.rounded(self.kernel, self.items)

    def __len__(self) -> int:
        return len(self.grams)

    def gram(self, weights: Array) -> Gram:
        """The Gram of the mixture with these weights."""
        mixed = self.kernel.weighted(weights)
        if self.held:
            matrices = [gram.K for gram in self.grams if isinstance(gram, Dense)]
            used = np.flatnonzero(mixed.factors)
            return Dense(weighted_sum([matrices[m] for m in used], mixed.factors[used].tolist(), like=matrices[0]))
        kind = self._kind(_SUMS)
        if kind is None:
            return Lazy(mixed, self._rounded(kind), self.placement.memory)
        return Dense(_matrix(mixed, self._rounded(kind), kind))

    def products(self, z: Array, rows: Array | None = None) -> Array:
        """Kₘ·z/scaleₘ of every kernel, for coefficients of some items or of all, and the same items."""
        inverse = self.kernel.inverse_scales
        grams = self.grams if rows is None else [gram.take(rows) for gram in self.grams]
        return np.stack([gram.matvec(z) * scale for gram, scale in zip(grams, inverse, strict=True)])

    def exact(self) -> Components:
        """The same kernels with nothing rounded to float32."""
        if isinstance(self.grams[0], Dense) and self.grams[0].K.dtype == np.float64:
            return self
        out = copy(self)
        forms = self.kernel.part_items(self.items)
        pairs = zip(self.kernel.kernels, forms, self.grams, strict=True)
        out.grams = [Placement.exact(kernel, form, gram) for kernel, form, gram in pairs]
        return out


def _matrix(kernel: Kernel, items: Any, kind: type[np.floating]) -> Array:
    return kernel.matrix(items, items, out=np.empty((length(items), length(items)), kind))
