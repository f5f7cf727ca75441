"""Every solver on every Gram for every problem: the least objective, a true certificate, or a refusal in a sentence."""

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pytest
from sklearn.base import clone, is_regressor
from sklearn.model_selection import GridSearchCV, KFold

from mercer import KernelSearchCV, losses, solvers
from mercer.grams import Dense, Features
from mercer.kernels import Polynomial
from mercer.problems import Iterate, Problem, Status, certify

from .cases import ESTIMATORS, LOSSES, REGRESSORS, RESIDUAL_LOSSES, SOLVERS, make_grams
from .naive_problems import least_objective, objective

rng = np.random.default_rng(5)
X = rng.normal(size=(24, 2))
KERNEL = Polynomial(degree=2, gamma=0.5)
K = (0.5 * X @ X.T + 1) ** 2
LABELS = np.where(X[:, 0] ** 2 + 0.5 * X[:, 1] > 0.6, 1.0, -1.0)
NUMBERS = np.sin(2 * X[:, 0]) + 0.2 * rng.normal(size=24)
CLASSES = np.eye(3)[np.digitize(X[:, 1], [-0.5, 0.5])]
WEIGHT = rng.uniform(0.5, 2.0, 24)


@dataclass(frozen=True)
class Case:
    loss: str
    intercept: str
    lam: float
    y: np.ndarray
    weight: np.ndarray
    made: losses.Loss

    def __str__(self):
        return f"{self.loss}-{self.intercept}"

    def problem(self, gram):
        return Problem(gram, self.y, self.made, self.lam, self.weight, self.intercept)


def cases():
    for loss in [*LOSSES, *RESIDUAL_LOSSES, losses.Softmax()]:
        y = CLASSES if loss.several_scores else NUMBERS if isinstance(loss, losses.ResidualLoss) else LABELS
        lam = 0.0 if loss == losses.PerceptronLoss() else 0.05
        for intercept in ("none", "penalised", "free"):
            yield Case(type(loss).__name__, intercept, lam, y, WEIGHT, loss)


CASES = list(cases())
GRAMS = make_grams(KERNEL, X)
#: How far above the least objective a solver may end, relative to it; others a fifth.
TOLERANCE = {
    solvers.SoftMargin: 1e-3,
    solvers.Newton: 1e-8,
    solvers.InteriorPoint: 1e-8,
    solvers.Gradient: 0.15,
    solvers.PegasosSteps: 0.2,
}


def tolerance_of(solver):
    return TOLERANCE.get(type(solver), 0.2)


@cache
def least(case):
    return 0.0 if case.lam == 0 else least_objective(case, K)


Case.__hash__ = lambda self: hash(str(self))
Case.__eq__ = lambda self, other: str(self) == str(other)


def quick(solver):
    return replace(solver, rate=0.1, max_iter=800) if isinstance(solver, solvers.Gradient) else solver


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: type(solver).__name__)
@pytest.mark.parametrize("case", CASES, ids=str)
def test_it_is_solved_or_refused(solver, case):
    if solver.refusal(case.problem(GRAMS[0])) is not None:
        with pytest.raises(
            solvers.CannotSolve, match=rf"^{type(solver).__name__} cannot solve this problem: .*[;].*\.$"
        ):
            solver.solve(case.problem(GRAMS[0]))
        return
    slow = isinstance(solver, solvers.Gradient)
    for gram in GRAMS[:: 3 if slow else 1]:
        problem = case.problem(gram)
        found = quick(solver).solve(problem)
        value = objective(case, K, found.z, found.b)
        if isinstance(solver, solvers.MistakeDriven):  # the labels are separable: no mistake is left
            assert found.status is Status.CONVERGED
            assert value == 0.0
            continue
        assert value >= least(case) - 1e-6
        assert value <= least(case) * (1 + tolerance_of(solver)) + 1e-6
        certificate = certify(problem, found)
        assert certificate.objective == pytest.approx(value, rel=1e-9)
        assert certificate.gap >= certificate.objective - least(case) - 1e-6
        if tolerance_of(solver) <= 1e-3:
            assert certificate.gap <= 2 * tolerance_of(solver) * value


@pytest.mark.parametrize("case", [case for case in CASES if case.lam > 0], ids=str)
def test_no_certificate_claims_too_much(case):
    """A gap is an upper bound for every model, however bad; a violation is zero only for solutions."""
    for size in (0.0, 0.1, 3.0):
        model = Iterate(size * rng.normal(size=case.y.shape), size * rng.normal(size=case.y.shape[1:])[()])
        certificate = certify(case.problem(Dense(K)), model)
        value = objective(case, K, model.z, model.b)
        assert certificate.objective == pytest.approx(value, rel=1e-9)
        if case.intercept != "none":
            assert certificate.gap >= value - least(case) - 1e-6


@pytest.mark.parametrize("case", CASES, ids=str)
def test_every_problem_has_a_solver(case):
    assert any(solver.refusal(case.problem(GRAMS[0])) is None for solver in SOLVERS)


@pytest.mark.parametrize("solver", SOLVERS, ids=lambda solver: type(solver).__name__)
def test_a_start_at_the_solution_changes_nothing(solver):
    for case in CASES[:: 3 if isinstance(solver, solvers.Gradient) else 1]:  # the slowest of all
        problem = case.problem(GRAMS[0])
        if solver.refusal(problem) is None and not isinstance(solver, solvers.PegasosSteps):
            found = quick(solver).solve(problem)
            again = quick(solver).solve(problem, found)
            before, after = (objective(case, K, each.z, each.b) for each in (found, again))
            assert after <= before + 1e-3 * abs(before) + 1e-12


@pytest.mark.parametrize("estimator", [each for each in ESTIMATORS + REGRESSORS if each.path], ids=str)
def test_a_cell_of_a_search_is_a_fit(estimator, monkeypatch):
    """The same answer through fit and through a search, in which nothing is fitted by itself."""
    rows, folds = rng.normal(size=(90, 3)), KFold(3)
    regression = is_regressor(estimator)
    y = np.sin(rows[:, 0]) if regression else (rows[:, 0] * rows[:, 1] > 0).astype(int) + (rows[:, 2] > 1)
    seeded = {"random_state": 0} if "random_state" in estimator.get_params() else {}
    estimator = clone(estimator).set_params(**seeded)
    value = getattr(estimator, estimator.path)
    grid = {estimator.path: [value, value // 2 if isinstance(value, int) else value / 2]}
    scoring = "neg_mean_squared_error" if regression else "accuracy"
    plain = GridSearchCV(estimator, grid, cv=folds, scoring=scoring, refit=False).fit(rows, y)
    monkeypatch.setattr(type(estimator), "fit", lambda *args, **options: pytest.fail("a fit of its own"))
    shared = KernelSearchCV(estimator, grid, cv=folds, scoring=scoring, refit=False).fit(rows, y)
    for k in range(3):
        name = f"split{k}_test_score"
        np.testing.assert_allclose(shared.cv_results_[name], plain.cv_results_[name], atol=1e-6)


def test_the_hard_margin_is_a_problem_like_others():
    """λ = 0: the three points of the course, w = (2, 2) and b = −3, certified by ½‖w‖² = 4 without a gap."""
    toy = np.array([[1.0, 1], [2, 2], [2, 0], [0, 0], [1, 0], [0, 1]])
    problem = Problem(Features(toy), np.array([1.0, 1, 1, -1, -1, -1]), losses.Hinge(), intercept="free")
    found = solvers.solve_certified(problem, solvers.SoftMargin(tol=1e-8))
    assert found.certificate.objective == pytest.approx(4.0)
    assert found.certificate.gap <= 1e-9
    assert found.certificate.violation <= 1e-8
    for solver in SOLVERS:
        if not isinstance(solver, solvers.SoftMargin):
            with pytest.raises(solvers.CannotSolve):
                solver.solve(problem)


def test_targets_that_do_not_go_with_the_items():
    with pytest.raises(ValueError, match="a target for each item; got 3 for 24 items"):
        Problem(Dense(K), LABELS[:3], losses.Hinge(), 0.1)
    with pytest.raises(ValueError, match=r"Softmax\(\) does not go with targets of shape \(24,\)"):
        Problem(Dense(K), LABELS, losses.Softmax(), 0.1)
    with pytest.raises(ValueError, match="'both' is not a valid Intercept"):
        Problem(Dense(K), LABELS, losses.Hinge(), 0.1, intercept="both")


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"lam": float("nan")}, "λ must be a number of at least 0"),
        ({"lam": -1.0}, "λ must be a number of at least 0"),
        ({"weight": np.full(24, -1.0)}, "weights must be numbers of at least 0"),
        ({"weight": np.zeros(24)}, "not all of them 0"),
        ({"y": (LABELS + 1) / 2}, "must be labels −1 and 1"),
        ({"y": np.full(24, np.nan), "loss": losses.Squared()}, "must be finite numbers"),
    ],
)
def test_a_problem_that_is_none_is_not_stated(changes, sentence):
    stated = {"y": LABELS, "loss": losses.Hinge(), "lam": 0.1} | changes
    with pytest.raises(ValueError, match=sentence):
        Problem(Dense(K), **stated)
