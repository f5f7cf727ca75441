"""Which of several kernels fits some labels best, and which mixture of them fits better still.

A kernel is good for labels where it is near the ideal kernel that is 1 within a class and 0 between. How near says the
cosine of the angle between the two matrices, both centred: their alignment (Cortes, Mohri and Rostamizadeh, 2012). No
learner has to be fitted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import optimize

from .._presentation.html import Markup, table_html
from .._runtime.compile import Array
from ..kernels import Kernel, Scaled, as_kernel
from .measures import alignment, centred, target_columns
from .sample import labels_of, looked_at, some_items

__all__ = ["Alignment", "align"]

#: Kernels whose share in the mixture is smaller are left out of it.
_NEGLIGIBLE = 1e-6


@dataclass(frozen=True, eq=False)
class Alignment:
    """Kernels by their alignment with labels, best first; printing it gives the table.

    Attributes
    ----------
    kernels : list of Kernel
    values : array
        The alignment of each.
    weights : array
        What each contributes to the best mixture, together one.
    mixture : Kernel
        Σ weight·kernel, over the kernels that contribute.
    mixture_value : float
        Its alignment.
    n, of : int
        How many items were looked at, and of how many.
    """

    kernels: list[Kernel]
    values: Array
    weights: Array
    mixture: Kernel
    mixture_value: float
    n: int
    of: int

    @property
    def best(self) -> Kernel:
        return self.kernels[0]

    @property
    def _title(self) -> str:
        return f"alignment with the labels, on {looked_at(self.n, self.of)}"

    def __str__(self) -> str:
        lines = [self._title]
        lines += [f"  {value:7.4f}  {kernel}" for value, kernel in zip(self.values, self.kernels, strict=True)]
        return "\n".join([*lines, f"  {self.mixture_value:7.4f}  {self.mixture}  (best mixture)"])

    def _repr_html_(self) -> Markup:
        ranked = zip(self.kernels, self.values, self.weights, strict=True)
        rows = [[kernel, f"{value:.4f}", f"{weight:.3g}"] for kernel, value, weight in ranked]
        rows.append([self.mixture, f"{self.mixture_value:.4f}", ""])
        return table_html(self._title, rows, heads=["kernel", "alignment", "share of the best mixture"])


def align(
    kernels: Sequence[Any], X: Any, y: Any, *, sample: int = 1000, random_state: int = 0, task: str | None = None
) -> Alignment:
    """Rank kernels by their centred alignment with labels or targets, and mix them for the largest.

    Parameters
    ----------
    kernels : list of kernels or texts
    X : what the kernels work on
    y : array of labels or real targets
    sample : int, default=1000
        How many items are looked at; of more, so many are drawn at random.
    random_state : int, default=0
    task : {"classify", "regress"}, optional
        Whether ``y`` holds classes or numbers. By default it is looked at.

    Returns
    -------
    Alignment

    Examples
    --------
    >>> from sklearn.datasets import make_circles
    >>> from mercer.diagnostics import align
    >>> X, y = make_circles(100, noise=0.1, factor=0.5, random_state=0)
    >>> found = align(["linear", "gaussian(gamma=1)", "gaussian(gamma=100)"], X, y)
    >>> found.best
    gaussian(gamma=1)
    >>> bool(found.mixture_value >= found.values[0])
    True
    """
    made = [as_kernel(kernel) for kernel in kernels]
    if not made:
        raise ValueError("align needs at least one kernel.")
    items, index, total = some_items(X, sample, np.random.default_rng(random_state))
    labels = labels_of(y, total, index)
    if labels is None:
        raise ValueError("align needs labels or targets y.")
    T, _ = target_columns(labels, task)
    made = [kernel.resolved(items) for kernel in made]
    matrices = [centred(kernel(items).astype(np.float64)) for kernel in made]
    values = np.array([alignment(K, T) for K in matrices])
    weights = _mixed(matrices, T)
    mixture_value = alignment(np.tensordot(weights, matrices, axes=1), T)
    order = np.argsort(-values, kind="stable")
    return Alignment(
        [made[k] for k in order],
        values[order],
        weights[order],
        _expression([(weights[k], made[k]) for k in order]),
        mixture_value,
        index.size,
        total,
    )


def _mixed(matrices: list[Array], T: Array) -> Array:
    """The w ≥ 0 with Σw = 1 that makes Σ wₖKₖ best aligned.

    The cosine ⟨Σ wₖKₖ, Y⟩/‖Σ wₖKₖ‖ = wᵀa/√(wᵀMw), with Mₖₗ = ⟨Kₖ, Kₗ⟩ and aₖ = ⟨Kₖ, Y⟩, does not change with the length
    of w, and its best direction over w ≥ 0 is that of the minimiser of wᵀMw − 2wᵀa: least squares ‖Rw − b‖² with
    M = RᵀR, Rᵀb = a.
    """
    Tc = T - T.mean(axis=0)
    M = np.array([[np.vdot(K, L) for L in matrices] for K in matrices])
    a = np.array([np.sum(Tc * (K @ Tc)) for K in matrices])
    scale = np.sqrt(np.maximum(M.diagonal(), np.finfo(float).tiny))
    values, vectors = np.linalg.eigh(M / np.outer(scale, scale))
    roots = np.sqrt(np.maximum(values, 0))
    keep = values > 1e-12 * values[-1]
    R = roots[keep, None] * vectors[:, keep].T
    b = (vectors[:, keep].T @ (a / scale)) / roots[keep]
    w = optimize.nnls(R, b)[0] / scale
    if not w.any():  # no kernel points towards the labels: the least bad one alone
        w[np.argmax(a / scale)] = 1.0
    w /= w.sum()
    return np.where(w > _NEGLIGIBLE, w, 0.0)


def _expression(terms: list[tuple[float, Kernel]]) -> Kernel:
    used: list[Kernel] = [Scaled(float(f"{weight:.4g}"), kernel) for weight, kernel in terms if weight > 0]
    out = used[0]
    for term in used[1:]:
        out = out + term
    return out
