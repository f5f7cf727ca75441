"""Products of a kernel matrix with several vectors at once, each of which has columns of the matrix for itself."""

from __future__ import annotations

import numpy as np

from ..._runtime.compile import Array, jit
from ..._runtime.interrupts import heed
from ..._runtime.parallel import for_each
from .pairing import Pairing, Places
from .parts import length

__all__ = ["segment_products"]


def segment_products(pairing: Pairing, z: Array, edges: Array) -> Array:
    """The matrix of a pairing times z, each segment of its columns summed apart, in float64.

    Parameters
    ----------
    pairing : Pairing
    z : array
        A number for each column.
    edges : array of int
        Where segments begin, and the end of the last.

    Returns
    -------
    array of shape (rows, segments)

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Linear
    >>> pairing = Pairing(Linear(), np.array([[1.0], [2.0]]), np.array([[3.0], [4.0], [5.0]]))
    >>> segment_products(pairing, np.ones(3), np.array([0, 2, 3]))
    array([[ 7.,  5.],
           [14., 10.]])
    """
    kernel = pairing.kernel
    row_pieces, column_pieces = pairing.cut()
    out = np.zeros((length(pairing.A), edges.size - 1))
    if not out.size or not z.size:
        return out
    if kernel.splits:
        pairing.warm()

    def add(i: Places) -> None:
        left = 0
        for j in column_pieces:
            heed()
            values = kernel.evaluate(pairing.tile(i, j))
            _add_segments(np.ascontiguousarray(values), z[left : left + values.shape[1]], edges - left, out[i])
            left += values.shape[1]

    for_each(add, row_pieces, threads=None if kernel.splits else 1)
    return out


@jit(reorder=True)
def _add_segments(values: Array, z: Array, edges: Array, out: Array) -> None:
    """out[i, s] += Σ values[i, j]·z[j] over the columns of segment s that are there."""
    for i in range(values.shape[0]):
        row = values[i]
        for s in range(edges.size - 1):
            begin, end = max(edges[s], 0), min(edges[s + 1], row.size)
            if begin < end:
                some, weights, total = row[begin:end], z[begin:end], 0.0
                for j in range(some.size):
                    total += some[j] * weights[j]
                out[i, s] += total
