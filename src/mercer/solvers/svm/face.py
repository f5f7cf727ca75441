"""A step of many coefficients at once, on the face of the bounds that a linear dual has come to.

Coefficients that are free see a quadratic function without bounds, g·d + ½·dᵀHd with H = X·Xᵀ + ρ·11ᵀ. Where rows are
alike it is flat in some directions, or nearly so, and one coefficient at a time moves along them as slowly as its
neighbours let it. Conjugate gradients see the direction as a whole; each costs two looks at the free rows. The step is
bent where it meets bounds, and halved until it is worth that: the objective falls by a part of what its slope promises.
"""

from __future__ import annotations

import numpy as np

from ..._runtime.compile import jit
from ...grams.walk import add, score

#: A direction is good enough when it leaves so little of the gradient.
_LEFT = 0.1
#: What of the slope a step must keep, and how often it is halved at most for that.
_KEPT, _HALVINGS = 0.1, 8
#: A curvature of less than this part of what the diagonal says is none.
_FLAT = 1e-14


@jit
def free_items(items, order, alive, z):
    """The items that are alive and between their bounds, in their order in memory; a tube has a kink at zero."""
    face, count = np.empty(alive, np.int64), 0
    for p in range(alive):
        i = order[p]
        if items.low[i] < z[i] < items.high[i] and (items.half_width[i] == 0.0 or z[i] != 0.0):
            face[count] = i
            count += 1
    return np.sort(face[:count])


@jit
def _bounds(items, i, old):
    """The bounds of a coefficient as far as its gradient goes on: in a tube to zero."""
    if items.half_width[i] == 0.0:
        return items.low[i], items.high[i]
    return (0.0, items.high[i]) if old > 0.0 else (items.low[i], 0.0)


@jit
def _direction(rows, items, face, gradient, rho, most, v):
    """About −H⁻¹g, by conjugate gradients with the diagonal of H for a measure; v is room for a vector of weights."""
    direction, left, bent = np.zeros(face.size), -gradient, np.empty(face.size)
    measure = items.squares[face] + rho
    along = left / measure
    size, enough = np.dot(left, along), _LEFT * np.abs(left).max()
    for _ in range(most):
        v[:] = 0.0
        for k in range(face.size):
            add(rows, face[k], along[k], v)
        constant = rho * along.sum()
        for k in range(face.size):
            bent[k] = score(rows, face[k], v) + constant
        curvature = np.dot(along, bent)
        if curvature <= _FLAT * np.dot(along * measure, along):
            break
        length = size / curvature
        direction += length * along
        left -= length * bent
        if np.abs(left).max() <= enough:
            break
        before, size = size, np.dot(left / measure, left)
        along = left / measure + (size / before) * along
    return direction


@jit
def face_step(rows, items, face, z, w, b, total, rho, most):
    """Move the coefficients of a face towards its minimum, and w with them; the new Σz."""
    gradient, v = np.empty(face.size), np.empty(w.size)
    for k in range(face.size):
        i = face[k]
        half = items.half_width[i] if z[i] > 0.0 else -items.half_width[i]
        gradient[k] = score(rows, i, w) + b + rho * total - items.targets[i] + half
    direction = _direction(rows, items, face, gradient, rho, most, v)
    length, change = 1.0, np.empty(face.size)
    for _ in range(_HALVINGS):
        v[:] = 0.0
        for k in range(face.size):
            i = face[k]
            low, high = _bounds(items, i, z[i])
            change[k] = min(max(z[i] + length * direction[k], low), high) - z[i]
            add(rows, i, change[k], v)
        slope, added = np.dot(gradient, change), change.sum()
        if slope + 0.5 * (np.dot(v, v) + rho * added * added) <= _KEPT * slope < 0.0:
            w += v
            for k in range(face.size):
                i = face[k]
                low, high = _bounds(items, i, z[i])
                z[i] = min(max(z[i] + length * direction[k], low), high)
            return total + added
        length *= 0.5
    return total
