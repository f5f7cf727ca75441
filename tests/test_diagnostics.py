import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import optimize
from sklearn.datasets import make_circles, make_moons

from mercer.diagnostics import align, check_mercer, diagnose
from mercer.kernels import Function, Gaussian, Linear, Sigmoid, parse

from .structured import LABELS, WORDS, Letters

BLOCKS = np.array([[3, 2, 0, 0, 0], [2, 3, 0, 0, 0], [0, 0, 4, 3, 3], [0, 0, 3, 4, 2], [0, 0, 3, 2, 4]])
X, y = make_moons(200, noise=0.2, random_state=0)


class TestTheCourse:
    def test_blocks_by_class_are_good(self):
        found = diagnose(BLOCKS, ["one", "one", "two", "two", "two"])
        assert found.good
        assert found.eigenvalues.round(3).tolist() == [0.641, 1.0, 2.0, 5.0, 9.359]
        # By hand: 2/3 in the first class; (3/4 + 3/4 + 2/4)/3 = 2/3 in the second; nothing between.
        assert found.within == pytest.approx(2 / 3)
        assert found.between == 0
        assert found.nearest_agrees == 1
        assert found.rank == 5
        assert found.condition == pytest.approx(9.359 / 0.641, rel=1e-3)
        assert found.effective_dimension == pytest.approx(18**2 / np.square([0.641, 1, 2, 5, 9.359]).sum(), rel=1e-3)
        assert diagnose(BLOCKS).good

    @pytest.mark.parametrize("data", [(), (["a", "a", "b", "b", "b"],)])
    def test_the_identity_is_bad(self, data):
        found = diagnose(np.eye(5), *data)
        assert found.verdict == "bad"
        assert "no item is like any other" in found.reasons[0]
        assert found.effective_dimension == pytest.approx(5)
        assert "widen the kernel" in str(found)


def test_what_makes_a_matrix_bad():
    constant = diagnose(np.ones((6, 6)) + 1e-4 * np.eye(6))
    assert "every item is like every other" in constant.reasons[0]
    indefinite = diagnose([[0.0, 1.0], [1.0, 0.0]])
    assert not indefinite.psd
    assert "smallest eigenvalue is -1 " in indefinite.reasons[0]
    lopsided = diagnose([[1.0, 0.5], [0.25, 1.0]])
    assert not lopsided.symmetric
    assert "k(0, 1) = 0.5 but k(1, 0) = 0.25" in lopsided.reasons[0]
    shuffled = diagnose(Gaussian(gamma=2.0), X, np.random.default_rng(1).permutation(y))
    assert "does not know the labels" in shuffled.reasons[0]
    assert diagnose(Gaussian(gamma=1e5), X, y).verdict == "bad"
    assert diagnose(Gaussian(gamma=2.0), X, y).good


def test_a_matrix_and_its_kernel_tell_the_same():
    one, other = diagnose(Gaussian(gamma=2.0), X, y), diagnose(Gaussian(gamma=2.0)(X), y)
    assert {**one.facts(), "name": ""} == {**other.facts(), "name": ""}
    assert json.loads(json.dumps(one.facts()))["verdict"] == "good"
    assert diagnose("gaussian(gamma=2)", X, y).alignment == one.alignment


def test_alignment_is_the_cosine_of_centred_matrices():
    H = np.eye(200) - 1 / 200
    K, ideal = H @ Linear()(X) @ H, H @ np.equal.outer(y, y).astype(float) @ H
    expected = np.vdot(K, ideal) / (np.linalg.norm(K) * np.linalg.norm(ideal))
    assert diagnose("linear", X, y).alignment == pytest.approx(expected)
    assert diagnose(np.equal.outer(y, y).astype(float), y).alignment == pytest.approx(1)
    target = X[:, 0] - X[:, 0].mean()
    along = np.vdot(K, np.outer(target, target)) / (np.linalg.norm(K) * (target @ target))
    assert diagnose("linear", X, X[:, 0]).alignment == pytest.approx(along)


@given(arrays(float, (7, 3), elements=st.floats(-3, 3, width=32)), st.floats(1e-3, 1e3))
@settings(max_examples=50, deadline=None)
def test_every_gram_matrix_is_found_valid_whatever_its_scale(rows, scale):
    K = rows @ rows.T
    found, scaled = diagnose(K), diagnose(scale * K)
    assert found.psd
    assert found.symmetric
    assert found.rank <= 3 or not K.any()
    assert scaled.verdict == found.verdict
    order = np.random.RandomState(0).permutation(7)
    moved = diagnose(K[np.ix_(order, order)])
    assert moved.verdict == found.verdict
    np.testing.assert_allclose(moved.eigenvalues, found.eigenvalues, atol=1e-9 * max(1.0, np.abs(K).max()))


def test_duplicates_and_contradictions_are_counted():
    rows = np.vstack([X, X[:3]])
    found = diagnose(Gaussian(gamma=2.0), rows, np.append(y, [y[0], 1 - y[1], 1 - y[2]]))
    assert (found.near_duplicates, found.contradictions) == (3, 2)
    assert "near-duplicates: 3 pairs, 2 with different labels" in str(found)


def test_uneven_lengths_call_for_normalisation():
    rows = np.array([[1.0, 1.1], [10.0, 9.0], [100.0, 120.0], [1.0, -1.0]])
    assert "normalised(linear)" in " ".join(diagnose("linear", rows).advice)
    assert not diagnose("normalised(linear)", rows).advice


def test_large_data_are_sampled_and_it_is_said():
    rows, labels = make_moons(3000, noise=0.2, random_state=0)
    found = diagnose("gaussian(gamma=2)", rows, labels, sample=150)
    assert (found.n, found.of) == (150, 3000)
    assert "150 of 3000 items, drawn at random" in str(found)
    assert found.facts() == diagnose("gaussian(gamma=2)", rows, labels, sample=150).facts()
    assert diagnose(Letters(), WORDS * 10, np.tile(LABELS, 10), sample=50).n == 50


def test_heat_map_sorts_rows_by_class():
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    mixed = [0, 2, 1, 3, 4]
    axes = diagnose(BLOCKS[np.ix_(mixed, mixed)], np.array(["one", "one", "two", "two", "two"])[mixed]).plot()
    drawn = axes.images[0].get_array()
    np.testing.assert_array_equal(drawn, BLOCKS)
    assert [label.get_text() for label in axes.get_yticklabels()] == ["one", "two"]
    assert diagnose(np.eye(3)).plot().get_title() == "a kernel matrix: bad"


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        ((np.ones((2, 3)),), r"is square.*shape \(2, 3\)"),
        ((np.array([[1.0, np.nan], [np.nan, 1.0]]),), "nan in row 0, column 1"),
        ((np.eye(3), [1, 2]), "one label for each of the 3 items"),
        ((np.eye(3), [1, 1, 1]), "only one class"),
        ((np.eye(3), ["a", None, "b"]), "missing label in row 1"),
        ((np.eye(1),), "two items or more"),
        (([["a", "b"], ["c", "d"]],), "matrix of numbers"),
        (("gausian", X), "there is no kernel"),
        (("gaussian", iter(X)), "expected an array, frame or list"),
    ],
)
def test_bad_input_gets_one_sentence(arguments, hint):
    with pytest.raises(ValueError, match=hint):
        diagnose(*arguments)
    with pytest.raises(TypeError, match=r"expected diagnose\(kernel, X, y\)"):
        diagnose("linear")


class TestMercer:
    def test_kernels_pass(self):
        for kernel in (Gaussian(), "polynomial(degree=3)", Function(lambda A, B: np.minimum(A[:, :1], B[:, 0]))):
            assert check_mercer(kernel, np.abs(X))
        assert check_mercer(lambda x, z: len(x & z), [{1, 2}, {2}, set(), {3, 1}])
        assert "no counterexample" in str(check_mercer(Letters(), WORDS))

    @pytest.mark.parametrize(
        "function",
        [lambda x, z: abs(x - z), lambda x, z: max(x, z), lambda x, z: -x * z, lambda x, z: np.tanh(2 * x * z - 1)],
    )
    def test_counterexamples_are_proofs(self, function):
        items = [0.3, 1.0, 2.0, 5.0, 9.0, -1.0]
        found = check_mercer(function, items)
        assert not found
        assert found.items == [items[k] for k in found.places]
        K = np.array([[function(x, z) for z in found.items] for x in found.items])
        np.testing.assert_allclose(found.matrix, K)
        assert found.coefficients @ K @ found.coefficients < 0
        assert str(found.places[0]) in str(found)
        if len(found.items) > 1:  # no item can be left out
            for k in range(len(K)):
                rest = np.delete(np.delete(K, k, 0), k, 1)
                assert np.linalg.eigvalsh(rest)[0] >= -1e-9

    def test_asymmetry_is_shown(self):
        found = check_mercer(lambda x, z: x - z, [1.0, 2.0])
        assert "not symmetric, k(x, z) = -1 but k(z, x) = 1" in str(found)
        assert not check_mercer(Function(lambda A, B: A[:, :1] + 2 * B[:, 0]), X)
        assert not check_mercer(Sigmoid(gamma=3.0, coef0=-2.0), X)

    def test_bad_input_gets_one_sentence(self):
        with pytest.raises(ValueError, match="two items or more"):
            check_mercer("linear", X[:1])
        with pytest.raises(TypeError, match="function of two items"):
            check_mercer(3, X)


class TestAlign:
    def test_ranks_by_alignment(self):
        rows, labels = make_circles(150, noise=0.1, factor=0.4, random_state=0)
        found = align(["linear", Gaussian(gamma=1.0), "gaussian(gamma=1000)"], rows, labels)
        assert found.best == Gaussian(gamma=1.0)
        assert (np.diff(found.values) <= 0).all()
        for kernel, value in zip(found.kernels, found.values, strict=True):
            assert diagnose(kernel, rows, labels).alignment == pytest.approx(value)
        assert found.mixture_value >= found.values[0]
        assert diagnose(found.mixture, rows, labels).alignment == pytest.approx(found.mixture_value, rel=1e-3)
        assert parse(str(found.mixture)) == found.mixture
        assert "(best mixture)" in str(found)

    def test_no_other_mixture_is_better(self):
        kernels = [Linear(), Gaussian(gamma=2.0), Gaussian(gamma=50.0)]
        found = align(kernels, X, y)
        H = np.eye(200) - 1 / 200
        matrices = [H @ kernel(X) @ H for kernel in kernels]
        ideal = H @ np.equal.outer(y, y) @ H

        def minus_alignment(w):
            K = sum(abs(a) * matrix for a, matrix in zip(w, matrices, strict=True))
            return -np.vdot(K, ideal) / (np.linalg.norm(K) * np.linalg.norm(ideal))

        best = optimize.minimize(minus_alignment, np.ones(3), method="Nelder-Mead", options={"maxiter": 150})
        assert found.mixture_value >= -best.fun - 1e-9
        assert found.weights.sum() == pytest.approx(1)
        assert (found.weights >= 0).all()

    def test_bad_input_gets_one_sentence(self):
        with pytest.raises(ValueError, match="at least one kernel"):
            align([], X, y)
        with pytest.raises(ValueError, match="needs labels"):
            align(["linear"], X, None)
