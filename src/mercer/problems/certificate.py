"""How good a model is, computed from the model alone.

For every choice of slopes uᵢ that the losses can have, and that sum to zero (Σ sᵢuᵢ = 0) where the intercept is free,
the model with zᵢ = −sᵢuᵢ/(λn) gives a lower bound on the objective of all models,

    D(u) = −(1/n) Σ sᵢ·gᵢ*(uᵢ) − λ/2·zᵀKz  ≤  P(w).

The slopes of a smooth loss at the model's own scores are such a choice; for a loss with a kink, the coefficients of the
model itself, moved to the nearest that are allowed. P − D then bounds how much can still be gained.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ..runtime.compile import Array
from .problem import Certificate, Intercept, Iterate, NuProblem, Problem

__all__ = ["CLOSE", "certify", "certify_nothing"]

#: A gap of less than this part of the objective need not be looked at twice.
CLOSE = 1e-9
_EPSILON = 2.3e-16


def certify(problem: Problem, model: Iterate, scores: Array | None = None, close: float = CLOSE) -> Certificate:
    """The objective of a model and its duality gap, in float64.

    Parameters
    ----------
    problem : Problem
        Its Gram is the truth. Where that one knows products that are more exact than its own, as on a graphics card,
        these are taken (:meth:`mercer.grams.Gram.exact`); a matrix in float32 is taken at its word.
    model : Iterate
        Its z and b count, or w and b where w is known.
    scores : array, optional
        The scores of all items, where somebody knows them as exactly as they matter: the intercept left out.
    close : float, default=1e-9
        A gap of at most this part of the objective is good enough: no better one is looked for, which costs products.

    Returns
    -------
    Certificate

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams import Features
    >>> from mercer.losses import Hinge
    >>> from mercer.problems import Iterate, Problem, certify
    >>> problem = Problem(Features(np.array([[2.0], [-2.0]])), np.array([1.0, -1.0]), Hinge(), lam=1.0)
    >>> certify(problem, Iterate(np.array([0.125, -0.125])))
    Certificate(objective=0.125, gap=0.0, violation=0.0)
    """
    exact = problem.gram.exact()
    problem = problem if exact is problem.gram else problem.on(exact)
    dual = problem.box_dual
    if problem.lam <= 0 and dual is None:
        raise ValueError(f"a duality gap of {problem.loss} needs λ > 0; got λ={problem.lam}.")
    z, w, b = model.z, model.w, model.b
    if scores is None:
        scores, square = problem.gram.scores_and_square(z, w)
    else:
        square = float(np.vdot(z, scores) if w is None else np.vdot(w, w))
    if isinstance(problem, NuProblem):
        primal, bound = _with_width(problem, model, scores, square)
    elif problem.lam > 0:
        primal = problem.objective(square, scores + b, b)
        bound = _lower_bound(problem, model, scores, primal - close * abs(primal))
    else:  # a hard margin: nobody pays, and the certificate is one for machines that violate nothing
        primal, bound = 0.5 * square, float(problem.y @ z) - 0.5 * _square(problem, z, model, scores)
    if not (np.isfinite(primal) and np.isfinite(bound)):
        raise ValueError(
            "the model or its scores are too large for numbers to hold; scale the columns first, for example with "
            "sklearn.preprocessing.StandardScaler, or use a normalised kernel, a larger lam or a smaller C."
        )
    violation = None
    if dual is not None and dual.straight:
        violation = dual.violation(z, scores if dual.totals.size else scores + b)
    return Certificate(primal, max(primal - bound, _rounding(problem, model, scores)), violation)


def certify_nothing(problem: Problem) -> Certificate:
    """What is known of a model of zeros without a look at the items: no loss is below zero, and so no objective.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams import Features
    >>> from mercer.losses import Logistic
    >>> from mercer.problems import Problem, certify_nothing
    >>> problem = Problem(Features(np.array([[2.0], [-2.0]])), np.array([1.0, -1.0]), Logistic(), lam=1.0)
    >>> round(certify_nothing(problem).gap, 6)
    0.693147
    """
    objective = problem.objective(0.0, np.zeros(problem.y.shape))
    return Certificate(objective, objective)


def _with_width(problem: NuProblem, model: Iterate, scores: Array, square: float) -> tuple[float, float]:
    """The objective of a model whose width counts, and the value of the dual at coefficients that it allows."""
    dual = problem.box_dual
    primal = 0.5 * square + dual.paid(dual.targets - dual.spread(scores), problem.levels(model.b, model.width))
    variables = dual.balanced(dual.split(model.z))
    z = dual.merged(variables)
    allowed = model.z if (np.abs(z - model.z) <= _EPSILON * np.abs(model.z)).all() else z
    bound = float(dual.targets @ variables) - 0.5 * _square(problem, allowed, model, scores)
    return problem.lam * primal, problem.lam * bound


def _lower_bound(problem: Problem, model: Iterate, scores: Array, enough: float) -> float:
    """The largest D(u) of those that the model leads to, or the first that is enough; those without a product first."""
    if not problem.loss.smooth:
        return _dual(problem, model, scores, True, _square)
    slopes, coefficients, near = (False, _square), (True, _square), (True, _square_beside)
    # The coefficients of a model that is known by its weights are its slopes.
    apart = model.w is None and not problem.loss.several_scores
    bound = -np.inf
    for own, square in (near, slopes, coefficients) if apart else (slopes,):
        bound = float(np.fmax(bound, _dual(problem, model, scores, own, square)))
        if bound >= enough:
            break
    return bound


def _dual(problem: Problem, model: Iterate, scores: Array, own: bool, square: Callable[..., float]) -> float:
    """D(u) for the slopes at the model's scores, or for its own coefficients; ``square`` finds zᵀKz."""
    z, conjugate = problem.dual_point(model, scores + model.b, own)
    size = square(problem, z, model, scores)
    if problem.intercept is Intercept.PENALISED:
        size += float(np.vdot(z.sum(axis=0), z.sum(axis=0)))
    return -conjugate - problem.lam / 2 * size


def _square(problem: Problem, z: Array, model: Iterate, scores: Array) -> float:
    """zᵀKz, by the scores of the model where z are its coefficients."""
    known = z is model.z and model.w is None
    return float(np.vdot(z, scores)) if known else problem.gram.square(z)


def _square_beside(problem: Problem, z: Array, model: Iterate, scores: Array) -> float:
    """At least zᵀKz for coefficients near those of the model, without a product.

    With m = z − z₀ it is z₀ᵀKz₀ + 2mᵀKz₀ + mᵀKm, and mᵀKm = ‖Σ mᵢφᵢ‖² ≤ (Σ |mᵢ|·‖φᵢ‖)².
    """
    moved = z - model.z
    return float(np.vdot(model.z + 2 * moved, scores) + (problem.gram.lengths() @ np.abs(moved)) ** 2)


def _rounding(problem: Problem, model: Iterate, scores: Array) -> float:
    """What rounding may do to an objective.

    A score is a sum of terms zⱼ·k(xⱼ, x), each as large as √(k(x, x)·k(xⱼ, xⱼ)), or ⟨w, φ(x)⟩, as large as ‖w‖·‖φ(x)‖.
    """
    if problem.lam == 0:
        return 0.0
    lengths = problem.gram.lengths()
    slopes = np.abs(problem.slopes(scores + model.b)).reshape(lengths.size, -1)
    if model.w is None:
        sizes = lengths @ np.abs(model.z).reshape(lengths.size, -1)
    else:
        sizes = np.linalg.norm(model.w.reshape(model.w.shape[0], -1), axis=0)
    return float(max(_EPSILON, problem.gram.error) * np.sum((lengths @ slopes) * sizes))
