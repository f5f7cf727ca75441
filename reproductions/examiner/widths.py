"""Machines that find a width along with the model, by their definitions: NuSVC, NuSVR, OneClassSVM and SVDD.

With weights s, S = Σs and f = Kz they minimise, in the numbers that users read,

    NuSVC        λ/2·‖w‖² − ν·ρ + Σ s/S·max(0, ρ − y·(f + b)),        published at ρ = 1, so that λ = ν/Σ|z|,
    NuSVR        [½‖w‖² + C·(ν·S·ε + Σ s·max(0, |y − f − b| − ε))] / (C·S),
    OneClassSVM  [½‖w‖² − ν·S·ρ + Σ s·max(0, ρ − f)] / S,
    SVDD         R² + Σ s/(ν·S)·max(0, ‖φ − c‖² − R²).

Each is a quadratic program whose coefficients have bounds, and sums: of a class, of a wall of the tube, or of all. What
these sums are paid for are *levels*, one each, and the primal at the best levels is

    unit·(½zᵀKz + Σ high·max(0, F − c) + Σ low·min(0, F − c) + Σ c·total) + rest,      F = t − f.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from .cases import Case
from .definitions import EXACT, Array, Real
from .readings import item_weights, number, spread
from .references import program
from .tasks import DOUBLE, RELATIVE, SINGLE

WIDTHS = ("NuSVC", "NuSVR", "OneClassSVM", "SVDD")


@dataclass(frozen=True)
class WidthReading:
    """One problem with its published answer: the program above, and the objective of the model by its definition."""

    K: Array
    z: Array
    t: Array
    low: Array
    high: Array
    groups: Array
    totals: Array
    unit: Real
    rest: Real
    #: The objective of the model as it is defined, and how far rounding may be from it.
    worth: Real
    doubt: Real
    #: How far rounding may be from each score.
    off: Array
    objective: float
    gap: float
    violation: float
    #: What ``tol`` and the published violation are in units of the scores f.
    tol: float
    measure: float

    def variables(self) -> Array:
        """z, or for a tube its part at each wall; what both have and cancels is added where the sums ask for it."""
        if self.t.size == self.z.size:
            return self.z
        n, z = self.z.size, np.concatenate([np.maximum(self.z, 0), np.minimum(self.z, 0)])
        room = np.minimum(self.high[:n] - z[:n], z[n:] - self.low[n:])
        room = np.where((z[:n] == self.high[:n]) | (z[n:] == self.low[n:]), 0, room)
        missing = self.totals[0] - z[:n].sum()
        if missing > 0 and room.sum() > 0:
            more = room * min(EXACT(1), missing / room.sum())
            z = z + np.concatenate([more, -more])
        return z

    def at(self, z: Array) -> Real:
        """The objective of other coefficients, at their best levels."""
        f = self.K @ z
        F = self.t - np.tile(f, self.t.size // f.size)
        value = z @ f / 2
        for group, total in enumerate(self.totals):
            mine = self.groups == group
            ends = F[mine]
            value += min(
                (self.high[mine] * np.maximum(0, ends - c) + self.low[mine] * np.minimum(0, ends - c)).sum() + c * total
                for c in ends
            )
        return self.unit * value + self.rest

    def other(self) -> Array:
        """Coefficients by another method."""
        n = self.z.size
        member = np.equal(self.groups, np.arange(self.totals.size)[:, None]).astype(float)
        K = np.tile(self.K.astype(float), (self.t.size // n,) * 2)
        arrays = (part.astype(float) for part in (self.t, self.low, self.high))
        z = program(K, *arrays, member, self.totals.astype(float)).astype(EXACT)
        return z[:n] + z[n:] if z.size > n else z

    def worst(self) -> Real:
        """The worst violation of an optimality condition; coefficients next to a bound are taken to be at it."""
        f, z = self.K @ self.z, self.variables()
        F = self.t - np.tile(f, self.t.size // f.size)
        near = 1e-9 * (self.high - self.low)
        worst = EXACT(0)
        for group in range(self.totals.size):
            mine = self.groups == group
            grow, shrink = mine & (z < self.high - near), mine & (z > self.low + near)
            worst = max(worst, np.max(F[grow], initial=-np.inf) - np.min(F[shrink], initial=np.inf))
        return worst


def spread_of(y: Array, weight: Array) -> float:
    """The deviation of targets from their weighted mean; one where it is nothing but rounding."""
    deviation = y - np.average(y, weights=weight)
    size = float(np.sqrt(np.mean(np.square(deviation))))
    return size if size > 1e-14 * float(np.abs(y).max()) else 1.0


def width_readings(case: Case, model: Any, off: Array | float = 0.0) -> list[WidthReading]:
    """Every problem of a fitted model."""
    K = case.matrix()
    off = np.broadcast_to(np.asarray(off, EXACT), K.shape)
    s = item_weights(case).astype(EXACT)
    if case.name == "NuSVC":
        return _of_classes(case, model, K, off, s)
    rounding = (SINGLE if case.single else DOUBLE) * np.abs(K) + off
    z, alive = spread(model, len(s), 0), s > 0
    z, s, K, rounding = z[alive], s[alive], K[np.ix_(alive, alive)], rounding[np.ix_(alive, alive)]
    f, doubt, S, nu = K @ z, rounding @ np.abs(z), s.sum(), EXACT(model.nu)
    zeros, one = np.zeros(len(s), EXACT), np.zeros(len(s), int)
    square, square_doubt = z @ f, np.abs(z) @ doubt
    figures = [number(model, name, 0) or 0.0 for name in ("objective_", "duality_gap_", "kkt_violation_")]
    if case.name == "NuSVR":
        C, y = EXACT(model.C), np.asarray(case.y, EXACT)[alive]
        b, width = EXACT(np.ravel(model.intercept_)[0]), EXACT(model.epsilon_)
        doubt = doubt + DOUBLE * (np.abs(b) + np.abs(y))
        loss = np.maximum(0, np.abs(y - f - b) - width)
        parts = np.array([square / 2, C * nu * S * width, C * (s @ loss)]) / (C * S)
        fog = (square_doubt / 2 + C * (s @ doubt)) / (C * S) + RELATIVE * np.abs(parts).sum()
        half = C * nu * S / 2
        unit = spread_of(y, s)
        return [WidthReading(
            K, z, np.tile(y, 2), np.concatenate([zeros, -C * s]), np.concatenate([C * s, zeros]),
            np.repeat([0, 1], len(s)), np.array([half, -half]), 1 / (C * S), EXACT(0), parts.sum(), fog, doubt,
            *figures, model.tol * unit, 1.0)]  # fmt: skip
    diagonal = K.diagonal()
    sigma = max(diagonal.mean() - K.mean(), 1e-12 * np.abs(K).max())
    if case.name == "OneClassSVM":
        rho = EXACT(model.offset_)
        loss = np.maximum(0, rho - f)
        parts = np.array([square / 2, -nu * S * rho, s @ loss]) / S
        # The published offset lets rows on the boundary in.
        slack = 1e-8 * np.abs(rho) + 1e-12 * z.sum() * diagonal.mean()
        fog = (square_doubt / 2 + s @ doubt + 2 * nu * S * slack) / S + RELATIVE * np.abs(parts).sum()
        return [WidthReading(K, z, zeros, zeros, s, one, np.array([nu * S]), 1 / S, EXACT(0), parts.sum(), fog, doubt,
                             *figures, float(model.tol * sigma * nu * S), 1.0)]  # fmt: skip
    square_radius = EXACT(model.radius_) ** 2
    away = diagonal - 2 * f + square
    doubt = 2 * doubt + square_doubt + DOUBLE * diagonal
    parts = np.array([square_radius, (s @ np.maximum(0, away - square_radius)) / (nu * S)])
    fog = (s @ doubt) / (nu * S) + doubt.max() + RELATIVE * np.abs(parts).sum()
    # max Σ z·k − zᵀKz: half of it is the program with t = k/2; a level c is (R² − ‖c‖²)/2.
    box = s / (nu * S)
    return [WidthReading(K, z, diagonal / 2, zeros, box, one, np.array([EXACT(1)]), EXACT(2), EXACT(0), parts.sum(),
                         fog, doubt, *figures, float(2 * model.tol * sigma), 2.0)]  # fmt: skip


def _of_classes(case: Case, model: Any, K: Array, off: Array, s: Array) -> list[WidthReading]:
    codes = np.unique(case.y, return_inverse=True)[1]
    classes, alive = int(codes.max()) + 1, s > 0
    several = classes > 2 and model.strategy == "ovo"
    pairs: list[tuple[int | None, int]] = list(combinations(range(classes), 2))
    machines = pairs if classes == 2 or several else [(None, k) for k in range(classes)]
    out = []
    for place, (first, second) in enumerate(machines):
        rows = np.flatnonzero(alive if first is None else alive & ((codes == first) | (codes == second)))
        y = np.where(codes[rows] == second, 1, -1).astype(EXACT)
        z = np.zeros(len(s), EXACT)
        own = codes[model.support_]
        if several:
            z[model.support_[own == first]] = -model.dual_coef_[second - 1, own == first]
            z[model.support_[own == second]] = -model.dual_coef_[first, own == second]
        else:
            z[model.support_] = model.dual_coef_[place]
        z, part, b = z[rows], K[np.ix_(rows, rows)], EXACT((-1 if several else 1) * model.intercept_[place])
        rounding = (SINGLE if case.single else DOUBLE) * np.abs(part) + off[np.ix_(rows, rows)]
        f, doubt = part @ z, rounding @ np.abs(z) + DOUBLE * np.abs(b)
        share, nu, total = s[rows] / s[rows].sum(), EXACT(model.nu), np.abs(z).sum()
        lam = nu / total if total > 0 else EXACT(1)
        parts = np.array([lam / 2 * (z @ f), -nu, share @ np.maximum(0, 1 - y * (f + b))])
        fog = lam / 2 * (np.abs(z) @ doubt) + share @ doubt + RELATIVE * np.abs(parts).sum()
        box = share / lam
        figures = [number(model, name, place) or 0.0 for name in ("objective_", "duality_gap_", "kkt_violation_")]
        out.append(WidthReading(
            part, z, np.zeros(rows.size, EXACT), np.where(y < 0, -box, 0), np.where(y > 0, box, 0),
            (y < 0).astype(int), np.array([total, -total]) / 2, lam, EXACT(0), parts.sum(), fog, doubt, *figures,
            model.tol, 1.0))  # fmt: skip
    return out
