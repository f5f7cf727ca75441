"""A search by tasks of joblib gives what a search in one process gives, bit for bit."""

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.datasets import make_moons
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.parallel import Parallel

from mercer import SVC, KernelClassifier, KernelSearchCV
from mercer.runtime import at_most, thread_count
from mercer.search import threads_asked_for

X, y = make_moons(90, noise=0.3, random_state=0)
GRID = {"kernel": ["cosine", "gaussian(gamma=1)", "gaussian"], "C": [0.1, 1, 10]}


def searched(estimator, grid, **options):
    return KernelSearchCV(estimator, grid, cv=3, return_train_score=True, **options).fit(X, y)


def assert_same(one, other):
    for name, values in one.cv_results_.items():
        if "time" not in name:
            np.testing.assert_array_equal(values, other.cv_results_[name], err_msg=name)
    assert one.best_params_ == other.best_params_
    np.testing.assert_array_equal(one.decision_function(X), other.decision_function(X))


@pytest.fixture
def handed_out(monkeypatch):
    """How many tasks were handed to joblib."""
    counted = []

    class Counting(Parallel):
        def __call__(self, iterable):
            return super().__call__(counted.append(1) or each for each in iterable)

    monkeypatch.setattr("mercer.search.numbered.Parallel", Counting)
    return counted


def test_processes(handed_out):
    here = searched(SVC(), GRID)
    assert not handed_out
    with parallel_config("loky", n_jobs=2):
        assert_same(here, searched(SVC(), GRID))
        assert len(handed_out) == 9  # three kernels on three folds
        machine = make_pipeline(StandardScaler(), KernelClassifier("gaussian(gamma=1)"))
        there = searched(machine, {"kernelclassifier__lam": [1e-2, 1e-4]})
        assert len(handed_out) == 12
    assert_same(there, searched(machine, {"kernelclassifier__lam": [1e-2, 1e-4]}))


@pytest.mark.parametrize("jobs", [1, 2, -1])
def test_threads_of_this_process_share_a_matrix(jobs, handed_out):
    here = searched(SVC(), GRID)
    assert_same(here, searched(SVC(), GRID, n_jobs=jobs))
    with parallel_config("threading", n_jobs=jobs):
        assert_same(here, searched(SVC(), GRID))
    assert not handed_out


def test_a_journal_knows_what_tasks_found(tmp_path, handed_out):
    with parallel_config("loky", n_jobs=2):
        first = searched(SVC(), GRID, journal=tmp_path / "journal")
    assert len(handed_out) == 9
    with parallel_config("loky", n_jobs=2):
        assert_same(first, searched(SVC(), GRID, journal=tmp_path / "journal"))
    assert len(handed_out) == 9
    assert_same(first, searched(SVC(), GRID, journal=tmp_path / "journal"))


def test_no_task_is_begun_after_the_end_of_the_time():
    with parallel_config("loky", n_jobs=2), pytest.raises(ValueError, match=r"stopped \(time_limit\) before any"):
        searched(SVC(), GRID, time_limit=1e-9)


def test_what_cannot_be_fitted_says_why():
    with parallel_config("loky", n_jobs=2), pytest.raises(ValueError, match="C must be a number greater than 0"):
        searched(SVC(), {"C": [-1.0]})


def test_large_rows_that_joblib_maps_into_memory():
    rows = np.repeat(X, 2, axis=0) @ np.ones((2, 800))
    labels = np.repeat(y, 2)
    assert rows.nbytes > 1e6  # what joblib maps
    search = KernelSearchCV(SVC("gaussian(gamma=.001)"), {"C": [1, 10]}, cv=2, refit=False)
    here = search.fit(rows, labels).cv_results_["mean_test_score"]
    with parallel_config("loky", n_jobs=2):
        np.testing.assert_array_equal(search.fit(rows, labels).cv_results_["mean_test_score"], here)


def test_fewer_threads_are_used_where_fewer_are_allowed():
    before = thread_count()
    with at_most(1):
        assert thread_count() == 1
        with at_most(None):
            assert thread_count() == 1
    assert thread_count() == before


def test_a_search_inside_a_task():
    """As in a nested cross-validation that is handed out itself."""
    from joblib import delayed

    found = Parallel(n_jobs=2)(delayed(searched)(SVC(), {"C": [1, 10]}) for _ in range(2))
    assert_same(found[0], searched(SVC(), {"C": [1, 10]}))


def test_without_a_number_of_jobs_all_threads_may_work():
    assert threads_asked_for(None) is None
    assert threads_asked_for(2) == 2
    with parallel_config("threading", n_jobs=2):
        assert threads_asked_for(None) == 2
