"""Fits of a few rows: all machines on one matrix, with the certificates that anybody would compute."""

import numpy as np
import pytest

from mercer import SVC
from mercer.grams import Dense
from mercer.kernels import Gaussian
from mercer.losses import Hinge
from mercer.problems import Intercept, Problem, certify
from mercer.solvers.svm import SmallBlock, certified_blocks


def rows(n=120, classes=3, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(classes, size=n)
    return rng.normal(size=(n, 3)) + y[:, None], y


@pytest.mark.parametrize("C", [0.01, 1.0, 300.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_certificates_are_those_of_the_problem(C, weighted):
    X, y = rows()
    K = Gaussian(gamma=0.5)(X)
    weight = np.random.default_rng(1).uniform(0.2, 3.0, y.size) if weighted else np.ones(y.size)
    blocks, problems = [], []
    for first, second in ((0, 1), (0, 2), (1, 2)):
        places = np.flatnonzero((y == first) | (y == second))
        signs, own = np.where(y[places] == second, 1.0, -1.0), weight[places]
        gram = Dense(K[np.ix_(places, places)])
        problems.append(Problem(gram, signs, Hinge(), 1 / (C * own.sum()), own, Intercept.FREE))
        dual = problems[-1].box_dual
        blocks.append(SmallBlock(places, signs, dual.high - dual.low, np.zeros(places.size)))
    for problem, (found, certificate) in zip(problems, certified_blocks(K, blocks, 1e-3, 1e-4), strict=True):
        wanted = certify(problem, found)
        assert str(found.status) == "converged"
        assert certificate.objective == pytest.approx(wanted.objective, rel=1e-12)
        assert certificate.gap == pytest.approx(wanted.gap, abs=1e-12)
        assert certificate.violation == pytest.approx(wanted.violation, abs=1e-12)
        assert certificate.violation <= 1e-3
        assert certificate.gap <= 1e-4 * certificate.objective
        assert abs(found.z.sum()) <= 1e-12 * np.abs(found.z).sum()


def test_a_machine_that_is_not_solved_says_so():
    X, y = rows(classes=2)
    K = Gaussian(gamma=0.5)(X)
    K[3, 7] = K[7, 3] = np.nan
    block = SmallBlock(np.arange(y.size), 2.0 * y - 1, np.ones(y.size), np.zeros(y.size))
    ((found, _),) = certified_blocks(K, [block], 1e-3, 1e-4)
    assert str(found.status) != "converged"


@pytest.mark.parametrize("classes", [2, 3])
def test_the_number_of_rows_changes_no_model(classes):
    """A machine of more rows goes another way; rows of no weight are no part of any."""
    X, y = rows(classes=classes)
    more, others = rows(1200, classes, seed=1)
    weight = np.concatenate([np.ones(y.size), np.zeros(others.size)])
    few = SVC("gaussian(gamma=0.5)", tol=1e-6).fit(X, y)
    many = SVC("gaussian(gamma=0.5)", tol=1e-6).fit(np.vstack([X, more]), np.concatenate([y, others]), weight)
    np.testing.assert_allclose(few.pair_scores(more), many.pair_scores(more), atol=1e-5)
    np.testing.assert_allclose(few.objective_, many.objective_, rtol=1e-6)
    np.testing.assert_array_equal(few.support_, many.support_)


@pytest.mark.parametrize("C", [0.1, 30.0])
def test_bounds_of_weighted_rows_are_those_of_the_problem(C):
    X, y = rows(classes=2)
    weight = np.random.default_rng(1).uniform(0.2, 3.0, y.size)
    model = SVC("gaussian(gamma=0.5)", C=C).fit(X, y, weight)
    gram = Dense(model.kernel_(X))
    problem = Problem(gram, 2.0 * y - 1, Hinge(), 1 / (C * weight.sum()), weight, Intercept.FREE)
    z = np.zeros(y.size)
    z[model.support_] = model.dual_coef_[0]
    assert problem.box_dual.violation(z, gram.matvec(z)) <= 1e-3
