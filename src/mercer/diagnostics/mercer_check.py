"""Is a function a kernel? By Mercer's theorem it is where no sample of items gives a matrix with a negative eigenvalue.

A sample can only refute: one counterexample is a proof that the function is no kernel, no counterexample is none that
it is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy import optimize

from ..kernels import Kernel, Scaled, as_kernel
from ..presentation import Markup, table_html
from ..runtime.arrays import Array
from ..runtime.threads import in_background
from .diagnosis import alignment, as_matrix, centred, labels_of, looked_at, some_items, target_columns, worst_asymmetry
from .diagnosis import spectrum_of as spectrum

#: Sizes of the samples, small ones first: a small counterexample is easy to read.
_SIZES = (2, 3, 5, 10, 20, 50, 100)
#: Items of a counterexample that are printed with their matrix.
_LISTED = 10


@dataclass(frozen=True, eq=False)
class MercerCheck:
    """What :func:`check_mercer` found. True where nothing speaks against the function; printing it says what does.

    Attributes
    ----------
    passed : bool
    samples : int
        How many samples were tried.
    places : list of int
        Where the items of the counterexample are in X.
    items : list
        These items.
    matrix : array
        Their matrix.
    coefficients : array
        c with cᵀKc < 0; empty where the matrix is not even symmetric.
    reason : str
    """

    passed: bool
    samples: int
    reason: str
    places: list[int] = field(default_factory=list)
    items: list[Any] = field(default_factory=list)
    matrix: Array = field(default_factory=lambda: np.empty((0, 0)))
    coefficients: Array = field(default_factory=lambda: np.empty(0))

    def __bool__(self) -> bool:
        return self.passed

    def __str__(self) -> str:
        if self.passed:
            return f"no counterexample: {self.reason}"
        lines = [f"not a kernel: {self.reason}"]
        if len(self.places) > _LISTED:
            return f"{lines[0]}, for {len(self.places)} items: see places, items, matrix and coefficients"
        lines += [f"  item {place}: {item!r:.80}" for place, item in zip(self.places, self.items, strict=True)]
        lines += ["  " + "  ".join(f"{value:10.4g}" for value in row) for row in self.matrix]
        if self.coefficients.size:
            lines.append("  c = " + ", ".join(f"{c:.4g}" for c in self.coefficients))
        return "\n".join(lines)

    def _repr_html_(self) -> Markup:
        if self.passed:
            return table_html("no counterexample", [], notes=[self.reason])
        if len(self.places) > _LISTED:
            return table_html("not a kernel", [], notes=[str(self)])
        heads = ["", "item", *(f"k(·, item {place})" for place in self.places), *(["c"] * bool(self.coefficients.size))]
        rows = [
            [f"item {place}", f"{item!r:.80}", *(f"{value:.4g}" for value in similarities)]
            for place, item, similarities in zip(self.places, self.items, self.matrix, strict=True)
        ]
        for row, c in zip(rows, self.coefficients):
            row.append(f"{c:.4g}")
        return table_html(f"not a kernel: {self.reason}", rows, heads=heads)


def check_mercer(function: Any, X: Any, *, samples: int = 20, random_state: int = 0) -> MercerCheck:
    """Look for items on which a function is not a kernel.

    Parameters
    ----------
    function : callable, kernel or text
        ``function(x, z)`` of two items, or ``function(A, B)`` of two collections.
    X : array, frame or list of items
    samples : int, default=20
        Samples of each size, from two items to a hundred.
    random_state : int, default=0

    Returns
    -------
    MercerCheck

    Examples
    --------
    >>> from mercer.diagnostics import check_mercer
    >>> bool(check_mercer(lambda x, z: min(x, z), [1, 2, 5]))
    True
    >>> print(check_mercer(lambda x, z: abs(x - z), [1, 2, 5]))
    not a kernel: the sum over c_i c_j k(x_i, x_j) is -3 < 0
      item 1: 2
      item 2: 5
               0           3
               3           0
      c = -0.7071, 0.7071
    """
    matrix_of, items = _evaluator(function, X)
    n = len(items)
    if n < 2:
        raise ValueError(f"a Mercer check needs two items or more, got {n}.")
    random = np.random.default_rng(random_state)
    tried = 0
    for size in [size for size in _SIZES if size < n] + [min(n, _SIZES[-1])]:
        for _ in range(samples if size < n else 1):
            places = np.sort(random.choice(n, size=size, replace=False))
            K = as_matrix(matrix_of(places))
            tried += 1
            found = _counterexample(K)
            if found is not None:
                inside, coefficients, reason = found
                where = places[inside]
                shown = [items[k] for k in where]
                return MercerCheck(False, tried, reason, where.tolist(), shown, K[np.ix_(inside, inside)], coefficients)
    return MercerCheck(True, tried, f"{tried} samples of up to {size} of the {n} items gave no negative eigenvalue")


def _evaluator(function: Any, X: Any) -> tuple[Callable[[Array], Array], Sequence[Any]]:
    """A function of places in X that gives their matrix, and the items one by one."""
    shown = X.to_numpy() if hasattr(X, "to_numpy") else X.toarray() if hasattr(X, "toarray") else X
    items = list(shown)
    if not isinstance(function, (Kernel, str)) and not callable(function):
        raise TypeError(f"expected a function of two items, a kernel or its text, got {function!r}.")
    kernel = as_kernel(function).suited(X)
    converted = kernel.items(X)
    kernel = kernel.resolved(converted)
    # Two collections, so that the whole square is asked for, not a triangle mirrored: an asymmetric function must show.
    return lambda places: kernel.matrix(converted[places], converted[places]), items


def _counterexample(K: Array) -> tuple[Array, Array, str] | None:
    """The fewest items that still refute: their places in K, the coefficients and the reason."""
    gap, i, j = worst_asymmetry(K)
    if gap > 1e-6 * float(np.abs(K).max()):
        inside = np.array(sorted({i, j}))
        return inside, np.empty(0), f"it is not symmetric, k(x, z) = {K[i, j]:.6g} but k(z, x) = {K[j, i]:.6g}"
    K = (K + K.T) / 2
    if spectrum(K).psd:
        return None
    inside = np.arange(len(K))
    for place in range(len(K)):  # leave out one item after the other, as long as the rest still refutes
        rest = inside[inside != place]
        if rest.size and not spectrum(K[np.ix_(rest, rest)]).psd:
            inside = rest
    values, vectors = in_background(lambda: np.linalg.eigh(K[np.ix_(inside, inside)]))
    c = vectors[:, 0] * (np.sign(vectors[-1, 0]) or 1.0)
    return inside, c, f"the sum over c_i c_j k(x_i, x_j) is {values[0]:.4g} < 0"


# Which of several kernels fits some labels best, and which mixture of them fits better still.
#
# A kernel is good for labels where it is near the ideal kernel that is 1 within a class and 0 between. How near says
# the cosine of the angle between the two matrices, both centred: their alignment (Cortes, Mohri and Rostamizadeh,
# 2012). No learner has to be fitted.


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
