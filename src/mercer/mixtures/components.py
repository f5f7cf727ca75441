"""The matrices of the kernels of a mixture, and their weighted sum."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._runtime.combine import weighted_sum
from .._runtime.compile import Array
from .._validation.memory import bytes_of
from ..grams import Dense, Gram, Lazy, Placement
from ..kernels import Mixture
from ..kernels.engine.parts import length

#: Matrices besides those of the kernels: a sum, and the one before it.
_SUMS = 2


class Components:
    """The kernels of a mixture on some items.

    Their matrices are in memory where all of them fit; else the rows of a sum are computed when asked for.

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
        self._rounded = placement.rounded(kernel, items)
        kind = self._kind()
        self.held = kind is not None
        pairs = list(
            zip(kernel.kernels, kernel.part_items(items if kind is np.float64 else self._rounded), strict=True)
        )
        self.grams: list[Gram]
        if kind is None:
            self.grams = [Lazy(part, form, placement.memory) for part, form in pairs]
        else:
            shape = length(items), length(items)
            self.grams = [Dense(part.matrix(form, form, out=np.empty(shape, kind))) for part, form in pairs]

    def _kind(self) -> type[np.floating] | None:
        """The numbers of matrices that all fit into the memory; those in float32 only where the machine allows it."""
        kinds = (np.float64, np.float32) if self.placement.single else (np.float64,)
        matrices, room = (len(self.kernel.kernels) + _SUMS) * length(self.items) ** 2, bytes_of(self.placement.memory)
        return next((kind for kind in kinds if matrices * np.dtype(kind).itemsize <= room), None)

    def __len__(self) -> int:
        return len(self.grams)

    def gram(self, weights: Array) -> Gram:
        """The Gram of the mixture with these weights."""
        mixed = self.kernel.weighted(weights)
        if not self.held:
            return Lazy(mixed, self._rounded, self.placement.memory)
        matrices = [gram.K for gram in self.grams if isinstance(gram, Dense)]
        used = np.flatnonzero(mixed.factors)
        return Dense(weighted_sum([matrices[m] for m in used], mixed.factors[used].tolist(), like=matrices[0]))

    def products(self, z: Array, rows: Array | None = None) -> Array:
        """Kₘ·z/scaleₘ of every kernel, for coefficients of some items or of all, and the same items."""
        inverse = self.kernel.inverse_scales
        grams = self.grams if rows is None else [gram.take(rows) for gram in self.grams]
        return np.stack([gram.matvec(z) * scale for gram, scale in zip(grams, inverse, strict=True)])

    def exact(self) -> Components:
        """The same kernels with nothing rounded to float32."""
        if isinstance(self.grams[0], Dense) and self.grams[0].K.dtype == np.float64:
            return self
        out = object.__new__(Components)
        vars(out).update(vars(self))
        forms = self.kernel.part_items(self.items)
        pairs = zip(self.kernel.kernels, forms, self.grams, strict=True)
        out.grams = [Placement.exact(kernel, form, gram) for kernel, form, gram in pairs]
        return out
