"""From some weights to better ones.

For fixed weights let J(β) be the least objective of all machines. It is convex, and its derivatives follow from the
coefficients z that reach it. By each weight J falls as qₘ says,

    ∂J/∂βₘ = −½·qₘ,      qₘ = λ·zᵀKₘz,

as the dual is linear in β and its maximum does not move z at first order. At second order z moves: coefficients at a
bound stay there, and the others keep to zᵢ = −g′ᵢ/λ (g′ the slope of (1/n)·s·g at the score). With h their curvatures,

    (K + diag(λ/h))·dz + db = −Kₘz·dβₘ,      Σ dz = 0 where the intercept is free,

over the items that are free, λ/h = 0 for the hinge and the tube. So with S that matrix, its border eliminated,

    ∂²J/∂βₘ∂βₗ = λ·(Kₘz)ᵀ·S⁻¹·(Kₗz).

Newton's step goes to the least of the parabola with these derivatives within β ≥ 0, ‖β‖ₚ ≤ 1.

A step that never leads upwards, though slowly, needs no curvature: for w as it is, Σ ‖wₘ‖²/βₘ is least for
βₘ ∝ ‖wₘ‖^(2/(p+1)), with ‖wₘ‖² = βₘ²·qₘ/λ.
"""

from __future__ import annotations

import numpy as np
import scipy
from scipy import linalg

from .._runtime.cholesky import cholesky_solver
from .._runtime.compile import Array
from ..grams import Gram
from ..problems import Iterate, Problem
from ..solvers.interior import MatrixCurvature, interior_point

__all__ = ["alternating_step", "curvature", "newton_step", "normalised"]

#: Of more free items, so many stand for all.
_MOST = 2500
#: Coefficients nearer to a bound than this part of their range are on it.
_AT_BOUND = 1e-7
#: Curvatures below this part of the largest are none.
_FLAT = 1e-10
#: What single precision leaves of a matrix, relative to its diagonal.
_ROUNDING = 1e-7
#: Weights below this are none.
_NEGLIGIBLE = 1e-8


def normalised(weights: Array, p: float) -> Array:
    """Weights with ‖β‖ₚ = 1 that are none where they are next to none.

    Examples
    --------
    >>> import numpy as np
    >>> normalised(np.array([3.0, 4.0, 1e-12]), 2)
    array([0.6, 0.8, 0. ])
    """
    weights = np.maximum(weights, 0.0)
    weights = np.where(weights > _NEGLIGIBLE * weights.max(), weights, 0.0)
    return weights / np.linalg.norm(weights, p)


def alternating_step(weights: Array, squares: Array, p: float) -> Array:
    """The best weights for the model as it is.

    Examples
    --------
    >>> import numpy as np
    >>> alternating_step(np.array([0.5, 0.5]), np.array([9.0, 1.0]), 1)
    array([0.75, 0.25])
    """
    return normalised((weights**2 * squares) ** (1 / (p + 1)), p)


def newton_step(weights: Array, heights: Array, squares: Array, hessian: Array, p: float) -> tuple[Array, float]:
    """The weights where a parabola above lines that J lies above is least, and the height of the parabola there.

    The lines are height − ½·qᵀβ, a row of ``squares`` for each: one, that of the weights as they are, makes Newton's
    step; more of them tell of kinks, which J has where coefficients come to a bound.
    """
    unit = 0.5 * float(np.max(squares @ weights))
    top = float(np.max(heights - 0.5 * squares @ weights))
    least = _least_in_simplex if p == 1 else _least_in_ball
    found = least(weights, (heights - top) / unit, 0.5 * squares / unit, hessian / unit, p)
    if not np.isfinite(found).all() or not found.max() > 0:
        return weights, top
    new = normalised(found, p)
    way = new - weights
    return new, float(np.max(heights - 0.5 * squares @ new) + 0.5 * way @ hessian @ way)


def _least_in_simplex(weights: Array, levels: Array, lines: Array, bend: Array, p: float) -> Array:
    """A quadratic program in β, a number t above all lines, and how far it is above each."""
    cuts, kernels = lines.shape
    size = kernels + cuts + 1
    K, targets, A = np.zeros((size, size)), np.zeros(size), np.zeros((cuts + 1, size))
    K[:kernels, :kernels] = bend
    targets[:kernels], targets[-1] = bend @ weights, -1.0
    A[0, :kernels] = 1.0  # Σβ = 1
    A[1:, :kernels], A[1:, kernels:-1], A[1:, -1] = -lines, np.eye(cuts), -1.0  # level − line·β + slack = t
    low, high = np.zeros(size), np.full(size, np.inf)
    high[:kernels] = 1.0
    low[-1] = -np.inf
    high[-1] = 1.0
    found = interior_point(MatrixCurvature(K), targets, A, np.append(1.0, -levels), low, high)
    return np.where(found.at_low, 0.0, found.z)[:kernels]


def _least_in_ball(weights: Array, levels: Array, lines: Array, bend: Array, p: float) -> Array:
    """The same with ‖β‖ₚ ≤ 1."""

    def parabola(x: Array) -> tuple[float, Array]:
        way = x[:-1] - weights
        bent = bend @ way
        return float(x[-1] + 0.5 * way @ bent), np.append(bent, 1.0)

    ball = {
        "type": "ineq",
        "fun": lambda x: 1 - np.sum(np.maximum(x[:-1], 0.0) ** p),
        "jac": lambda x: np.append(-p * np.maximum(x[:-1], 0.0) ** (p - 1), 0.0),
    }
    above = {
        "type": "ineq",
        "fun": lambda x: x[-1] - levels + lines @ x[:-1],
        "jac": lambda x: np.column_stack([lines, np.ones(len(levels))]),
    }
    bounds = [(0.0, 1.0)] * weights.size + [(None, None)]
    start, options = np.append(weights, 0.0), {"maxiter": 200, "ftol": 1e-12}
    found = scipy.optimize.minimize(
        parabola, start, jac=True, bounds=bounds, constraints=[ball, above], method="SLSQP", options=options
    )
    return found.x[:-1]


def curvature(problem: Problem, model: Iterate, z: Array, products: Array, rng: np.random.Generator) -> Array:
    """∂²J/∂β² of one problem, from its solution, coefficients z that the dual allows, and Kₘ·z of every kernel."""
    count = products.shape[0]
    columns = 1 if z.ndim == 1 else z.shape[1]
    ridges = _ridges(problem, model, z).reshape(len(z), columns)
    products = products.reshape(count, len(z), columns)
    total = np.zeros((count, count))
    for column in range(columns):
        total += _of_column(problem, ridges[:, column], products[:, :, column].T, rng)
    return problem.lam * total


def _ridges(problem: Problem, model: Iterate, z: Array) -> Array:
    """λ/h of every item; infinite where a coefficient does not move."""
    if problem.loss.smooth:
        h = problem.loss.hessian_diagonal(problem.curvatures(np.asarray(model.scores) + model.b))
        return np.divide(problem.lam, h, out=np.full(h.shape, np.inf), where=h > _FLAT * h.max(initial=0.0))
    least, largest = problem.loss.slope_range(problem.y)
    u = -problem.lam * z / np.where(problem.shares > 0, problem.shares, 1.0)
    near = _AT_BOUND * (largest - least)
    free = (problem.shares > 0) & (np.abs(u) > near) & (u - least > near) & (largest - u > near)
    return np.where(free, 0.0, np.inf)


def _of_column(problem: Problem, ridges: Array, right: Array, rng: np.random.Generator) -> Array:
    """(Kₘz)ᵀ·S⁻¹·(Kₗz) over the free items."""
    free = np.flatnonzero(np.isfinite(ridges))
    if not free.size:
        return np.zeros((right.shape[1], right.shape[1]))
    if free.size > _MOST:  # each of the sample stands for several, which together bend as much as these do
        sample = np.sort(rng.choice(free, _MOST, replace=False))
        ridges = ridges * (_MOST / free.size)
        free = sample
    S = _square(problem.gram, free)
    R = right[free]
    try:
        solved = cholesky_solver(S, ridges[free] + _ROUNDING * S.diagonal().mean())(
            np.column_stack([R, np.ones(free.size)])
        )
    except linalg.LinAlgError:
        return np.zeros((right.shape[1], right.shape[1]))
    found = R.T @ solved[:, :-1]
    if problem.is_free:
        border = solved[:, -1]
        found = found - np.outer(R.T @ border, R.T @ border) / border.sum()
    return 0.5 * (found + found.T)


def _square(gram: Gram, index: Array) -> Array:
    return gram.take(index).rows(np.arange(index.size)).astype(np.float64, copy=False)
