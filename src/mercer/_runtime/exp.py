"""exp(x) for compiled loops, and exp(scale·x) over an array in place, several numbers at a time.

exp(x) = 2^k·e^r with k = round(x/ln 2) and |r| ≤ ln 2/2. Adding and subtracting 1.5·2^m (m: bits of the mantissa)
rounds to a whole number without a branch; e^r is a short polynomial; 2^k is written directly into the bits of the
exponent. Nothing in it keeps the compiler from working on 8 or 16 numbers at once, which makes it two to three times
faster than a call of ``exp`` for each. Errors: less than one unit in the last place. Arguments are meant to be ≤ 0;
from −87 downwards (−708 in float64), just before results leave the normal numbers, they become 0. NaN stays NaN.
"""

from __future__ import annotations

from math import factorial, log
from typing import Any

import numpy as np
from numba import types
from numba.extending import overload
from numpy.polynomial import Chebyshev, Polynomial

from .compile import Array, jit

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
