"""Ctrl-C: raised everywhere by default; inside keep_best() the best so far, and never a number from half a fit."""

import os
import signal
import threading
import time
import warnings

import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_moons
from sklearn.exceptions import ConvergenceWarning
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import cross_val_score

import mercer
import mercer.solvers.certified
import mercer.solvers.svm.refinement
from mercer import SVC, KernelClassifier, KernelRegressor, KernelSearchCV, Pegasos, Perceptron, keep_best
from mercer.estimators import BinaryMachine
from mercer.io import read
from mercer.runtime import all_or_nothing, check_interrupt, for_each, keeps_best
from mercer.search import nested_cross_validation
from mercer.search import numbered as cell
from mercer.study import compare

X, y = make_moons(600, noise=0.35, random_state=0)
BLOBS, CLASSES = make_blobs(1500, centers=5, cluster_std=6, random_state=0)

NOISE = np.random.default_rng(0).standard_normal((4000, 2))
NOISE_LABELS = np.arange(4000) % 2

#: Fits that would take very long, with their rows and targets.
LONG = {
    "SVC": (SVC("gaussian(gamma=1)", C=1e8, tol=1e-12, max_iter=10**12), NOISE, NOISE_LABELS),
    "KernelClassifier": (KernelClassifier("gaussian", solver="gradient", tol=1e-300, max_iter=10**9), X, y),
    "Perceptron": (Perceptron("gaussian", epochs=10**8, variant="averaged", checkpoints=[1, 10**8]), X, y),
    "Pegasos": (Pegasos("gaussian", steps=10**9, checkpoints=[10, 10**9]), X, y),
    "Pegasos, five classes": (Pegasos(None, steps=10**9), BLOBS, CLASSES),
    "Perceptron, five classes": (Perceptron("gaussian", epochs=10**8), BLOBS, CLASSES),
}


@pytest.fixture
def ctrl_c():
    """Press Ctrl-C after a while, and again where it went unheard; compiled code is warm by then.

    Libraries that other tests have imported may have put a handler of their own in the place of Python's.
    """
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    warm = [SVC(), KernelClassifier(solver="gradient", max_iter=1), Perceptron("gaussian"), Pegasos(None, steps=10)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for estimator in [*warm, Pegasos("gaussian", steps=10)]:
            estimator.fit(X[:20], y[:20])
    heard = []

    def keep_pressing(over, seconds):
        while not over.wait(seconds):
            os.kill(os.getpid(), signal.SIGINT)
            seconds = 15

    def press(seconds=0.5):
        for over in heard:
            over.set()
        heard.append(threading.Event())
        threading.Thread(target=keep_pressing, args=(heard[-1], seconds), daemon=True).start()

    yield press
    for over in heard:
        over.set()
    signal.signal(signal.SIGINT, handler)


@pytest.mark.parametrize("name", LONG)
def test_a_fit_raises_unless_asked_to_keep_the_best(name, ctrl_c):
    estimator, rows, labels = LONG[name]
    ctrl_c()
    with pytest.raises(KeyboardInterrupt):
        estimator.fit(rows, labels)
    ctrl_c()
    with keep_best(), pytest.warns(ConvergenceWarning, match="was interrupted"):
        estimator.fit(rows, labels)
    assert estimator.status_ == "interrupted"
    assert estimator.predict(rows).shape == labels.shape
    assert len(list(getattr(estimator, "_stage_models", []))) in (0, 2)


def test_cross_validation_ends_with_the_interrupt(ctrl_c):
    ctrl_c()
    with pytest.raises(KeyboardInterrupt):
        cross_val_score(*LONG["SVC"])


@pytest.fixture
def interrupted_solve(monkeypatch):
    """Ctrl-C in the n-th call of a solver."""

    def arrange(cls, nth, method="solve"):
        real, calls = getattr(cls, method), []

        def solve(self, *arguments, **named):
            calls.append(1)
            if len(calls) == nth:
                raise KeyboardInterrupt
            return real(self, *arguments, **named)

        monkeypatch.setattr(cls, method, solve)

    return arrange


SEARCHES = {
    "SVC": (SVC("gaussian(gamma=1)"), "C", mercer.solvers.SoftMargin, y),
    "KernelRegressor": (KernelRegressor("gaussian(gamma=1)", "huber"), "lam", mercer.solvers.Newton, X[:, 0] + y),
}


@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.parametrize("strategy", ["grid", "random", "halving", "path"])
def test_a_search_raises_unless_asked_to_keep_the_best(name, strategy, interrupted_solve, monkeypatch):
    monkeypatch.setenv("NUMBA_NUM_THREADS", "1")
    estimator, parameter, solver, target = SEARCHES[name]
    grid = {parameter: [0.01, 0.1, 1.0], "kernel__gamma": [0.5, 1.0]}
    search = KernelSearchCV(estimator, grid, cv=3, strategy=strategy, random_state=0)
    interrupted_solve(solver, 12)
    with pytest.raises(KeyboardInterrupt):
        search.fit(X, target)
    interrupted_solve(solver, 12)
    with keep_best(), pytest.warns(UserWarning, match=r"stopped early \(interrupted\)"):
        search.fit(X, target)
    assert search.stopped_ == "interrupted"
    scores = search.cv_results_["mean_test_score"]
    assert 0 < np.isfinite(scores).sum() < scores.size
    assert search.best_score_ == np.nanmax(scores)
    # What is there is what a search without an interruption finds.
    found = [params for params, score in zip(search.cv_results_["params"], scores, strict=True) if np.isfinite(score)]
    alone = KernelSearchCV(estimator, [{k: [v] for k, v in params.items()} for params in found[:1]], cv=3)
    if strategy != "halving":
        np.testing.assert_allclose(alone.fit(X, target).best_score_, scores[np.isfinite(scores)][0], atol=1e-3)
    # With no setting tried on all folds there is nothing to keep.
    interrupted_solve(solver, 2)
    with keep_best(), pytest.raises(KeyboardInterrupt):
        search.fit(X, target)


@pytest.mark.parametrize("strategy", ["grid", "random", "halving", "path"])
@pytest.mark.parametrize(
    ("estimator", "ticks"),
    [(SVC("gaussian(gamma=1)"), 4), (KernelRegressor("gaussian(gamma=1)"), 4), (KernelRidge(kernel="rbf"), 2)],
)
def test_no_best_setting_without_evidence(strategy, estimator, ticks, monkeypatch):
    """Some folds of every setting are not all folds of one. Plain fits begin with all folds of a setting, or none."""
    target = y if isinstance(estimator, SVC) else X[:, 0]
    calls = []
    monkeypatch.setattr(time, "monotonic", lambda: calls.append(1) or (0 if len(calls) < ticks else 1e9))
    name = "gamma" if isinstance(estimator, KernelRidge) else "kernel__gamma"
    search = KernelSearchCV(estimator, {name: [0.5, 1.0, 2.0]}, cv=5, strategy=strategy, time_limit=10)
    with pytest.raises(ValueError, match="before any setting was tried on all folds"):
        search.fit(X, target)


def test_nested_cross_validation_keeps_whole_folds(interrupted_solve, monkeypatch):
    monkeypatch.setenv("NUMBA_NUM_THREADS", "1")
    search = KernelSearchCV(SVC("gaussian(gamma=1)"), {"C": [0.1, 1.0]}, cv=2)
    interrupted_solve(mercer.solvers.SoftMargin, 7)
    with pytest.raises(KeyboardInterrupt):
        nested_cross_validation(search, X, y, cv=3)
    whole_result = nested_cross_validation(search, X, y, cv=3)
    interrupted_solve(mercer.solvers.SoftMargin, 7)
    with keep_best():
        result = nested_cross_validation(search, X, y, cv=3)
    assert result.stopped == "interrupted"
    assert result.scores.tolist() == whole_result.scores[:1].tolist()
    assert "over 1 outer folds (interrupted" in str(result)


def test_a_comparison_keeps_finished_learners(interrupted_solve):
    table = read("moons:60")
    options = {"learners": ["logistic", "linear-svc"], "cv": 2}
    interrupted_solve(mercer.solvers.SoftMargin, 1)
    with pytest.raises(KeyboardInterrupt):
        compare(table, **options)
    interrupted_solve(mercer.solvers.SoftMargin, 1)
    with keep_best():
        facts = compare(table, **options)
    assert facts["stopped"] == "interrupted"
    assert [one["name"] for one in facts["learners"]] == ["logistic"]
    assert "interrupted" in facts["skipped"][0]["why"]


def test_machines_that_were_not_reached_are_counted(interrupted_solve, monkeypatch):
    monkeypatch.setenv("NUMBA_NUM_THREADS", "1")
    interrupted_solve(BinaryMachine, 9, "solve")
    with keep_best(), pytest.warns(ConvergenceWarning, match="2 of 10 machines were not reached"):
        model = SVC("gaussian(gamma=1)").fit(BLOBS, CLASSES)
    assert model.status_ == "interrupted"
    assert model.objective_.shape == model.duality_gap_.shape == model.intercept_.shape == (10,)
    assert (model.objective_ <= SVC("gaussian(gamma=1)", max_iter=1).fit(BLOBS, CLASSES).objective_ + 1e9).all()
    assert model.score(BLOBS, CLASSES) > 0.4


IMPROVEMENTS = {
    "polish": (mercer.solvers.svm.refinement, "polish", SVC("gaussian(gamma=1)", max_iter=10_000), y),
    "hard margin": (mercer.solvers.svm, "hard_margin", SVC("polynomial(degree=2)", C=np.inf), y),
    "smaller gap": (mercer.solvers.certified, "_improved", KernelRegressor("gaussian"), X[:, 0] + y),
    "smaller gaps": (mercer.solvers.certified, "_improved", KernelClassifier("gaussian"), y),
}


@pytest.mark.parametrize("name", IMPROVEMENTS)
def test_ctrl_c_while_a_solution_is_improved(name, monkeypatch):
    """What was found before is a model with a certificate."""
    module, function, estimator, target = IMPROVEMENTS[name]

    def pressed(*arguments, **named):
        raise KeyboardInterrupt

    monkeypatch.setattr(module, function, pressed)
    with pytest.raises(KeyboardInterrupt):
        estimator.fit(X, target)
    with keep_best(), pytest.warns(ConvergenceWarning, match="was interrupted"):
        estimator.fit(X, target)
    assert estimator.status_ == "interrupted"
    assert (np.asarray(estimator.duality_gap_) >= 0).all()
    assert estimator.predict(X).shape == target.shape


def test_ctrl_c_while_known_scores_are_looked_up_takes_none_of_them(monkeypatch):
    search = KernelSearchCV(SVC("gaussian(gamma=1)"), {"C": [0.1, 1.0]}, cv=3)
    real, calls = cell.Accuracy.__call__, []

    def pressed(self, *arguments):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return real(self, *arguments)

    monkeypatch.setattr(cell.Accuracy, "__call__", pressed)
    with pytest.raises(KeyboardInterrupt):
        search.fit(X, y)
    calls.clear()
    with keep_best(), pytest.warns(UserWarning, match=r"stopped early \(interrupted\): 2 of 2"):
        search.fit(X, y)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


# -- threads ------------------------------------------------------------------------------------------------------


def test_ctrl_c_reaches_the_threads(ctrl_c):
    """Pieces that never end by themselves end all the same, and none is begun afterwards."""
    begun, ended = [], []

    def work(piece):
        begun.append(piece)
        try:
            while True:
                check_interrupt()
                time.sleep(0.01)
        finally:
            ended.append(piece)

    ctrl_c()
    with pytest.raises(KeyboardInterrupt):
        for_each(work, range(20), threads=3)
    assert len(begun) == 3
    assert sorted(ended) == sorted(begun)


def test_ctrl_c_ends_a_fit_of_many_machines(ctrl_c):
    ctrl_c()
    with pytest.raises(KeyboardInterrupt):
        LONG["SVC"][0].fit(NOISE, np.arange(4000) % 4)


def test_threads_of_ours_see_the_request_and_others_do_not():
    seen = []
    with keep_best():
        for_each(lambda _: seen.append(keeps_best()), range(8), threads=2)
        stranger = threading.Thread(target=lambda: seen.append(keeps_best()))
        stranger.start()
        stranger.join()
        with all_or_nothing():
            for_each(lambda _: seen.append(keeps_best()), range(2), threads=2)
    assert seen == [True] * 8 + [False] * 3
    assert not keeps_best()
