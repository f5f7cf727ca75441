"""Feature maps of kernels on strings, sets, graphs and tables: Φ(x)·Φ(z) is k(x, z), whatever else is in the batch."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from mercer import SVC, KernelClassifier, KernelRegressor, Pegasos, Perceptron, grams
from mercer.kernels import (
    Equal,
    Gaussian,
    Graphlet,
    Hamming,
    Intersection,
    Jaccard,
    LocalAlignment,
    MinMax,
    Mismatch,
    Normalised,
    RandomWalk,
    ShortestPath,
    Spectrum,
    Subsequence,
    Subsets,
    Tanimoto,
    WeightedDegree,
    WeisfeilerLehman,
    WeisfeilerLehmanAssignment,
)
from mercer.kernels.engine import FeatureWeights

from . import cases, structured

#: Kernels whose features are infinitely many, or that have none.
WITHOUT = (Subsets, Jaccard, MinMax, Tanimoto, LocalAlignment, RandomWalk, Gaussian)

TABLE = structured.TABLE[:20]
CASES = {
    **{f"{kernel}-{place}": case for place, case in enumerate(cases.STRUCTURED) for kernel in [case[0]]},
    **{name: (kernel, items[:20]) for name, (kernel, items, _) in structured.CASES.items()},
    "equal": (Equal(), ["red", 1, 1.0, "blue", True, "red"]),
    "hamming": (Hamming(), TABLE[["word", "first"]]),
    "columns": (Normalised(Spectrum(2).on("word") * Equal().on("first")) + 2 * Hamming().on("first", "size"), TABLE),
    "cube": (Spectrum(1) ** 3, structured.WORDS[:4]),
    "narrow times wide": (Graphlet(size=3) * WeisfeilerLehman(h=1), cases.GRAPHS),
}


def leaves(kernel):
    return [leaf for part in kernel.parts() for leaf in leaves(part)] or [kernel]


def has_features(kernel):
    return not any(isinstance(leaf, WITHOUT) for leaf in leaves(kernel))


def some(items, index):
    return items.iloc[index] if isinstance(items, pd.DataFrame) else [items[k] for k in index]


@pytest.mark.parametrize("case", CASES)
def test_features_give_the_kernel(case):
    kernel, items = CASES[case]
    features = kernel.features(kernel.items(items))
    assert (features is not None) == has_features(kernel)
    if features is not None:
        product = features @ features.T
        product = product.toarray() if sparse.issparse(product) else product
        np.testing.assert_allclose(product, kernel(items), rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("case", [case for case in CASES if has_features(CASES[case][0])])
def test_features_do_not_depend_on_the_batch(case):
    kernel, items = CASES[case]
    features = kernel.features(kernel.items(items))
    assert sparse.issparse(features) or features.shape[1] < 10_000
    order = np.random.RandomState(0).permutation(len(items))
    for index in (order, order[:1], order[:0]):
        other = kernel.features(kernel.items(some(items, index)))
        assert other.shape == (len(index), features.shape[1])
        assert len(index) == 0 or abs(other - features[index]).max() <= 1e-12


@pytest.mark.parametrize("case", [case for case in CASES if has_features(CASES[case][0])])
def test_weights_score_as_the_items_do(case):
    kernel, items = CASES[case]
    collection, coef = kernel.items(items), np.random.RandomState(1).standard_normal((2, len(items)))
    weights = FeatureWeights(kernel.keyed(collection), coef)
    K = kernel(items)
    np.testing.assert_allclose(weights.scores(kernel.keyed(collection)), K @ coef.T, rtol=0, atol=1e-12 * K.max() * 9)
    alone = kernel.items(some(items, [1]))
    np.testing.assert_allclose(weights.scores(kernel.keyed(alone)), K[[1]] @ coef.T, rtol=0, atol=1e-12 * K.max() * 9)


@pytest.mark.parametrize(
    "estimator",
    [
        Perceptron(random_state=0),
        Pegasos(steps=2000, random_state=0),
        SVC(),
        KernelClassifier(),
        KernelRegressor(),
    ],
    ids=str,
)
@pytest.mark.parametrize("kernel", [Normalised(Spectrum((1, 2))), Subsequence(2) + Spectrum(1)], ids=str)
def test_predictions_by_weights_are_those_by_pairs(estimator, kernel):
    words, labels = structured.WORDS, np.arange(60) % (2 if isinstance(estimator, KernelRegressor) else 3)
    model = estimator.set_params(kernel=kernel).fit(words, labels)
    fitted, new = model._model, kernel.items([word[::-1] for word in words] + ["", "🙂"])
    by_pairs = kernel.matrix(new, fitted.items) @ fitted.coef.T + fitted.intercept
    assert fitted._weights is not None
    np.testing.assert_allclose(fitted.scores(new, "1GB"), by_pairs, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(fitted.scores(new, 8), by_pairs, rtol=1e-11, atol=1e-11)


def test_weights_are_used_where_they_are_cheaper():
    words = structured.WORDS
    collection = Spectrum(1).items(words)
    assert Spectrum(1).cheaper_in_primal(collection, collection).all()
    assert not (Spectrum(2) ** 3).cheaper_in_primal(collection, collection).all()
    assert not (Spectrum(1) + Jaccard()).cheaper_in_primal(collection, collection).any()
    kernel = Subsequence(k=3, tokens="words")
    few, varied = kernel.items(["a b " * 30] * 9), kernel.items([" ".join(map(str, range(500)))] * 9)
    assert kernel.cheaper_in_primal(few, few).all()
    assert not kernel.cheaper_in_primal(varied, varied).any()


def test_strings_of_another_length_are_still_refused():
    model = SVC(WeightedDegree(k=1)).fit(["AB", "BA"] * 40, [0, 1] * 40)
    assert model._model.support.size < 64 or model._model._weights is not None
    with pytest.raises(ValueError, match="one length"):
        model.predict(["ABC"])


def test_every_subsequence_is_a_feature():
    kernel, text = Subsequence(k=3, decay=0.7), "abcabba"
    expected = {}
    for places in combinations(range(len(text)), 3):
        word = "".join(text[p] for p in places)
        expected[word] = expected.get(word, 0.0) + 0.7 ** (places[-1] - places[0] + 1)
    counts = kernel.keyed(kernel.items([text, "", "ab"]))
    assert np.diff(counts.starts).tolist() == [len(expected), 0, 0]
    np.testing.assert_allclose(np.sort(counts.values), sorted(expected.values()), rtol=1e-12)
    # Each feature is the kernel with a string that has this one subsequence alone, decayed over three places.
    for word, value in expected.items():
        assert kernel([text], [word])[0, 0] == pytest.approx(value * 0.7**3)


def test_many_different_subsequences_are_found_in_growing_tables():
    letters = "".join(map(chr, range(200, 260)))
    counts = Subsequence(k=2, decay=1.0).keyed(Subsequence().items([letters, letters[:3], letters * 2]))
    assert np.diff(counts.starts).tolist() == [60 * 59 // 2, 3, 60 * 60]
    assert counts.totals().tolist() == [60 * 59 / 2, 3, 120 * 119 / 2]


def test_features_that_share_a_column_leave_the_items_alone():
    kernel, words = Spectrum(1, tokens="words"), [" ".join(map(str, range(5000)))]
    items = kernel.items(words)
    expected = kernel.keyed(items)
    sizes, values = np.diff(expected.starts), expected.values.copy()
    assert kernel.features(items).nnz < 5000
    assert np.diff(kernel.keyed(items).starts).tolist() == sizes.tolist() == [5000]
    assert np.array_equal(kernel.keyed(items).values, values)
    assert kernel(items)[0, 0] == 5000


def test_too_many_features_get_one_sentence():
    long = " ".join(map(str, range(5000)))
    kernel = Subsequence(k=5, tokens="words")
    with pytest.raises(ValueError, match=r"string 1 may have .* subsequences of length 5"):
        kernel.features(kernel.items(["a b", long]))
    with pytest.raises(ValueError, match="too many to list"):
        (Spectrum(1, tokens="words") ** 3).features(Spectrum(1).items([long]))


ODD_TEXTS = ["", "🙂", "a", "🙂🙂 a\x00a", "\ud800"]
NOTHING, ALONE, LOOP, APART = (0, []), (1, []), (1, [[0, 0]]), (3, [])
ODD = {
    "strings": ([Spectrum((1, 2)), Spectrum(1, tokens="words"), Subsequence(2)], ODD_TEXTS),
    "mismatches": ([Mismatch(k=2, m=1, alphabet="a🙂")], ["", "🙂", "a🙂a", "aa"]),
    "equal strings": ([WeightedDegree(k=3)], ["", ""]),
    "sets": ([Intersection()], [set(), {"🙂"}, [], {"": 2}, ["🙂", "🙂", ""]]),
    "graphs": (
        [WeisfeilerLehman(2), WeisfeilerLehmanAssignment(2), ShortestPath(), Graphlet(3), Graphlet(5, scale="cosine")],
        [NOTHING, ALONE, LOOP, APART],
    ),
}


@pytest.mark.parametrize("case", ODD)
def test_items_with_nothing_in_them_have_features(case):
    kernels, items = ODD[case]
    for kernel in [*kernels, *map(Normalised, kernels), kernels[0] * kernels[0], kernels[0] ** 2]:
        collection = kernel.items(items)
        K, features = kernel(items), kernel.features(collection)
        features = features.toarray() if sparse.issparse(features) else features
        assert np.isfinite(features).all()
        assert not features[0].any()
        np.testing.assert_allclose(features @ features.T, K, atol=1e-12)
        weights = FeatureWeights(kernel.keyed(collection), np.ones((1, len(items))))
        np.testing.assert_allclose(weights.scores(kernel.keyed(collection))[:, 0], K.sum(axis=1), atol=1e-12)
        named = kernel.named_features(collection)
        assert named is None or named[0] == {}


def test_a_self_loop_is_no_feature():
    for kernel in ODD["graphs"][0]:
        features = kernel.features(kernel.items([ALONE, LOOP]))
        assert abs(features[[0]] - features[[1]]).max() == 0


def test_ten_thousand_labels_and_a_giant_graph():
    n = 200_000
    labels = [k % 10_000 for k in range(n)]
    apart, ring = (n, [], labels), (n, np.column_stack([np.arange(n), (np.arange(n) + 1) % n]), labels)
    for kernel in (WeisfeilerLehman(1), WeisfeilerLehmanAssignment(1)):
        counts = kernel.keyed(kernel.items([apart, ring, NOTHING]))
        assert counts.squared_norms().tolist() == kernel.diag(kernel.items([apart, ring, NOTHING])).tolist()
    assert WeisfeilerLehman(1)([apart, ring]).tolist() == [[2 * n * 20, n * 20], [n * 20, 2 * n * 20]]
    assert ShortestPath()([apart])[0, 0] == 0
    with pytest.raises(ValueError, match=r"graph 1 has 200000 nodes.* use WeisfeilerLehman"):
        ShortestPath().features(ShortestPath().items([(1, [], [0]), ring]))


def test_exact_features_of_mismatch_have_a_column_for_every_string():
    kernel = Mismatch(k=2, m=1, alphabet="AB")
    features = kernel.features(kernel.items(["AB", "ABB", ""])).toarray()  # columns AA, AB, BA, BB
    assert features.tolist() == [[1, 1, 0, 1], [1, 2, 1, 2], [0, 0, 0, 0]]


def test_empty_columns_of_features_change_nothing():
    rows = np.random.RandomState(0).standard_normal((6, 4))
    wide = sparse.csr_array((6, 10**6))
    wide[:, [5, 70, 800, 999_999]] = rows
    narrow, broad, z = grams.Features(rows), grams.Features(wide), np.arange(6.0)
    np.testing.assert_allclose(broad.matvec(z), narrow.matvec(z), rtol=1e-12)
    np.testing.assert_allclose(broad.rows([4, 1]), narrow.rows([4, 1]), rtol=1e-12)
    np.testing.assert_allclose(broad.take([3, 0]).matvec(z[:2]), narrow.take([3, 0]).matvec(z[:2]), rtol=1e-12)
    assert broad.model(z).shape == (10**6,)
    np.testing.assert_allclose(broad.model(z)[[5, 70, 800, 999_999]], narrow.model(z), rtol=1e-12)
