"""Landmarks stand for all items: Nyström's approximation, and machines that learn from it."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import linalg
from sklearn.base import clone
from sklearn.datasets import load_digits, make_moons
from sklearn.model_selection import GridSearchCV

import mercer
from mercer.grams import LANDMARKS, Lazy, Nystrom, Streamed, pivoted
from mercer.kernels import Gaussian, Spectrum
from mercer.search import KernelSearchCV

X, y = make_moons(300, noise=0.25, random_state=1)
WORDS = ["".join(np.random.default_rng(k).choice(list("ACGT"), 15)) for k in range(90)]


def approximation(K, S):
    """K[:, S]·K[S, S]⁺·K[S, :], term by term."""
    return K[:, S] @ linalg.pinvh(K[np.ix_(S, S)]) @ K[S]


@pytest.mark.parametrize("landmarks", LANDMARKS)
@pytest.mark.parametrize(("kernel", "items"), [(Gaussian(gamma=2.0), X), (Spectrum(p=3), WORDS)])
def test_features_are_those_of_nystroms_approximation(landmarks, kernel, items):
    K = kernel(items)
    gram = Nystrom.of(kernel, kernel.items(items), 25, landmarks)
    wanted = approximation(K, gram.landmarks)
    np.testing.assert_allclose(gram.Phi @ gram.Phi.T, wanted, atol=1e-8 * K.max())
    assert gram.missing == pytest.approx(np.trace(K - wanted) / np.trace(K), abs=1e-9)
    # New items by the landmarks alone.
    np.testing.assert_allclose(K[:, gram.landmarks] @ gram.transform, gram.Phi, atol=1e-8 * K.max())
    assert np.unique(gram.landmarks).size == gram.landmarks.size == 25


@pytest.mark.thorough
def test_landmarks_are_drawn_as_if_one_by_one():
    """The pair of landmarks drawn in a block by rejection has the probability that drawing one after another gives."""
    K = Gaussian(gamma=1.0)(X[:5])
    expected = np.zeros((5, 5))
    for first in range(5):
        left = K.diagonal() - K[:, first] ** 2 / K[first, first]
        expected[first] = (K[first, first] / np.trace(K)) * np.clip(left, 0, None) / left.sum()
    rng, gram = np.random.default_rng(0), Lazy(Gaussian(gamma=1.0), X[:5])
    seen, draws = np.zeros((5, 5)), 4000
    for _ in range(draws):
        seen[tuple(pivoted(gram, 2, rng).landmarks)] += 1 / draws
    np.testing.assert_allclose(seen, expected, atol=5 * np.sqrt(0.25 / draws) / 2)


def test_pivoted_landmarks_find_what_is_rare():
    """A few items far from all others are missed by equal chances, and not by the residual."""
    rows = np.vstack([0.01 * np.random.default_rng(0).normal(size=(2000, 2)), 10 + 3 * np.eye(2), [[-9.0, 9.0]]])
    missing = {name: Nystrom.of(Gaussian(gamma=1.0), rows, 12, name).missing for name in ("pivoted", "uniform")}
    assert missing["pivoted"] < 1e-6 < missing["uniform"]


@pytest.mark.parametrize(
    "machine",
    [
        mercer.SVC("gaussian(gamma=2)", C=3, tol=1e-6),
        mercer.KernelClassifier("gaussian(gamma=2)", lam=1e-3),
        mercer.KernelClassifier("gaussian(gamma=2)", loss="squared_hinge", lam=1e-3),
        mercer.KernelRegressor("gaussian(gamma=2)", lam=1e-3),
        mercer.KernelRegressor("gaussian(gamma=2)", loss="huber", lam=1e-3),
    ],
    ids=repr,
)
def test_enough_landmarks_are_exact(machine):
    exact = clone(machine).fit(X, y)
    near = clone(machine).set_params(rank=len(X)).fit(X, y)
    np.testing.assert_allclose(near.predict(X[:20]), exact.predict(X[:20]), atol=1e-4)
    np.testing.assert_allclose(near.objective_, exact.objective_, rtol=1e-5)
    assert near.missing_trace_ < 1e-8
    few = clone(machine).set_params(rank=10).fit(X, y)
    assert few.support_.size == 10
    assert len(few.support_vectors_) == 10
    assert np.all(few.objective_ > exact.objective_)  # fewer functions to choose from
    assert np.all(few.duality_gap_ <= 1e-4 * few.objective_)
    assert not hasattr(few.set_params(rank=None).fit(X, y), "missing_trace_")


@pytest.mark.parametrize("strategy", ["ovo", "ovr"])
def test_many_classes_and_model_files(strategy, tmp_path):
    digits = load_digits()
    rows, labels = digits.data[:600] / 16, digits.target[:600]
    model = mercer.SVC("gaussian(gamma=0.05)", C=10, rank=120, strategy=strategy).fit(rows, labels)
    assert model.score(digits.data[600:900] / 16, digits.target[600:900]) > 0.9
    mercer.save(model, tmp_path / "model.safetensors")
    again = mercer.load(tmp_path / "model.safetensors")
    assert (again.predict(rows) == model.predict(rows)).all()
    assert again.missing_trace_ == model.missing_trace_


def test_strings_matrices_and_frames_of_labels():
    labels = np.array(["with" if "AC" in word else "without" for word in WORDS], dtype=object)
    model = mercer.SVC("spectrum(p=3)", rank=40).fit(WORDS, labels)
    assert model.score(WORDS, labels) > 0.8
    assert model.support_vectors_[0] in WORDS
    K = Gaussian(gamma=2.0)(X)
    by_matrix = mercer.KernelClassifier("precomputed", rank=50).fit(K, y)
    by_rows = mercer.KernelClassifier("gaussian(gamma=2)", rank=50).fit(X, y)
    np.testing.assert_allclose(by_matrix.decision_function(K), by_rows.decision_function(X), atol=1e-6)


def test_searches_find_what_plain_fits_find():
    grid = {"C": [0.1, 10], "kernel__gamma": [0.1, 2.0], "rank": [None, 5, 40]}
    ours, plain = (kind(mercer.SVC("gaussian"), grid, cv=3).fit(X, y) for kind in (KernelSearchCV, GridSearchCV))
    np.testing.assert_allclose(ours.cv_results_["mean_test_score"], plain.cv_results_["mean_test_score"])


def test_refusals():
    with pytest.raises(ValueError, match="rank must be a whole number"):
        mercer.SVC(rank=0).fit(X, y)
    with pytest.raises(ValueError, match="landmarks must be one of 'pivoted', 'uniform', 'farthest'"):
        mercer.KernelClassifier(rank=3, landmarks="best").fit(X, y)
    with pytest.raises(ValueError, match="raise memory, or take a rank of at most 41"):
        mercer.SVC(rank=300, memory="100kB").fit(X, y)
    with pytest.raises(ValueError, match=r"300 landmarks take 2.9 MB, .* a rank of at most 55"):
        mercer.KernelClassifier(rank=300, memory="100kB").fit(X, y)


def test_items_that_are_all_the_same():
    rows = np.ones((30, 2))
    model = mercer.KernelClassifier("gaussian", rank=10).fit(rows, np.arange(30) % 2)
    assert model.support_.size == 1
    assert np.isfinite(model.decision_function(rows)).all()


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge", "squared"])
@pytest.mark.parametrize("classes", [2, 3])
def test_features_without_room_are_computed_again_and_again(loss, classes):
    """With a sample as large as the table the landmarks are the same, and so are the models."""
    targets = y if classes == 2 else np.digitize(X[:, 0], [-0.3, 1.0])
    roomy = mercer.KernelClassifier("gaussian(gamma=2)", loss, lam=1e-3, rank=30).fit(X, targets)
    cramped = mercer.KernelClassifier("gaussian(gamma=2)", loss, lam=1e-3, rank=30, memory="70kB").fit(X, targets)
    assert cramped.missing_trace_ == pytest.approx(roomy.missing_trace_, rel=0.5)
    np.testing.assert_allclose(cramped.objective_, roomy.objective_, rtol=0.1)
    assert np.all(cramped.duality_gap_ <= 1e-4 * cramped.objective_)
    exact = clone(cramped).set_params(tol=1e-10).fit(X, targets)
    assert np.all(exact.duality_gap_ <= 1e-10 * exact.objective_)
    assert cramped.score(X, targets) > 0.9


def test_a_streamed_gram_is_that_of_its_features():
    gram = Streamed.of(Gaussian(gamma=2.0), X, 30, memory="70kB")
    whole = gram.take(np.arange(len(X)))
    K, v = whole.Phi @ whole.Phi.T, np.random.default_rng(0).normal(size=(len(X), 2))
    np.testing.assert_allclose(gram.matvec(v), K @ v, atol=1e-9)
    np.testing.assert_allclose(gram.matvec(v[:, 0]), K @ v[:, 0], atol=1e-9)
    np.testing.assert_allclose(gram.rows([3, 5]), K[[3, 5]], atol=1e-9)
    assert gram.drawn.size < len(X)


@pytest.mark.parametrize("landmarks", LANDMARKS)
@pytest.mark.parametrize("machine", [mercer.SVC(), mercer.KernelClassifier(), mercer.KernelRegressor()], ids=repr)
def test_rows_of_no_weight_are_no_landmarks(machine, landmarks):
    counted = np.random.default_rng(0).random(len(X)) < 0.5
    machine = clone(machine).set_params(kernel="gaussian(gamma=2)", rank=12, landmarks=landmarks)
    weighted = clone(machine).fit(X, y, counted.astype(float))
    alone = clone(machine).fit(X[counted], y[counted])
    assert counted[weighted.support_].all()
    assert weighted.missing_trace_ == pytest.approx(alone.missing_trace_)
    np.testing.assert_allclose(weighted.predict(X), alone.predict(X), atol=1e-5)


def test_what_landmarks_leave_out_is_told_of_all_rows():
    rows = np.random.default_rng(11).normal(size=(3000, 4))
    labels = (rows[:, 0] > 0).astype(int)
    kernel = Gaussian(gamma=0.3)
    for memory in ("200kB", "1GB"):
        model = mercer.KernelClassifier(kernel, lam=1e-3, rank=60, memory=memory).fit(rows, labels)
        K = kernel(rows, rows[model.support_])
        kept = np.trace(linalg.pinvh(kernel(rows[model.support_])) @ K.T @ K)
        assert model.missing_trace_ == pytest.approx(1 - kept / 3000, rel=0.15)


@pytest.mark.parametrize("landmarks", sorted(LANDMARKS))
@pytest.mark.parametrize("weighted", [False, True])
def test_landmarks_are_the_same_wherever_the_rows_are(landmarks, weighted, tmp_path):
    """More rows than landmarks are chosen among, in memory, mapped into it, and in a file."""
    rng = np.random.default_rng(0)
    X, weight = rng.normal(size=(900, 3)), np.where(rng.random(900) < 0.3, 0.0, 1.0)
    y = (np.sin(2 * X[:, 0]) + X[:, 1] > 0).astype(int)
    np.savetxt(
        tmp_path / "rows.csv", np.column_stack([X, y]), delimiter=",", header="a,b,c,y", comments="", fmt="%.17g"
    )
    scanned = mercer.scan(str(tmp_path / "rows.csv"), target="y")
    machine = mercer.KernelClassifier("gaussian(gamma=0.5)", "squared_hinge", rank=20, landmarks=landmarks)
    options = {"sample_weight": weight} if weighted else {}
    here = clone(machine).fit(X, y, **options)
    there = clone(machine).fit(scanned.X, scanned.y, **options)
    np.testing.assert_array_equal(here.support_, there.support_)
    np.testing.assert_allclose(here.objective_, there.objective_, rtol=1e-8)
    assert here.missing_trace_ == pytest.approx(there.missing_trace_)
    assert not weighted or weight[here.support_].all()
