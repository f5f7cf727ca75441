"""The hard margin: the nearest points of the two classes' convex hulls, or a proof that the hulls meet.

With coefficients z that are positive in one class and negative in the other, Σz⁺ = 1 = −Σz⁻, the vector
v = Σ zᵢφ(xᵢ) leads from a point of one hull to a point of the other. The shortest one, of length δ, is orthogonal to
the widest gap between the classes. That problem,

    minimise  ½·zᵀKz     subject to  Σz = 0,   Σ yᵢzᵢ = 2,   yᵢzᵢ ≥ 0,

always has a solution, which the hard margin's own dual has not. With the least score f = Kz of one class above the
largest of the other, f₊ > f₋, the machine w = k·v with k = 2/(f₊ − f₋) has all margins at 1 or above: the classes are
separable, and the machine proves it. Where v = 0 the hulls meet: z proves that no machine exists. Rounding may leave
neither proof, and then nothing is claimed.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from ..._runtime.compile import Array
from ...grams.base import Gram
from ...problems import Problem, Status
from ..curvatures import agree, curvature_of, few_features, reconciled, weights_of
from ..interior import Optimum, interior_point
from .leap import polish
from .soft_margin import DualSolution

#: What rounding leaves of a sum that is zero, relative to its parts.
_ROUNDING = 1e-13
#: Machines whose ‖w‖² is at most so many times the least one's count as equally wide.
_AS_WIDE = 1 + 1e-6
#: Differences of scores that count as none, relative to the gap between the classes; and coefficients next to zero,
#: relative to the largest.
_NEGLIGIBLE, _NEXT = 1e-6, 1e-5
#: A gap between scores whose inverse is still a number.
_LEAST = 1e-300
#: How often a combination of items that is nearly zero is corrected.
_CORRECTIONS = 4
#: Features beyond which a meeting point of two hulls is not looked for.
_WIDEST = 3000


def hard_margin(problem: Problem, deadline: float = np.inf, by_weights: bool = False) -> DualSolution:
    """The machine of the hard margin; its status is "not separable" where the hulls meet, "not found" without a proof.

    ``by_weights``: the model is going to be known by its weights, which may be more exact than its coefficients.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams import Features
    >>> from mercer.losses import Hinge
    >>> from mercer.problems import Problem
    >>> gram = Features(np.array([[3.0], [1.0], [-1.0]]))
    >>> found = hard_margin(Problem(gram, np.array([1.0, 1.0, -1.0]), Hinge(), intercept="free"))
    >>> found.z.round(6), round(found.b, 6), str(found.status)
    (array([ 0. ,  0.5, -0.5]), -0.0, 'converged')
    """
    y, exact, n = problem.y, problem.gram, len(problem.gram)
    everything = np.arange(n)
    curvature, unit = curvature_of(exact, everything, centred=True)
    low, high = np.where(y > 0, 0.0, -np.inf), np.where(y > 0, np.inf, 0.0)
    A, c = np.stack([np.ones(n), y]), np.array([0.0, 2.0])
    found = interior_point(curvature, np.zeros(n), A, c, low, high, deadline=deadline)
    machines: list[DualSolution | None] = []
    if by_weights:
        w = weights_of(exact, found, unit)  # of coefficients in units of K/s, which here are those of K
        machines.append(None if w is None else _by_weights(unit * w, found, problem))
    for z in (np.where(found.at_low | found.at_high, 0.0, found.z), found.z):
        machine = _widest(z, problem, found.steps)
        if machine is not None:
            machines += [_polished(machine, problem), machine]
    separating = [machine for machine in machines if machine is not None]
    if separating:  # the first that is as wide as any: it has the fewest items
        least = min(map(_square, separating))
        return next(machine for machine in separating if _square(machine) <= _AS_WIDE * least)
    status = Status.NOT_SEPARABLE if hulls_meet(exact, y, found.z) else Status.NOT_FOUND
    return DualSolution(np.zeros(n), 0.0, found.steps, scores=np.zeros(n), status=status)


def _polished(machine: DualSolution, problem: Problem) -> DualSolution | None:
    """The machine with the last digits of its free coefficients, where they can be had."""
    assert problem.box_dual is not None
    found = polish(problem.box_dual, problem.gram, machine.z, np.asarray(machine.scores))
    return None if found is None else _widest(found[0], problem, machine.n_iter)


def _widest(z: Array, problem: Problem, steps: int) -> DualSolution | None:
    """The machine in the direction of v = Σ zᵢφ(xᵢ) whose least margin is 1; ``None`` where that separates nothing."""
    y, exact, n = problem.y, problem.gram, len(problem.gram)
    on_hulls = _on_hulls(z, y)
    if on_hulls is None:
        return None
    used = np.flatnonzero(on_hulls)
    f = exact.scores(np.arange(n), used, on_hulls[used])
    return _scaled(on_hulls, f, y, steps)


def _by_weights(w: Array, found: Optimum, problem: Problem) -> DualSolution | None:
    """The machine with the weights that an interior point method has found."""
    z = _on_hulls(np.where(found.at_low | found.at_high, 0.0, found.z), problem.y)
    if z is None:
        return None
    low, high = np.where(problem.y > 0, 0.0, -np.inf), np.where(problem.y > 0, np.inf, 0.0)
    exact = problem.gram
    f, _ = exact.scores_and_square(z, w)
    above, below = float(f[problem.y > 0].min()), float(f[problem.y < 0].max())
    tol = _NEGLIGIBLE * (above - below)
    # What rounding leaves to items beyond the margin is put on its bound, where it would violate their conditions.
    beyond = (problem.y * f - np.where(problem.y > 0, above, -below) > tol) & (np.abs(z) < _NEXT * np.abs(z).max())
    z = reconciled(few_features(exact), w, np.where(beyond, 0.0, z), low, high, balance=True)
    return _scaled(z, f, problem.y, found.steps, w) if agree(few_features(exact), w, z, tol) else None


def _scaled(z: Array, f: Array, y: Array, steps: int, w: Array | None = None) -> DualSolution | None:
    """The machine scaled so that its least margin is 1; ``None`` where it separates nothing."""
    above, below = float(f[y > 0].min()), float(f[y < 0].max())
    if not _LEAST < above - below < np.inf:
        return None
    k = 2 / (above - below)
    b = -0.5 * k * (above + below)
    w = None if w is None else k * w
    return DualSolution(k * z, b, steps, w, k * f, Status.CONVERGED)


def _square(machine: DualSolution) -> float:
    """‖w‖²."""
    if machine.w is not None:
        return float(machine.w @ machine.w)
    return float(machine.z @ np.asarray(machine.scores))


def _on_hulls(z: Array, y: Array) -> Array | None:
    """Coefficients of the right signs that sum to 1 and −1; ``None`` where a class has none."""
    out = np.zeros(z.size)
    for sign in (1.0, -1.0):
        mine = np.where(y == sign, np.maximum(sign * z, 0.0), 0.0)
        total = float(mine.sum())
        if not 0 < total < np.inf:
            return None
        out += sign * mine / total
    return out


def hulls_meet(exact: Gram, y: Array, z: Array) -> bool:
    """Whether coefficients near z prove that the hulls meet: a point that is a mean of items of either class.

    The combination Σ zᵢφ(xᵢ) that is nearly zero is made zero by the smallest change relative to z, which keeps all
    signs. That takes the features themselves; the kernel matrix knows lengths only, to half as many digits.
    """
    known = exact.features()
    if known is None or known.shape[1] > _WIDEST:
        return False
    Phi = known.toarray() if sparse.issparse(known) else np.asarray(known, dtype=np.float64)
    Phi = Phi - Phi.mean(axis=0)
    Phi = Phi / np.maximum(np.abs(Phi).max(axis=0, initial=0.0), 1e-300)
    B = np.column_stack([Phi, np.ones(y.size), y])
    wanted = np.concatenate([np.zeros(Phi.shape[1] + 1), [2.0]])
    start = _on_hulls(z, y)
    if start is None:
        return False
    z = start
    for _ in range(_CORRECTIONS):
        missing = wanted - B.T @ z
        if (np.abs(missing) <= _ROUNDING * (np.abs(B).T @ np.abs(z))).all():
            return True
        step = z * np.linalg.lstsq((B * z[:, None]).T, missing, rcond=None)[0]
        z = np.where(y > 0, np.maximum(z + step, 0.0), np.minimum(z + step, 0.0))
    return False
