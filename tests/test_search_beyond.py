"""What a search has besides cells: strategies, advice, limits, journals, protocols and pictures."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
import tracemalloc

import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import make_moons
from sklearn.model_selection import RepeatedStratifiedKFold, StratifiedKFold

from mercer import SVC, Pegasos
from mercer.displays import SearchCurve, SearchHeatmap
from mercer.search import KernelSearchCV, SharedCells, nested_cross_validation, train_validate_test

X, y = make_moons(240, noise=0.25, random_state=3)
CV = StratifiedKFold(4, shuffle=True, random_state=0)


@pytest.mark.parametrize("strategy", ["random", "halving", "path"])
def test_other_strategies_find_good_settings(strategy):
    grid = {"C": [0.01, 0.1, 1, 10, 100], "kernel__gamma": [0.01, 0.1, 1, 10]}
    search = KernelSearchCV(SVC("gaussian"), grid, strategy=strategy, cv=CV, n_iter=12, random_state=0).fit(X, y)
    best = KernelSearchCV(SVC("gaussian"), grid, cv=CV).fit(X, y).best_score_
    assert search.best_score_ >= best - 0.03
    assert len(search.cv_results_["params"]) <= (12 if strategy == "random" else 40)
    if strategy == "path":
        assert len(search.cv_results_["params"]) < 20


def test_random_search_takes_distributions():
    search = KernelSearchCV(SVC("gaussian"), {"C": stats.loguniform(0.1, 100)}, strategy="random", n_iter=5, cv=3)
    assert len(search.fit(X, y).cv_results_["params"]) == 5


def test_advice():
    search = KernelSearchCV(
        SVC("gaussian(gamma=50)"),
        {"C": [1000]},
        cv=RepeatedStratifiedKFold(n_splits=3, n_repeats=2, random_state=0),
        return_train_score=True,
    ).fit(X[:80], y[:80])
    kinds = {advice.kind for advice in search.advice_}
    assert "overfitting" in kinds
    edge = KernelSearchCV(SVC("gaussian"), {"C": [0.05, 0.2]}, cv=3).fit(X, y).advice_[0]
    assert edge.kind == "edge"
    assert "smaller ones" in str(edge) or "larger ones" in str(edge)
    short = KernelSearchCV(Pegasos(random_state=0), {"steps": [20, 40]}, cv=3).fit(X, y)
    assert any(advice.kind == "short" for advice in short.advice_)


def test_errors_become_scores_or_are_raised():
    search = KernelSearchCV(SVC("gaussian"), {"C": [1, -1]}, cv=3)
    with pytest.warns(Warning, match="fits failed"):
        search.fit(X, y)
    assert np.isnan(search.cv_results_["mean_test_score"][1])
    assert search.best_params_ == {"C": 1}
    with pytest.raises(ValueError, match="C must be a number greater than 0"):
        KernelSearchCV(SVC("gaussian"), {"C": [-1]}, cv=3, error_score="raise").fit(X, y)
    with pytest.raises(ValueError, match="strategy must be one of"):
        KernelSearchCV(SVC(), {"C": [1]}, strategy="guess").fit(X, y)


def test_time_limit_keeps_what_is_done(monkeypatch):
    whole = SharedCells._store

    def stop_after_some(self, cells):
        whole(self, cells)
        if len(self.outcomes) >= 30:
            self.deadline = -np.inf

    monkeypatch.setattr(SharedCells, "_store", stop_after_some)
    grid = {"C": [0.1, 1, 10], "kernel__gamma": [0.1, 0.3, 1, 3, 10]}
    with pytest.warns(UserWarning, match="stopped early"):
        search = KernelSearchCV(SVC("gaussian"), grid, cv=5, time_limit=1e6).fit(X, y)
    scores = search.cv_results_["mean_test_score"]
    assert np.isnan(scores).any()
    assert np.isfinite(scores).any()
    assert search.stopped_ == "time_limit"
    with pytest.raises(ValueError, match="before any setting was tried"):
        KernelSearchCV(SVC("gaussian"), grid, cv=5, time_limit=1e-9).fit(X, y)


SEARCH = """
    import sys, time, numpy as np
    from sklearn.datasets import make_moons
    from mercer import SVC
    from mercer.search import KernelSearchCV
    import mercer.search.shared_cells as shared_cells
    X, y = make_moons(400, noise=0.25, random_state=3)
    if "slow" in sys.argv:
        whole = shared_cells.SharedCells._store
        def slowly(self, cells):
            whole(self, cells)
            time.sleep(0.2)
        shared_cells.SharedCells._store = slowly
    grid = {"C": [0.1, 1, 10], "kernel__gamma": [0.1, 0.5, 1.0, 2.0]}
    search = KernelSearchCV(SVC("gaussian"), grid, cv=5, journal=sys.argv[1] or None).fit(X, y)
    print([search.cv_results_[f"split{k}_test_score"].tolist() for k in range(5)])
"""


@pytest.mark.thorough
def test_a_killed_search_goes_on_and_ends_the_same(tmp_path):
    script = tmp_path / "search.py"
    script.write_text(textwrap.dedent(SEARCH))
    journal = tmp_path / "search.journal"
    run = [sys.executable, "-W", "ignore", str(script)]
    process = subprocess.Popen([*run, str(journal), "slow"])
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and (not journal.exists() or journal.read_text().count("\n") < 8):
        time.sleep(0.05)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    done = journal.read_text().count("\n")
    assert 8 <= done < 24  # four lines come before those of cells
    with open(journal, "a") as file:
        file.write('{"cells": [{"setting": "cut o')
    resumed = subprocess.run([*run, str(journal)], capture_output=True, text=True, check=True).stdout
    fresh = subprocess.run([*run, ""], capture_output=True, text=True, check=True).stdout
    assert resumed == fresh
    assert "cut o" not in journal.read_text()  # the file is in order again


def test_a_journal_of_another_search_is_refused(tmp_path):
    path = tmp_path / "journal"
    KernelSearchCV(SVC("gaussian"), {"C": [1]}, cv=3, journal=path).fit(X, y)
    with pytest.raises(ValueError, match="belongs to a search on other rows"):
        KernelSearchCV(SVC("gaussian"), {"C": [1]}, cv=3, journal=path).fit(X + 1, y)
    path.write_text("something else")
    with pytest.raises(ValueError, match="not the journal of a search"):
        KernelSearchCV(SVC("gaussian"), {"C": [1]}, cv=3, journal=path).fit(X, y)


def test_memory_stays_below_its_limit_and_changes_nothing():
    rows, labels = make_moons(1500, noise=0.3, random_state=0)
    grid = {"C": [1, 10], "kernel__gamma": [0.5, 1.0]}
    roomy = KernelSearchCV(SVC("gaussian"), grid, cv=3).fit(rows, labels)
    KernelSearchCV(SVC("gaussian", memory="4MB"), grid, cv=3, memory="4MB").fit(rows[:300], labels[:300])
    tracemalloc.start()
    tight = KernelSearchCV(SVC("gaussian", memory="4MB"), grid, cv=3, memory="4MB", refit=False).fit(rows, labels)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8e7  # the whole matrix and its statistic would be 18 MB each; working sets take 17 MB a thread
    np.testing.assert_allclose(tight.cv_results_["mean_test_score"], roomy.cv_results_["mean_test_score"], atol=2e-3)


def test_nested_and_three_way_protocols():
    search = KernelSearchCV(SVC("gaussian(gamma=1)"), {"C": [1, 100]}, cv=3)
    nested = nested_cross_validation(search, X, y, cv=3)
    assert len(nested.params) == 3
    assert 0.8 < nested.mean <= 1
    assert "±" in str(nested)
    result = train_validate_test(search, X, y, random_state=1)
    assert 0.7 < result.test <= 1
    assert "validation" in str(result)
    with pytest.raises(ValueError, match="together below 1"):
        train_validate_test(search, X, y, validation=0.6, test=0.6)


def test_pictures_show_the_best_over_all_other_parameters():
    import matplotlib

    matplotlib.use("agg")
    grid = {"C": [0.1, 10], "kernel": ["linear", "gaussian(gamma=1)"]}
    search = KernelSearchCV(SVC(), grid, cv=3, return_train_score=True).fit(X, y)
    curve = SearchCurve.from_search(search, "C")
    table = search.cv_results_["mean_test_score"].reshape(2, 2)  # C by kernel
    np.testing.assert_array_equal(curve.validation, table.max(axis=1))
    assert curve.plot().ax_.get_xlabel() == "C"
    heatmap = SearchHeatmap.from_search(search, "kernel", "C").plot()
    assert heatmap.x_values == ["gaussian(gamma=1)", "linear"]
    np.testing.assert_array_equal(heatmap.scores, table[:, ::-1])
