"""Sums of the products of a tile's values with coefficients."""

from __future__ import annotations

import numpy as np

from ..._runtime.compile import Array, jit


def accumulate(values: Array, V: Array, out: Array) -> None:
    """out += values·V, summed in the type of V. What is added to a row depends on that row of ``values`` alone."""
    _accumulate(np.ascontiguousarray(values), np.ascontiguousarray(V.T), out)


@jit(reorder=True)
def _accumulate(values: Array, turned: Array, out: Array) -> None:
    """Two rows and four columns of the result at a time: each number is loaded once for several products."""
    whole, nothing = turned.shape[0] - turned.shape[0] % 4, turned.dtype.type(0)
    for i in range(0, values.shape[0], 2):
        last = min(i + 1, values.shape[0] - 1)
        x, y = values[i], values[last]
        for c in range(0, whole, 4):
            v0, v1, v2, v3 = turned[c], turned[c + 1], turned[c + 2], turned[c + 3]
            s0 = s1 = s2 = s3 = t0 = t1 = t2 = t3 = nothing
            for j in range(x.size):
                a, b = x[j], y[j]
                s0 += a * v0[j]
                s1 += a * v1[j]
                s2 += a * v2[j]
                s3 += a * v3[j]
                t0 += b * v0[j]
                t1 += b * v1[j]
                t2 += b * v2[j]
                t3 += b * v3[j]
            out[i, c] += s0
            out[i, c + 1] += s1
            out[i, c + 2] += s2
            out[i, c + 3] += s3
            if last > i:
                out[last, c] += t0
                out[last, c + 1] += t1
                out[last, c + 2] += t2
                out[last, c + 3] += t3
        for c in range(whole, turned.shape[0]):
            for row in range(i, last + 1):
                v, z, total = turned[c], values[row], nothing
                for j in range(z.size):
                    total += z[j] * v[j]
                out[row, c] += total


def accumulate_turned(values: Array, V: Array, out: Array) -> None:
    """out += valuesᵀ·V, summed in the type of V."""
    total = np.zeros((V.shape[1], values.shape[1]), V.dtype)
    _accumulate_turned(np.ascontiguousarray(values), np.ascontiguousarray(V.T), total)
    out += total.T


@jit
def _accumulate_turned(values: Array, turned: Array, out: Array) -> None:
    for c in range(turned.shape[0]):
        v, total = turned[c], out[c]
        for i in range(values.shape[0]):
            row = values[i]
            for j in range(row.size):
                total[j] += v[i] * row[j]
