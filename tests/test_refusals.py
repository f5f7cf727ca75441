"""Damaged rows, impossible parameters, kernels that are none, rows without a difference: one sentence each."""

import subprocess
import sys
import warnings
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from mercer import SVC, KernelClassifier, KernelRegressor, KernelSearchCV, Pegasos, Perceptron
from mercer.kernels import Gaussian, Linear, Matern, Mismatch, Polynomial, Spectrum, WeisfeilerLehman
from mercer.losses import EpsilonInsensitive, Huber

from .bad_inputs import DAMAGES
from .bad_inputs import damaged as damaged_rows

rng = np.random.default_rng(0)
X = rng.standard_normal((40, 3))
y = np.arange(40) % 2
CLASSIFIERS = (SVC, KernelClassifier, Pegasos, Perceptron)
ALL = (*CLASSIFIERS, KernelRegressor)
every = pytest.mark.parametrize("learner", ALL)


def damaged(how):
    return damaged_rows(how, X)


# -- damaged sparse rows --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("how", DAMAGES)
@every
def test_damaged_sparse_rows_are_refused(learner, how):
    with pytest.raises(ValueError, match=r"sparse X is damaged: .*; build the matrix again"):
        learner(None).fit(damaged(how), y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted = learner(None).fit(sparse.csr_array(X), y)
    for rows in (damaged(how),):
        with pytest.raises(ValueError, match="damaged"):
            fitted.predict(rows)


@pytest.mark.parametrize("how", DAMAGES)
def test_kernels_and_searches_refuse_damaged_rows(how):
    for kernel in (Gaussian(), Linear()):
        with pytest.raises(ValueError, match="damaged"):
            kernel(damaged(how))
        with pytest.raises(ValueError, match="damaged"):
            kernel(X, damaged(how))
        with pytest.raises(ValueError, match="damaged"):
            kernel.diag(kernel.items(damaged(how)))
    for search in (KernelSearchCV(SVC(), {"C": [1, 2]}), KernelSearchCV(KernelRegressor(), {"lam": [1, 2]})):
        with pytest.raises(ValueError, match="damaged"):
            search.fit(damaged(how), y)


def test_whole_sparse_rows_are_not_touched():
    for make in (
        sparse.csr_array,
        sparse.csc_array,
        sparse.coo_array,
        sparse.bsr_array,
        sparse.lil_array,
        sparse.dok_array,
    ):
        rows = make(np.round(X))
        before = rows.toarray()
        Perceptron(random_state=0).fit(rows, (before[:, 0] > 0) * 1)
        assert (rows.toarray() == before).all()


# -- targets of a regression ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("bad", "hint"),
    [
        (None, "missing target in row 3"),
        (float("nan"), "row 3"),
        (pd.NA, "missing target in row 3"),
        ("high", "row 3 holds 'high'"),
        ("1.5", "row 3 holds '1.5'"),
        (1j, "row 3 is 1j|row 0 is 0j"),
        (10**400, "row 3 holds a number of too many digits"),
        (float("inf"), "row 3"),
    ],
)
@pytest.mark.parametrize("kind", [list, lambda values: np.array(values, dtype=object), pd.Series])
def test_targets_that_are_no_numbers(bad, hint, kind):
    targets = list(map(float, range(40)))
    targets[3] = bad
    with pytest.raises(ValueError, match=hint):
        KernelRegressor().fit(X, kind(targets))


def test_targets_of_other_kinds_of_numbers():
    whole = KernelRegressor().fit(X, np.arange(40)).predict(X)
    for targets in (list(range(40)), [Fraction(k) for k in range(40)], pd.Series(range(40), dtype="Int64")):
        np.testing.assert_allclose(KernelRegressor().fit(X, targets).predict(X), whole)


# -- parameters -----------------------------------------------------------------------------------------------------

NO_NUMBERS = ["1", Fraction(1, 2), Decimal("0.5"), True, np.True_, 10**400, 1j, np.complex128(1), None, [1.0], np.nan]
NUMBERS = [
    (SVC, ["C", "tol", "max_iter"]),
    (KernelClassifier, ["lam", "tol", "max_iter"]),
    (KernelRegressor, ["lam", "tol", "max_iter"]),
    (Pegasos, ["lam", "steps", "batch"]),
    (Perceptron, ["epochs", "rate"]),
]


#: Parameters that need not be given.
OPTIONAL = [(KernelClassifier, "tol"), (KernelRegressor, "tol")]


@pytest.mark.parametrize("bad", NO_NUMBERS, ids=lambda value: repr(value)[:12])
@pytest.mark.parametrize("pair", [(learner, name) for learner, names in NUMBERS for name in names], ids=str)
def test_parameters_that_are_no_numbers(pair, bad):
    if bad is None and pair in OPTIONAL:
        return
    learner, name = pair
    with pytest.raises(ValueError, match=f"{learner.__name__}: {name} must be a ") as raised:
        learner(**{name: bad}).fit(X, y)
    assert len(str(raised.value)) < 200


@pytest.mark.parametrize("bad", NO_NUMBERS, ids=lambda value: repr(value)[:12])
def test_parameters_of_kernels_and_losses_that_are_no_numbers(bad):
    for kernel in (Gaussian(gamma=bad), Polynomial(degree=bad), Matern(length=bad)):
        with pytest.raises(ValueError, match=r"must be"):
            kernel(X)
    with pytest.raises(ValueError, match=r"must be|p="):
        Spectrum(p=bad)(["ab"])
    with pytest.raises(ValueError, match="Huber: delta must be a number greater than 0"):
        Huber(delta=bad)
    with pytest.raises(ValueError, match="EpsilonInsensitive: epsilon must be a number"):
        EpsilonInsensitive(epsilon=bad)


@pytest.mark.parametrize("bad", [b for b in NO_NUMBERS if b is not None], ids=lambda value: repr(value)[:12])
def test_time_limits_that_are_no_numbers(bad):
    for estimator in (SVC(time_limit=bad), KernelClassifier(time_limit=bad)):
        with pytest.raises(ValueError, match="time_limit must be a number"):
            estimator.fit(X, y)
    with pytest.raises(ValueError, match="time_limit must be a number"):
        KernelSearchCV(SVC(), {"C": [1, 2]}, time_limit=bad).fit(X, y)


@every
def test_memory_of_any_size(learner):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        learner("gaussian", memory=10**400).fit(X, y)
        learner("gaussian", memory=f"{10**40}GB").fit(X, y)
        with pytest.raises(ValueError, match="is not a size"):
            learner("gaussian", memory=0.3).fit(X, y)


BOOLEANS = [(SVC, "warm_start"), (Pegasos, "project"), *((learner, "fit_intercept") for learner in ALL[1:])]


@pytest.mark.parametrize("pair", BOOLEANS, ids=str)
def test_truth_values_are_true_or_false(pair):
    learner, name = pair
    for bad in ("False", "no", 0, 1, None, [], np.array([True])):
        with pytest.raises(ValueError, match=f"{name} must be True or False, got "):
            learner(**{name: bad}).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        learner(**{name: np.False_}).fit(X, y)


# -- kernels that are none, rows without a difference ---------------------------------------------------------------


@every
def test_a_kernel_that_is_none_is_refused(learner):
    for kernel, rows in ((lambda A, B: -(A @ B.T), X), ("precomputed", -X @ X.T), ("sigmoid(gamma=5, coef0=-3)", X)):
        with pytest.raises(ValueError, match="not positive semi-definite"):
            learner(kernel).fit(rows, y)
    if learner is not KernelRegressor:
        search = KernelSearchCV(learner(lambda A, B: -(A @ B.T)), {learner.path: [1, 2]}, cv=2)
        with pytest.raises(ValueError, match="not positive semi-definite"):
            search.fit(X, y)


@every
@pytest.mark.parametrize(
    ("kernel", "rows", "what"),
    [
        (None, np.ones((40, 3)), "rows"),
        ("gaussian", np.ones((40, 3)), "rows"),
        ("gaussian", sparse.csr_array(np.ones((40, 3))), "rows"),
        (None, sparse.csr_array((40, 3)), "rows"),
        ("precomputed", np.full((40, 40), 2.0), "rows of the kernel matrix"),
        ("spectrum(p=2)", ["GATTACA"] * 40, r"items, as spectrum\(p=2\) sees them,"),
        ("normalised(spectrum(p=2))", ["GATTACA"] * 40, r"items, as normalised\(spectrum\(p=2\)\) sees them,"),
    ],
)
def test_rows_without_a_difference_are_said_to_be_so(learner, kernel, rows, what):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.filterwarnings("error", message=".* are the same", category=UserWarning)
        with pytest.raises(UserWarning, match=f"{learner.__name__}: all 40 {what} are the same"):
            learner(kernel).fit(rows, y)
        rows = np.eye(40) if kernel in (None, "gaussian", "precomputed") else ["GATTACA", "CATTAGA"] * 20
        learner(kernel).fit(rows, y)


@every
def test_collections_that_are_no_rows_or_weights(learner):
    for rows in ({1.0, 2.0}, {"a": [1.0]}, iter(X.tolist())):
        with pytest.raises(TypeError, match="not rows in an order"):
            learner(None).fit(rows, y)
    for weight in ({1.0}, {"a": 1}, [10**400] * 40, iter([1.0] * 40)):
        with pytest.raises(ValueError, match="sample_weight must hold one number for each row"):
            learner(None).fit(X, y, sample_weight=weight)
    with pytest.raises(ValueError, match="too large for a float"):
        learner(None).fit([[10**400]] * 40, y)
    with pytest.raises(ValueError, match="too large for a float"):
        Gaussian()([[10**400]])


@pytest.mark.parametrize("learner", CLASSIFIERS)
def test_class_weights_of_other_kinds(learner):
    for bad in ([1.0], "equal", 3, 10**400):
        with pytest.raises(ValueError, match="class_weight must be 'balanced' or a dict"):
            learner(None, class_weight=bad).fit(X, y)


@pytest.mark.parametrize(
    ("kernel", "items"),
    [
        (Polynomial(degree=10**18), X),
        (Spectrum(p=1e300), ["ab", "cd"]),
        (Mismatch(k=10**18), ["ab", "cd"]),
        (WeisfeilerLehman(h=10**18), [(2, [[0, 1]])]),
        (WeisfeilerLehman(h=101), [(2, [[0, 1]])]),
        (Spectrum(p=(1, 1000)), ["ab", "cd"]),
    ],
    ids=str,
)
def test_parameters_that_would_take_for_ever(kernel, items):
    with pytest.raises(ValueError, match=r"at most|up to a million"):
        kernel(items)


def test_rows_of_other_things_and_an_empty_grid():
    with pytest.raises(TypeError, match="must hold rows of numbers, but it holds a 'set'"):
        Gaussian()([{1, 2}, {3}])
    for strategy in ("grid", "path"):
        assert KernelSearchCV(SVC(), [{}], strategy=strategy, cv=2).fit(X, y).best_params_ == {}


# -- many classes ---------------------------------------------------------------------------------------------------


def test_many_pairs_of_classes_are_announced_and_limited_in_time():
    rows, labels = np.arange(100.0)[:, None], np.repeat(np.arange(50), 2)
    with pytest.warns(UserWarning, match=r"50 classes make 1225 machines.*strategy='ovr' makes 50"):
        model = SVC("gaussian(gamma=1)", time_limit=1e-9).fit(rows, labels)
    assert model.status_ == "not converged"
    assert np.count_nonzero(model.n_iter_ == 0) >= 1200
    assert model.intercept_.shape == (1225,)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SVC("gaussian(gamma=1)", strategy="ovr").fit(rows, labels)


@pytest.mark.thorough
def test_refusals_leave_the_process_alive():
    """The damages that used to end or hang the whole process, each in one that may."""
    program = (
        "import numpy as np; from scipy import sparse; from mercer import *\n"
        "X = sparse.csr_array(np.eye(50)); X.indptr = X.indptr.copy(); X.indptr[-1] = 10**9\n"
        "for E in (SVC, KernelClassifier, Pegasos, Perceptron, KernelRegressor):\n"
        "    try: E('gaussian').fit(X, np.arange(50) % 2)\n"
        "    except ValueError as error: print(E.__name__)\n"
    )
    source = str(Path(__file__).parents[1] / "src")
    done = subprocess.run(
        [sys.executable, "-c", program], env={"PYTHONPATH": source}, capture_output=True, text=True, timeout=120
    )
    assert done.stdout.split() == [learner.__name__ for learner in ALL]
