"""Rows that are not in memory: read chunk by chunk, pass by pass, with the same model in the end."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone

import mercer
from mercer.rows import Mapped, Rows, rows_of

RNG = np.random.default_rng(0)
X = RNG.normal(size=(1500, 4))
HIDDEN = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2]
LABELS = np.where(HIDDEN + 0.3 * RNG.normal(size=len(X)) > 0, "yes", "no")
THREE = np.digitize(HIDDEN, [-0.5, 0.5])
WEIGHT = RNG.uniform(0, 2, len(X))
#: So little that 30 features of all rows have no room, and rows are passed over again and again.
LITTLE = "40kB"


def mapped(path, rows):
    """A file of these rows, mapped into memory."""
    np.save(path / "rows.npy", rows)
    return np.load(path / "rows.npy", mmap_mode="r")


@pytest.mark.parametrize(
    ("machine", "targets"),
    [
        (mercer.KernelClassifier("rbf", lam=1e-3), LABELS),
        (mercer.KernelClassifier("rbf", lam=1e-3, class_weight="balanced"), THREE),
        (mercer.KernelClassifier("rbf", "squared_hinge", lam=1e-3), THREE),
        (mercer.KernelRegressor("rbf", lam=1e-3), HIDDEN),
        (mercer.KernelRegressor("rbf", "huber", lam=1e-3), np.column_stack([HIDDEN, X[:, 3] ** 2])),
    ],
    ids=repr,
)
def test_a_mapped_file_gives_the_model_of_the_same_rows_in_memory(machine, targets, tmp_path):
    rows = Mapped(mapped(tmp_path, X))
    machine = clone(machine).set_params(rank=30, memory=LITTLE, tol=1e-10)
    held, streamed = clone(machine).fit(X, targets, WEIGHT), clone(machine).fit(rows, targets, WEIGHT)
    np.testing.assert_array_equal(streamed.support_, held.support_)
    np.testing.assert_allclose(streamed.dual_coef_, held.dual_coef_, rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(streamed.predict(rows), streamed.predict(X))
    np.testing.assert_allclose(streamed.duality_gap_, 0, atol=1e-8)


def test_single_precision_stays_single_and_finds_the_same(tmp_path):
    rows = mapped(tmp_path, X.astype(np.float32))
    seen = set()

    class Watched(Mapped):
        def each(self, work, *vectors):
            return super().each(lambda chunk, *parts: seen.add(chunk.dtype.name) or work(chunk, *parts), *vectors)

    machine = mercer.KernelClassifier("rbf", lam=1e-3, rank=30, memory=LITTLE)
    streamed = clone(machine).fit(Watched(rows), LABELS)
    held = clone(machine).fit(np.asarray(rows, np.float64), LABELS)
    assert seen == {"float32"}
    np.testing.assert_allclose(streamed.decision_function(rows), held.decision_function(X), atol=1e-3)
    np.testing.assert_allclose(streamed.objective_, held.objective_, rtol=1e-5)


def test_a_margin_needs_its_features_at_hand(tmp_path):
    rows = Mapped(mapped(tmp_path, X))
    model = mercer.SVC("rbf", rank=60).fit(rows, LABELS)
    near = mercer.SVC("rbf", rank=60).fit(X, LABELS)
    assert model.score(X, LABELS) == pytest.approx(near.score(X, LABELS), abs=0.02)
    assert model.support_.size == 60
    with pytest.raises(ValueError, match=r"KernelClassifier\(loss='squared_hinge', rank="):
        mercer.SVC("rbf", rank=60, memory=LITTLE).fit(rows, LABELS)


@pytest.mark.parametrize(
    "machine", [mercer.SVC(), mercer.KernelClassifier(), mercer.Pegasos("rbf"), mercer.OneClassSVM()], ids=repr
)
def test_exact_machines_name_the_alternative(machine, tmp_path):
    with pytest.raises(ValueError, match="rank=1000"):
        machine.fit(Mapped(mapped(tmp_path, X)), LABELS)


def test_linear_machines_read_what_has_room(tmp_path):
    rows = Mapped(mapped(tmp_path, X + 100))
    streamed, held = (mercer.KernelClassifier(None).fit(each, LABELS) for each in (rows, X + 100))
    np.testing.assert_array_equal(streamed.coef_, held.coef_)
    np.testing.assert_array_equal(streamed.predict(rows), held.predict(X + 100))
    with pytest.raises(ValueError, match="raise memory"):
        mercer.KernelClassifier(None, memory=1000).fit(rows, LABELS)


def test_columns_are_checked_before_and_numbers_as_they_are_read(tmp_path):
    machine = mercer.KernelClassifier("gaussian", rank=20, memory=LITTLE)
    rows = mapped(tmp_path, X)
    with pytest.raises(ValueError, match="X has 3 features, but KernelClassifier is expecting 4 features"):
        clone(machine).fit(rows, LABELS).predict(Mapped(rows[:, :3]))
    broken = X.copy()
    broken[1234, 2] = np.inf
    with pytest.raises(ValueError, match=r"infinity .* row 1234, column 2"):
        clone(machine).fit(Mapped(mapped(tmp_path, broken)), LABELS)
    with pytest.raises(ValueError, match="0 samples"):
        clone(machine).fit(Mapped(np.memmap(tmp_path / "e", np.float64, "w+", shape=(1, 4))[:0]), [])
    with pytest.raises(ValueError, match="needs its items in memory"):
        clone(machine).set_params(kernel="spectrum(p=2)").fit(Mapped(rows), LABELS)


def test_rows_by_their_numbers_come_in_the_order_asked_for(tmp_path):
    rows = rows_of(mapped(tmp_path, X))
    assert isinstance(rows, Rows)
    np.testing.assert_array_equal(rows[[7, 3, 3, 1499]], X[[7, 3, 3, 1499]])
    assert rows.shape == X.shape
    assert rows_of(X) is None
