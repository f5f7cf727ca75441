"""Sequential minimal optimisation on a dense block of the kernel matrix: the inner half of the exact SVM.

With signed coefficients z = y·α the dual of the soft margin is

    minimise  ½·zᵀKz − yᵀz     subject to  Σz = 0,   lowᵢ ≤ zᵢ ≤ highᵢ     ([0, C] for y = 1, [−C, 0] for y = −1).

Let F = y − Kz, the negative gradient. Moving t from zⱼ to zᵢ gains t·(Fᵢ − Fⱼ) to first order, which is allowed while
zᵢ < highᵢ and zⱼ > lowⱼ; so z is optimal when max F over all that may grow exceeds min F over all that may shrink by
no more than the tolerance. That difference is the *gap* here. A step takes the j with the least F and the i that
gains most with it, (Fᵢ − Fⱼ)²/(Kᵢᵢ + Kⱼⱼ − 2Kᵢⱼ), and goes all the way.

Two levels: :meth:`Bench.solve` picks a working set of a few hundred items out of the block, gathers their small matrix
so that it stays in the processor's cache, lets :func:`_smo` work on it, and brings F of the whole block up to date.

"May not grow" and "may not shrink" are written as ∓1e30 added to F: selection is then a plain maximum over an array
and runs on many numbers at once.
"""

from __future__ import annotations

import numpy as np

from .._combine import add_rows, gather
from .._compile import Array, jit

#: Items in the working set; their float32 matrix takes 16 megabytes.
WORKING_SET = 2048
_NEVER = np.float32(1e30)
#: Curvature below this counts as this: two equal items.
_FLAT = np.float32(1e-12)
_ZERO, _TWO = np.float32(0.0), np.float32(2.0)
#: The low bits of a key, which hold the place (below WORKING_SET), and the rest, which hold the value.
_PLACE = np.int32(WORKING_SET - 1)
_VALUE = np.int32(~(WORKING_SET - 1))
_SIGN, _MAGNITUDE = np.int32(31), np.int32(0x7FFFFFFF)


@jit
def _key(value, place):
    """A whole number that is ordered as ``value`` is, with the place where it was found in its low bits.

    The bits of a float, read as a whole number, have the order of its absolute value; flipping those of negative ones
    gives the order of the value. A maximum of whole numbers vectorises where one of floats, with its rules for NaN,
    does not, and it brings its place along (the last of equals wins); the price is that values closer than 2⁻¹² to
    each other count as equal.
    """
    bits = np.float32(value).view(np.int32)
    ordered = np.int32(bits ^ ((bits >> _SIGN) & _MAGNITUDE))
    return np.int32((ordered & _VALUE) | place)


@jit
def _move(F, Ki, Kj, t, up, down):
    """F −= t·(Kᵢ − Kⱼ); where the largest F is that may grow, and the least that may shrink."""
    grow, shrink = np.int32(-(2**31)), np.int32(-(2**31))
    for k in range(F.size):
        value = np.float32(F[k] - t * (Ki[k] - Kj[k]))
        F[k] = value
        place = np.int32(k)
        grow = np.int32(max(grow, _key(np.float32(value + up[k]), place)))
        shrink = np.int32(max(shrink, _key(np.float32(-(value + down[k])), place)))
    return grow & _PLACE, shrink & _PLACE


@jit
def _partner(F, up, Kj, diag, Fj, Kjj):
    """The i that gains most together with j."""
    best = np.int32(0)
    for k in range(F.size):
        rise = np.float32(max((F[k] + up[k]) - Fj, _ZERO))
        curve = np.float32(max(Kjj + diag[k] - _TWO * Kj[k], _FLAT))
        gain = np.float32(rise * rise / curve)
        best = np.int32(max(best, _key(gain, np.int32(k))))
    return best & _PLACE


@jit
def _smo(K, F, z, low, high, up, down, diag, tolerance, steps):
    """Steps on a small block until its gap is within the tolerance; returns how many were made."""
    best, j = _move(F, K[0], K[0], _ZERO, up, down)
    for step in range(steps):
        if (F[best] + up[best]) - (F[j] + down[j]) <= tolerance:
            return step
        i = _partner(F, up, K[j], diag, F[j], diag[j])
        curve = max(diag[i] + diag[j] - _TWO * K[i, j], _FLAT)
        t = np.float64(F[i] - F[j]) / np.float64(curve)
        room, stock = high[i] - z[i], z[j] - low[j]
        t = min(t, room, stock)
        if t <= 0.0:
            return step
        z[i] = high[i] if t == room else z[i] + t
        z[j] = low[j] if t == stock else z[j] - t
        up[i] = _ZERO if z[i] < high[i] else -_NEVER
        down[j] = _ZERO if z[j] > low[j] else _NEVER
        down[i] = up[j] = _ZERO
        best, j = _move(F, K[i], K[j], np.float32(t), up, down)
    return steps


@jit
def gap_of(F, z, low, high):
    """max F over what may grow, min F over what may shrink."""
    grow, shrink = -np.inf, np.inf
    for i in range(F.size):
        if z[i] < high[i] and F[i] > grow:
            grow = F[i]
        if z[i] > low[i] and F[i] < shrink:
            shrink = F[i]
    return grow, shrink


@jit
def _select(F, z, low, high, previous, taken, out):
    """A working set: free items of the previous one first (half of the places), then the worst from both ends."""
    size, count = out.size, 0
    taken[:] = False
    for p in range(previous.size):
        i = previous[p]
        if count < size // 2 and low[i] < z[i] < high[i]:
            out[count] = i
            taken[i] = True
            count += 1
    order = np.argsort(F)
    top, bottom = F.size - 1, 0
    while count < size and (top >= 0 or bottom < F.size):
        while top >= 0 and (taken[order[top]] or z[order[top]] >= high[order[top]]):
            top -= 1
        if top >= 0:
            out[count] = order[top]
            taken[order[top]] = True
            count += 1
        while bottom < F.size and (taken[order[bottom]] or z[order[bottom]] <= low[order[bottom]]):
            bottom += 1
        if bottom < F.size and count < size:
            out[count] = order[bottom]
            taken[order[bottom]] = True
            count += 1
    return count


@jit
def _prepare(K, F, z, low, high, W, middle, f, diag, up, down):
    """What :func:`_smo` needs of the working set besides its matrix."""
    for a in range(W.size):
        i = W[a]
        diag[a] = K[i, i]
        f[a] = np.float32(F[i] - middle)  # F near zero keeps float32 precise
        up[a] = np.float32(0.0) if z[i] < high[i] else -_NEVER
        down[a] = np.float32(0.0) if z[i] > low[i] else _NEVER


class Bench:
    """A place to solve blocks on: memory for two blocks and a working set, which is used over and over.

    Memory that a process has not touched before is slow; a bench that serves several problems pays for it once.
    """

    def __init__(self) -> None:
        self.f, self.diag, self.up, self.down = np.empty((4, WORKING_SET), np.float32)
        self._matrix = np.empty(0, np.float32)
        self._blocks = [np.empty(0, np.float32), np.empty(0, np.float32)]

    def square(self, size: int) -> Array:
        """A matrix for a block, in place of the block before the last."""
        self._blocks.reverse()
        if self._blocks[0].size < size * size:
            self._blocks[0] = np.empty(size * size, np.float32)
        return self._blocks[0][: size * size].reshape(size, size)

    def _small(self, size: int) -> Array:
        if not self._matrix.size:
            self._matrix = np.empty(WORKING_SET * WORKING_SET, np.float32)
        return self._matrix[: size * size].reshape(size, size)

    def solve(
        self, K: Array, F: Array, z: Array, low: Array, high: Array, tolerance: float, rounds: int, previous: Array
    ) -> tuple[int, Array]:
        """Bring the gap of a block within the tolerance, or make ``rounds`` working sets.

        ``K`` is the block in float32; F, z and the bounds are float64 and are updated. Returns the number of SMO
        steps, and the last working set (the next call's ``previous``).
        """
        n = z.size
        whole = n <= WORKING_SET  # no need to choose, or to copy
        everything = np.arange(n)
        taken, chosen = np.empty(n, np.bool_), np.empty(min(n, WORKING_SET), np.int64)
        total = 0
        for _ in range(rounds):
            grow, shrink = gap_of(F, z, low, high)
            gap = grow - shrink
            if gap <= tolerance:
                break
            if whole:
                W, small = everything, K
            else:
                W = np.sort(chosen[: _select(F, z, low, high, previous, taken, chosen)])
                small = self._small(W.size)
                gather(K, W, W, small)
            f, diag, up, down = (part[: W.size] for part in (self.f, self.diag, self.up, self.down))
            _prepare(K, F, z, low, high, W, 0.5 * (grow + shrink), f, diag, up, down)
            local = z[W]
            target = np.float32(0.9 * tolerance if whole else max(0.1 * gap, 0.5 * tolerance))
            made = _smo(small, f, local, low[W], high[W], up, down, diag, target, 20 * W.size)
            total += made
            previous = W
            if made == 0:
                break
            change = local - z[W]
            moved = np.flatnonzero(change)
            add_rows(F, K, W[moved], -change[moved])
            z[W] = local
        return total, previous
