"""Do two samples come from one distribution: the maximum mean discrepancy, by permutations.

With μ the mean of φ(x), MMD² = ‖μ_P − μ_Q‖² is zero for a characteristic kernel, such as the Gaussian, only where P = Q
(Gretton et al., 2012). Without the products of rows with themselves it is estimated without bias,

    T = Σ_{i≠i'} k(xᵢ, xᵢ')/(n(n−1)) + Σ_{j≠j'} k(yⱼ, yⱼ')/(m(m−1)) − 2 Σᵢⱼ k(xᵢ, yⱼ)/(nm).

Where the samples come from one distribution, which rows were called X is chance: every division of all rows into n and
m is as likely. With s the 0/1 vector of the rows called X, and K without its diagonal, T follows from sᵀKs and 1ᵀKs
alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from ..checks.parameters import bytes_of, memory_in_words, size_in_words
from ..kernels import DOT, Kernel
from ..kernels.engine.tiles import Pairing, length, matrix_product
from ..runtime.arrays import Array
from ..runtime.numerics import product
from .candidates import candidates, check_permutations, pooled
from .forms import features_of, forms, landmark_count
from .results import KernelTestResult, together
from .slopes import slopes, statistic_of

__all__ = ["TwoSampleResult", "Witness", "discrepancies", "mmd", "usual_rank", "witness_of"]

#: Rows from which on landmarks stand for the matrix, and how many of them.
_EXACT, _RANK = 20_000, 500
#: Rows at which the slope of the witness function is looked at, and items whose features are named.
_SLOPES, _NAMED = 1000, 2000


@dataclass(frozen=True, eq=False)
class Witness:
    """What speaks for a difference of two samples: the rows, the columns, the features.

    The witness function f(z) = E k(x, z) − E k(y, z) is large where X has more mass than Y, and negative where Y has.

    Attributes
    ----------
    X, Y : arrays
        How much each row speaks for a difference: f at a row of X, −f at a row of Y, without the row itself. The means
        of both add up to the statistic.
    columns : array or None
        The share of each column in how f changes from row to row: E (∂f/∂z_c)²·Var z_c, together one. For kernels on
        rows of numbers that are smooth formulas of a squared distance or a dot product.
    features : dict
        Of strings, sets and graphs the features whose means differ most, by name: mean in X less mean in Y.
    """

    X: Array
    Y: Array
    columns: Array | None
    features: dict[str, float]


@dataclass(frozen=True, eq=False, repr=False)
class TwoSampleResult(KernelTestResult):
    """What :func:`mmd` found, with the :class:`Witness` of the difference."""

    witness: Witness


def mmd(
    X: Any,
    Y: Any,
    *,
    kernel: Any = None,
    permutations: int = 500,
    random_state: int = 0,
    rank: int | None = None,
    memory: int | str = "1GB",
) -> TwoSampleResult:
    """Test whether two samples come from one distribution.

    Parameters
    ----------
    X, Y : arrays, frames, or collections of strings, sets or graphs
        The samples, of any sizes; numbers in a row are one column. With ``kernel="precomputed"`` the rows of X, and
        those of Y, in the kernel matrix of both together, X first.
    kernel : kernel, text, callable, or a list of these, optional
        Several are tried together, with one p-value. By default Gaussians of three lengths around the median distance;
        of strings, sets and graphs the kernels that suit them. Frames with categories, dates, texts or missing values
        are prepared as for :class:`mercer.TableClassifier`.
    permutations : int, default=500
        The p-value is at least 1/(1 + permutations).
    random_state : int, default=0
    rank : int, optional
        Let so many landmarks stand for all rows. By default 500 from 20 000 rows on.
    memory : int or str, default="1GB"

    Returns
    -------
    TwoSampleResult
        ``statistic`` estimates the squared MMD without bias and may be negative.

    Notes
    -----
    The level holds exactly for every kernel, number of permutations and rank.

    Examples
    --------
    >>> from mercer.statistics import mmd
    >>> found = mmd(["abab", "abba", "aabb", "baba"] * 5, ["abcc", "ccab", "abca", "cabc"] * 5)
    >>> found.pvalue < 0.01, max(found.witness.features, key=lambda name: abs(found.witness.features[name]))
    (True, "'ba'")
    """
    check_permutations(permutations)
    rng = np.random.default_rng(random_state)
    both, n, m = pooled(X, Y)
    if min(n, m) < 2:
        raise ValueError(f"mmd compares two samples of at least two rows each; got {n} and {m}.")
    kernels, items = candidates(kernel, both, rng)
    if any(each.precomputed for each in kernels) and items.shape[1] != n + m:
        raise ValueError(
            f"kernel='precomputed' needs the rows of X and of Y in the matrix of both together, {n + m} columns; there "
            f"are {items.shape[1]}."
        )
    rank, seed = landmark_count(rank, usual_rank(n + m), n + m, 1, memory), rng.integers(2**63)
    values, missing = discrepancies(kernels, items, n, permutations, seed, rank, memory)
    pvalue, place = together(values)
    chosen = kernels[place]
    return TwoSampleResult(
        float(values[0, place]), pvalue, chosen, kernels, values[0], permutations, float(missing[place]),
        witness_of(chosen, items, n, seed, rank),
    )  # fmt: skip


def usual_rank(n: int) -> int | None:
    """How many landmarks stand for so many rows; ``None`` where they are all compared."""
    return _RANK if n > _EXACT else None


def divisions(n: int, m: int, permutations: int, rng: np.random.Generator, memory: int | str) -> Iterator[Array]:
    """0/1 columns that say which rows are called X: first the observed division, then random ones, some at a time."""
    observed = np.repeat(np.array([1, 0], np.int8), [n, m])
    width = int(np.clip(bytes_of(memory) // (16 * (n + m)), 1, permutations + 1))
    for begin in range(0, permutations + 1, width):
        some = np.tile(observed, (min(width, permutations + 1 - begin), 1))
        first = 1 if begin == 0 else 0
        some[first:] = rng.permuted(some[first:], axis=1)
        yield some.T


def discrepancies(
    kernels: list[Kernel], items: Any, n: int, permutations: int, seed: Any, rank: int | None, memory: int | str
) -> tuple[Array, Array]:
    """The statistic T of each kernel (columns) for the observed division and for random ones (rows).

    The same seed gives the same divisions.

    Returns
    -------
    values : array of shape (1 + permutations, n_kernels)
    missing : array of shape (n_kernels,)
        The share of each trace that landmarks leave out.
    """
    if rank is None:
        return _divided(kernels, items, n, permutations, seed, memory, None), np.zeros(len(kernels))
    values, missing = [], np.zeros(len(kernels))
    for place, kernel in enumerate(kernels):  # features of one kernel at a time have room
        Phi, missing[place] = features_of(kernel, items, rank, np.random.default_rng(seed))
        values.append(_divided([kernel], items, n, permutations, seed, memory, Phi))
    return np.hstack(values), missing


def _divided(
    kernels: list[Kernel], items: Any, n: int, permutations: int, seed: Any, memory: int | str, Phi: Array | None
) -> Array:
    m = length(items) - n
    whole = any(not kernel.splits and not kernel.precomputed for kernel in kernels)
    if Phi is None and whole and 16 * (n + m) ** 2 > bytes_of(memory):
        raise ValueError(
            f"{kernels[0]} gives its matrix as a whole, {size_in_words(8 * (n + m) ** 2)} here, more than "
            f"{memory_in_words(memory)} has room for; raise memory, or say rank=500."
        )
    if Phi is None:
        own = np.array([np.asarray(kernel.diag(items), dtype=np.float64) for kernel in kernels])
    else:
        own = np.einsum("ij,ij->i", Phi, Phi)[None]
    values = []
    for S in divisions(n, m, permutations, np.random.default_rng(seed), memory):
        with_ones = np.column_stack([S, np.ones(n + m, np.int8)])
        if Phi is None:
            squares, ones = forms(kernels, items, with_ones)
        else:
            part = product(np.ascontiguousarray(Phi.T), with_ones.astype(np.float64))
            squares, ones = np.einsum("ij,ij->j", part, part)[None], (part[:, -1] @ part)[None]
        selves = own @ with_ones
        within, of_all = squares - selves, ones - selves  # sᵀKs and 1ᵀKs without the diagonal
        total, within, of_all = within[:, -1:], within[:, :-1], of_all[:, :-1]
        others = total - 2 * of_all + within
        values.append(within / (n * (n - 1)) + others / (m * (m - 1)) - 2 * (of_all - within) / (n * m))
    return np.hstack(values).T


def witness_of(kernel: Kernel, items: Any, n: int, seed: Any, rank: int | None) -> Witness:
    """What speaks for a difference of the first n items from the others, under one kernel."""
    m = length(items) - n
    first = np.repeat([1.0, 0.0], [n, m])
    sides = np.column_stack([first, 1 - first])
    if rank is None:
        own = np.asarray(kernel.diag(items), dtype=np.float64)
        of_X, of_Y = matrix_product(Pairing(kernel, items, items), None, sides).T
    else:
        Phi = features_of(kernel, items, rank, np.random.default_rng(seed))[0]
        own, (of_X, of_Y) = np.einsum("ij,ij->i", Phi, Phi), (Phi @ (Phi.T @ sides)).T
    speak_X = (of_X[:n] - own[:n]) / (n - 1) - of_Y[:n] / m
    speak_Y = (of_Y[n:] - own[n:]) / (m - 1) - of_X[n:] / n
    weights = np.repeat([1 / n, -1 / m], [n, m])
    return Witness(speak_X, speak_Y, _columns(kernel, items, weights), _features(kernel, items, n))


def _columns(kernel: Kernel, items: Any, weights: Array) -> Array | None:
    """∂f/∂z for f(z) = Σ wᵢφ(tᵢ): Σ wᵢφ′(tᵢ)·2(z − xᵢ) of squared distances, Σ wᵢφ′(tᵢ)·xᵢ of dot products."""
    at = slopes(kernel) if kernel.on_rows and not kernel.precomputed and not sparse.issparse(items) else None
    if at is None:
        return None
    some = np.unique(np.linspace(0, len(items) - 1, min(len(items), _SLOPES)).astype(np.int64))
    statistic = statistic_of(kernel)
    left, right = statistic.prepare(items, items)
    with np.errstate(all="ignore"):
        falls = at(statistic.tile(left, right, some, slice(0, len(items))))[1] * weights
    slope = falls @ items
    if statistic is not DOT:
        slope = 2 * (falls.sum(axis=1)[:, None] * items[some] - slope)
    shares = np.square(slope).mean(axis=0) * items.var(axis=0)
    total = shares.sum()
    return shares / total if np.isfinite(total) and total > 0 else np.zeros_like(shares)


#: Features that are named.
_LISTED = 20


def _features(kernel: Kernel, items: Any, n: int) -> dict[str, float]:
    if kernel.on_rows or kernel.precomputed:
        return {}
    m = length(items) - n
    some = [np.unique(np.linspace(0, size - 1, min(size, _NAMED)).astype(np.int64)) for size in (n, m)]
    named = [kernel.named_features(items[places]) for places in (some[0], n + some[1])]
    means: dict[str, float] = {}
    for each, sign in zip(named, (1.0, -1.0), strict=True):
        if each is None:
            return {}
        for item in each:
            for name, value in item.items():
                means[name.text] = means.get(name.text, 0.0) + sign * value / len(each)
    ranked = sorted(means.items(), key=lambda pair: -abs(pair[1]))
    return dict(ranked[:_LISTED])
