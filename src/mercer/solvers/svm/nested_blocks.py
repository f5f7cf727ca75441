"""A soft margin on a matrix in memory, by blocks within blocks.

Steps on a pair of coefficients (:mod:`.smo`) look at every item of their block, and most items need no looking at:
those far on the right side of the margin stay at zero, those far on the wrong side at their bound. Along a path of
growing C even more is known, for what was zero stays so as a rule. A block is therefore the part of the matrix that
belongs to the items that violate their condition, or nearly do, or are free. It is solved until its gap is a part of
what it was, in the same way, by blocks within it; then F of the larger block is brought up to date, with one row for
each coefficient that changed.

A part that is nearly the whole is not worth a copy: there steps are made on the whole, a few for each item, after which
most of its items have been set right.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import count

import numpy as np

from ...runtime.compile import Array, jit
from ...runtime.interrupts import check_interrupt
from .smo import Workspace, _allow, _smo, gap_of, newton_on_free

__all__ = ["NestedBlocks"]

#: A block has at most this part of the items of the block around it that may change.
_PART = 0.5
#: Blocks of so few items have none within them.
_SMALLEST = 600
#: A block within another is solved to this part of its gap.
_ROUGH = 0.1
#: Items that violate nothing but by less than this, or than this part of the gap, might soon.
_BAND, _BROAD = 0.03, 0.1
#: Steps for each item of a block until the next look at which items matter; of the smallest blocks, which are cheap.
_STEPS, _MANY_STEPS = 0.4, 16.0
#: Columns in which F is brought up to date at a time.
_STRIP = 2048
#: Looks at a block within another, before it is given back as it is.
_LOOKS = 60


@jit
def _near(F, z, low, high, level, band, out):
    """The items that are free, or violate their condition, or would if F moved by ``band``; how many there are."""
    found = 0
    for i in range(F.size):
        distance = F[i] - level
        if (z[i] < high[i] and distance > -band) or (z[i] > low[i] and distance < band):
            out[found] = i
            found += 1
    return found


@jit
def _part_of(K, items, out):
    """K[items, items]."""
    for a in range(items.size):
        row, target = K[items[a]], out[a]
        for b in range(items.size):
            target[b] = row[items[b]]


@jit
def _subtract(F, K, items, change):
    """F −= Σ change·K[item], in float64, four rows at a time."""
    whole = items.size - items.size % 4
    for begin in range(0, F.size, _STRIP):
        end = min(begin + _STRIP, F.size)
        part = F[begin:end]
        for p in range(0, whole, 4):
            c0, c1, c2, c3 = change[p], change[p + 1], change[p + 2], change[p + 3]
            r0, r1 = K[items[p], begin:end], K[items[p + 1], begin:end]
            r2, r3 = K[items[p + 2], begin:end], K[items[p + 3], begin:end]
            for k in range(part.size):
                part[k] -= (c0 * r0[k] + c1 * r1[k]) + (c2 * r2[k] + c3 * r3[k])
        for p in range(whole, items.size):
            c, row = change[p], K[items[p], begin:end]
            for k in range(part.size):
                part[k] -= c * row[k]


@jit
def _replace(K, F, z, items, new):
    """Give items new coefficients, and bring F up to date with those that differ."""
    places, change, moved = np.empty(items.size, np.int64), np.empty(items.size), 0
    for a in range(items.size):
        i = items[a]
        if new[a] != z[i]:
            places[moved] = i
            change[moved] = new[a] - z[i]
            z[i] = new[a]
            moved += 1
    _subtract(F, K, places[:moved], change[:moved])


@jit
def _pairwise(K, F, z, low, high, level, target, steps):
    """Steps on a whole block, with F in float32 near zero; F is then brought up to date. How many were made."""
    n = F.size
    f, diag, up, down = (
        np.empty(n, np.float32),
        np.empty(n, np.float32),
        np.empty(n, np.float32),
        np.empty(n, np.float32),
    )
    for a in range(n):
        f[a] = np.float32(F[a] - level)
        diag[a] = K[a, a]
    _allow(z, low, high, up, down)
    new = z.copy()
    made = _smo(K, f, new, low, high, up, down, diag, np.array([0, n]), np.float32(target), steps)
    _replace(K, F, z, np.arange(n), new)
    return made


@dataclass
class NestedBlocks:
    """Solves the dual of a soft margin on a matrix in float32.

    Parameters
    ----------
    workspace : Workspace
        Memory for the blocks.
    steps : float, optional
        Most steps, looked at between blocks.
    deadline : float, optional
        When to stop, by ``time.monotonic``.
    endless : float, optional
        A coefficient of this size ends it: without bounds on them, there may be no solution.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.solvers.svm.smo import Workspace
    >>> K = np.array([[4, -4], [-4, 4]], np.float32)  # of the numbers 2 and −2
    >>> F, z = np.array([1.0, -1.0]), np.zeros(2)
    >>> NestedBlocks(Workspace()).solve(K, F, z, np.array([0.0, -10]), np.array([10.0, 0]), 1e-3)
    1
    >>> z, F
    (array([ 0.125, -0.125]), array([0., 0.]))
    """

    workspace: Workspace
    steps: float = np.inf
    deadline: float = np.inf
    endless: float = np.inf

    @staticmethod
    def footprint(n: int) -> int:
        """Bytes of all blocks that n items may have within them."""
        return int(4 * (_PART * n) ** 2 / (1 - _PART**2))

    def solve(self, K: Array, F: Array, z: Array, low: Array, high: Array, tolerance: float) -> int:
        """Bring the gap within the tolerance; returns the number of steps. F = t − Kz, in float64, and z are updated.

        Items whose bounds are equal take part with their F alone. After Ctrl-C, z is within its bounds, with its sum.
        """
        return self._solve(K, F, z, low, high, tolerance, 0)

    def _solve(self, K: Array, F: Array, z: Array, low: Array, high: Array, tolerance: float, depth: int) -> int:
        alive, total, near = np.count_nonzero(low < high), 0, np.empty(z.size, np.int64)
        small = z.size <= _SMALLEST
        for _ in range(_LOOKS) if depth else count():
            check_interrupt()
            grow, shrink = gap_of(F, z, low, high)
            gap, level = grow - shrink, 0.5 * (grow + shrink)
            if gap <= tolerance or self._over(z):
                break
            items = near[: _near(F, z, low, high, level, max(_BAND, _BROAD * gap), near)]
            if small or items.size > _PART * alive:
                limit = int(min((_MANY_STEPS if small else _STEPS) * z.size + 1, self.steps))
                made = _pairwise(K, F, z, low, high, level, 0.9 * tolerance, limit)
                if small and made == limit:
                    newton_on_free(K, F, z, low, high)
                self.steps -= made
            else:
                block, own = self.workspace.nested(depth, items.size), z[items]
                _part_of(K, items, block)
                inner = max(0.7 * tolerance, _ROUGH * gap)
                try:
                    made = self._solve(block, F[items], own, low[items], high[items], inner, depth + 1)
                finally:
                    _replace(K, F, z, items, own)
            total += made
            if made == 0:
                break
        return total

    def _over(self, z: Array) -> bool:
        """Whether there is a reason to stop before the end."""
        if self.steps <= 0 or time.monotonic() > self.deadline:
            return True
        return self.endless < np.inf and float(np.abs(z).max(initial=0.0)) > self.endless
