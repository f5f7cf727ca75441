"""Weights of columns that are learned, and what is chosen by exact leave-one-out.

Examples
--------
>>> import numpy as np
>>> from mercer.metrics import learned_metric
>>> X = np.random.default_rng(0).normal(size=(150, 4))
>>> found = learned_metric(X, np.abs(X[:, [2]]))
>>> int(np.argmax(found.best.weights))
2
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import linalg, special

from .checks import schema
from .kernels import DISTANCE, MANHATTAN, SQUARED_DISTANCE, Gaussian, Kernel, Laplacian, Matern
from .kernels.engine.statistics import Statistic
from .runtime.compile import Array, jit
from .runtime.numerics import (
    factorise,
    inverse,
    inverse_diagonal,
    product,
    solve_factorised,
    weighted_squares,
)
from .runtime.threads import for_each
from .solvers.ridge import LARGEST_RIDGE, RidgePath

__all__ = [
    "FAMILIES",
    "TRIED",
    "Clock",
    "Family",
    "Hat",
    "Judge",
    "LearnedMetric",
    "LeftOut",
    "Mean",
    "Setting",
    "Tried",
    "descended",
    "error_and_slopes",
    "exactly_left_out",
    "family_of",
    "gaussian_gradients",
    "gaussian_slopes",
    "groups_left_out",
    "hat",
    "kept_apart",
    "laplacian_gradients",
    "laplacian_slopes",
    "learned_metric",
    "left_out",
    "matern_gradients",
    "rounded",
    "sampled",
    "tried_table",
    "weighed",
]

# How much predictions change with each column: the diagonal of the average gradient outer product.
#
# Of f(x) = Σᵢ zᵢ·k(x, xᵢ) + b with columns weighted by w,
#
#     ∂f/∂xⱼ = −γ·wⱼ·Σᵢ zᵢ·k(x, xᵢ)·sign(xⱼ − xᵢⱼ)        for exp(−γ·Σⱼ wⱼ·|xⱼ − zⱼ|),
#     ∂f/∂xⱼ = −2γ·wⱼ²·Σᵢ zᵢ·k(x, xᵢ)·(xⱼ − xᵢⱼ)          for exp(−γ·Σⱼ wⱼ²·(xⱼ − zⱼ)²),
#     ∂f/∂xⱼ = −wⱼ²·Σᵢ zᵢ·g(rᵢ)·(xⱼ − xᵢⱼ)                 for k(r), r = ‖w∘(x − z)‖ and g(r) = −k′(r)/r.
#
# With a matrix W in the place of the weights, the gradient is Wᵀ times that by u = Wx.


#: Rows of a piece of work, and rows whose signs are looked at together.
_GRADIENT_ROWS, _STRIP = 32, 512


def laplacian_gradients(rows: Array, items: Array, weights: Array, gamma: float, K: Array, z: Array) -> Array:
    """The gradients at some rows, (rows, columns, targets); ``K`` is the matrix of rows and items.

    Examples
    --------
    >>> import numpy as np
    >>> x, z = np.array([[1.0]]), np.array([[0.0]])
    >>> laplacian_gradients(x, z, np.ones(1), 2.0, np.exp(-2.0 * np.abs(x - z)), np.ones((1, 1))).ravel().round(3)
    array([-0.271])
    """
    columns, coefficients = np.ascontiguousarray(items.T), np.ascontiguousarray(z.T)
    out = np.zeros((len(rows), rows.shape[1], z.shape[1]))

    def work(begin: int) -> None:
        piece = slice(begin, begin + _GRADIENT_ROWS)
        _signed_sums(rows[piece], columns, K[piece], coefficients, out[piece])

    for_each(work, range(0, len(rows), _GRADIENT_ROWS))
    out *= -gamma * weights[:, None]
    return out


@jit(reorder=True)
def _signed_sums(rows: Array, columns: Array, K: Array, coefficients: Array, out: Array) -> None:
    """out[r, j, t] = Σᵢ z[t, i]·K[r, i]·sign(rows[r, j] − columns[j, i]), a strip of items at a time."""
    n, targets = columns.shape[1], coefficients.shape[0]
    for begin in range(0, n, _STRIP):
        end = min(begin + _STRIP, n)
        terms = np.empty((targets, end - begin))
        signs = np.empty(end - begin)
        for r in range(rows.shape[0]):
            for t in range(targets):
                for i in range(end - begin):
                    terms[t, i] = coefficients[t, begin + i] * K[r, begin + i]
            for j in range(rows.shape[1]):
                x = rows[r, j]
                for i in range(end - begin):
                    other = columns[j, begin + i]
                    signs[i] = np.float64(x > other) - np.float64(x < other)
                for t in range(targets):
                    total = 0.0
                    for i in range(end - begin):
                        total += terms[t, i] * signs[i]
                    out[r, j, t] += total


def gaussian_gradients(rows: Array, items: Array, weights: Array, gamma: float, K: Array, z: Array) -> Array:
    """The gradients at some rows, (rows, columns, targets); ``K`` is the matrix of rows and items."""
    out = np.empty((len(rows), rows.shape[1], z.shape[1]))
    for t, column in enumerate(z.T):
        out[:, :, t] = rows * product(K, column)[:, None] - product(K, column[:, None] * items)
    out *= -2 * gamma * np.square(weights)[:, None]
    return out


def laplacian_slopes(rows: Array, weights: Array, gamma: float, V: Array) -> Array:
    """How Σ Vᵢₖ·log k(xᵢ, xₖ) changes with the logarithm of each column's weight, V symmetric.

    Examples
    --------
    >>> import numpy as np
    >>> laplacian_slopes(np.array([[0.0], [3.0]]), np.array([2.0]), 0.5, np.array([[0.0, 1.0], [1.0, 0.0]]))
    array([-6.])
    """
    columns = np.ascontiguousarray(rows.T)
    pieces = range(0, len(rows), _GRADIENT_ROWS)
    sums = np.zeros((len(pieces), len(columns)))

    def work(number: int) -> None:
        begin = pieces[number]
        _distant_sums(columns, V[begin : begin + _GRADIENT_ROWS], begin, sums[number])

    for_each(work, range(len(pieces)))
    return -gamma * weights * sums.sum(axis=0)


@jit(reorder=True)
def _distant_sums(columns: Array, V: Array, begin: int, out: Array) -> None:
    """out[j] = Σ V[r, i]·|columns[j, begin + r] − columns[j, i]|."""
    for j in range(columns.shape[0]):
        for r in range(V.shape[0]):
            x, total = columns[j, begin + r], 0.0
            for i in range(V.shape[1]):
                total += V[r, i] * abs(x - columns[j, i])
            out[j] += total


def gaussian_slopes(rows: Array, weights: Array, gamma: float, V: Array) -> Array:
    """How Σ Vᵢₖ·log k(xᵢ, xₖ) changes with the logarithm of each column's weight, V symmetric."""
    of_squares = V.sum(axis=1) @ np.square(rows)
    return -4 * gamma * np.square(weights) * (of_squares - (rows * product(V, rows)).sum(axis=0))


def matern_gradients(nu: float, rows: Array, items: Array, weights: Array, gamma: float, K: Array, z: Array) -> Array:
    """The gradients at some rows, (rows, columns, targets), for a Matérn kernel of the length 1/γ.

    With c = √(2ν)·γ it is k(r) = (cr)^ν·K_ν(cr)·2^(1−ν)/Γ(ν), and −k′(r)/r = c²·(cr)^(ν−1)·K_(ν−1)(cr)·2^(1−ν)/Γ(ν):
    for ν > 1 the kernel of ν − 1 with the same c, times c²/(2ν − 2).
    """
    c, r = np.sqrt(2 * nu) * gamma, FAMILIES["gaussian"].distances(rows * weights, items * weights)
    np.sqrt(r, out=r)
    if nu > 1:
        falls = c * c / (2 * nu - 2) * Matern(nu - 1, np.sqrt(2 * nu - 2) / c).apply(r)
    else:
        r = np.where(r > 0, c * r, np.inf)  # a row says nothing of itself
        falls = c * c * 2 ** (1 - nu) / special.gamma(nu) * r ** (nu - 1) * special.kv(nu - 1, r)
    return gaussian_gradients(rows, items, weights, 0.5, falls, z)


# Kernels whose columns can be given weights by gradients: what there is to know of each family.


#: Rows of a piece of a matrix; and rows by which a median is known.
_ROWS, _SAMPLE = 256, 1000


@dataclass(frozen=True)
class Family:
    """Kernels of one distance, most of them exp(−γ·distance).

    Parameters
    ----------
    name : str
        That of the kernel in texts.
    kernel : callable
        The kernel of a γ.
    statistic : Statistic
        The distance.
    power : int
        The power of a length that the distance is: γ = 1/(power·length^power).
    gradients : callable
        Of models at rows, by their columns.
    slopes : callable, optional
        Of the matrix, by the weights of columns.
    """

    name: str
    kernel: Callable[[float], Any]
    statistic: Statistic
    power: int
    gradients: Callable[..., Array]
    slopes: Callable[..., Array] | None = None

    def distances(self, rows: Array, others: Array | None = None) -> Array:
        """The distances of all pairs of rows; of rows and others, where these are given."""
        others = rows if others is None else others
        left, right = self.statistic.prepare(rows, others)
        out = np.empty((len(rows), len(others)))
        every = slice(0, len(others))

        def fill(begin: int) -> None:
            piece = slice(begin, min(begin + _ROWS, len(rows)))
            out[piece] = self.statistic.tile(left, right, piece, every)

        for_each(fill, range(0, len(rows), _ROWS))
        return out

    def values(self, distances: Array, gamma: float) -> Array:
        """The kernel of distances, in a new array."""
        out, kernel = distances.copy(), self.kernel(gamma)

        def fill(begin: int) -> None:
            piece = out[begin : begin + _ROWS]
            piece[:] = kernel.apply(piece)

        for_each(fill, range(0, len(out), _ROWS))
        return out

    def median(self, distances: Array) -> float:
        """The median distance of rows that differ; 1 where none do."""
        step = max(1, len(distances) // _SAMPLE)
        some = distances[::step, ::step]
        apart = some[some > 0]
        return float(np.median(apart)) if apart.size else 1.0

    def rate(self, scale: float, median: float) -> float:
        """γ for a length that is so many times that of the median distance."""
        return 1.0 / (self.power * scale**self.power * median)

    def kernel_of(self, gamma: float, weights: Array | None) -> Kernel:
        """The kernel as a whole."""
        plain: Kernel = self.kernel(gamma)
        return plain if weights is None else plain.scaled(weights.tolist())


FAMILIES = {
    "laplacian": Family("laplacian", Laplacian, MANHATTAN, 1, laplacian_gradients, laplacian_slopes),
    "gaussian": Family("gaussian", Gaussian, SQUARED_DISTANCE, 2, gaussian_gradients, gaussian_slopes),
}


def family_of(kernel: Kernel) -> Family | None:
    """The family of a kernel, if it is of one."""
    if type(kernel) is Matern:
        nu = float(kernel.nu)
        return Family("matern", lambda gamma: Matern(kernel.nu, 1 / gamma), DISTANCE, 1, partial(matern_gradients, nu))
    return next((family for family in FAMILIES.values() if type(kernel) is family.kernel), None)


# The squared loss without each row in turn, from one factor of Cholesky's.
#
# As :mod:`mercer.solvers.ridge` derives it: with weights s of mean 1, d = √s, ρ = λ·(n − s) and
# G = (diag(d)·K·diag(d) + ρ)⁻¹, what is predicted of row i by the model of all others misses its target by
#
#     uᵢ / (dᵢ·(Gᵢᵢ − (Gd)ᵢ²/dᵀGd)),      u = G(d∘y) − b·Gd,      b = dᵀG(d∘y)/dᵀGd,
#
# without b and the second term where there is no intercept. G is never formed: its diagonal is the sum of the squares
# of the inverse factor's columns, which takes as long again as the factor itself.
#
# ρ is the same for all rows where their weights are. Where they differ, one factor serves the mean weight
# (:func:`left_out`), which is what settings are compared by. What rows are told in the end is exact
# (:func:`exactly_left_out`): predictions are analytic in ρ, and the ρ of all rows lie within a few thousandths of each
# other unless there are few rows, so a polynomial through a few of them has every digit; few rows are decomposed.


#: Values of ρ that a polynomial goes through, where weights differ: so many, and at most.
_NODES, _MOST_NODES = 4, 16


class LeftOut(NamedTuple):
    """What each row is told by the model of all others, a column for each target; and the model of all rows."""

    predictions: Array
    z: Array
    b: Array

    def error(self, y: Array, weights: Array | None = None) -> float:
        """The mean squared error, over rows as they count and over targets."""
        return float(np.average(np.square(y - self.predictions).mean(axis=1), weights=weights))


def left_out(K: Array, y: Array, ridge: float, intercept: bool = True, weights: Array | None = None) -> LeftOut:
    """Predict each row by the model of all others, for one ρ; ``K`` is written over.

    Parameters
    ----------
    K : array of shape (n, n)
    y : array of shape (n, n_targets)
    ridge : float
        ρ, of the models without a row.
    intercept : bool, default=True
    weights : array of shape (n,), optional
        Of mean 1.

    Returns
    -------
    LeftOut

    Examples
    --------
    >>> import numpy as np
    >>> left_out(np.eye(2), np.array([[1.0], [3.0]]), ridge=0.5).predictions.ravel()
    array([3., 1.])
    """
    n = len(K)
    d = np.ones(n) if weights is None else np.sqrt(weights)
    unseen = np.flatnonzero(d == 0)
    rows = K[unseen]
    if weights is not None:
        K *= d
        K *= d[:, None]
    np.einsum("ii->i", K)[:] += ridge
    factorise(K)
    own = inverse_diagonal(K)
    solved = solve_factorised(K, np.column_stack([d[:, None] * y, d]))
    u, of_one = solved[:, :-1], solved[:, -1]
    b = np.zeros(y.shape[1])
    if intercept:
        total = d @ of_one
        b = (d @ u) / total
        u = u - np.outer(of_one, b)
        own = own - np.square(of_one) / total
    z = d[:, None] * u
    errors = np.divide(u, (d * own)[:, None], out=np.zeros_like(y, dtype=np.float64), where=d[:, None] > 0)
    errors[unseen] = y[unseen] - rows @ z - b
    return LeftOut(y - errors, z, b)


class Hat(NamedTuple):
    """The matrix P that takes targets to coefficients, z = P·y, for one ρ: those of the model of all rows."""

    P: Array
    z: Array
    b: Array
    #: How much a target moves the intercept.
    of_target: Array


def hat(K: Array, y: Array, ridge: float, intercept: bool = True, weights: Array | None = None) -> Hat:
    """Everything about models of a squared loss for one ρ, in three times the time of :func:`left_out`.

    In its terms P = diag(d)·(G − (Gd)(Gd)ᵀ/dᵀGd)·diag(d); ``K`` is written over.

    Examples
    --------
    >>> import numpy as np
    >>> hat(np.eye(2), np.array([[1.0], [3.0]]), ridge=0.5).z.ravel().round(3)
    array([-0.667,  0.667])
    """
    d = np.ones(len(K)) if weights is None else np.sqrt(weights)
    if weights is not None:
        K *= d
        K *= d[:, None]
    np.einsum("ii->i", K)[:] += ridge
    factorise(K)
    P = inverse(K)
    of_target = np.zeros(len(K))
    if intercept:
        of_one = product(P, d)
        total = d @ of_one
        P -= np.outer(of_one, of_one / total)
        of_target = d * of_one / total
    if weights is not None:
        P *= d
        P *= d[:, None]
    return Hat(P, product(P, y), of_target @ y, of_target)


def groups_left_out(
    K: Array, y: Array, ridge: float, groups: Array, intercept: bool = True, weights: Array | None = None
) -> LeftOut:
    """Predict the rows of each group by the model of all other groups, for one ρ, which is that of all these models.

    Leaving a group S out is to move its targets by its errors e, to where the others have them: P_SS·e = z_S. ``K`` is
    written over.

    Parameters
    ----------
    K, y, ridge, intercept, weights
        As in :func:`left_out`.
    groups : array of shape (n,)
        The group of each row.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([[1.0], [3.0], [8.0]])
    >>> groups_left_out(np.eye(3), y, ridge=0.5, groups=np.array([0, 0, 1])).predictions.ravel()
    array([8., 8., 2.])
    """
    counted = np.ones(len(K), dtype=bool) if weights is None else weights > 0
    if np.ptp(groups[counted]) == 0:
        raise ValueError("The rows that are tried are all of one group; give groups that are more even, or none.")
    unseen = np.flatnonzero(~counted)
    rows = K[unseen]
    P, z, b, of_target = hat(K, y, ridge, intercept, weights)
    errors = np.zeros(y.shape)
    order = np.argsort(groups, kind="stable")
    for members in np.split(order, np.flatnonzero(np.diff(groups[order])) + 1):
        own = members[counted[members]]
        errors[own] = linalg.solve(P[np.ix_(own, own)], z[own], assume_a="pos")
        for place in np.flatnonzero(np.isin(unseen, members)):
            told = rows[place] @ z + b - (rows[place] @ P[:, own] + of_target[own]) @ errors[own]
            errors[unseen[place]] = y[unseen[place]] - told
    return LeftOut(y - errors, z, b)


def error_and_slopes(
    K: Array, y: Array, ridge: float, intercept: bool = True, weights: Array | None = None
) -> tuple[float, Array, float]:
    """The leave-one-out error, and how it changes with the entries of the matrix and with ρ.

    With z = P·y and pᵢ = Pᵢᵢ the row i misses its target by zᵢ/pᵢ, and dP = −P·(dK + dρ·S⁻¹)·P. So the error
    J = Σᵢ sᵢ·(zᵢ/pᵢ)²/n changes by Σ W∘(dK + dρ·S⁻¹) with

        W = 2/n·(P·diag(c)·P − P·a·zᵀ),      aᵢ = sᵢ·zᵢ/pᵢ²,      cᵢ = aᵢ·zᵢ/pᵢ.

    Parameters
    ----------
    K : array of shape (n, n)
        Is written over.
    y : array of shape (n, n_targets)
    ridge : float
    intercept : bool, default=True
    weights : array of shape (n,), optional
        Of mean 1.

    Returns
    -------
    error : float
    W : array of shape (n, n)
        Symmetric.
    by_ridge : float
    """
    n, targets = y.shape
    P, z, _, _ = hat(K, y, ridge, intercept, weights)
    s = np.ones(n) if weights is None else weights
    own = np.where(s > 0, np.einsum("ii->i", P), 1.0)[:, None]
    missed = z / own
    a = s[:, None] * missed / own
    c = (a * missed).sum(axis=1)
    W = weighted_squares(P, c)
    turned = product(P, a) @ z.T
    W -= 0.5 * (turned + turned.T)
    W *= 2 / (n * targets)
    by_ridge = float(np.sum(np.einsum("ii->i", W)[s > 0] / s[s > 0]))
    return float((s @ np.square(missed)).sum() / (n * targets)), W, by_ridge


def exactly_left_out(
    matrix: Callable[[], Array],
    y: Array,
    lam: float,
    intercept: bool = True,
    weights: Array | None = None,
    groups: Array | None = None,
) -> Array:
    """Predict each row by the model of all others, for one λ; rows of different weight by their own ρ.

    Parameters
    ----------
    matrix : callable
        Makes the kernel matrix, which is written over.
    y : array of shape (n, n_targets)
    lam : float
    intercept : bool, default=True
    weights : array of shape (n,), optional
    groups : array of shape (n,), optional
        The number of each row's group; rows of a group are left out together.

    Returns
    -------
    array of shape (n, n_targets)
    """
    n = len(y)
    weights = None if weights is None or np.ptp(weights) == 0 else weights * (n / weights.sum())
    counted = np.ones(n) if weights is None else weights
    together = counted if groups is None else np.bincount(groups, counted)[groups]

    def without(ridge: float) -> Array:
        if groups is None:
            return left_out(matrix(), y, ridge, intercept, weights).predictions
        return groups_left_out(matrix(), y, ridge, groups, intercept, weights).predictions

    if np.ptp(together) == 0:
        return without(lam * (n - together[0]))
    if n <= LARGEST_RIDGE:
        path = RidgePath(matrix(), weights)
        if groups is None:
            return np.column_stack([path.leave_one_out(column, lam, intercept) for column in y.T])
        return np.column_stack([path.groups_left_out(column, lam, groups, intercept) for column in y.T])
    own = lam * (n - together)
    middle, half = (own.max() + own.min()) / 2, (own.max() - own.min()) / 2
    # Of something analytic in ρ > 0, the error of a polynomial falls with its degree by this.
    falls = (1 + np.sqrt(own.min() / own.max())) / (1 - np.sqrt(own.min() / own.max()))
    count = int(np.clip(np.ceil(np.log(1e10) / np.log(falls)), _NODES, _MOST_NODES))
    nodes = np.unique(own)
    if nodes.size > count:
        nodes = middle + half * np.cos(np.pi * (np.arange(count) + 0.5) / count)
    out = np.zeros(y.shape)
    for k, node in enumerate(nodes):
        others = np.delete(nodes, k)
        share = np.prod((own[:, None] - others) / (node - others), axis=1)
        out += share[:, None] * without(node)
    return out


# Weights of columns by the average gradient outer product, each step judged by exact leave-one-out.
#
# A machine of the squared loss is fitted; how much its predictions change with a column, in the mean over the rows, is
# the weight that the column gets in the next round (Radhakrishnan, Beaglehole, Pandit and Belkin, 2024; here the
# diagonal alone). The kernel's length, in units of the median distance, and λ are looked for in every round, down from
# where they were best in the last. Of all that was tried, the setting with the least leave-one-out error is the best.


#: Lengths in units of that of the median distance, and values of ρ: steps of √10.
SCALES = tuple(10.0 ** (k / 2) for k in range(-3, 4))
RIDGES = tuple(10.0 ** (k / 2) for k in range(-8, 6))
_FIRST = SCALES.index(1.0), RIDGES.index(0.1)
#: Changes of both that are tried: ρ alone, and a length with the ρ that leaves as much to the noise.
_MOVES = ((0, -1), (0, 1), (1, -1), (-1, 1))
#: Rounds of weights, and those without a gain that are the last.
ROUNDS, _PATIENCE = 5, 2
#: Rows that weights are learned on, and differences of two numbers in the distances of all pairs of them.
LEARNED_ON, _DIFFERENCES = 1500, 2e9
#: Multiplications of gradients.
_PRODUCTS = 2e9
#: Digits of a weight: more say nothing, and are read and written.
_DIGITS = 3


@dataclass(frozen=True)
class Tried:
    """A setting and its leave-one-out error: the mean square, over the variance of the targets where these have one."""

    family: str
    round: int
    scale: float
    lam: float
    rows: int
    error: float
    note: str = ""


#: What such a table is.
TRIED = schema.mapping(
    schema.text, schema.numbers("tried", missing=True) | schema.wholes("tried") | schema.names("tried")
)


def tried_table(tried: Sequence[Tried]) -> dict[str, Array]:
    """What was tried, a column for each of its parts: ``pandas.DataFrame`` makes a table of it."""
    return {each.name: np.array([getattr(one, each.name) for one in tried]) for each in fields(Tried)}


@dataclass(frozen=True)
class Setting:
    """A kernel that is to be judged: its family, the weights of columns, and its length over the median distance's."""

    family: Family
    round: int
    weights: Array | None
    scale: float
    ridge: float
    median: float
    error: float = np.inf

    @property
    def gamma(self) -> float:
        """The kernel's γ."""
        return self.family.rate(self.scale, self.median)

    @property
    def kernel(self) -> Kernel:
        """The kernel as a whole."""
        return self.family.kernel_of(self.gamma, self.weights)

    @property
    def name(self) -> str:
        """What it is called in a table of what was tried."""
        return self.family.name

    def matrix(self, rows: Array, others: Array | None = None) -> Array:
        """The kernel of all pairs of rows; of rows and others, where these are given."""
        others = None if others is None else weighed(others, self.weights)
        return self.family.values(self.family.distances(weighed(rows, self.weights), others), self.gamma)

    def gradients(self, rows: Array, items: Array, z: Array) -> Array:
        """The gradients at some rows of the model with these coefficients, (rows, columns, targets)."""
        return self._gradients(rows, items, self.matrix(rows, items), z)

    def _gradients(self, rows: Array, items: Array, K: Array, z: Array) -> Array:
        """Those at some rows, of which the matrix of rows and items is known."""
        W = self.weights
        if W is None or W.ndim == 1:
            return self.family.gradients(rows, items, np.ones(rows.shape[1]) if W is None else W, self.gamma, K, z)
        found = self.family.gradients(weighed(rows, W), weighed(items, W), np.ones(len(W)), self.gamma, K, z)
        return np.ascontiguousarray(np.einsum("kj,rkt->rjt", W, found))


def weighed(rows: Array, weights: Array | None) -> Array:
    """Rows whose columns are multiplied by weights, or that are multiplied by a matrix."""
    if weights is None:
        return rows
    return rows * weights if weights.ndim == 1 else np.ascontiguousarray(product(rows, np.ascontiguousarray(weights.T)))


@dataclass(frozen=True)
class Mean:
    """The mean of several kernels, each over its own ρ, and the ρ of their mean.

    Which of them is the best few rows do not know: of new rows their mean knows more, unless it is clearly worse.
    Over its ρ a kernel is in units of the noise that it was seen with, so that none counts more because it is smoother.
    """

    parts: tuple[Setting, ...]
    ridge: float
    error: float = np.inf
    round: int = 0
    scale: float = np.nan
    name = "mean of all"

    @property
    def kernel(self) -> Kernel:
        """The kernel as a whole."""
        shares = self.shares
        total = shares[0] * self.parts[0].kernel
        for share, part in zip(shares[1:], self.parts[1:], strict=True):
            total = total + share * part.kernel
        return total

    @property
    def shares(self) -> list[float]:
        """What each kernel counts: 1/ρ, as parts of 1."""
        inverse_ridges = 1 / np.array([part.ridge for part in self.parts])
        return [float(f"{share:.{_DIGITS}g}") for share in inverse_ridges / inverse_ridges.sum()]

    def matrix(self, rows: Array, others: Array | None = None) -> Array:
        """The kernel of all pairs of rows; of rows and others, where these are given."""
        shares = self.shares
        total = self.parts[0].matrix(rows, others)
        total *= shares[0]
        for share, part in zip(shares[1:], self.parts[1:], strict=True):
            total += share * part.matrix(rows, others)
        return total

    def gradients(self, rows: Array, items: Array, z: Array) -> Array:
        """The gradients at some rows of the model with these coefficients, (rows, columns, targets)."""
        every = [part.gradients(rows, items, z) for part in self.parts]
        return np.einsum("p,prjt->rjt", self.shares, every)


@dataclass
class LearnedMetric:
    """What was tried, and the best of it."""

    best: Setting
    plain: Setting
    #: The rows that it was learned on, and the seconds that a setting took there.
    rows: int
    pace: float
    #: Of each family the best without and the best with weights.
    parts: tuple[Setting, ...]
    tried: list[Tried] = field(default_factory=list)


class Clock:
    """How much time is left."""

    def __init__(self, seconds: float = np.inf) -> None:
        self.end = time.monotonic() + seconds

    @property
    def left(self) -> float:
        """Seconds."""
        return max(0.0, self.end - time.monotonic())

    @property
    def over(self) -> bool:
        """Whether there is none."""
        return self.left == 0


def descended(
    error: Callable[[tuple[int, int]], float], start: tuple[int, int], sizes: tuple[int, int], clock: Clock
) -> tuple[int, int]:
    """The place of a table from which no neighbour leads further down."""
    best, least, known = start, error(start), {start}
    going = True
    while going:
        going = False
        for move in _MOVES:
            while not clock.over:
                place = best[0] + move[0], best[1] + move[1]
                if place in known or not all(0 <= each < size for each, size in zip(place, sizes, strict=True)):
                    break
                known.add(place)
                value = error(place)
                if not value < least * (1 - 1e-4):
                    break
                best, least, going = place, value, True
    return best


class Judge:
    """Leave-one-out errors of settings on some rows."""

    def __init__(
        self,
        rows: Array,
        targets: Array,
        weight: Array | None,
        intercept: bool,
        clock: Clock,
        gamma: float | None = None,
        lam: float | None = None,
        numbers: Array | None = None,
        groups: Array | None = None,
        full: bool = False,
    ) -> None:
        self.rows, self.targets = np.ascontiguousarray(rows, dtype=np.float64), targets
        self.weight = None if weight is None else weight * (weight.size / weight.sum())
        self.intercept, self.clock, self.groups = intercept, clock, groups
        self.gamma, self.lam = gamma, lam
        #: Whether weights are a matrix.
        self.full = full
        #: Which of somebody's rows these are, and the most seconds that a setting took.
        self.numbers, self.pace = np.arange(len(rows)) if numbers is None else numbers, 1e-3
        centre = np.average(targets, axis=0, weights=weight) if intercept else 0.0
        variance = float(np.average(np.square(targets - centre).mean(axis=1), weights=weight))
        self.unit = variance if variance > 0 else 1.0
        self.tried: list[Tried] = []

    @property
    def n(self) -> int:
        return len(self.rows)

    def begun(self, family: Family, round: int, weights: Array | None) -> tuple[Setting, Array]:
        """A kernel with these weights, of no length yet, and its distances."""
        distances = family.distances(weighed(self.rows, weights))
        return Setting(family, round, weights, 1.0, 0.1, family.median(distances)), distances

    def left_out(self, matrix: Array, ridge: float) -> LeftOut:
        """What rows are told by the model without them, or without their group."""
        if self.groups is None:
            return left_out(matrix, self.targets, ridge, self.intercept, self.weight)
        return groups_left_out(matrix, self.targets, ridge, self.groups, self.intercept, self.weight)

    def judge(self, setting: Setting, distances: Array) -> tuple[float, LeftOut]:
        """The leave-one-out error of a setting, and what it came from."""
        began = time.monotonic()
        matrix = setting.family.values(distances, setting.gamma)
        found = self.left_out(matrix, setting.ridge)
        self.pace = max(self.pace, time.monotonic() - began)
        error = found.error(self.targets, self.weight) / self.unit
        lam = setting.ridge / max(1, self.n - 1)
        self.tried.append(Tried(setting.family.name, setting.round, setting.scale, lam, self.n, error))
        return error, found

    def best(
        self, setting: Setting, distances: Array, start: tuple[int, int], along: bool = False
    ) -> tuple[Setting, tuple[int, int], LeftOut]:
        """The best length and ρ for the weights of a setting, from a place of the table on.

        Parameters
        ----------
        along : bool
            Look for ρ alone.
        """
        scales: Sequence[float] = SCALES
        ridges: Sequence[float] = RIDGES
        if self.gamma is not None:
            scales, start = (
                [(setting.family.power * self.gamma * setting.median) ** (-1 / setting.family.power)],
                (0, start[1]),
            )
        elif along:
            scales, start = [scales[start[0]]], (0, start[1])
        if self.lam is not None:
            ridges, start = [self.lam * max(1, self.n - 1)], (start[0], 0)
        known: dict[tuple[int, int], tuple[float, LeftOut | None]] = {}

        def error(place: tuple[int, int]) -> float:
            known[place] = self.judge(replace(setting, scale=scales[place[0]], ridge=ridges[place[1]]), distances)
            least = min(known, key=lambda each: known[each][0])
            for other in known:  # what others came from takes memory
                if other != least and known[other][1] is not None:
                    known[other] = known[other][0], None
            return known[place][0]

        descended(error, start, (len(scales), len(ridges)), self.clock)
        place = min(known, key=lambda each: known[each][0])
        value, found = known[place]
        assert found is not None
        return replace(setting, scale=scales[place[0]], ridge=ridges[place[1]], error=value), place, found

    def mean(self, parts: Sequence[Setting]) -> tuple[Mean, LeftOut]:
        """The mean of kernels with the best ρ, looked for from the harmonic mean of theirs."""
        harmonic = len(parts) / sum(1 / part.ridge for part in parts)
        start = int(np.argmin(np.abs(np.log(np.array(RIDGES) / harmonic))))
        matrix = Mean(tuple(parts), harmonic).matrix(self.rows)
        known: dict[tuple[int, int], tuple[float, LeftOut]] = {}

        def error(place: tuple[int, int]) -> float:
            ridge = RIDGES[place[1]]
            found = self.left_out(matrix.copy(), ridge)
            known[place] = found.error(self.targets, self.weight) / self.unit, found
            self.tried.append(Tried(Mean.name, 0, np.nan, ridge / max(1, self.n - 1), self.n, known[place][0]))
            return known[place][0]

        descended(error, (0, start), (1, len(RIDGES)), self.clock)
        place = min(known, key=lambda each: known[each][0])
        return Mean(tuple(parts), RIDGES[place[1]], known[place][0]), known[place][1]

    def doubt(self, found: LeftOut) -> float:
        """The standard error of a leave-one-out error."""
        squares = np.square(self.targets - found.predictions).mean(axis=1)
        squares = squares if self.weight is None else (squares * self.weight)[self.weight > 0]
        return float(np.std(squares) / np.sqrt(squares.size)) / self.unit

    def next_weights(self, setting: Setting, distances: Array, found: LeftOut) -> Array | None:
        """The weights that the gradients of a model give to columns, the largest 1; none where nothing changes."""
        most = int(_PRODUCTS / (self.n * self.rows.shape[1] * self.targets.shape[1]))
        some = np.arange(self.n) if most >= self.n else np.linspace(0, self.n - 1, max(most, 100)).astype(int)
        matrix = setting.family.values(distances[some], setting.gamma)
        gradients = setting._gradients(self.rows[some], self.rows, matrix, found.z)
        counted = None if self.weight is None else self.weight[some]
        if counted is not None and not counted.any():
            return None
        if self.full:
            # The root of the average gradient outer product: of k(Wx, Wz) it is WᵀW that learns.
            counted = np.ones(len(some)) if counted is None else counted
            flat = (np.sqrt(counted / counted.sum())[:, None, None] * gradients).transpose(1, 0, 2)
            flat = flat.reshape(len(flat), -1)
            values, vectors = np.linalg.eigh(product(flat, flat.T))
            new = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
        else:
            new = np.sqrt(np.average(np.square(gradients).sum(axis=2), axis=0, weights=counted))
        largest = float(np.abs(new).max(initial=0.0))
        return rounded(new / largest) if np.isfinite(largest) and largest > 0 else None


def rounded(weights: Array) -> Array:
    """Weights with few digits; what is next to nothing is nothing."""
    few = [float(f"{value:.{_DIGITS}g}") if abs(value) > 1e-6 else 0.0 for value in weights.ravel()]
    return np.reshape(few, weights.shape)


def sampled(n: int, columns: int, weight: Array | None, random_state: int) -> Array:
    """The rows that weights are learned on, in their order."""
    most = int(min(LEARNED_ON, max(200, np.sqrt(_DIFFERENCES / max(1, columns)))))
    counted = np.arange(n) if weight is None else np.flatnonzero(weight)
    if counted.size <= most:
        return counted
    return np.sort(np.random.default_rng(random_state).choice(counted, most, replace=False))


def learned_metric(
    rows: Array,
    targets: Array,
    weight: Array | None = None,
    *,
    families: Sequence[str | Family] = ("laplacian",),
    gamma: float | None = None,
    lam: float | None = None,
    intercept: bool = True,
    rounds: int = ROUNDS,
    seconds: float = np.inf,
    random_state: int = 0,
    groups: Array | None = None,
    full: bool = False,
) -> LearnedMetric:
    """Learn the weights of columns.

    Parameters
    ----------
    rows : array of shape (n_rows, n_columns)
    targets : array of shape (n_rows, n_targets)
    weight : array of shape (n_rows,), optional
    families : sequence of {"laplacian", "gaussian"} or Family, default=("laplacian",)
        The kernels that are tried, each with weights of its own.
    gamma : float, optional
        The kernel's rate, where it is not to be chosen. Weights leave the median distance as it is.
    lam : float, optional
        λ, where it is not to be chosen.
    intercept : bool, default=True
    rounds : int, default=5
        0 learns no weights.
    seconds : float, optional
    random_state : int, default=0
        Draws the rows that weights are learned on, where there are many.
    groups : array of shape (n_rows,), optional
        Rows of a group are left out together.
    full : bool, default=False
        A matrix W in the place of weights, by the average gradient outer product as a whole: k(Wx, Wz).

    Returns
    -------
    LearnedMetric
    """
    some = sampled(len(rows), rows.shape[1], weight, random_state)
    clock = Clock(seconds)
    own, together = (None if each is None else each[some] for each in (weight, groups))
    judge = Judge(rows[some], targets[some], own, intercept, clock, gamma, lam, groups=together, full=full)
    best = plain = None
    parts: list[Setting] = []
    start = _FIRST
    for family in (FAMILIES[each] if isinstance(each, str) else each for each in families):
        name = family.name
        if clock.over and best is not None:
            judge.tried.append(Tried(name, 0, np.nan, np.nan, judge.n, np.nan, "not tried: the time was over"))
            continue
        setting, distances = judge.begun(family, 0, None)
        setting, place, found = judge.best(setting, distances, start)
        plain = setting if plain is None or setting.error < plain.error else plain
        parts.append(setting)
        weighted: Setting | None = None
        weights = judge.next_weights(setting, distances, found)
        best = setting if best is None or setting.error < best.error else best
        least, since = setting.error, 0
        for k in range(1, rounds + 1):
            if weights is None or since >= _PATIENCE:
                break
            if clock.over:
                judge.tried.append(Tried(name, k, np.nan, np.nan, judge.n, np.nan, "not tried: the time was over"))
                break
            if gamma is not None:
                weights = kept_apart(judge, family, weights)
            setting, distances = judge.begun(family, k, weights)
            setting, place, found = judge.best(setting, distances, place)
            weighted = setting if weighted is None or setting.error < weighted.error else weighted
            best = setting if setting.error < best.error else best
            least, since = (setting.error, 0) if setting.error < least else (least, since + 1)
            weights = judge.next_weights(setting, distances, found)
        parts += [] if weighted is None else [weighted]
        start = place
    assert best is not None
    assert plain is not None
    return LearnedMetric(best, plain, judge.n, judge.pace, tuple(parts), judge.tried)


def kept_apart(judge: Judge, family: Family, weights: Array) -> Array:
    """The weights in the unit in which the median distance is that without weights."""
    plain = family.median(family.distances(judge.rows))
    apart = family.median(family.distances(weighed(judge.rows, weights)))
    return rounded(weights * (plain / apart) ** (1 / family.power))
