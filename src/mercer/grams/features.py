"""A kernel matrix known by its features: K = Φ·Φᵀ, never formed."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from .._runtime.compile import Array
from ..kernels.engine.statistics import product, squared_norms
from .base import Gram
from .span import FeatureSpan
from .walk import DenseRows, SparseRows, Walk

#: Columns whose mean is more than so many standard deviations from zero are far away.
_FAR = 3.0
#: Sparse rows with more than this part of their numbers are not sparse.
_FULL = 0.3


class Features(Gram):
    """K = Φ·Φᵀ for a dense array or CSR matrix Φ with a row for each item. A linear model is this Gram with Φ = X.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams import Features
    >>> Features(np.array([[1.0, 0.0], [1.0, 1.0]])).rows([1])
    array([[1., 2.]])
    """

    ready = True
    #: What was taken off the features of every item; a model adds it back to its intercept.
    centre: Array | None = None

    def __init__(self, Phi: Any) -> None:
        Phi = sparse.csr_array(Phi) if sparse.issparse(Phi) else np.ascontiguousarray(Phi)
        self.Phi: Any = Phi
        #: The columns that some item has, where most have none: the others change no similarity.
        self._used: Array | None = None
        self._narrow: Any = Phi
        if sparse.issparse(Phi) and Phi.shape[1] > Phi.nnz:
            self._used, places = np.unique(Phi.indices, return_inverse=True)
            shape = (Phi.shape[0], self._used.size)
            self._narrow = sparse.csr_array((Phi.data, places.astype(np.int32), Phi.indptr), shape=shape)

    @classmethod
    def around_mean(cls, Phi: Any) -> Features:
        """Features of items that are moved to their mean, where they lie far from the origin.

        With a free intercept that changes nothing but the intercept, and digits are left for what items differ in.
        Sparse rows stay where they are, for the sake of their zeros, if they have any to speak of.

        Examples
        --------
        >>> import numpy as np
        >>> Features.around_mean(np.array([[100.0], [102.0]])).Phi.ravel()
        array([-1.,  1.])
        """
        if sparse.issparse(Phi):
            if Phi.nnz < _FULL * Phi.shape[0] * Phi.shape[1]:
                return cls(Phi)
            Phi = Phi.toarray()
        mean = Phi.mean(axis=0, dtype=np.float64)
        if (np.abs(mean) <= _FAR * Phi.std(axis=0, dtype=np.float64)).all():
            return cls(Phi)
        gram = cls(Phi - mean)
        gram.centre = mean
        return gram

    def shift(self, w: Array) -> Any:
        """What the intercepts of models with these weights (a row each) change by when items move back."""
        return 0.0 if self.centre is None else -(w @ self.centre)

    def features(self) -> Any:
        return self.Phi

    def __len__(self) -> int:
        return self.Phi.shape[0]

    @cached_property
    def _diagonal(self) -> Array:
        return squared_norms(self.Phi).astype(np.float64)

    def diag(self) -> Array:
        return self._diagonal.copy()

    def lengths(self) -> Array:
        if self.centre is None:
            return super().lengths()
        return np.sqrt(squared_norms(self.Phi + self.centre))

    def model(self, z: Array) -> Array:
        """w = Φᵀz: the model in feature space."""
        return self.Phi.T @ np.asarray(z, dtype=np.float64)

    def matvec(self, z: Array) -> Array:
        return self._narrow @ (self._narrow.T @ np.asarray(z, dtype=np.float64))

    def rows(self, index: Any) -> Array:
        return product(self._narrow[index], self._narrow)

    def block(self, rows: Array, columns: Array, out: Array) -> None:
        out[:] = product(self._narrow[rows], self._narrow[columns])

    def take(self, index: Any) -> Features:
        part = Features(self.Phi[np.asarray(index)])
        part.centre = self.centre
        return part

    def scaled(self, factor: float) -> Features:
        return Features(self.Phi.astype(np.float64) * np.sqrt(factor))

    @cached_property
    def span(self) -> FeatureSpan:
        return FeatureSpan(self._narrow, self._used, self.Phi.shape[1])

    def walk(self) -> Walk:
        if sparse.issparse(self.Phi):
            return Walk(SparseRows(self.Phi.data, self.Phi.indices, self.Phi.indptr), self.Phi.shape[1])
        return Walk(DenseRows(self.Phi), self.Phi.shape[1])
