"""Memory that waits for the next fit."""

import numpy as np

from mercer import SVC
from mercer.solvers.svm import Workspaces
from mercer.solvers.svm import soft_margin as workspaces

rng = np.random.default_rng(0)
X = rng.normal(size=(1500, 3))
y = np.where(X[:, 0] * X[:, 1] + 0.5 * rng.normal(size=1500) > 0, 1, -1)


def test_a_second_fit_works_in_the_memory_of_the_first(monkeypatch):
    monkeypatch.setattr(workspaces, "_waiting", type(workspaces._waiting)())
    first = SVC("gaussian(gamma=1)").fit(X, y)
    (kept,) = workspaces._waiting
    assert kept.room > 0 == kept.nbytes
    second = SVC("gaussian(gamma=1)").fit(X, y)
    assert workspaces._waiting.pop() is kept
    np.testing.assert_array_equal(first.dual_coef_, second.dual_coef_)


def test_no_more_is_kept_than_the_limit(monkeypatch):
    monkeypatch.setattr(workspaces, "_waiting", type(workspaces._waiting)())
    monkeypatch.setattr(workspaces, "_KEPT", 10_000)
    with Workspaces() as some:
        some.mine.square(100)
    assert not workspaces._waiting
    with Workspaces() as some:
        some.mine.square(20)
    assert len(workspaces._waiting) == 1


def test_workspaces_hold_no_matrix_of_a_fit(monkeypatch):
    monkeypatch.setattr(workspaces, "_waiting", type(workspaces._waiting)())
    with Workspaces() as some:
        some.mine._gathered(np.eye(5, dtype=np.float32), np.arange(3))
    assert workspaces._waiting[0]._source.size == 0
