"""Do two variables depend on each other: the Hilbert–Schmidt independence criterion, by permutations.

HSIC is the squared length of the covariance of φ(x) and ψ(y), zero for characteristic kernels only where X and Y are
independent (Gretton et al., 2005). Without the products of rows with themselves it is estimated without bias (Song et
al., 2012). With K and L without their diagonals,

    T = [tr KL + 1ᵀK1·1ᵀL1/((n−1)(n−2)) − 2·1ᵀKL1/(n−2)] / (n(n−3)).

Where they are independent, each pairing of the xᵢ with the yⱼ is as likely: L is permuted, K stays. Of few rows the
matrices are gone through once for all kernels of each permutation. Of many, features stand for them, K ≈ FFᵀ and
L ≈ GGᵀ, and tr KL_π is a product of matrices, ‖FᵀG_π‖², of all kernels at once.
"""

from __future__ import annotations

from itertools import product as pairs_of
from typing import Any

import numpy as np

from ..checks.parameters import bytes_of, size_in_words
from ..kernels import Kernel
from ..kernels.engine.tiles import Pairing, length, matrix_block
from ..runtime.arrays import Array
from ..runtime.compile import jit
from ..runtime.interrupts import check_interrupt
from ..runtime.threads import for_each
from .candidates import as_collection, candidates, check_permutations
from .forms import features_of, landmark_count
from .results import KernelTestResult, together

__all__ = ["hsic", "pair_of"]

#: Rows up to which the matrices themselves are permuted; landmarks of each kernel beyond.
_EXACT, _RANK = 1000, 64
#: Lengths of Gaussians that are tried for either variable, in units of the median distance.
_LENGTHS = (4.0, 1.0, 0.25)
#: Permutations that a thread takes at a time.
_TOGETHER = 8


def hsic(
    X: Any,
    Y: Any,
    *,
    kernel: Any = None,
    permutations: int = 500,
    random_state: int = 0,
    rank: int | None = None,
    memory: int | str = "1GB",
) -> KernelTestResult:
    """Test whether two variables are independent.

    Parameters
    ----------
    X, Y : arrays, frames, or collections of strings, sets or graphs, of the same length
        Row i of both belongs together. Numbers in a row are one column.
    kernel : kernel, text, callable, a list of these, or a tuple of two of any of these, optional
        A tuple holds the kernel for X and the kernel for Y; anything else is for both. Of a list all are tried, X's
        with Y's. By default Gaussians of several lengths around the median distance; of strings, sets and graphs the
        kernels that suit them.
    permutations : int, default=500
        The p-value is at least 1/(1 + permutations).
    random_state : int, default=0
    rank : int, optional
        Let so many landmarks stand for all rows. By default 64 from 1000 rows on.
    memory : int or str, default="1GB"

    Returns
    -------
    KernelTestResult
        ``kernel`` and ``kernels`` are pairs, of X and of Y; ``statistic`` estimates HSIC without bias and may be
        negative.

    Notes
    -----
    The level holds exactly for all kernels, every number of permutations and every rank.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.statistics import hsic
    >>> angle = np.random.default_rng(0).uniform(0, 2 * np.pi, 100)
    >>> hsic(np.cos(angle), np.sin(angle)).pvalue < 0.01
    True
    """
    check_permutations(permutations)
    rng = np.random.default_rng(random_state)
    sides = []
    for given, name, each in zip((X, Y), "XY", pair_of(kernel), strict=True):
        sides.append(candidates(each, as_collection(given, name), rng, _LENGTHS))
    n = _same_length([length(items) for _, items in sides])
    if n < 4:
        raise ValueError(f"hsic needs at least four rows; got {n}.")
    count = sum(len(kernels) for kernels, _ in sides)
    rank = landmark_count(rank, _RANK if n > _EXACT else None, n, count, memory)
    needed = 4 * (permutations + 1) * n
    if needed > bytes_of(memory):
        raise ValueError(
            f"hsic: {permutations} permutations of {n} rows take {size_in_words(needed)}, more than memory={memory!r}; "
            "raise memory, or give fewer rows."
        )
    places = np.empty((permutations + 1, n), dtype=np.int32)
    places[0] = np.arange(n)
    for row in places[1:]:
        row[:] = rng.permutation(n)
    if rank is None:
        K, L = (_matrices(kernels, items) for kernels, items in sides)
        values = _permuted_traces(_u_centred(K), L, places) / (n * (n - 3))
        missing = np.zeros(values.shape[1])
    else:
        values, missing = _of_features([[features_of(k, items, rank, rng) for k in ks] for ks, items in sides], places)
    pvalue, place = together(values)
    tried = list(pairs_of(*(kernels for kernels, _ in sides)))
    return KernelTestResult(
        float(values[0, place]), pvalue, tried[place], tried, values[0], permutations, float(missing[place])
    )


def pair_of(kernel: Any) -> tuple[Any, Any]:
    """The kernel for each of two variables."""
    if not isinstance(kernel, tuple):
        return kernel, kernel
    if len(kernel) != 2:
        raise ValueError(f"kernel must be one for both variables, or a tuple of two; got {len(kernel)}.")
    return kernel


def _same_length(sizes: list[int]) -> int:
    if len(set(sizes)) > 1:
        raise ValueError(f"rows belong together one by one, and there are {' and '.join(map(str, sizes))} of them.")
    return sizes[0]


def _matrices(kernels: list[Kernel], items: Any) -> Array:
    """The matrices of all kernels, without their diagonals."""
    n = length(items)
    out = np.empty((len(kernels), n, n))
    for place, kernel in enumerate(kernels):
        out[place] = matrix_block(Pairing(kernel, items, items))
    out[:, np.arange(n), np.arange(n)] = 0.0
    return out


def _u_centred(K: Array) -> Array:
    """K without its diagonal, moved so that all rows sum to zero (Székely and Rizzo, 2014).

    A sum Σ_{i≠j} K̃ᵢⱼLᵢⱼ with it is the bracket of T, whatever is added to the rows and columns of L.
    """
    n = K.shape[1]
    rows = K.sum(axis=1)
    K = K - (rows[:, :, None] + rows[:, None]) / (n - 2) + (rows.sum(axis=1) / ((n - 1) * (n - 2)))[:, None, None]
    K[:, np.arange(n), np.arange(n)] = 0.0
    return K


def _permuted_traces(K: Array, L: Array, places: Array) -> Array:
    """Σ_{i≠j} K[i, j]·L[π(i), π(j)] for each permutation π (rows) and each pair of kernels (columns)."""
    out = np.zeros((len(places), len(K), len(L)))

    def add(begin: int) -> None:
        check_interrupt()
        _add_traces(K, L, places[begin : begin + _TOGETHER], out[begin : begin + _TOGETHER])

    for_each(add, range(0, len(places), _TOGETHER))
    return out.reshape(len(places), -1)


@jit(reorder=True)
def _add_traces(K: Array, L: Array, places: Array, out: Array) -> None:
    gathered = np.empty(K.shape[1])
    for b in range(places.shape[0]):
        for i in range(K.shape[1]):
            for m in range(L.shape[0]):
                row = L[m, places[b, i]]
                for j in range(i):
                    gathered[j] = row[places[b, j]]
                for k in range(K.shape[0]):
                    other, total = K[k, i], 0.0
                    for j in range(i):
                        total += other[j] * gathered[j]
                    out[b, k, m] += 2 * total


def _of_features(sides: list[list[tuple[Array, float]]], places: Array) -> tuple[Array, Array]:
    """T of each permutation and pair of kernels from features, whose means are taken away first.

    The rows of FFᵀ then sum to zero, and those of K, which is FFᵀ without its diagonal d, to −d. With e that of L and
    c = Σ dᵢe_π(i) the bracket of T is ‖FᵀG_π‖² − c + Σd·Σe/((n−1)(n−2)) − 2c/(n−2).
    """
    n = places.shape[1]
    missing = np.maximum.outer(*([share for _, share in side] for side in sides)).ravel()
    F, G = ([Phi - Phi.mean(axis=0) for Phi, _ in side] for side in sides)
    d, e = (np.column_stack([np.einsum("ij,ij->i", Phi, Phi) for Phi in side]) for side in (F, G))
    ends = [np.cumsum([0, *(Phi.shape[1] for Phi in side)])[:-1] for side in (F, G)]
    left, right = np.hstack(F).T, np.hstack(G)
    sums = np.outer(d.sum(axis=0), e.sum(axis=0)) / ((n - 1) * (n - 2))
    out = np.empty((len(places), len(F), len(G)))

    def fill(b: int) -> None:
        check_interrupt()
        squares = np.square(left @ right[places[b]])
        squares = np.add.reduceat(np.add.reduceat(squares, ends[0], axis=0), ends[1], axis=1)
        out[b] = (squares - (1 + 2 / (n - 2)) * (d.T @ e[places[b]]) + sums) / (n * (n - 3))

    for_each(fill, range(len(places)))
    return out.reshape(len(places), -1), missing
