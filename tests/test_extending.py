"""What a newcomer adds in a few lines of their own works with everything else: a loss, a solver."""

import pickle
from dataclasses import dataclass
from math import inf

import numpy as np
import pytest
from sklearn.base import clone

import mercer
from mercer import KernelClassifier, KernelSearchCV, Pegasos, losses
from mercer.grams import Dense, Features, Lazy
from mercer.kernels import Gaussian
from mercer.losses import Hinge, Logistic, MarginLoss, Scalar, SquaredHinge, as_loss
from mercer.problems import Iterate, Problem, Solution, Status, certify
from mercer.solvers import CannotSolve, Gradient, Newton, Solver, solve_certified

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 2))
signs = np.where(X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=60) > 0, 1.0, -1.0)
y = np.where(signs > 0, "yes", "no")
KERNEL = Gaussian(gamma=1.0)


def problem_of(loss, gram=None, lam=0.01):
    return Problem(Dense(KERNEL(X)) if gram is None else gram, signs, loss, lam)


# -- a loss of the margin -------------------------------------------------------------------------------------------


class HuberisedHinge(MarginLoss):
    """½·(1 − m)² for 0 < m < 1, and a straight line of slope −1 for what is worse."""

    name = "huberised_hinge"
    domain = (-1.0, 0.0)
    smooth = True

    @Scalar
    def value(m):
        return 0.0 if m >= 1.0 else 0.5 * (1.0 - m) * (1.0 - m) if m > 0.0 else 0.5 - m

    @Scalar
    def slope(m):
        return 0.0 if m >= 1.0 else m - 1.0 if m > 0.0 else -1.0

    @Scalar
    def curvature(m):
        return 1.0 if 0.0 < m < 1.0 else 0.0

    @Scalar
    def conjugate(s):
        return s + 0.5 * s * s if -1.0 <= s <= 0.0 else inf


@pytest.mark.parametrize("solver", [Newton(), Gradient(max_iter=20_000)], ids=["newton", "gradient"])
def test_a_new_loss_is_minimised_and_certified(solver):
    problem = problem_of(HuberisedHinge())
    found = solver.solve(problem)
    objective, gap, _ = certify(problem, found)
    assert found.status is Status.CONVERGED
    assert gap <= 1e-6 * objective
    # Nothing near the solution is better than what the certificate allows.
    for step in 1e-3 * rng.normal(size=(20, 60)):
        assert certify(problem, Iterate(found.z + step, found.b)).objective >= objective - gap


def test_a_new_loss_through_the_estimators():
    model = KernelClassifier(KERNEL, HuberisedHinge(), lam=0.01).fit(X, y)
    assert model.converged_
    assert model.duality_gap_[0] <= 1e-9 * model.objective_[0]
    by_gradient = clone(model).set_params(solver="gradient", max_iter=300).fit(X, y)
    np.testing.assert_allclose(by_gradient.decision_function(X), model.decision_function(X), atol=1e-3)
    assert Pegasos(KERNEL, loss=HuberisedHinge(), lam=0.01, random_state=0).fit(X, y).score(X, y) > 0.8
    search = KernelSearchCV(KernelClassifier(KERNEL, HuberisedHinge()), {"lam": [0.01, 0.1]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.7
    assert (pickle.loads(pickle.dumps(model)).predict(X) == model.predict(X)).all()


def test_a_file_gives_a_new_loss_back_where_it_is_defined(tmp_path):
    model = KernelClassifier(KERNEL, HuberisedHinge(), lam=0.01).fit(X, y)
    mercer.save(model, tmp_path / "model.safetensors")
    assert mercer.load(tmp_path / "model.safetensors").loss == HuberisedHinge()
    assert KernelClassifier(KERNEL, "huberised_hinge").fit(X, y).converged_


def test_names_of_the_library_keep_their_meaning(tmp_path):
    class Logistic(SquaredHinge):
        name = "logistic"

    assert as_loss("logistic") == losses.Logistic()
    model = KernelClassifier(KERNEL, Logistic(), lam=0.01).fit(X, y)
    with pytest.raises(ValueError, match=r"another loss than .* has the name 'logistic'; rename yours to save it"):
        mercer.save(model, tmp_path / "model.safetensors")
    assert list(tmp_path.iterdir()) == []


# -- a solver -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Nesterov(Solver):
    """Accelerated gradient descent on the coefficients, for smooth losses and no intercept."""

    max_iter: int = 1000

    def refusal(self, problem):
        if not problem.loss.smooth or problem.has_intercept:
            return f"it needs a smooth loss and no intercept, got {problem.loss}; use Gradient"
        return None

    def _solve(self, problem, start, rng):
        n = len(problem.gram)
        z = np.zeros(n) if start is None else start.z
        last, rate = z, 1 / (problem.lam + problem.gram.diag().sum() / n)
        for step in range(self.max_iter):
            ahead = z + step / (step + 3) * (z - last)
            slopes = problem.slopes(problem.gram.matvec(ahead))
            last, z = z, ahead - rate * (problem.lam * ahead + slopes)
        return Solution(z, n_iter=self.max_iter, status=Status.CONVERGED)


GRAMS = {
    "in memory": Dense(KERNEL(X)),
    "row by row": Lazy(KERNEL, X),
    "features": Features(np.linalg.cholesky(KERNEL(X) + 1e-12 * np.eye(60))),
}


@pytest.mark.parametrize("place", GRAMS)
@pytest.mark.parametrize("loss", [Logistic(), SquaredHinge(), HuberisedHinge()], ids=repr)
def test_a_new_solver_runs_wherever_the_matrix_lives(loss, place):
    """It finds what Newton's method finds, and the certificate says so."""
    problem = problem_of(loss, GRAMS[place], lam=0.1)
    found, known = Nesterov().solve(problem), Newton().solve(problem)
    certificate = certify(problem, found)
    assert certificate.gap <= 1e-6 * certificate.objective
    assert certificate.objective == pytest.approx(certify(problem, known).objective, rel=1e-6)


def test_a_new_solver_goes_on_from_where_another_stopped():
    problem = problem_of(Logistic(), lam=0.1)
    start = Gradient(max_iter=50).solve(problem)
    gaps = [certify(problem, s).gap for s in (start, Nesterov(50).solve(problem, start))]
    assert gaps[1] < gaps[0]


def test_what_a_solver_cannot_solve_it_refuses_in_a_sentence():
    with pytest.raises(CannotSolve, match=r"Nesterov cannot solve this problem: .* got Hinge\(\); use Gradient\.$"):
        Nesterov().solve(problem_of(Hinge()))


def test_a_new_solver_is_certified_as_all_others_are():
    found = solve_certified(problem_of(Logistic(), lam=0.1), Nesterov())
    assert found.certificate.gap <= 1e-6 * found.certificate.objective


def test_an_estimator_takes_a_solver():
    ours = KernelClassifier(KERNEL, lam=0.1, solver=Nesterov(), fit_intercept=False).fit(X, y)
    newton = KernelClassifier(KERNEL, lam=0.1, fit_intercept=False).fit(X, y)
    np.testing.assert_allclose(ours.decision_function(X), newton.decision_function(X), atol=1e-6)
    with pytest.raises(CannotSolve, match="Nesterov cannot solve"):
        KernelClassifier(KERNEL, lam=0.1, solver=Nesterov()).fit(X, y)
