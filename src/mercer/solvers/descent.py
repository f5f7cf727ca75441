"""Descent of a smooth function of few numbers by its slopes: the method of Broyden, Fletcher, Goldfarb and Shanno.

A step is p = −H·g with an estimate H of the inverse Hessian that each pair of slopes corrects. ½·gᵀHg is what the
quadratic model of the function still promises to gain, in its own units: where that is next to nothing, the end is
reached. Where the function has no value (a matrix that overflows, a kernel that refuses a parameter) it counts as
infinite, and a shorter step is tried.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from scipy import linalg

from ..runtime.compile import Array

__all__ = ["Descent", "inverse_curvature"]

#: A function with its slopes.
Function = Callable[[Array], tuple[float, Array]]

#: What a step must gain, of what the slope promises; the longest change of a number; tries of shorter steps.
_ENOUGH, _LONGEST, _TRIES = 1e-4, 2.0, 12
#: The part of a value that is rounding.
_ROUNDING = 1e-12
#: A number's step by which second derivatives are measured.
_STEP = 1e-3


@dataclass
class Descent:
    """A place, and the way down from it.

    Parameters
    ----------
    function : callable
    place : array
    inverse_hessian : array, optional
        To begin with.

    Examples
    --------
    >>> descent = Descent(lambda x: (float(np.sum((x - 3) ** 4 + x**2)), 4 * (x - 3) ** 3 + 2 * x), np.zeros(2))
    >>> bool(descent.run(tol=1e-12))
    True
    >>> bool(np.abs(4 * (descent.place - 3) ** 3 + 2 * descent.place).max() < 1e-4)
    True
    """

    function: Function
    place: Array
    inverse_hessian: Array | None = None
    value: float = np.inf
    slope: Array = field(default_factory=lambda: np.empty(0))
    #: How often the function was asked.
    asked: int = 0

    def ask(self, place: Array) -> tuple[float, Array]:
        """The function, infinite where it has no value."""
        self.asked += 1
        try:
            value, slope = self.function(place)
        except (linalg.LinAlgError, FloatingPointError, OverflowError, ValueError):
            return np.inf, np.zeros_like(place)
        fine = np.isfinite(value) and np.isfinite(slope).all()
        return (float(value), slope) if fine else (np.inf, np.zeros_like(place))

    def begin(self) -> float:
        """The value where the descent begins."""
        if not self.slope.size:
            self.value, self.slope = self.ask(self.place)
        return self.value

    def run(self, tol: float, steps: int = 200) -> bool:
        """Go down until no more than ``tol`` is promised; whether that is so."""
        self.begin()
        scaled = self.inverse_hessian is not None
        H = np.eye(self.place.size) if self.inverse_hessian is None else self.inverse_hessian
        for _ in range(steps):
            way = -H @ self.slope
            promised = -0.5 * float(self.slope @ way)
            enough = max(tol, _ROUNDING * abs(self.value))
            if not np.isfinite(self.value) or (promised <= enough and scaled) or not self.slope.any():
                self.inverse_hessian = H
                return np.isfinite(self.value)
            length = min(1.0, _LONGEST / float(np.abs(way).max()))
            for _ in range(_TRIES):
                value, slope = self.ask(self.place + length * way)
                if value <= self.value - _ENOUGH * length * 2 * promised:
                    break
                # Where a parabola through both values and the slope here has its least, unless that is too far.
                bent = value - self.value + length * 2 * promised
                least = length * promised * length / bent if np.isfinite(bent) and bent > 0 else 0.0
                length = float(np.clip(least, 0.1 * length, 0.5 * length))
            else:
                if not scaled:
                    return False
                # The model misleads, or what is left is rounding: the plain slope, or the end.
                self.inverse_hessian, scaled = None, False
                if promised <= 1e3 * enough:
                    return True
                H = np.eye(self.place.size) / max(1.0, float(np.abs(self.slope).max()))
                continue
            step, change = length * way, slope - self.slope
            self.place, self.value, self.slope = self.place + step, value, slope
            bend = float(step @ change)
            if bend > 1e-10 * float(np.linalg.norm(step) * np.linalg.norm(change)):
                if not scaled:
                    H, scaled = np.eye(step.size) * (bend / float(change @ change)), True
                turned = H @ change
                H = H + np.outer(step, step) * (1 + float(change @ turned) / bend) / bend
                H -= (np.outer(step, turned) + np.outer(turned, step)) / bend
            self.inverse_hessian = H
        return False


def inverse_curvature(descent: Descent, times: float, least: float) -> Array:
    """The inverse Hessian at a place, by differences of slopes, of a function that bends so many times as much.

    Curvatures below ``least`` are taken for that much.
    """
    count = descent.place.size
    hessian = np.empty((count, count))
    for k in range(count):
        moved = descent.place.copy()
        moved[k] += _STEP
        hessian[k] = (descent.ask(moved)[1] - descent.slope) / _STEP
    values, vectors = np.linalg.eigh(0.5 * (hessian + hessian.T))
    return (vectors / np.maximum(times * values, least)) @ vectors.T
