"""What a kernel matrix says about itself and about labels, one number at a time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._runtime.aside import aside
from .._runtime.compile import Array
from .._validation.target_kind import is_measurement

#: How often labels are shuffled to see what alignment chance alone gives.
SHUFFLES = 199

#: Items nearer than this share of the usual distance (in the square mean) are nearly the same.
NEARLY_EQUAL = 1e-3


@dataclass(frozen=True)
class Spectrum:
    """The eigenvalues of a symmetric matrix, smallest first, and what follows from them."""

    eigenvalues: Array
    #: Eigenvalues up to this size are rounding.
    rounding: float

    @property
    def psd(self) -> bool:
        return bool(self.eigenvalues[0] >= -self.rounding)

    @property
    def rank(self) -> int:
        return int((np.abs(self.eigenvalues) > self.rounding).sum())

    @property
    def condition(self) -> float:
        smallest = self.eigenvalues[0]
        return float(self.eigenvalues[-1] / smallest) if smallest > self.rounding else float("inf")

    @property
    def effective_dimension(self) -> float:
        """(Σλ)²/Σλ²: n for the identity, one where a single direction says all."""
        positive = np.maximum(self.eigenvalues, 0)
        squares = float(positive @ positive)
        return float(positive.sum()) ** 2 / squares if squares else 0.0


def spectrum(K: Array) -> Spectrum:
    """The spectrum of a symmetric matrix."""
    eigenvalues = aside(lambda: np.linalg.eigvalsh(K.astype(np.float64)))
    digits = np.finfo(K.dtype if K.dtype.kind == "f" else np.float64).eps
    return Spectrum(eigenvalues, float(10 * len(K) * digits * np.abs(eigenvalues).max(initial=0.0)))


def cosines(K: Array) -> Array:
    """K with every item brought to length one; items of length zero are like none."""
    lengths = np.sqrt(np.maximum(K.diagonal(), 0))
    inverse = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    return K * inverse[:, None] * inverse


def centred(K: Array) -> Array:
    """HKH with H = I − 11ᵀ/n: the same items with their mean in feature space moved to the origin."""
    rows = K.mean(axis=0)
    return K - rows - rows[:, None] + rows.mean()


def off_diagonal(K: Array) -> Array:
    """All entries but the diagonal, row by row: n rows of n − 1."""
    n = len(K)
    return K[~np.eye(n, dtype=bool)].reshape(n, n - 1)


def target_columns(y: Array, task: str | None = None) -> tuple[Array, bool]:
    """Columns T with T·Tᵀ the ideal kernel matrix of y, and whether y are classes: as the task says, or as they look.

    Classes: one column for each, so that T·Tᵀ is 1 within a class and 0 between. Real targets: the target itself.
    """
    if task == "regress" or (task is None and y.dtype.kind in "iuf" and is_measurement(y)):
        return np.asarray(y, dtype=np.float64)[:, None], False
    return (y[:, None] == np.unique(y)).astype(np.float64), True


def alignment(Kc: Array, T: Array) -> float:
    """⟨HKH, HTTᵀH⟩/(‖HKH‖·‖HTTᵀH‖), the cosine of the angle between a centred kernel and the ideal one."""
    Tc = T - T.mean(axis=0)
    norm = np.linalg.norm(Kc) * np.linalg.norm(Tc.T @ Tc)
    return float(np.sum(Tc * (Kc @ Tc)) / norm) if norm else 0.0


def chance_of_alignment(Kc: Array, T: Array, random: np.random.Generator) -> float:
    """The share of shuffled targets that are aligned better than the real ones; those aligned the same count half."""
    Tc = T - T.mean(axis=0)
    real = np.sum(Tc * (Kc @ Tc))
    shuffled = np.hstack([Tc[random.permutation(len(Tc))] for _ in range(SHUFFLES)])
    values = np.sum(shuffled * (Kc @ shuffled), axis=0).reshape(SHUFFLES, -1).sum(axis=1)
    same = np.abs(values - real) <= 1e-9 * abs(real)
    return float((0.5 + np.sum((values > real) & ~same) + 0.5 * same.sum()) / (1 + SHUFFLES))


def class_means(C: Array, T: Array) -> Array:
    """The mean similarity of two different items, for each pair of classes; NaN within a class of one item.

    T has a column for each class, see :func:`target_columns`.
    """
    sizes = T.sum(axis=0)
    pairs = np.outer(sizes, sizes) - np.diag(sizes)
    sums = T.T @ C @ T - np.diag(T.T @ C.diagonal())
    return np.divide(sums, pairs, out=np.full_like(sums, np.nan), where=pairs > 0)


def near_duplicates(K: Array) -> Array:
    """The pairs (i, j), i < j, of items that are nearly the same: ‖φ(x) − φ(z)‖ is next to nothing for this matrix."""
    squared = K.diagonal()
    distances = squared[:, None] + squared - 2 * K
    near = distances <= NEARLY_EQUAL**2 * distances.mean()
    return np.argwhere(np.triu(near, 1))


def worst_asymmetry(K: Array) -> tuple[float, int, int]:
    """The largest |K − Kᵀ|, and where it is."""
    difference = np.abs(K - K.T)
    i, j = np.unravel_index(int(difference.argmax()), K.shape)
    return float(difference[i, j]), int(i), int(j)


def as_matrix(K: Any) -> Array:
    """A matrix of finite numbers, or one sentence that says why it is not."""
    values = np.asarray(K.toarray() if hasattr(K, "toarray") else K)
    if values.ndim != 2 or values.dtype.kind not in "fiub" or values.size == 0:
        raise ValueError(f"expected a matrix of numbers, got shape {values.shape} of {values.dtype}.")
    values = values if values.dtype.kind == "f" else values.astype(np.float64)
    if not np.isfinite(values).all():
        i, j = np.argwhere(~np.isfinite(values))[0]
        raise ValueError(f"the kernel matrix holds {values[i, j]} in row {i}, column {j}; a kernel has finite values.")
    return values
