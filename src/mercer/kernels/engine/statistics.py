"""The parameter-free quantities that kernels on vectors are functions of.

A Gaussian of any rate is a function of the squared distance, a polynomial of any degree of the dot product. Computing
that *statistic* is the expensive part, so it is a thing of its own: an expression computes each statistic once however
many kernels in it need it.

A statistic prepares both sides once, then fills any tile of the matrix. Between two collections, the numbers of a row
on the left depend on that row and on the right side alone, to the last digit: new rows get the same scores whatever
other rows come with them. Within one collection the matrix products of a BLAS library may be used, which differ in the
last digits.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from ...runtime.compile import Array, jit
from ...runtime.numerics import ROWS, WIDTH, multiply_listed, multiply_rows

# Products of dense rows that are summed in one order.
#
# What a BLAS library returns for a row depends, in the last digits, on how many rows stand in the same call and on how
# many threads it may use. New rows are scored by products whose sums run over the features one by one, from the first
# to the last, whatever rows stand beside them: a score is then the same, bit for bit, for one row or a million, on any
# number of threads.
#
# The right side, which all rows are multiplied with, is laid out in strips, feature by feature, which a few rows at a
# time pass by (:mod:`mercer.runtime.numerics`).


#: Rows that are moved to the centre at a time.
_AT_ONCE = 16 * WIDTH


class Strips:
    """Dense rows, seen from a centre if one is given, laid out to be multiplied with.

    Examples
    --------
    >>> import numpy as np
    >>> Strips(np.array([[1.0, 2.0], [3.0, 4.0]])).product(np.array([[1.0, 10.0]]), slice(0, 2))
    array([[21., 43.]])
    """

    def __init__(self, rows: Array, centre: Any = None) -> None:
        n, features = rows.shape
        #: (strips, features, rows of a strip), with rows of zeros to make their number even.
        self.values = np.zeros((-(-n // WIDTH), features, WIDTH), rows.dtype)
        squares = np.zeros(self.values.shape[::2])
        for begin in range(0, n, _AT_ONCE):
            _lay_out(moved(rows[begin : begin + _AT_ONCE], centre), self.values[begin // WIDTH :])
        _add_squares(self.values, squares)
        self.squared_norms = squares.ravel()[:n].astype(rows.dtype)

    def __getitem__(self, places: Array) -> Array:
        """The rows in these places."""
        return self.values[places // WIDTH, :, places % WIDTH]

    def product(self, left: Array, places: slice | Array) -> Array:
        """⟨x, z⟩ for each row x of ``left``, which has the type of these rows, and each z in these places."""
        if not isinstance(places, slice) or places.start % WIDTH:
            chosen = np.r_[places]
            return Strips(self[chosen]).product(left, slice(0, chosen.size))
        out = np.empty((left.shape[0], places.stop - places.start), self.values.dtype)
        _multiply(np.ascontiguousarray(left), self.values[places.start // WIDTH :], out)
        return out


def in_one_order(A: Array, B: Array, centre: Any = None) -> tuple[Array, Strips]:
    """Both sides as rows of one type, seen from a centre if one is given; the right one laid out."""
    dtype = np.result_type(A, B)
    return moved(A, centre).astype(dtype, copy=False), Strips(B.astype(dtype, copy=False), centre)


def in_directions(A: Any, directions: Array) -> Array:
    """The dot products of rows with some directions, in the type of the rows and whatever rows stand beside them."""
    if sparse.issparse(A):
        return np.asarray(A @ directions.T).astype(A.dtype)
    rows, strips = in_one_order(A, directions)
    return strips.product(rows, slice(0, len(directions))).astype(A.dtype)


def moved(rows: Array, centre: Any) -> Array:
    """The rows as they are seen from a centre, in their own type."""
    return rows if centre is None else (rows - centre).astype(rows.dtype, copy=False)


@jit
def _lay_out(rows: Array, strips: Array) -> None:
    for i in range(rows.shape[0]):
        strip, place = strips[i // WIDTH], i % WIDTH
        for k in range(rows.shape[1]):
            strip[k, place] = rows[i, k]


@jit
def _add_squares(strips: Array, sums: Array) -> None:
    for s in range(strips.shape[0]):
        for k in range(strips.shape[1]):
            for j in range(WIDTH):
                sums[s, j] += np.float64(strips[s, k, j]) * np.float64(strips[s, k, j])


@jit
def _multiply(left: Array, strips: Array, out: Array) -> None:
    """Every sum is ((x₀·z₀ + x₁·z₁) + x₂·z₂) + …, with products that are not rounded where the processor can."""
    flat, strip = strips.reshape(-1), strips.shape[1] * WIDTH
    sums = np.empty((ROWS, WIDTH), left.dtype)
    for begin in range(0, out.shape[1], WIDTH):
        width = min(WIDTH, out.shape[1] - begin)
        for first in range(0, left.shape[0], ROWS):
            multiply_rows(left, first, left.shape[0] - 1, flat, begin // WIDTH * strip, sums, 0)
            for r in range(min(ROWS, left.shape[0] - first)):
                for j in range(width):
                    out[first + r, begin + j] = sums[r, j]


# Rows that are mostly zeros, such as one-hot columns or counts: products that skip the zeros.
#
# A dense product of rows with d features takes d multiplications a pair; these take as many as one of the rows has
# numbers. The other side is laid out feature by feature in strips, so that each number of the first side is multiplied
# with a whole strip at once. With every eighth number different from zero this is already faster than a dense product,
# whose multiplications are cheaper.


#: Rows count as thin when at most this part of their numbers is not zero.
_DENSITY = 0.125
#: Fewer features than this are multiplied faster than looked at; more do not fit into a strip in the cache.
_FEWEST, _MOST = 48, 2048
#: Numbers, or little more, in the strips that are kept for the next tile.
KEPT = 8_000_000
#: Rows that are looked at to judge all of them.
_SAMPLE = 1024
#: Moving rows to their mean must leave at least this part of their squared length: else they lie far from the origin.
_SPREAD = 0.25


def is_thin(A: Any) -> bool:
    """Whether rows are mostly zeros, by a sample of them."""
    n, width = A.shape
    if not (_FEWEST <= width <= _MOST and n > 0):
        return False
    if sparse.issparse(A):
        return A.nnz <= _DENSITY * n * width
    sample = A[:: max(1, n // _SAMPLE)]
    return bool(np.count_nonzero(sample) <= _DENSITY * sample.size)


def near_origin(A: Any) -> bool:
    """Whether ‖x‖² + ‖z‖² − 2⟨x, z⟩ loses no more than two bits to cancellation, by a sample of the rows."""
    sample = A[:: max(1, A.shape[0] // _SAMPLE)]
    mean = np.asarray(sample.mean(axis=0), dtype=np.float64).ravel()
    numbers = sample.data if sparse.issparse(sample) else sample
    length = float(np.square(numbers, dtype=np.float64).sum()) / max(1, sample.shape[0])
    return length - float(mean @ mean) >= _SPREAD * length


class ThinRows:
    """Rows as lists of their numbers that are not zero.

    Examples
    --------
    >>> import numpy as np
    >>> A = np.eye(3)
    >>> thin = ThinRows.of(A)
    >>> thin.product(slice(0, 2), ThinRows.of(2 * A), np.array([2, 1]))
    array([[0., 0.],
           [0., 2.]])
    """

    def __init__(self, data: Array, indices: Array, indptr: Array, width: int) -> None:
        self.data, self.indices, self.indptr, self.width = data, indices, indptr, width
        #: Strips by the rows that they hold; those stand beside them, so that no other array gets their number.
        self._kept: dict[Any, tuple[Any, Array]] = {}

    @classmethod
    def of(cls, A: Any) -> ThinRows:
        """The same rows, from a dense array or a CSR matrix."""
        if sparse.issparse(A):
            return cls(A.data, A.indices.astype(np.int32, copy=False), A.indptr.astype(np.int64), A.shape[1])
        indptr = np.zeros(A.shape[0] + 1, np.int64)
        _count(A, indptr)
        np.cumsum(indptr, out=indptr)
        data, indices = np.empty(indptr[-1], A.dtype), np.empty(indptr[-1], np.int32)
        _collect(A, indptr, data, indices)
        return cls(data, indices, indptr, A.shape[1])

    def __len__(self) -> int:
        return self.indptr.size - 1

    def _numbers(self, places: slice | Array) -> Array:
        return np.arange(*places.indices(len(self))) if isinstance(places, slice) else np.asarray(places)

    def strips(self, places: slice | Array) -> Array:
        """These rows, feature by feature: (strips, features, rows of a strip).

        The same rows come again and again, tile after tile, and some strips are kept.
        """
        key = (places.start, places.stop) if isinstance(places, slice) else id(places)
        found = self._kept.get(key)
        if found is None:
            strips = self._laid_out(self._numbers(places))
            if len(self._kept) * strips.size > KEPT:
                self._kept = {}
            found = self._kept[key] = places, strips
        return found[1]

    def _laid_out(self, rows: Array) -> Array:
        out = np.zeros((-(-rows.size // WIDTH), self.width, WIDTH), self.data.dtype)
        _spread(self.data, self.indices, self.indptr, rows, out)
        return out

    def product(self, i: slice | Array, other: ThinRows, j: slice | Array) -> Array:
        """⟨x, z⟩ for rows i of these and rows j of the others."""
        rows, strips = self._numbers(i), other.strips(j)
        out = np.empty((rows.size, other._numbers(j).size), self.data.dtype)
        _multiply_thin(self.data, self.indices, self.indptr, rows, strips, out)
        return out


@jit
def _count(A: Array, indptr: Array) -> None:
    for i in range(A.shape[0]):
        count = 0
        for k in range(A.shape[1]):
            count += A[i, k] != 0
        indptr[i + 1] = count


@jit
def _collect(A: Array, indptr: Array, data: Array, indices: Array) -> None:
    for i in range(A.shape[0]):
        place = indptr[i]
        for k in range(A.shape[1]):
            if A[i, k] != 0:
                data[place] = A[i, k]
                indices[place] = k
                place += 1


@jit
def _spread(data: Array, indices: Array, indptr: Array, rows: Array, out: Array) -> None:
    for r in range(rows.size):
        strip, column = out[r // WIDTH], r % WIDTH
        for p in range(indptr[rows[r]], indptr[rows[r] + 1]):
            strip[indices[p], column] += data[p]


@jit
def _multiply_thin(data: Array, indices: Array, indptr: Array, rows: Array, strips: Array, out: Array) -> None:
    flat, strip = strips.reshape(-1), strips.shape[1] * WIDTH
    sums = np.empty(WIDTH, data.dtype)
    for s in range(strips.shape[0]):
        first = s * WIDTH
        for r in range(rows.size):
            multiply_listed(data, indices, indptr[rows[r]], indptr[rows[r] + 1], flat, s * strip, sums, 0)
            for j in range(min(WIDTH, out.shape[1] - first)):
                out[r, first + j] = sums[j]


#: A dense sparse-times-dense product wants one side dense; at most this many numbers of it at a time.
_DENSE_NUMBERS = 4_000_000

#: A multiplication that must be looked for takes the time of so many.
_SEARCH = 8.0

#: Sparse rows with more than this part of their numbers are full.
_FULL = 0.5

#: Rows are close when their squared distance is below this fraction of their squared norms.
_NEAR = 1e-4


class Statistic:
    """A number for each pair of rows. Instances are the constants below."""

    #: Whether moving both rows by the same amount changes nothing.
    translation_invariant: bool = True

    def prepare(self, A: Any, B: Any) -> tuple[Any, Any]:
        """What :meth:`tile` needs of each side."""
        raise NotImplementedError

    def tile(self, a: Any, b: Any, i: Any, j: Any) -> Array:
        """The statistic of rows ``i`` of the left side and ``j`` of the right, in a new array."""
        raise NotImplementedError

    def diag(self, A: Any) -> Array:
        """The statistic of each row with itself."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return type(self).__name__


def product(a: Any, b: Any) -> Array:
    """a·bᵀ as a dense array, for dense or sparse rows."""
    if not sparse.issparse(a) and not sparse.issparse(b):
        return a @ b.T
    if not sparse.issparse(a):
        return np.ascontiguousarray(product(b, a).T)
    if not sparse.issparse(b):
        return a @ np.ascontiguousarray(b.T)
    if _hardly_meet(a, b):
        width = max(1, _DENSE_NUMBERS // max(1, a.shape[0]))
        blocks = [(a @ b[j : j + width].T.tocsr()).toarray() for j in range(0, b.shape[0], width)]
    else:
        width = max(1, _DENSE_NUMBERS // max(1, b.shape[1]))
        blocks = [a @ b[j : j + width].T.toarray(order="C") for j in range(0, b.shape[0], width)]
    return blocks[0] if len(blocks) == 1 else np.hstack(blocks)


def _hardly_meet(a: Any, b: Any) -> bool:
    """Whether two rows have few columns in common, so that their products are worth looking for.

    Columns with p numbers on one side and q on the other take p·q multiplications among sparse rows; a dense side takes
    one for each number of the other and each row. Both add the products of two rows in the order of the columns of the
    left one, and the same numbers come out: what a dense side adds besides is zero.
    """
    if not a.nnz or not b.nnz:
        return False
    left, right = (np.bincount(side.indices, minlength=side.shape[1]).astype(np.float64) for side in (a, b))
    return bool(_SEARCH * (left @ right) < a.nnz * b.shape[0])


def skipping_zeros(A: Any, B: Any) -> tuple[ThinRows, ThinRows] | None:
    """Both sides in a form whose products skip zeros, where that is worth it for the right side."""
    if A.dtype != B.dtype or not is_thin(B):
        return None
    right = ThinRows.of(B)
    return right if A is B else ThinRows.of(A), right


def dots(a: Any, b: Any, i: Any, j: Any) -> Array:
    """⟨x, z⟩ for rows i of the left side and j of the right, in a new array."""
    if isinstance(a, ThinRows):
        return a.product(i, b, j)
    if isinstance(b, Strips):
        return b.product(a[i], j)
    right = b[j]
    if a is b and isinstance(i, slice) and isinstance(j, slice) and i == j and not sparse.issparse(b):
        right = right.copy()  # of one array with itself NumPy computes a half, and takes longer to copy it to the other
    return product(a[i], right)


def squared_norms(A: Any) -> Array:
    """‖x‖² of every row."""
    if sparse.issparse(A):
        filled = np.flatnonzero(np.diff(A.indptr))
        out = np.zeros(A.shape[0], A.dtype)
        out[filled] = np.add.reduceat(np.square(A.data), A.indptr[filled]) if filled.size else 0.0
        return out
    out = np.empty(A.shape[0], A.dtype)
    _squared_norms(np.ascontiguousarray(A), out)
    return out


@jit(reorder=True)
def _squared_norms(A: Array, out: Array) -> None:
    for i in range(A.shape[0]):
        total = 0.0
        for k in range(A.shape[1]):
            total += np.float64(A[i, k]) * np.float64(A[i, k])
        out[i] = total


class Dot(Statistic):
    """⟨x, z⟩."""

    translation_invariant = False

    def prepare(self, A, B):
        as_they_are = A is B or sparse.issparse(A) or sparse.issparse(B)
        return skipping_zeros(A, B) or ((A, B) if as_they_are else in_one_order(A, B))

    def tile(self, a, b, i, j):
        return dots(a, b, i, j)

    def diag(self, A):
        return squared_norms(A)


class SquaredDistance(Statistic):
    """‖x − z‖² = ‖x‖² + ‖z‖² − 2⟨x, z⟩.

    Far from the origin the three terms are large and their difference small, and every digit is lost. Distances do
    not change when both sides are moved, so dense rows are first moved to the mean of the right side. Sparse rows
    cannot be moved without filling them; they are computed in double precision instead, unless they are full already
    and only called sparse. Rows near the origin need neither.
    """

    def prepare(self, A, B):
        if sparse.issparse(B) and B.nnz > _FULL * B.shape[0] * B.shape[1] and not near_origin(B):
            full = B.toarray()
            A, B = (full if A is B else A.toarray() if sparse.issparse(A) else A), full
        thin = skipping_zeros(A, B) if is_thin(B) and near_origin(B) else None
        if thin is None:
            return self._moved(A, B)
        norms = squared_norms(B)
        return (thin[0], norms if A is B else squared_norms(A)), (thin[1], norms)

    def _moved(self, A: Any, B: Any) -> tuple[Any, Any]:
        if sparse.issparse(A) or sparse.issparse(B):
            if A.dtype == np.float32:
                a, b = A.astype(np.float64), B.astype(np.float64)
            else:
                a, b = A, B
        else:
            centre = B.mean(axis=0, dtype=np.float64)
            if A is not B:
                left, right = in_one_order(A, B, centre)
                return (left, squared_norms(left)), (right, right.squared_norms)
            a = b = moved(B, centre)
        norms = squared_norms(b)
        return (a, norms if a is b else squared_norms(a)), (b, norms)

    def tile(self, a, b, i, j):
        (left, left_norms), (right, right_norms) = a, b
        out = dots(left, right, i, j)
        _distances(out, left_norms[i], right_norms[j])
        return out

    def diag(self, A):
        return np.zeros(A.shape[0], A.dtype)


@jit(extremes=True)
def _distances(dots: Array, left: Array, right: Array) -> None:
    """Turn dot products into squared distances, in place; rounding never makes one negative."""
    nothing = dots.dtype.type(0)
    for i in range(dots.shape[0]):
        for j in range(dots.shape[1]):
            dot = dots[i, j]
            dots[i, j] = max((left[i] - (dot + dot)) + right[j], nothing)


class Distance(SquaredDistance):
    """‖x − z‖.

    A root turns a rounding error of 1e-16 near zero into one of 1e-8, so pairs that are close for their norms are
    computed once more, from the difference of the two rows.
    """

    def prepare(self, A, B):
        return self._moved(A, B)

    def tile(self, a, b, i, j):
        out = super().tile(a, b, i, j)
        rows, columns = np.nonzero(out < _NEAR * (a[1][i][:, None] + b[1][j]))
        if rows.size:
            out[rows, columns] = squared_norms(a[0][np.r_[i][rows]] - b[0][np.r_[j][columns]])
        return np.sqrt(out, out=out)


class Manhattan(Statistic):
    """Σₖ |xₖ − zₖ|."""

    def prepare(self, A, B):
        if sparse.issparse(A) or sparse.issparse(B):
            return _narrow(sparse.csr_array(A)), _narrow(sparse.csr_array(B))
        return A, np.ascontiguousarray(B.T)

    def tile(self, a, b, i, j):
        if sparse.issparse(a):
            from sklearn.metrics.pairwise import manhattan_distances

            return manhattan_distances(a[i], b[j]).astype(a.dtype, copy=False)
        left = a[i]
        right, first, stop = (b, j.start, j.stop) if isinstance(j, slice) else (b[:, j], 0, j.size)
        out = np.zeros((left.shape[0], stop - first), left.dtype)
        _manhattan(left, right, first, out)
        return out

    def diag(self, A):
        return np.zeros(A.shape[0], A.dtype)


def _narrow(A: Any) -> Any:
    """The matrix with 32-bit indices, the only ones that scikit-learn's sparse distances take."""
    return sparse.csr_array((A.data, A.indices.astype(np.int32), A.indptr.astype(np.int32)), shape=A.shape)


@jit
def _manhattan(left: Array, right: Array, first: int, out: Array) -> None:
    """Accumulate |x − z|, four features at a time; the inner loop runs along a row of ``out`` and vectorises."""
    strip = 512
    for offset in range(0, out.shape[1], strip):
        width = min(strip, out.shape[1] - offset)
        begin, end = first + offset, first + offset + width
        for i in range(left.shape[0]):
            row = out[i, offset : offset + width]
            whole = left.shape[1] - left.shape[1] % 4
            for k in range(0, whole, 4):
                x0, x1, x2, x3 = left[i, k], left[i, k + 1], left[i, k + 2], left[i, k + 3]
                z0, z1 = right[k, begin:end], right[k + 1, begin:end]
                z2, z3 = right[k + 2, begin:end], right[k + 3, begin:end]
                for j in range(row.size):
                    row[j] += (abs(x0 - z0[j]) + abs(x1 - z1[j])) + (abs(x2 - z2[j]) + abs(x3 - z3[j]))
            for k in range(whole, left.shape[1]):
                x, z = left[i, k], right[k, begin:end]
                for j in range(row.size):
                    row[j] += abs(x - z[j])


DOT = Dot()
SQUARED_DISTANCE = SquaredDistance()
DISTANCE = Distance()
MANHATTAN = Manhattan()
