"""scikit-learn's own tests, run on mercer: how suites are run, and the shortest of them."""

import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from sklearn.kernel_ridge import KernelRidge
from sklearn.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM

from reproductions.suites import kernel_ridge, machines, perceptron
from reproductions.suites.__main__ import suites
from reproductions.suites.runner import Outcome, reason_for, run


def test_reasons_are_found_by_name_and_by_pattern():
    reasons = {"test_one": "name", "test_two[a-b]": "parameters", "*nu*SVC]": "pattern"}
    assert reason_for("test_one", reasons) == "name"
    assert reason_for("test_one[3-x]", reasons) == "name"
    assert reason_for("test_two[a-b]", reasons) == "parameters"
    assert reason_for("test_two[a-c]", reasons) is None
    assert reason_for("test_nu_shape[7-SVC]", reasons) == "pattern"


def test_a_failure_without_a_reason_is_not_ok():
    assert not Outcome().ok
    assert Outcome(passed=["test_a"], meant={"test_b": "so"}).ok
    assert not Outcome(passed=["test_a"], unexplained={"test_b": "boom"}).ok


def test_every_suite_has_the_same_form():
    known = suites()
    assert {"svm", "svm-sparse", "kernel-ridge", "perceptron", "pairwise"} <= set(known)
    for suite in known.values():
        assert suite.MODULE.startswith(("sklearn.", "hyppo."))
        assert all(name.startswith(suite.MODULE.partition(".")[0]) for name in suite.patches())
        assert all(reason and isinstance(reason, str) for reason in suite.MEANT.values())


@pytest.mark.thorough
def test_a_suite_in_a_process_of_its_own(tmp_path):
    out = tmp_path / "results.json"
    command = [sys.executable, "-m", "reproductions.suites", "--only", "perceptron", "--json", str(out)]
    done = subprocess.run(command, cwd=Path(__file__).parent.parent, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    (row,) = json.loads(out.read_text())
    assert row["ok"]
    assert row["value"] == row["bar"] >= 4


def test_differences_are_seen():
    """The same tests with a machine that is wrong: the runner must not be a rubber stamp."""

    class Wrong(kernel_ridge.KernelRidge):
        def predict(self, X):
            return super().predict(X) + 1

    suite = SimpleNamespace(
        MODULE=kernel_ridge.MODULE, MEANT={}, patches=lambda: {"sklearn.kernel_ridge.KernelRidge": Wrong}
    )
    outcome = run(suite)
    assert "test_kernel_ridge" in outcome.unexplained
    assert not outcome.ok
    assert run(kernel_ridge).ok
    assert run(perceptron).ok


# -- the adapters against what they stand for ---------------------------------------------------------------------

rng = np.random.default_rng(0)
X = rng.standard_normal((60, 3))
LABELS = np.digitize(X[:, 0] + X[:, 1] ** 2, [0.2, 1.5])
TARGET = X[:, 0] * X[:, 1]
WEIGHT = rng.random(60) + 0.5


@pytest.mark.parametrize("shape", ["ovo", "ovr"])
@pytest.mark.parametrize("params", [{}, {"kernel": "poly", "coef0": 1.0}, {"kernel": "linear"}, {"gamma": "auto"}])
def test_svc_adapter(params, shape):
    mine = machines.SVC(**params, tol=1e-6, decision_function_shape=shape).fit(X, LABELS, WEIGHT)
    theirs = SVC(**params, tol=1e-6, decision_function_shape=shape).fit(X, LABELS, WEIGHT)
    np.testing.assert_allclose(mine.decision_function(X), theirs.decision_function(X), atol=1e-3)
    assert mine._gamma == pytest.approx(theirs._gamma)
    if params.get("kernel") == "linear":
        np.testing.assert_allclose(mine.coef_, theirs.coef_, atol=1e-3)
    again = machines.SVC(**params, tol=1e-6, decision_function_shape=shape).fit(sparse.csr_array(X), LABELS, WEIGHT)
    assert again._gamma == pytest.approx(theirs._gamma)


@pytest.mark.parametrize("params", [{}, {"kernel": "linear", "C": 3.0}, {"kernel": "poly", "epsilon": 0.3}])
def test_svr_adapter(params):
    mine, theirs = (machine(**params).fit(X, TARGET, WEIGHT) for machine in (machines.SVR, SVR))
    np.testing.assert_allclose(mine.predict(X), theirs.predict(X), atol=5e-3)


@pytest.mark.parametrize("params", [{}, {"kernel": "rbf", "alpha": 0.3}, {"kernel": "poly"}, {"kernel": "cosine"}])
def test_kernel_ridge_adapter(params):
    mine, theirs = (machine(**params).fit(X, TARGET, WEIGHT) for machine in (kernel_ridge.KernelRidge, KernelRidge))
    np.testing.assert_allclose(mine.predict(X), theirs.predict(X), atol=1e-6)


@pytest.mark.parametrize("params", [{}, {"kernel": "linear", "nu": 0.3}, {"kernel": "poly", "coef0": 1.0}])
def test_adapters_of_machines_with_nu(params):
    mine, theirs = (machine(**params, tol=1e-6).fit(X, TARGET, WEIGHT) for machine in (machines.NuSVR, NuSVR))
    np.testing.assert_allclose(mine.predict(X), theirs.predict(X), atol=5e-3)
    mine, theirs = (machine(**params, tol=1e-6).fit(X, X[:, 0] > 0, WEIGHT) for machine in (machines.NuSVC, NuSVC))
    np.testing.assert_allclose(mine.decision_function(X), theirs.decision_function(X), atol=5e-3)
    if params.get("kernel") != "linear":
        mine, theirs = (machine(**params, tol=1e-6).fit(X) for machine in (machines.OneClassSVM, OneClassSVM))
        np.testing.assert_allclose(mine.decision_function(X), theirs.decision_function(X), atol=5e-3)
        np.testing.assert_allclose(mine.offset_, theirs.offset_, rtol=1e-3)


def test_equal_rows_share_coefficients_as_they_like_and_weights_agree():
    """What scikit-learn's test_sparse_realdata compares: coefficients, where 77 of 80 rows are zero."""
    dense = np.zeros((80, 36))
    dense[[7, 39, 77, 77], [6, 5, 35, 31]] = 0.0377, 0.1003, 0.0117, 0.0271
    labels = np.random.default_rng(0).integers(0, 4, 80)
    ours = [machines.SVC(kernel="linear", tol=1e-8).fit(rows, labels) for rows in (dense, sparse.csr_array(dense))]
    assert np.unique(dense, axis=0).shape[0] == 4
    np.testing.assert_allclose(ours[0].coef_, ours[1].coef_.toarray(), atol=1e-8)  # the tolerance of the fits
    np.testing.assert_allclose(ours[0].intercept_, ours[1].intercept_, atol=1e-7)


def test_rows_around_the_origin_leave_a_half_space_nothing_but_zero_weights():
    """What test_sparse_oneclasssvm compares of linear machines: coefficients that nothing decides."""
    rows = np.random.default_rng(0).uniform(-10, 10, (80, 2))
    ours = []
    for given in (rows, sparse.csr_array(rows)):
        with pytest.warns(UserWarning, match="the origin of feature space lies among the rows"):
            ours.append(machines.OneClassSVM(kernel="linear").fit(given))
    for model in ours:
        assert np.abs(model.coef_).max() < 1e-10
    np.testing.assert_allclose(*(model.decision_function(rows) for model in ours), atol=1e-9)
