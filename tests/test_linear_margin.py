"""Linear soft margins and tubes by passes over the rows: the exact solution, its certificate, and when to stop."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC as ReferenceSVC
from sklearn.svm import SVR as ReferenceSVR

from mercer import SVC, KernelRegressor, KernelSearchCV
from mercer.grams import Features
from mercer.losses import EpsilonInsensitive, Hinge
from mercer.problems import Iterate, Problem, Status, certify
from mercer.solvers import SoftMargin, solve_certified
from mercer.solvers.svm import CoordinateDescent, linear_margin, passes_pay

RNG = np.random.default_rng(0)


def text(n, columns=400, words=12, seed=0):
    """Rows of a few words out of many, some words far more often than others, and labels of a noisy linear rule."""
    rng = np.random.default_rng(seed)
    chance = 1 / np.arange(1, columns + 1)
    drawn = rng.choice(columns, size=(n, words), p=chance / chance.sum())
    X = sparse.csr_array((np.ones(n * words), drawn.ravel(), np.arange(0, n * words + 1, words)), shape=(n, columns))
    X.sum_duplicates()
    scores = X @ rng.normal(size=columns)
    return X / np.sqrt(words), np.where(scores + rng.normal(size=n) > 0.5, 1.0, -1.0)


X, y = text(600)


def soft_margin(rows, labels, C, weight=None):
    total = len(labels) if weight is None else weight.sum()
    return Problem(Features(rows), labels, Hinge(), 1 / (C * total), weight, intercept="free")


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_the_machine_of_libsvm(C, weighted):
    weight = RNG.integers(0, 4, len(y)).astype(float) if weighted else None
    problem = soft_margin(X, y, C, weight)
    assert passes_pay(problem)
    solution, certificate = linear_margin(problem, SoftMargin(tol=1e-6), by_weights=True)
    reference = ReferenceSVC(kernel="linear", C=C, tol=1e-7).fit(X.toarray(), y, weight)
    np.testing.assert_allclose(solution.w, reference.coef_[0], atol=1e-4 * np.abs(solution.w).max())
    assert solution.status is Status.CONVERGED
    assert certificate.violation <= 1e-6
    assert certificate.gap <= 1e-4 * certificate.objective


@pytest.mark.parametrize("epsilon", [0.1, 1.0])
@pytest.mark.parametrize("form", [sparse.csr_array, lambda rows: rows.toarray()], ids=["sparse", "dense"])
def test_a_tube_is_that_of_libsvm(form, epsilon):
    rows, _ = text(1200, columns=60)
    targets = rows @ RNG.normal(size=60) + RNG.normal(size=1200) + 5
    C = 0.05
    problem = Problem(Features(form(rows)), targets, EpsilonInsensitive(epsilon), 1 / (C * 1200), intercept="free")
    assert passes_pay(problem)
    solution, certificate = linear_margin(problem, SoftMargin(tol=1e-6), by_weights=True)
    reference = ReferenceSVR(kernel="linear", C=C, epsilon=epsilon, tol=1e-7).fit(rows.toarray(), targets)
    np.testing.assert_allclose(solution.w, reference.coef_[0], atol=1e-3)
    assert solution.b == pytest.approx(reference.intercept_[0], abs=1e-3)
    assert certificate.gap <= 1e-4 * certificate.objective


def test_passes_alone_solve_what_is_easy():
    """No kernel value is computed: the Gram has none."""

    class NoKernel(Features):
        def rows(self, index):
            raise AssertionError("a kernel row was asked for")

        block = rows

    problem = Problem(NoKernel(X), y, Hinge(), 1 / len(y), intercept="free")
    found = solve_certified(problem, SoftMargin(), by_weights=True)
    assert found.solution.status is Status.CONVERGED
    assert found.certificate.violation <= 1e-3


def test_what_passes_leave_over_the_exact_solver_finishes(monkeypatch):
    monkeypatch.setattr("mercer.solvers.svm.linear._AT_ONCE", 1)
    monkeypatch.setattr("mercer.solvers.svm.linear._LEAST", 1)
    problem = soft_margin(X, y, 100.0)
    solution, certificate = linear_margin(problem, SoftMargin(), by_weights=True)
    assert solution.status is Status.CONVERGED
    assert certificate.violation <= 1e-3


def test_identical_rows_with_opposite_labels():
    """Pairs of them leave w alone, so that only a step of both at once gets anywhere."""
    rows, labels = sparse.vstack([X, X[:200]]).tocsr(), np.append(y, -y[:200])
    solution, certificate = linear_margin(soft_margin(rows, labels, 1.0), SoftMargin(tol=1e-5))
    assert solution.status is Status.CONVERGED
    assert certificate.gap <= 1e-4 * certificate.objective


def test_it_goes_on_from_a_start():
    first, _ = linear_margin(soft_margin(X, y, 1.0), SoftMargin())
    again, _ = linear_margin(soft_margin(X, y, 1.0), SoftMargin(), first)
    assert again.n_iter < first.n_iter
    fresh = CoordinateDescent(soft_margin(X, y, 1.0), np.random.default_rng(0), Iterate(1e9 * first.z))
    assert np.abs(fresh.z).max() <= 1.0
    assert abs(fresh.z.sum()) < 1e-9


def test_limits_are_told():
    with pytest.warns(ConvergenceWarning, match="stopped before tol"):
        model = SVC(None, C=1e4, max_iter=1).fit(X, y)
    assert model.status_ == "not converged"
    with pytest.warns(ConvergenceWarning):
        SVC(None, C=1e4, tol=1e-12, time_limit=1e-6).fit(X, y)


def test_every_machine_has_its_certificate():
    codes = np.digitize(X @ RNG.normal(size=400), [-0.3, 0.3])
    for strategy in ("ovo", "ovr"):
        model = SVC(None, strategy=strategy).fit(X, codes)
        assert model.kkt_violation_.max() <= 1e-3
        assert (model.duality_gap_ <= 1e-3 * model.objective_).all()
        again = SVC(None, strategy=strategy).fit(X, codes)
        assert (model.coef_ == again.coef_).all()


def test_the_published_objective_is_that_of_the_definition():
    model = SVC(None, C=3.0).fit(X, y)
    w, b = model.coef_[0], model.intercept_[0]
    cost = 0.5 * w @ w + 3.0 * np.maximum(0, 1 - y * (X @ w + b)).sum()
    assert model.objective_[0] == pytest.approx(cost / (3.0 * len(y)), rel=1e-9)


def test_a_search_along_C_is_what_plain_fits_are():
    grid = {"C": [0.1, 1.0, 10.0]}
    search = KernelSearchCV(SVC(None, tol=1e-5), grid, cv=3).fit(X, y)
    for place, C in enumerate(grid["C"]):
        folds = [search.cv_results_[f"split{k}_test_score"][place] for k in range(3)]
        from sklearn.model_selection import cross_val_score

        np.testing.assert_allclose(folds, cross_val_score(SVC(None, tol=1e-5, C=C), X, y, cv=3), atol=0.006)


def test_regressors_take_the_same_road():
    rows, _ = text(1200, columns=60)
    targets = rows @ RNG.normal(size=60) + 0.1 * RNG.normal(size=1200)
    model = KernelRegressor(None, EpsilonInsensitive(0.1), lam=1e-2).fit(rows, targets)
    assert model.converged_
    assert model.duality_gap_ <= 1e-3 * model.objective_


def test_odd_rows():
    """Rows of zeros, one row of a class, columns that nobody has."""
    rows = sparse.vstack([X[:150], sparse.csr_array((50, 400))]).tocsr()
    labels = np.append(-np.ones(199), 1.0)
    problem = soft_margin(rows, labels, 1.0)
    solution, certificate = linear_margin(problem, SoftMargin())
    assert certificate.violation <= 1e-3
    assert certify(problem, solution).gap <= 1e-3
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        SVC(None).fit(sparse.hstack([rows, sparse.csr_array((200, 10**6))]).tocsr(), labels)
