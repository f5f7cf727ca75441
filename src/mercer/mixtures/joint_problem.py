"""What is minimised where weights are learned: the problems of a machine and the weights of their kernel together.

With a kernel Σ βₘkₘ, w has a part wₘ in the features of each kernel, and ‖w‖² = Σ ‖wₘ‖²/βₘ where the features are those
of kₘ itself. Learning chooses β as well:

    P = min over β ≥ 0, ‖β‖ₚ ≤ 1, and over w:   λ/2·Σ ‖wₘ‖²/βₘ + (1/n) Σ sᵢ·gᵢ( Σₘ ⟨wₘ, φₘ(xᵢ)⟩ + b ),

which is convex in (w, β) together. For β as it is this is the usual problem with K = Σ βₘKₘ, whose dual is

    max over u:   −(1/n) Σ sᵢ·gᵢ*(uᵢ) − λ/2·Σ βₘ·zᵀKₘz,        zᵢ = −sᵢuᵢ/(λn).

The dual is linear in β, so that the least of it over β, with qₘ = λ·zᵀKₘz, is the dual of the joint problem,

    D(u) = −(1/n) Σ sᵢ·gᵢ*(uᵢ) − ½·‖q‖ₚ*,        1/p + 1/p* = 1,

by Hölder's inequality: p* = ∞, the largest q, for p = 1. Every u that the dual allows gives a bound, D(u) ≤ P.

Several problems that share one β (pairs of classes, a class against the rest) count by the weight of their items: with
shares π that sum to one, P = Σ π·P of each, q = Σ π·λ·zᵀKₘz.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy

from .._runtime.compile import Array
from ..grams import Gram
from ..problems import Certificate, Iterate, Problem
from .components import Components

__all__ = ["DualPoint", "JointProblem", "Part"]

_EPSILON = 2.3e-16


class Part(NamedTuple):
    """One of the problems that share the weights, and which items it is about; ``None`` for all."""

    problem: Problem
    rows: Array | None = None

    def on(self, gram: Gram) -> Problem:
        """The problem with a Gram of all items."""
        return self.problem.on(gram if self.rows is None else gram.take(self.rows))


@dataclass(frozen=True)
class DualPoint:
    """Coefficients that the dual of every part allows, (1/n) Σ s·g*, and qₘ of every kernel."""

    z: list[Array]
    conjugate: float
    squares: Array


class JointProblem:
    """Problems that share the weights of a mixture.

    Parameters
    ----------
    parts : list of Part
    p : float
        The norm of the weights that is at most one.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams import Features
    >>> from mercer.losses import Squared
    >>> from mercer.problems import Problem
    >>> problem = Problem(Features(np.array([[1.0], [-1.0]])), np.array([1.0, -1.0]), Squared(), lam=1.0)
    >>> JointProblem([Part(problem)], p=2).norm(np.array([3.0, 4.0]))
    5.0
    """

    def __init__(self, parts: Sequence[Part], p: float) -> None:
        self.parts, self.p = list(parts), float(p)
        totals = [len(part.problem.y) if (s := part.problem.weight) is None else float(s.sum()) for part in parts]
        self.shares = np.array(totals) / np.sum(totals)

    def norm(self, squares: Array) -> float:
        """‖q‖ₚ*."""
        return float(np.linalg.norm(squares, np.inf if self.p == 1 else self.p / (self.p - 1)))

    def bound(self, point: DualPoint) -> float:
        """D(u)."""
        return -point.conjugate - 0.5 * self.norm(point.squares)

    def of(self, values: Sequence[float]) -> float:
        """Σ π·value, for a value of each part."""
        return float(self.shares @ np.array(values))

    def point(self, problems: Sequence[Problem], found: Sequence[Iterate]) -> tuple[list[Array], float]:
        """Coefficients near those of a model that the dual allows, and (1/n) Σ s·g* there."""
        pairs = [
            problem.dual_point(model, np.asarray(model.scores) + model.b, own=not problem.loss.smooth)
            for problem, model in zip(problems, found, strict=True)
        ]
        return [z for z, _ in pairs], self.of([conjugate for _, conjugate in pairs])

    def squares(self, coefficients: Sequence[Array], products: Sequence[Array]) -> Array:
        """q = Σ π·λ·zᵀKₘz, from z and Kₘz of each part."""
        terms = [
            share * part.problem.lam * np.tensordot(each, z, axes=z.ndim)
            for share, part, z, each in zip(self.shares, self.parts, coefficients, products, strict=True)
        ]
        return np.sum(terms, axis=0)

    def best_combination(self, points: Sequence[DualPoint]) -> DualPoint:
        """The point Σ μ·point, μ ≥ 0 with a sum of one, whose bound is the best.

        Conjugates and q are convex: those of the sum are at most Σ μ·conjugate and Σ μ·q, by which μ is chosen. Where
        coefficients are not unique, or J has a kink, no single point need have a good bound.
        """
        conjugates, squares = np.array([point.conjugate for point in points]), np.array([p.squares for p in points])
        best = int(np.argmax([self.bound(point) for point in points]))
        mu = np.eye(len(points))[best]
        if len(points) > 1:
            found = self._simplex(conjugates, squares, mu)
            if found is not None and self._of_sum(found, conjugates, squares) > self._of_sum(mu, conjugates, squares):
                mu = found
        z = [np.tensordot(mu, np.stack(parts), axes=1) for parts in zip(*(point.z for point in points), strict=True)]
        return DualPoint(z, float(mu @ conjugates), mu @ squares)

    def _of_sum(self, mu: Array, conjugates: Array, squares: Array) -> float:
        return float(-mu @ conjugates - 0.5 * self.norm(mu @ squares))

    def _simplex(self, conjugates: Array, squares: Array, start: Array) -> Array | None:
        """The best μ: a linear program for p = 1, else something smooth."""
        count, kernels = squares.shape
        unit = 0.5 * self.norm(start @ squares) or 1.0
        if self.p == 1:  # maximise −μᵀc − t with ½·qᵀμ ≤ t
            found = scipy.optimize.linprog(
                np.append(conjugates, 1.0) / unit,
                A_ub=np.column_stack([0.5 * squares.T, -np.ones(kernels)]) / unit,
                b_ub=np.zeros(kernels),
                A_eq=np.append(np.ones(count), 0.0)[None],
                b_eq=[1.0],
            )
        else:
            power = self.p / (self.p - 1)

            def cost(mu: Array) -> tuple[float, Array]:
                q = np.maximum(mu @ squares, 0.0)
                norm = self.norm(q) or 1.0
                slope = conjugates + 0.5 * squares @ (q / norm) ** (power - 1)
                return float(mu @ conjugates + 0.5 * norm) / unit, slope / unit

            whole = {"type": "eq", "fun": lambda mu: mu.sum() - 1, "jac": lambda mu: np.ones(count)}
            found = scipy.optimize.minimize(
                cost, start, jac=True, bounds=[(0.0, 1.0)] * count, constraints=[whole], method="SLSQP"
            )
        if found.x is None or not np.isfinite(found.x).all():
            return None
        mu = np.maximum(found.x[:count], 0.0)
        return mu / mu.sum() if mu.any() else None

    def certificate(
        self,
        gram: Gram,
        components: Components,
        found: Sequence[Iterate],
        certificates: Sequence[Certificate],
        others: Sequence[DualPoint] = (),
    ) -> Certificate:
        """The joint objective of models and its duality gap, in float64.

        ``certificates`` are those of the parts for the weights as they are; ``others`` are points of the dual that may
        give a better bound than the models do.
        """
        exact = components.exact()
        z, conjugate = self.point([part.on(gram) for part in self.parts], found)
        bounds = []
        for point in [DualPoint(z, conjugate, np.empty(0)), *others]:
            products = [exact.products(each, part.rows) for each, part in zip(point.z, self.parts, strict=True)]
            bounds.append(self.bound(DualPoint(point.z, point.conjugate, self.squares(point.z, products))))
        objective = self.of([each.objective for each in certificates])
        known = [each.violation for each in certificates if each.violation is not None]
        return Certificate(objective, max(objective - max(bounds), _EPSILON * objective), max(known, default=None))
