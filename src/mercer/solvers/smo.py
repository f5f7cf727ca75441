"""Sequential minimal optimisation on a dense block of the kernel matrix: the inner half of the exact SVM.

With signed coefficients z = y·α the dual of the soft margin is

    minimise  ½·zᵀKz − yᵀz     subject to  Σz = 0,   lowᵢ ≤ zᵢ ≤ highᵢ     ([0, C] for y = 1, [−C, 0] for y = −1).

Let F = y − Kz, the negative gradient. Moving t from zⱼ to zᵢ gains t·(Fᵢ − Fⱼ) to first order, which is allowed while
zᵢ < highᵢ and zⱼ > lowⱼ; so z is optimal when max F over all that may grow exceeds min F over all that may shrink by
no more than the tolerance. That difference is the *gap* here. A step takes the j with the least F and the i that
gains most with it, (Fᵢ − Fⱼ)²/(Kᵢᵢ + Kⱼⱼ − 2Kᵢⱼ), and goes all the way.

Two levels: :func:`solve_block` picks a working set of a few hundred items out of the block, gathers their small matrix
so that it stays in the processor's cache, lets :func:`_smo` work on it, and brings F of the whole block up to date.

"May not grow" and "may not shrink" are written as ∓1e30 added to F: selection is then a plain maximum over an array
and runs on many numbers at once.
"""

from __future__ import annotations

import numpy as np

from .._compile import jit

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
def _update(F, K, items, change):
    """F −= Σ change·K[items], four rows at a time over strips of columns that stay in the nearest cache."""
    width = 2048
    whole = items.size - items.size % 4
    for begin in range(0, F.size, width):
        part = F[begin : begin + width]
        for p in range(0, whole, 4):
            c0, c1, c2, c3 = change[p], change[p + 1], change[p + 2], change[p + 3]
            k0, k1 = K[items[p], begin : begin + width], K[items[p + 1], begin : begin + width]
            k2, k3 = K[items[p + 2], begin : begin + width], K[items[p + 3], begin : begin + width]
            for k in range(part.size):
                part[k] -= (c0 * k0[k] + c1 * k1[k]) + (c2 * k2[k] + c3 * k3[k])
        for p in range(whole, items.size):
            c, row = change[p], K[items[p], begin : begin + width]
            for k in range(part.size):
                part[k] -= c * row[k]


@jit
def solve_block(K, F, z, low, high, tolerance, rounds, previous):
    """Bring the gap of a block within the tolerance, or make ``rounds`` working sets.

    ``K`` is the block in float32; F, z and the bounds are float64 and are updated. Returns the number of SMO steps,
    and the last working set (the next call's ``previous``).
    """
    n = z.size
    q = min(n, WORKING_SET)
    buffer = np.empty(q * q if q < n else 0, np.float32)
    everything = np.arange(n)
    f, diag, up, down = (
        np.empty(q, np.float32),
        np.empty(q, np.float32),
        np.empty(q, np.float32),
        np.empty(q, np.float32),
    )
    taken = np.zeros(n, np.bool_)
    chosen = np.empty(q, np.int64)
    total = 0
    for _ in range(rounds):
        grow, shrink = gap_of(F, z, low, high)
        gap = grow - shrink
        if gap <= tolerance:
            break
        if q == n:  # the whole block fits: no need to choose, or to copy
            count, W, small = n, everything, K
        else:
            count = _select(F, z, low, high, previous, taken, chosen)
            W = np.sort(chosen[:count])
            small = buffer[: count * count].reshape(count, count)
            for a in range(count):
                row = K[W[a]]
                for b in range(count):
                    small[a, b] = row[W[b]]
        local_z, local_low, local_high = z[W], low[W], high[W]
        middle = 0.5 * (grow + shrink)  # F near zero keeps float32 precise
        for a in range(count):
            i = W[a]
            diag[a] = K[i, i]
            f[a] = np.float32(F[i] - middle)
            up[a] = np.float32(0.0) if z[i] < high[i] else -_NEVER
            down[a] = np.float32(0.0) if z[i] > low[i] else _NEVER
        made = _smo(
            small, f[:count], local_z, local_low, local_high, up[:count], down[:count], diag[:count],
            np.float32(max(0.1 * gap, 0.5 * tolerance) if q < n else 0.9 * tolerance), 20 * count,
        )  # fmt: skip
        total += made
        previous = W
        if made == 0:
            break
        change = local_z - z[W]
        moved = np.flatnonzero(change)
        _update(F, K, W[moved], change[moved])
        z[W] = local_z
    return total, previous
