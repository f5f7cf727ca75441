"""Between a Gram and an interior point method: K as it is given to one, and a model as it comes back."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from .._runtime.compile import Array
from ..grams.base import Gram
from .interior import Curvature, FeatureCurvature, MatrixCurvature, Optimum

#: So many items, or features, an interior point method takes at most.
LARGEST_MATRIX, LARGEST_WIDTH = 3000, 512
#: Numbers that features may have to be used by an interior point method.
_LARGEST_TABLE = 50_000_000
#: What rounding leaves of a weight, relative to the terms that it is the sum of.
_ROUNDED = 1e-14


def few_features(gram: Gram) -> Any | None:
    """The features of the items, where they are few enough for an interior point method, else ``None``."""
    Phi = gram.features()
    if Phi is None:
        return None
    small = Phi.shape[1] <= LARGEST_WIDTH and Phi.shape[0] * Phi.shape[1] <= _LARGEST_TABLE
    return Phi if small else None


def few_enough(gram: Gram) -> bool:
    """Whether an interior point method can take all items, or their features."""
    return len(gram) <= LARGEST_MATRIX or few_features(gram) is not None


def weights_of(gram: Gram, found: Optimum, unit: float) -> Array | None:
    """The weights of the linear model that was found, where an interior point method worked with them."""
    return None if few_features(gram) is None else found.vector / np.sqrt(unit)


def reconciled(Phi: Any, w: Array, z: Array, low: Any = -np.inf, high: Any = np.inf, balance: bool = True) -> Array:
    """Coefficients near z whose vector Φᵀz is w, and whose sum is zero if they are to ``balance``.

    Putting coefficients on their bounds changes their vector by little, but large columns make much of that. The free
    ones make up for it, by the change that does and is smallest beside their distances to their bounds: one that is
    close to a bound would leave it otherwise, and undo all when it is put there again. Several models are columns.
    """
    z, w = z.copy(), np.asarray(w)
    wide = z.reshape(z.shape[0], -1)
    free = np.flatnonzero(((z > low) & (z < high)).reshape(wide.shape).all(axis=1))
    if not free.size:
        return z
    rows = np.asarray(Phi[free].toarray() if sparse.issparse(Phi) else Phi[free], dtype=np.float64)
    unit = np.maximum(np.abs(rows).max(axis=0, initial=0.0), 1e-300)
    equations = np.column_stack([rows / unit, np.ones(free.size)][: 1 + balance]).T
    room = np.minimum(z - low, high - z).reshape(wide.shape)[free].min(axis=1)
    room = np.where(np.isfinite(room), room, 1.0)
    for _ in range(2):
        missing = (w.reshape(w.shape[0], -1) - Phi.T @ wide) / unit[:, None]
        missing = np.vstack([missing, -wide.sum(axis=0)]) if balance else missing
        wide[free] += room[:, None] * np.linalg.lstsq(equations * room, missing, rcond=None)[0]
    return np.clip(z, low, high)


def agree(Phi: Any, w: Array, z: Array, tol: float) -> bool:
    """Whether the model with coefficients z is the one with weights w.

    The weight of every column is then Φᵀz but for rounding in its own unit, or what is beyond that changes no score by
    more than ``tol``. What rounding leaves of a large column says nothing about the weight of a small one.
    """
    size = abs(Phi)
    beyond = np.maximum(np.abs(Phi.T @ z - w) - _ROUNDED * (size.T @ np.abs(z)), 0.0)
    return bool((size @ beyond <= tol).all())


def curvature_of(gram: Gram, items: Array, centred: bool) -> tuple[Curvature, float]:
    """K/s for some items, with s such that its diagonal is at most one; and s.

    ``centred``: where Σz = 0, moving all items by the same amount changes no more than the intercept, and a matrix of
    items around their mean has more digits for what they differ in.
    """
    Phi = few_features(gram)
    if Phi is not None:
        Phi = Phi[items].toarray() if sparse.issparse(Phi) else Phi[items]
        Phi = np.asarray(Phi, dtype=np.float64)
        if centred:
            Phi = Phi - Phi.mean(axis=0)
        unit = float(np.einsum("ij,ij->i", Phi, Phi).max(initial=0.0)) or 1.0
        return FeatureCurvature(Phi / np.sqrt(unit)), unit
    part = gram if items.size == len(gram) else gram.take(items)
    K = np.array(part.rows(np.arange(items.size)), dtype=np.float64)
    if centred:
        means = K.mean(axis=0)
        K += means.mean() - means - means[:, None]
    unit = float(K.diagonal().max(initial=0.0)) or 1.0
    K /= unit
    return MatrixCurvature(K), unit
