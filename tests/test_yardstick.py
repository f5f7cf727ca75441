"""Boosted trees as a yardstick: said where they are clearly better, and only there."""

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

from mercer.io import Table
from mercer.report import page
from mercer.study import compare, trees


def steps(rows=900, seed=0):
    """Classes by five thresholds of one column among much noise, as trees ask for them and kernels do not."""
    random = np.random.default_rng(seed)
    X = random.uniform(-1, 1, (rows, 20))
    label = np.floor(3 * X[:, 0]) % 2 == 0
    frame = pd.DataFrame(X, columns=[f"x{k}" for k in range(20)])
    frame["x19"] = np.exp(4 * frame["x19"] ** 3)
    return Table("steps", frame, None, np.where(label, "even", "odd"), "kind")


@pytest.mark.thorough
def test_trees_that_are_clearly_better_are_said():
    facts = compare(steps(), learners=["logistic", "svc"], cv=2, repeats=1)
    found = facts["trees"]
    chosen = next(one for one in facts["learners"] if one["name"] == facts["answer"]["chosen"])
    assert found["error"] < chosen["test"]["rate"] - 0.1
    assert found["low"] <= found["error"] <= found["high"]
    assert "kernels may not suit this table" in found["words"]
    assert chosen["title"] in found["words"]


def test_nothing_is_said_where_kernels_do_as_well():
    random = np.random.default_rng(0)
    X = random.normal(size=(300, 2))
    labels = np.where((X**2).sum(axis=1) < 1.4, "in", "out")
    table = Table("ring", pd.DataFrame(X, columns=["a", "b"]), None, labels, "y")
    facts = compare(table, learners=["svc"], cv=2, repeats=1)
    assert facts["trees"] is None
    assert facts["yardstick"]["error"] >= 0
    assert "for comparison, not tuned" in page(facts)
    assert compare(table, learners=["logistic"], cv=2, repeats=1, trees=False)["yardstick"] is None


def test_trees_take_words_dates_and_gaps_and_leave_texts_out():
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "word": pd.Categorical(random.choice(["a", "b"], 360)),
            "many": pd.Categorical([f"w{k % 300}" for k in range(360)], categories=[f"w{k}" for k in range(300)]),
            "day": pd.date_range("2024-01-01", periods=360),
            "gap": np.where(np.arange(360) % 7, 1.0 * np.arange(360), np.nan),
            "said": [f"text {k}" for k in range(360)],
        }
    )
    columns = trees._columns(Table("t", frame, None, np.arange(360) % 2, "y"))
    assert list(columns) == ["word", "many", "day", "gap"]
    made = HistGradientBoostingClassifier(random_state=0)
    y = (frame["word"] == "a").to_numpy()
    found = trees._boosted(made, columns, y, np.arange(300), np.arange(300, 360), 60.0)
    assert (found.predicted == y[300:]).all()
    assert trees._boosted(made, columns, y, np.arange(300), np.arange(300, 360), -1.0) is None
