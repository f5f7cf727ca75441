"""exp(x) for compiled loops, and exp(scale·x) over an array in place, several numbers at a time.

exp(x) = 2^k·e^r with k = round(x/ln 2) and |r| ≤ ln 2/2. Adding and subtracting 1.5·2^m (m: bits of the mantissa)
rounds to a whole number without a branch; e^r is a short polynomial; 2^k is written directly into the bits of the
exponent. Nothing in it keeps the compiler from working on 8 or 16 numbers at once, which makes it two to three times
faster than a call of ``exp`` for each. Errors: less than one unit in the last place. Arguments are meant to be ≤ 0;
from −87 downwards (−708 in float64), just before results leave the normal numbers, they become 0. NaN stays NaN.
"""

from __future__ import annotations

from collections.abc import Callable
from math import factorial, log
from typing import Any

import numpy as np
from llvmlite import ir
from numba import extending, types
from numba.core import cgutils
from numba.extending import overload
from numpy.polynomial import Chebyshev, Polynomial
from scipy import linalg, sparse

from .compile import Array, jit
from .shipped_code import instructions
from .threads import for_each, one_blas_thread

__all__ = [
    "ROWS",
    "WIDTH",
    "Solve",
    "cholesky_solver",
    "copy_into",
    "factorise",
    "inverse",
    "inverse_diagonal",
    "multiply_listed",
    "multiply_rows",
    "product",
    "solve_factorised",
    "turned_product",
    "weighted_squares",
]

_F32 = np.float32
_LOG2E_32, _ROUND_32 = _F32(1.4426950408889634), _F32(12582912.0)
_LN2_HIGH_32, _LN2_LOW_32 = _F32(0.693359375), _F32(-2.12194440e-4)
_LOWEST_32 = _F32(-87.0)
_C2, _C3, _C4, _C5, _C6, _C7 = (_F32(1 / factorial(k)) for k in range(2, 8))
_ONE_32 = _F32(1.0)

_LOG2E_64, _ROUND_64 = 1.4426950408889634, 6755399441055744.0
_LN2_HIGH_64, _LN2_LOW_64 = 6.93147180369123816490e-01, 1.90821492927058770002e-10
_D2, _D3, _D4, _D5, _D6, _D7, _D8, _D9, _D10, _D11, _D12, _D13 = (1 / factorial(k) for k in range(2, 14))


@jit
def _exp_32(x: np.float32) -> np.float32:
    clipped = max(x, _LOWEST_32)
    k = (clipped * _LOG2E_32 + _ROUND_32) - _ROUND_32
    r = (clipped - k * _LN2_HIGH_32) - k * _LN2_LOW_32
    p = _C6 + r * _C7
    p = _C5 + r * p
    p = _C4 + r * p
    p = _C3 + r * p
    p = _C2 + r * p
    p = _ONE_32 + r * p
    p = _ONE_32 + r * p
    power = np.int32((np.int32(k) + np.int32(127)) << np.int32(23)).view(np.float32)
    return _F32(0.0) if x <= _LOWEST_32 else p * power


@jit
def _exp_64(x: float) -> float:
    clipped = max(x, -708.0)
    k = (clipped * _LOG2E_64 + _ROUND_64) - _ROUND_64
    r = (clipped - k * _LN2_HIGH_64) - k * _LN2_LOW_64
    p = _D12 + r * _D13
    p = _D11 + r * p
    p = _D10 + r * p
    p = _D9 + r * p
    p = _D8 + r * p
    p = _D7 + r * p
    p = _D6 + r * p
    p = _D5 + r * p
    p = _D4 + r * p
    p = _D3 + r * p
    p = _D2 + r * p
    p = 1.0 + r * p
    p = 1.0 + r * p
    power = np.int64((np.int64(k) + np.int64(1023)) << np.int64(52)).view(np.float64)
    return 0.0 if x <= -708.0 else p * power


def exponential(x: Any) -> Any:
    """exp(x) in the type of x, for compiled loops alone: the compiler puts the right one in its place."""
    raise NotImplementedError


@overload(exponential, strict=False)
def _exponential(x: Any) -> Any:
    return (lambda x: _exp_32(x)) if x is types.float32 else (lambda x: _exp_64(x))


# 2^f = Σ (f·ln 2)^k/k!, of which float64 takes 13 terms. A polynomial 1 + f·g(f) through Chebyshev's points of |f| ≤ ½
# needs fewer, and is as exact as float32 can be with 6.
_THROUGH_POINTS = Chebyshev.interpolate(lambda f: np.expm1(f * log(2)) / f, 5, domain=[-0.5, 0.5])
_P1, _P2, _P3, _P4, _P5, _P6 = (_F32(each) for each in _THROUGH_POINTS.convert(kind=Polynomial))
_Q1, _Q2, _Q3, _Q4, _Q5, _Q6, _Q7, _Q8, _Q9, _Q10, _Q11, _Q12, _Q13 = (log(2) ** k / factorial(k) for k in range(1, 14))


@jit
def _exp2_32(t: np.float32) -> np.float32:
    clipped = max(t, _F32(-125.0))
    shifted = clipped + _ROUND_32
    f = clipped - (shifted - _ROUND_32)
    p = _P5 + f * _P6
    p = _P4 + f * p
    p = _P3 + f * p
    p = _P2 + f * p
    p = _P1 + f * p
    p = _ONE_32 + f * p
    # The last bits of the shifted number are k itself.
    bits = _F32(p).view(np.int32) + np.int32(_F32(shifted).view(np.int32) << np.int32(23))
    return _F32(0.0) if t <= _F32(-125.0) else np.int32(bits).view(np.float32)


@jit
def _exp2_64(t: float) -> float:
    clipped = max(t, -1021.0)
    shifted = clipped + _ROUND_64
    f = clipped - (shifted - _ROUND_64)
    p = _Q12 + f * _Q13
    p = _Q11 + f * p
    p = _Q10 + f * p
    p = _Q9 + f * p
    p = _Q8 + f * p
    p = _Q7 + f * p
    p = _Q6 + f * p
    p = _Q5 + f * p
    p = _Q4 + f * p
    p = _Q3 + f * p
    p = _Q2 + f * p
    p = _Q1 + f * p
    p = 1.0 + f * p
    bits = np.float64(p).view(np.int64) + (np.float64(shifted).view(np.int64) << np.int64(52))
    return 0.0 if t <= -1021.0 else np.int64(bits).view(np.float64)


def power_of_two(t: Any) -> Any:
    """2^t in the type of t for t ≤ 0, for compiled loops alone; 0 from −125 (−1021 in float64) downwards.

    2^t = 2^k·2^f with k = round(t), where f = t − k is exact: two operations less than exp takes, for those who can
    multiply their arguments with log₂e beforehand.
    """
    raise NotImplementedError


@overload(power_of_two, strict=False)
def _power_of_two(t: Any) -> Any:
    return (lambda t: _exp2_32(t)) if t is types.float32 else (lambda t: _exp2_64(t))


@jit
def _exp_scaled(values: Array, scale: Any) -> None:
    for i in range(values.size):
        values[i] = exponential(values[i] * scale)


def exp_scaled(values: Array, scale: float) -> Array:
    """exp(scale·values), written over ``values`` (a C-ordered float32 or float64 array).

    What is no array but knows NumPy's functions, such as a symbol, is not written over.

    Examples
    --------
    >>> exp_scaled(np.array([0.0, 1.0, 1000.0]), -1.0).round(6)
    array([1.      , 0.367879, 0.      ])
    """
    if not isinstance(values, np.ndarray):
        return np.exp(scale * values)
    _exp_scaled(values.reshape(-1), values.dtype.type(scale))
    return values


# Cholesky's factorisation of matrices that rounding has made not quite positive.


#: Solves a system for right-hand sides that are the columns of an array.
Solve = Callable[[Array], Array]

#: What is added to the diagonal, relative to it, until there is a factorisation: less is tried first. Matrices of
#: kernels that came in float32, or in less, need as much as their own rounding.
_HAIRS = (0.0, 1e-15, 1e-13, 1e-11, 1e-9, 1e-7, 1e-5, 1e-3)
#: Columns that are found together, and rows of a piece of them.
_BLOCK = 256


def cholesky_solver(K: Array, diagonal: Array) -> Solve:
    """Solves (K + D)·x = r; the matrix is scaled to ones on its diagonal first, so that units do not matter.

    Examples
    --------
    >>> import numpy as np
    >>> cholesky_solver(np.array([[4.0, 0.0], [0.0, 0.0]]), np.ones(2))(np.array([[5.0], [2.0]])).ravel()
    array([1., 2.])
    """
    whole = K.diagonal() + diagonal
    scale = 1 / np.sqrt(np.maximum(whole, 1e-300))
    for hair in _HAIRS:
        matrix = K * scale
        matrix *= scale[:, None]
        np.einsum("ii->i", matrix)[:] = 1 + hair
        try:
            factorise(matrix)
        except linalg.LinAlgError:
            continue
        break
    else:
        raise linalg.LinAlgError("the matrix is not positive definite.")
    return lambda right: scale[:, None] * solve_factorised(matrix, scale[:, None] * right)


def factorise(A: Array) -> None:
    """Write L with A = L·Lᵀ into the lower triangle of A, which is in float64 and the order of C.

    Block by block of columns: with all columns before it known, L[k:, k]·L[k, k]ᵀ = A[k:, k] − L[k:, :k]·L[k, :k]ᵀ. The
    pieces of a block of columns are worked on by several threads; as the pieces do not depend on how many, neither does
    any digit of the result. Ctrl-C is heeded between them.

    Examples
    --------
    >>> import numpy as np
    >>> A = np.array([[4.0, 2.0], [2.0, 5.0]])
    >>> factorise(A)
    >>> np.tril(A)
    array([[2., 0.],
           [1., 2.]])
    """
    n = A.shape[0]
    with one_blas_thread():
        for begin in range(0, n, _BLOCK):
            end = min(begin + _BLOCK, n)
            known = A[begin:end, :begin]
            A[begin:end, begin:end] -= known @ known.T
            corner = linalg.cholesky(A[begin:end, begin:end], lower=True, check_finite=False)
            A[begin:end, begin:end] = corner

            def fill(
                top: int, begin: int = begin, end: int = end, known: Array = known, corner: Array = corner
            ) -> None:
                rows = A[top : top + _BLOCK]
                rest = rows[:, begin:end] - rows[:, :begin] @ known.T
                solved = linalg.solve_triangular(corner, rest.T, lower=True, overwrite_b=True, check_finite=False)
                rows[:, begin:end] = solved.T

            for_each(fill, range(end, n, _BLOCK))


def solve_factorised(L: Array, right: Array) -> Array:
    """x with L·Lᵀ·x = right, where L is what :func:`factorise` has written.

    Examples
    --------
    >>> import numpy as np
    >>> solve_factorised(np.array([[2.0, 0.0], [0.0, 1.0]]), np.array([[4.0], [3.0]])).ravel()
    array([1., 3.])
    """
    with one_blas_thread():  # in the order of Fortran the same numbers are the upper triangle of Lᵀ: nothing is copied
        return linalg.lapack.dpotrs(L.T, right)[0]


def inverse_diagonal(L: Array) -> Array:
    """The diagonal of (L·Lᵀ)⁻¹, where L is what :func:`factorise` has written: the squared columns of L⁻¹, summed.

    Examples
    --------
    >>> import numpy as np
    >>> inverse_diagonal(np.array([[2.0, 0.0], [1.0, 1.0]]))
    array([0.5, 1. ])
    """
    n = L.shape[0]
    out, edges = np.empty(n), range(0, n, _BLOCK)

    def corner(begin: int) -> Array:
        own = L[begin : begin + _BLOCK, begin : begin + _BLOCK]
        return linalg.solve_triangular(own, np.eye(len(own)), lower=True, check_finite=False)

    def of_columns(begin: int) -> None:
        # With X = L⁻¹ and all blocks of rows above known, X[k] = −L[k, k]⁻¹·L[k, :k]·X[:k].
        width = min(_BLOCK, n - begin)
        X = np.empty((n - begin, width))
        X[:width] = corners[begin]
        for top in edges[begin // _BLOCK + 1 :]:
            place = top - begin
            known = L[top : top + _BLOCK, begin:top] @ X[:place]
            X[place : place + _BLOCK] = -(corners[top] @ known)
        out[begin : begin + width] = np.einsum("ij,ij->j", X, X)

    with one_blas_thread():
        corners = {begin: corner(begin) for begin in edges}
        for_each(of_columns, edges)
    return out


def inverse(L: Array) -> Array:
    """(L·Lᵀ)⁻¹, exactly symmetric, where L is what :func:`factorise` has written.

    Of a block of columns that begins at k the part from k on needs the part of L from k on alone; what is above it is
    known by symmetry.

    Examples
    --------
    >>> import numpy as np
    >>> inverse(np.array([[2.0, 0.0], [0.0, 0.5]]))
    array([[0.25, 0.  ],
           [0.  , 4.  ]])
    """
    n = L.shape[0]
    out = np.empty((n, n))

    def of_columns(begin: int) -> None:
        width = min(_BLOCK, n - begin)
        right = np.eye(n - begin, width, order="F")
        solved = linalg.cho_solve((L[begin:, begin:].T, False), right, overwrite_b=True, check_finite=False)
        out[begin:, begin : begin + width] = solved
        fill_lower_triangle(out[begin : begin + width, begin : begin + width].T)
        transpose_into(out[begin + width :, begin : begin + width], out[begin : begin + width, begin + width :])

    with one_blas_thread():
        for_each(of_columns, range(0, n, _BLOCK))
    return out


# Products of large dense matrices, the same to the last digit for any number of threads.
#
# A BLAS library cuts a product into as many parts as it has threads, and the last digits of a sum depend on the cuts.
# Here the cuts depend on the shapes alone: each piece is a product on one thread, several threads of ours work on
# several pieces, and Ctrl-C is heeded between two of them.


#: Multiplications of a piece, a few milliseconds' work; and rows of one with several columns, which are worth it to
#: bring these into the order that a product works in, or this part of all.
_PIECE, _PRODUCT_ROWS, _PARTS = 2_000_000, 128, 8
#: Sums that a turned product is put together from, at most, and numbers in all of them.
_SUMS, _NUMBERS = 16, 1_000_000
#: Rows that are weighed together, and columns of a tile.
_PRODUCT_BLOCK, _TILE = 1024, 512


def product(A: Any, B: Array) -> Array:
    """A·B for dense A, or for sparse A as it is.

    Examples
    --------
    >>> product(np.eye(2), np.array([3.0, 4.0]))
    array([3., 4.])
    """
    if sparse.issparse(A):
        return A @ B
    columns = 1 if B.ndim == 1 else B.shape[1]
    least = min(_PRODUCT_ROWS, A.shape[0] // _PARTS) if columns > 1 else 1
    pieces = _cut(A.shape[0], max(1, least, _PIECE // max(1, A.shape[1] * columns)))
    with one_blas_thread():
        if len(pieces) <= 1:
            return A @ B
        out = np.empty((A.shape[0], *B.shape[1:]), np.result_type(A, B))
        for_each(lambda rows: np.matmul(A[rows], B, out=out[rows]), pieces)
    return out


def turned_product(A: Any, B: Array) -> Array:
    """Aᵀ·B for dense A, or for sparse A as it is: sums over some rows each, added up in their order.

    Examples
    --------
    >>> turned_product(np.array([[1.0, 2.0]]), np.array([3.0]))
    array([3., 6.])
    """
    if sparse.issparse(A):
        return A.T @ B
    columns = 1 if B.ndim == 1 else B.shape[1]
    most = max(1, min(_SUMS, _NUMBERS // max(1, A.shape[1] * columns)))
    rows = max(_PIECE // max(1, A.shape[1] * columns), -(-A.shape[0] // most), 1)
    pieces = _cut(A.shape[0], rows)
    with one_blas_thread():
        if len(pieces) <= 1:
            return A.T @ B
        sums = np.empty((len(pieces), A.shape[1], *B.shape[1:]), np.result_type(A, B))

        def add(k: int) -> None:
            np.matmul(A[pieces[k]].T, B[pieces[k]], out=sums[k])

        for_each(add, range(len(pieces)))
        return sums.sum(axis=0)


def weighted_squares(L: Array, h: Array) -> Array:
    """Lᵀ·diag(h)·L for h ≥ 0, exactly symmetric.

    Of few columns there are several sums over some rows each; of many, a sum for each tile of the result.

    Examples
    --------
    >>> weighted_squares(np.array([[1.0, 2.0], [3.0, 0.0]]), np.array([1.0, 2.0]))
    array([[19.,  2.],
           [ 2.,  4.]])
    """
    n, width = L.shape
    roots, blocks = np.sqrt(h)[:, None], _cut(n, _PRODUCT_BLOCK)
    if not width:
        return np.zeros((0, 0))
    with one_blas_thread():
        if width <= _TILE:
            sums = np.zeros((max(1, min(_SUMS, len(blocks), _NUMBERS // width**2)), width, width))

            def add(k: int) -> None:
                for block in blocks[k :: len(sums)]:
                    rows = L[block] * roots[block]
                    sums[k] += rows.T @ rows

            for_each(add, range(len(sums)))
            out = sums.sum(axis=0)
        else:
            out = np.zeros((width, width))
            tiles = [(i, j) for i in _cut(width, _TILE) for j in _cut(width, _TILE) if j.start >= i.start]
            for block in blocks:
                rows = L[block] * roots[block]

                def add_tile(tile: tuple[slice, slice], rows: Array = rows) -> None:
                    i, j = tile
                    out[i, j] += rows[:, i].T @ rows[:, j]

                for_each(add_tile, tiles)
    out = np.triu(out)
    return out + np.triu(out, 1).T


def _cut(n: int, size: int) -> list[slice]:
    return [slice(begin, min(begin + size, n)) for begin in range(0, n, size)]


# Sums of rows, and pieces of matrices moved about: what every solver does with kernel values once they are there.


#: Columns that one piece of a sum covers: its part of the result stays in the nearest cache.
_STRIP = 2048
#: Rows that one piece of a copy covers, and the side of the squares in which a matrix is turned.
_ROWS, _SQUARE = 128, 32
#: Rows of a sum of matrices that are made at a time.
_FEW_ROWS = 16
#: Numbers below which a second thread costs more than it saves.
_WORTH_THREADS = 200_000


@jit
def _add(out: Array, K: Array, places: Array, coefficients: Array, begin: int, end: int) -> None:
    """out += Σ coefficient·K[place] in the columns begin … end−1, four rows at a time."""
    whole = places.size - places.size % 4
    part = out[begin:end]
    for p in range(0, whole, 4):
        c0, c1, c2, c3 = coefficients[p], coefficients[p + 1], coefficients[p + 2], coefficients[p + 3]
        r0, r1 = K[places[p], begin:end], K[places[p + 1], begin:end]
        r2, r3 = K[places[p + 2], begin:end], K[places[p + 3], begin:end]
        for k in range(part.size):
            part[k] += (c0 * r0[k] + c1 * r1[k]) + (c2 * r2[k] + c3 * r3[k])
    for p in range(whole, places.size):
        c, row = coefficients[p], K[places[p], begin:end]
        for k in range(part.size):
            part[k] += c * row[k]


def add_rows(out: Array, K: Array, places: Array, coefficients: Array) -> None:
    """out += Σ coefficient·K[place], in float64."""
    coefficients = np.ascontiguousarray(coefficients, dtype=np.float64)
    strips = [(begin, min(begin + _STRIP, out.size)) for begin in range(0, out.size, _STRIP)]
    threads = None if places.size * out.size > _WORTH_THREADS else 1
    for_each(lambda strip: _add(out, K, places, coefficients, *strip), strips, threads)


@jit
def _gather(K: Array, rows: Array, columns: Array, out: Array) -> None:
    for a in range(rows.size):
        row, target = K[rows[a]], out[a]
        for b in range(columns.size):
            target[b] = row[columns[b]]


@jit
def copy_into(source: Array, target: Array) -> None:
    """Write numbers to the beginning of others.

    Assigned to a slice in a compiled loop, they would bring along the words of an error about shapes, which take the
    compiler a second.
    """
    for i in range(source.size):
        target[i] = source[i]


def gather(K: Array, rows: Array, columns: Array, out: Array) -> None:
    """K[rows, columns] into ``out``."""
    pieces = [slice(begin, begin + _ROWS) for begin in range(0, rows.size, _ROWS)]
    threads = None if rows.size * columns.size > _WORTH_THREADS else 1
    for_each(lambda piece: _gather(K, rows[piece], columns, out[piece]), pieces, threads)


@jit
def turn_here(source: Array, target: Array) -> None:
    """As :func:`transpose_into`, for compiled loops: on the thread that they run on."""
    for top in range(0, source.shape[0], _SQUARE):
        for left in range(0, source.shape[1], _SQUARE):
            for j in range(left, min(left + _SQUARE, source.shape[1])):
                for i in range(top, min(top + _SQUARE, source.shape[0])):
                    target[j, i] = source[i, j]


def transpose_into(source: Array, target: Array) -> None:
    """The transpose of ``source`` into ``target``."""
    pieces = [slice(begin, begin + _ROWS) for begin in range(0, source.shape[1], _ROWS)]
    threads = None if source.size > _WORTH_THREADS else 1
    for_each(lambda piece: turn_here(source[:, piece], target[piece]), pieces, threads)


@jit
def fill_lower_triangle(square: Array) -> None:
    """Write what is above the diagonal below it."""
    for i in range(square.shape[0]):
        for j in range(i):
            square[i, j] = square[j, i]


@jit
def _weigh(out: Array, K: Array, factor: float, first: bool) -> None:
    for i in range(out.shape[0]):
        target, row = out[i], K[i]
        for j in range(target.size):
            target[j] = factor * row[j] if first else target[j] + factor * row[j]


def weighted_sum(matrices: list[Array], factors: list[float], like: Array) -> Array:
    """Σ factor·matrix, in one pass over all of them; zeros like ``like`` where there are none.

    Examples
    --------
    >>> weighted_sum([np.eye(2), np.ones((2, 2))], [2.0, 0.5], like=np.eye(2))
    array([[2.5, 0.5],
           [0.5, 2.5]])
    """
    out = np.empty_like(like) if matrices else np.zeros_like(like)

    def add(piece: slice) -> None:  # some rows of the sum, which stay in the cache
        for k, (matrix, factor) in enumerate(zip(matrices, factors, strict=True)):
            _weigh(out[piece], matrix[piece], float(factor), k == 0)

    for_each(add, [slice(begin, begin + _FEW_ROWS) for begin in range(0, len(out), _FEW_ROWS)])
    return out


# Small pieces of matrix products that live in the processor's registers.
#
# A multiply-add needs two numbers and a sum. Loaded and stored for every one of them, these keep a processor waiting; a
# tile of sums that stays in registers while two streams of numbers pass by needs no more than it can load. Compilers
# keep arrays in memory, so the tiles are written here as what a processor has: vectors of numbers. How many of them
# make a tile depends on how many registers there are; every sum runs over its terms one by one, from the first to the
# last, and does not depend on that.


#: Rows of the left side, and of the right side, that are multiplied with one another.
ROWS, WIDTH = 6, 64

#: Written as what they compile to, and called with fewer arguments: type checkers cannot know.
intrinsic: Any = extending.intrinsic

#: Bytes of a vector, and vectors of one row's sums that stay in registers at a time.
_BYTES, _VECTORS = (64, 4) if "avx512f" in instructions() else (32, 2) if "avx2" in instructions() else (16, 2)


class _Emitter:
    """Writes loads, stores and multiply-adds of vectors of one type."""

    def __init__(self, context: Any, builder: Any, dtype: Any) -> None:
        self.context, self.builder = context, builder
        self.size = dtype.bitwidth // 8
        self.lanes = _BYTES // self.size
        self.vector = ir.VectorType(context.get_value_type(dtype), self.lanes)
        self.zero = ir.Constant(self.vector, None)

    def array(self, kind: Any, value: Any) -> Any:
        """Where the numbers of an array begin."""
        return self.context.make_array(kind)(self.context, self.builder, value).data

    def place(self, begin: Any, offset: Any) -> Any:
        return self.builder.gep(begin, [offset])

    def load(self, address: Any) -> Any:
        vector = self.builder.load(self.builder.bitcast(address, self.vector.as_pointer()))
        vector.align = self.size
        return vector

    def store(self, vector: Any, address: Any) -> None:
        self.builder.store(vector, self.builder.bitcast(address, self.vector.as_pointer())).align = self.size

    def repeated(self, number: Any) -> Any:
        """A vector of one number again and again."""
        nothing = ir.Constant(self.vector, ir.Undefined)
        first = self.builder.insert_element(nothing, number, ir.IntType(32)(0))
        return self.builder.shuffle_vector(
            first, nothing, ir.Constant(ir.VectorType(ir.IntType(32), self.lanes), [0] * self.lanes)
        )

    def sums(self, count: int) -> list[Any]:
        """Sums that begin with zero; variables that the compiler turns into registers."""
        made = [cgutils.alloca_once(self.builder, self.vector) for _ in range(count)]
        for each in made:
            self.builder.store(self.zero, each)
        return made

    def add(self, total: Any, x: Any, z: Any) -> None:
        """total += x·z, in one operation where the processor has it."""
        product = self.builder.fmul(x, z, flags=("contract",))
        self.builder.store(self.builder.fadd(self.builder.load(total), product, flags=("contract",)), total)


@intrinsic
def multiply_rows(
    typingctx: Any, left: Any, first: Any, last: Any, strips: Any, begin: Any, out: Any, target: Any
) -> Any:
    """Products of ROWS rows of ``left``, those from ``first`` on, with the WIDTH rows of a strip.

    A strip holds its rows feature by feature, from place ``begin`` of ``strips`` on; ROWS × WIDTH sums over features
    are written to ``out`` from place ``target`` on. Where there are fewer rows, the ``last`` one stands for the others.
    All arrays are C-ordered.
    """

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kinds, index = signature.args, context.get_value_type(types.intp)
        emit = _Emitter(context, builder, kinds[0].dtype)
        left, strips, out = (emit.array(kinds[k], arguments[k]) for k in (0, 3, 5))
        first, last, begin, target = (arguments[k] for k in (1, 2, 4, 6))
        depth = builder.extract_value(context.make_array(kinds[0])(context, builder, arguments[0]).shape, 1)
        rows = []
        for r in range(ROWS):
            row = builder.add(first, index(r))
            row = builder.select(builder.icmp_signed("<", row, last), row, last)
            rows.append(emit.place(left, builder.mul(row, depth)))
        for column in range(0, WIDTH, _VECTORS * emit.lanes):
            places = [column + v * emit.lanes for v in range(_VECTORS)]
            sums = [emit.sums(_VECTORS) for _ in range(ROWS)]
            with cgutils.for_range(builder, depth, intp=index) as loop:
                feature = builder.add(begin, builder.mul(loop.index, index(WIDTH)))
                z = [emit.load(emit.place(strips, builder.add(feature, index(place)))) for place in places]
                for row, totals in zip(rows, sums, strict=True):
                    x = emit.repeated(builder.load(emit.place(row, loop.index)))
                    for total, vector in zip(totals, z, strict=True):
                        emit.add(total, x, vector)
            for r, totals in enumerate(sums):
                for total, place in zip(totals, places, strict=True):
                    emit.store(builder.load(total), emit.place(out, builder.add(target, index(r * WIDTH + place))))
        return context.get_dummy_value()

    return types.void(left, types.intp, types.intp, strips, types.intp, out, types.intp), codegen


@intrinsic
def multiply_listed(
    typingctx: Any, data: Any, indices: Any, first: Any, stop: Any, strips: Any, begin: Any, out: Any, target: Any
) -> Any:
    """Products of one row with the WIDTH rows of a strip: Σ ``data``·(the strip's feature in ``indices``).

    The row has the numbers ``first`` … ``stop`` − 1 of both lists; the strip is as for :func:`multiply_rows`; sums are
    written to ``out`` from place ``target`` on.
    """

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kinds, index = signature.args, context.get_value_type(types.intp)
        emit = _Emitter(context, builder, kinds[0].dtype)
        data, indices, strips, out = (emit.array(kinds[k], arguments[k]) for k in (0, 1, 4, 6))
        first, stop, begin, target = arguments[2], arguments[3], arguments[5], arguments[7]
        places = range(0, WIDTH, emit.lanes)
        sums = emit.sums(len(places))
        with cgutils.for_range(builder, builder.sub(stop, first), intp=index) as loop:
            number = builder.add(first, loop.index)
            column = builder.sext(builder.load(emit.place(indices, number)), index)
            feature = builder.add(begin, builder.mul(column, index(WIDTH)))
            x = emit.repeated(builder.load(emit.place(data, number)))
            for total, place in zip(sums, places, strict=True):
                emit.add(total, x, emit.load(emit.place(strips, builder.add(feature, index(place)))))
        for total, place in zip(sums, places, strict=True):
            emit.store(builder.load(total), emit.place(out, builder.add(target, index(place))))
        return context.get_dummy_value()

    return types.void(data, indices, types.intp, types.intp, strips, types.intp, out, types.intp), codegen
