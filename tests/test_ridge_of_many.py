"""The squared loss on many items: conjugate gradients for all targets together, beside a factorisation."""

import numpy as np
import pytest

from mercer import KernelClassifier, KernelRegressor
from mercer.grams import Dense, Lazy
from mercer.kernels import Gaussian, Laplacian
from mercer.losses import Squared
from mercer.problems import Problem, Status, certify
from mercer.solvers import solve_ridge, solve_ridge_of_many


def stated(intercept, weighted, lazy, n=700, lam=1e-4):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 3))
    weight = np.where(rng.random(n) < 0.1, 0.0, rng.uniform(0.2, 3, n)) if weighted else None
    kernel = Laplacian(gamma=0.3)
    gram = Lazy(kernel, X, "3MB") if lazy else Dense(kernel(X))
    targets = np.sin(X[:, 0]), np.sign(X[:, 1]), np.full(n, 2.0)
    return [Problem(gram, y, Squared(), lam, weight, intercept) for y in targets]


@pytest.mark.parametrize("lazy", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("intercept", ["none", "free"])
def test_solutions_are_those_of_a_factorisation(intercept, weighted, lazy):
    problems = stated(intercept, weighted, lazy)
    for problem, found, exact in zip(problems, solve_ridge_of_many(problems), solve_ridge(problems), strict=True):
        assert found.status is Status.CONVERGED
        certificate = certify(problem, found)
        assert certificate.gap <= 1e-8 * certificate.objective + 1e-12
        np.testing.assert_allclose(found.scores + found.b, problem.gram.matvec(exact.z) + exact.b, atol=1e-3)
        np.testing.assert_allclose(found.scores, problem.gram.matvec(found.z), atol=1e-9)


def test_a_time_that_is_over_leaves_a_model_with_its_scores():
    problems = stated("free", False, False, lam=1e-9)
    for problem, found in zip(problems, solve_ridge_of_many(problems, seconds=0.0), strict=True):
        certificate = certify(problem, found, found.scores)
        assert np.isfinite(certificate.gap)
        np.testing.assert_allclose(found.scores, problem.gram.matvec(found.z), atol=1e-6)


@pytest.mark.parametrize("memory", ["1GB", "2MB"])
def test_machines_of_many_rows_have_certificates(memory, monkeypatch):
    monkeypatch.setattr("mercer.estimators.risk.LARGEST_SYSTEM", 300)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 4))
    y = np.digitize(X[:, 0] + X[:, 1] ** 2, [0.5, 2])
    for machine in (KernelRegressor("laplacian"), KernelClassifier("laplacian", "squared")):
        few = machine.set_params(memory=memory, lam=1e-3).fit(X, y)
        assert few.converged_
        assert np.max(few.duality_gap_) <= 1e-8 * np.max(few.objective_)
        exact = type(machine)(**{**machine.get_params(), "tol": 1e-12}).fit(X, y)
        decisions = "predict" if isinstance(machine, KernelRegressor) else "decision_function"
        np.testing.assert_allclose(getattr(few, decisions)(X), getattr(exact, decisions)(X), atol=1e-3)


def test_matrices_whose_rounding_is_larger_than_their_least_eigenvalues_are_solved():
    rng = np.random.default_rng(0)
    rows, noise = rng.normal(size=(1500, 2)), 1e-5 * rng.normal(size=(1500, 1500))
    K = Gaussian(gamma=0.01)(rows) + noise + noise.T
    assert np.linalg.eigvalsh(K)[0] < -1e-3
    (found,) = solve_ridge_of_many([Problem(Dense(K), rows[:, 0], Squared(), lam=1e-4, intercept="none")])
    assert found.status is Status.CONVERGED
    np.testing.assert_allclose(K @ found.z + 0.15 * found.z, rows[:, 0], atol=1e-5)
