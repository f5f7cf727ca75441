"""The start of a linear soft margin: allowed, and as near to the minimum as a few passes get."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import make_classification
from sklearn.svm import SVC as Reference

from mercer.grams import Features
from mercer.losses import Hinge
from mercer.problems import Problem
from mercer.solvers.svm import CoordinateDescent

X, codes = make_classification(300, 8, n_informative=5, flip_y=0.1, random_state=0)
y = 2.0 * codes - 1


def start(rows, labels, C, tol=1e-6, weight=None, seed=0):
    problem = Problem(Features(rows), labels, Hinge(), 1 / (C * len(labels)), weight, intercept="free")
    descent = CoordinateDescent(problem, np.random.default_rng(seed))
    descent.run(0.5 * tol, visits=200 * len(labels))
    return problem, descent.z


def cost(w, C):
    """½‖w‖² + C·Σ hinge with the best intercept, which is one that puts some item on its margin."""
    scores = X @ w
    margins = y * (scores + (y - scores)[:, None])
    return 0.5 * w @ w + C * np.maximum(0, 1 - margins).sum(axis=1).min()


@pytest.mark.thorough
@pytest.mark.parametrize(("C", "part"), [(0.001, 1e-6), (0.01, 1e-6), (1.0, 0.01), (30.0, 0.3)])
def test_it_is_allowed_and_nearly_as_good_as_libsvm(C, part):
    problem, z = start(X, y, C)
    low, high = problem.box_dual.low, problem.box_dual.high
    assert ((low <= z) & (z <= high)).all()
    assert abs(z.sum()) <= 1e-3 * np.abs(z).sum()
    least = cost(Reference(kernel="linear", C=C, tol=1e-7).fit(X, codes).coef_[0], C)
    assert least * (1 - 1e-6) <= cost(X.T @ z, C) <= least * (1 + part)


def test_dense_and_sparse_rows_walk_the_same_way():
    rows = np.where(np.abs(X) < 0.5, 0.0, X)
    np.testing.assert_allclose(start(rows, y, 1.0)[1], start(sparse.csr_array(rows), y, 1.0)[1], atol=1e-10)


@pytest.mark.parametrize("tol", [1e-4, 1e-6])
def test_where_passes_are_enough_the_conditions_hold(tol):
    """Free items have the same F = t − X·w, those at a bound lie on their side of it, whatever the order.

    Items that were left out of later passes are asked again at the end: some orders leave out too many.
    """
    for seed in range(12):
        problem, z = start(X, y, 0.003, tol, seed=seed)
        F, low, high = y - X @ (X.T @ z), problem.box_dual.low, problem.box_dual.high
        assert F[z < high].max() - F[z > low].min() <= tol
        assert abs(z.sum()) <= tol


def test_weights_are_repeated_rows():
    """n copies in boxes of C are worth one row in a box of n·C."""
    weight = np.random.default_rng(0).integers(1, 4, len(y))
    copies = X.repeat(weight, axis=0)
    _, weighted = start(X, y, 0.01 * weight.mean(), weight=weight.astype(float))
    _, repeated = start(copies, y.repeat(weight), 0.01)
    np.testing.assert_allclose(X.T @ weighted, copies.T @ repeated, atol=1e-4)


def test_items_of_weight_zero_and_rows_of_zeros():
    rows = np.vstack([X[:40], np.zeros((4, 8))])
    labels = np.append(y[:40], [1, -1, 1, -1])
    weight = np.append(np.ones(39), [0, 1, 1, 1, 1])
    _, z = start(rows, labels, 1.0, weight=weight)
    assert np.isfinite(z).all()
    assert z[39] == 0


def test_the_seed_decides_the_order_and_nothing_else():
    one, same, other = (start(X, y, 0.001, 1e-8, seed=seed)[1] for seed in (0, 0, 1))
    assert (one == same).all()
    assert (one != other).any()
    np.testing.assert_allclose(X.T @ one, X.T @ other, atol=1e-7)
