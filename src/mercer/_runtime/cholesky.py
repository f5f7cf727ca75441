"""Cholesky's factorisation of matrices that rounding has made not quite positive."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import linalg

from .compile import Array
from .parallel import for_each, one_blas_thread

__all__ = ["Solve", "cholesky_solver", "factorise", "inverse_diagonal", "solve_factorised"]

#: Solves a system for right-hand sides that are the columns of an array.
Solve = Callable[[Array], Array]

#: What is added to the diagonal, relative to it, until there is a factorisation: less is tried first.
_HAIRS = (0.0, 1e-15, 1e-13, 1e-11, 1e-9)
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
        return linalg.cho_solve((L.T, False), right, check_finite=False)


def inverse_diagonal(L: Array) -> Array:
    """The diagonal of (L·Lᵀ)⁻¹, where L is what :func:`factorise` has written: the squared columns of L⁻¹, summed.

    Examples
    --------
    >>> import numpy as np
    >>> inverse_diagonal(np.array([[2.0, 0.0], [1.0, 1.0]]))
    array([0.5, 1. ])
    """
    n = L.shape[0]
    out = np.empty(n)

    def of_columns(begin: int) -> None:
        end = min(begin + _BLOCK, n)
        columns = np.zeros((n - begin, end - begin), order="F")
        np.einsum("ii->i", columns[: end - begin])[:] = 1.0
        solved = linalg.solve_triangular(
            L[begin:, begin:].T, columns, trans=1, lower=False, overwrite_b=True, check_finite=False
        )
        out[begin:end] = np.einsum("ij,ij->j", solved, solved)

    for_each(of_columns, range(0, n, _BLOCK))
    return out
