"""Which coefficients are at a bound is guessed: what comes of it is what other solvers find."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn import svm
from sklearn.datasets import load_breast_cancer, make_moons
from sklearn.preprocessing import StandardScaler

import mercer
from mercer.grams import Dense
from mercer.losses import EpsilonInsensitive, Hinge
from mercer.problems import NuProblem, Problem, certify
from mercer.runtime import cholesky_solver
from mercer.solvers import SoftMargin, solve_certified
from mercer.solvers.svm import active_sets, levels_of


class Factorising(Dense):
    """A matrix in memory that says that it is factorised in no time."""

    factorises = True
    most = 10**6

    def inverse(self, index, ridge):
        if index.size > self.most:
            return None
        return cholesky_solver(np.asarray(self.K, dtype=np.float64)[np.ix_(index, index)], ridge)

    def in_memory(self):
        return None

    def take(self, index):
        return Factorising(np.asarray(self.K)[np.ix_(index, index)])


cancer = load_breast_cancer()
TABLES = {
    "moons": (*make_moons(300, noise=0.3, random_state=0), 2.0),
    "cancer": (StandardScaler().fit_transform(cancer.data), cancer.target, 0.03),
}


def problem_of(name, C, intercept="free", weights=None):
    X, y, gamma = TABLES[name]
    K = mercer.kernels.Gaussian(gamma=gamma)(X)
    signs = np.where(y == 1, 1.0, -1.0)
    return Problem(Factorising(K), signs, Hinge(), 1 / (C * len(X)), weights, intercept), X, y, gamma


@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
@pytest.mark.parametrize("name", TABLES)
def test_the_solution_is_that_of_libsvm(name, C):
    problem, X, y, gamma = problem_of(name, C)
    found = solve_certified(problem, SoftMargin(tol=1e-6))
    assert found.certificate.gap <= 1e-7 * found.certificate.objective
    peer = svm.SVC(C=C, gamma=gamma, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(found.solution.scores + found.solution.b, peer.decision_function(X), atol=1e-3)


def test_from_a_rough_solution_a_few_guesses_are_enough():
    problem, *_ = problem_of("moons", 1.0)
    dual = problem.box_dual
    rough = SoftMargin(tol=0.3).solve(problem)
    F = dual.targets - problem.gram.matvec(rough.z)
    assert levels_of(F, rough.z, dual.low, dual.high, dual.groups)[1] > 0.01
    z, F = active_sets(problem.gram, dual, rough.z, F, 1e-4)
    assert levels_of(F, z, dual.low, dual.high, dual.groups)[1] <= 1e-4
    assert abs(z.sum()) < 1e-9
    assert (z >= dual.low).all()
    assert (z <= dual.high).all()


def test_weights_of_zero_and_tubes_and_shares():
    rng = np.random.default_rng(0)
    problem, *_ = problem_of("moons", 1.0, weights=rng.integers(0, 3, 300).astype(float))
    plain = Problem(Dense(problem.gram.K), problem.y, Hinge(), problem.lam, problem.weights, "free")
    X, y, _ = TABLES["moons"]
    K = mercer.kernels.Gaussian(gamma=1.0)(X)
    target = np.sin(3 * X[:, 0]) + 0.1 * rng.normal(size=300)
    tubes = [Problem(kind(K), target, EpsilonInsensitive(0.1), 1e-3, None, "free") for kind in (Factorising, Dense)]
    signs = np.where(y == 1, 1.0, -1.0)
    shares = [NuProblem(kind(K), signs, Hinge(), 1 / 300, None, "free", nu=0.3) for kind in (Factorising, Dense)]
    for ours, other in ((problem, plain), tubes, shares):
        found, wanted = (solve_certified(each, SoftMargin(tol=1e-6)).certificate for each in (ours, other))
        assert found.objective == pytest.approx(wanted.objective, rel=1e-6)
        assert found.gap <= 1e-5 * abs(found.objective)


def test_too_many_in_between_are_left_to_the_solver(monkeypatch):
    monkeypatch.setattr(Factorising, "most", 3)
    problem, *_ = problem_of("moons", 1.0)
    found = solve_certified(problem, SoftMargin(tol=1e-4))
    assert str(found.solution.status) == "converged"
    assert certify(problem, found.solution).violation <= 1e-4
