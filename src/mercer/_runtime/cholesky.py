"""Cholesky's factorisation of matrices that rounding has made not quite positive."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import linalg

from .compile import Array

#: Solves a system for right-hand sides that are the columns of an array.
Solve = Callable[[Array], Array]

#: What is added to the diagonal, relative to it, until there is a factorisation: less is tried first.
_HAIRS = (0.0, 1e-15, 1e-13, 1e-11, 1e-9)


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
        matrix = K * scale[:, None] * scale
        np.einsum("ii->i", matrix)[:] = 1 + hair
        try:
            factor = linalg.cho_factor(matrix, lower=True, overwrite_a=True, check_finite=False)
        except linalg.LinAlgError:
            continue
        break
    else:
        raise linalg.LinAlgError("the matrix is not positive definite.")
    return lambda right: scale[:, None] * linalg.cho_solve(factor, scale[:, None] * right, check_finite=False)
