import json

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError

from mercer import SVC, KernelClassifier, KernelRegressor, Pegasos, Perceptron
from mercer.explain import explain
from mercer.kernels import (
    Equal,
    Gaussian,
    Graphlet,
    Graphs,
    Hamming,
    Intersection,
    Jaccard,
    Linear,
    Mismatch,
    Normalised,
    ShortestPath,
    Spectrum,
    Subsequence,
    WeightedDegree,
    WeisfeilerLehman,
    WeisfeilerLehmanAssignment,
)

from .structured import GRAPHS, LABELS, WORDS

SAME_LENGTH = [(word * 3)[:7] for word in WORDS]
BAGS = [list(word) for word in WORDS]
TABLE = pd.DataFrame({"word": WORDS, "size": np.arange(60) / 60, "job": ["cook", "smith", "cook"] * 20})
MIXED = Spectrum(2).on("word") * Equal().on("job") + 3 * Linear().on("size")

READABLE = {
    "substrings": (Spectrum(p=(1, 3), weights=[1, 0, 0.5]), WORDS),
    "words": (Spectrum(p=1, tokens="words"), [" ".join(word) for word in WORDS]),
    "bytes": (Spectrum(p=2, tokens="bytes"), ["é" + word for word in WORDS]),
    "places": (WeightedDegree(k=3), SAME_LENGTH),
    "multisets": (Intersection(), BAGS),
    "near substrings": (Mismatch(k=3, m=1, alphabet="abcdefg"), WORDS),
    "subsequences": (Subsequence(k=3, decay=0.7), WORDS),
    "subsequences of bytes": (Subsequence(k=2, tokens="bytes"), ["é" + word for word in WORDS]),
    "subsequences of words": (Subsequence(k=2, tokens="words"), [" ".join(word) for word in WORDS]),
    "subtrees": (WeisfeilerLehman(h=2), GRAPHS),
    "paired subtrees": (Normalised(WeisfeilerLehmanAssignment(h=2)), GRAPHS),
    "shortest paths": (ShortestPath(), GRAPHS),
    "graphlets": (Graphlet(size=4, scale="cosine"), GRAPHS),
    "shares of graphlets": (Graphlet(size=3, scale="frequencies"), GRAPHS),
    "normalised": (Normalised(Spectrum(2) + 2 * Spectrum(2)), WORDS),
    "table": (MIXED, TABLE),
    "categories": (Hamming().on("job", "size") + Equal().on("size", "job"), TABLE),
    "numbers": (2 * Linear(), np.random.RandomState(0).standard_normal((60, 3))),
}


@pytest.mark.parametrize("case", READABLE)
def test_named_features_are_features_of_the_kernel(case):
    kernel, items = READABLE[case]
    features = kernel.named_features(kernel.items(items))
    dots = [[sum(value * b.get(name, 0.0) for name, value in a.items()) for b in features] for a in features]
    np.testing.assert_allclose(dots, kernel(items), atol=1e-9)


@pytest.mark.parametrize("case", READABLE)
def test_the_parts_of_a_score_add_up(case):
    kernel, items = READABLE[case]
    model = KernelClassifier(kernel, lam=1e-2).fit(items, LABELS)
    for k in range(0, 60, 20):
        one = items.iloc[[k]] if isinstance(items, pd.DataFrame) else items[k]
        found = explain(model, one, label=1, top=10**6)
        alone = one if isinstance(items, pd.DataFrame) else items[k : k + 1]
        assert found.score == pytest.approx(model.decision_function(alone)[0])
        assert found.rest == pytest.approx(0, abs=1e-8)
        assert found.intercept + sum(push.value for push in found.features) == pytest.approx(found.score)
        assert found.intercept + sum(each.value for each in found.deciding) == pytest.approx(found.score)
        assert found.similar[0].similarity == pytest.approx(1)


def test_the_letters_that_decide_are_named():
    model = SVC(Spectrum(p=1)).fit(["aab", "abc", "ccd", "dcb"], ["A", "A", "D", "D"])
    found = explain(model, "aad")
    assert (found.predicted, found.label) == ("A", "A")
    assert found.features[0].name == "'a'"
    assert {push.name: push.value > 0 for push in found.features} == {"'a'": True, "'d'": False}
    text = str(found)
    assert "predicted 'A'" in text
    assert text.index("pushes up") < text.index("'a'") < text.index("pushes down") < text.index("'d'")
    assert "item 1: 'abc'" in text
    against = explain(model, "aad", label="D")
    assert against.score == pytest.approx(-found.score)
    assert len(explain(model, "aad", top=1).features) == 1
    assert json.loads(json.dumps(found.facts()))["deciding"][0]["item"] in ("aab", "dcb", "abc", "ccd")


def named(kernel, item):
    return {name.text: value for name, value in kernel.named_features(kernel.items([item]))[0].items()}


def test_features_are_called_what_they_are():
    assert named(Mismatch(k=2, m=1, alphabet="AB"), "ABB") == {"'AA'": 1, "'AB'": 2, "'BB'": 2, "'BA'": 1}
    assert named(Subsequence(k=2, decay=0.5), "aab") == {"'a' … 'a'": 0.25, "'a' … 'b'": 0.375}
    water = (3, [[0, 1], [0, 2]], ["O", "H", "H"], ["-", "-"])
    assert named(ShortestPath(), water) == {"H–O, 1 apart": 2, "H–H, 2 apart": 1}
    assert named(WeisfeilerLehman(h=1), water) == {"O": 1, "H": 2, "O(-H,-H)": 1, "H(-O)": 2}
    assert named(Graphlet(size=3), water) == {"a path of three nodes": 1}
    kinds = [named(Graphlet(size=4), (4, edges)) for edges in Graphlet(size=4).kinds()]
    assert len({text for kind in kinds for text in kind}) == 11
    assert len({text for kind in kinds for text in kind if "nodes with edges" in text}) == 0
    twice = WeisfeilerLehmanAssignment(h=0).named_features(Graphs.of([water]))[0]
    assert sorted(name.text for name in twice) == ["H", "H", "O"]
    assert set(twice.values()) == {1.0}


def test_the_path_that_decides_is_named():
    chain, ring = (4, [[0, 1], [1, 2], [2, 3]]), (4, [[0, 1], [1, 2], [2, 3], [3, 0]])
    found = explain(SVC(ShortestPath(), C=10).fit([chain, ring], ["chain", "ring"]), chain)
    assert found.predicted == "chain"
    # φ counts the pairs that are 1, 2 and 3 apart, and w is c·(φ(chain) − φ(ring)) = c·(3 − 4, 2 − 2, 1 − 0).
    pushes = {push.name: push.value for push in found.features}
    assert list(pushes) == ["*–*, 1 apart", "*–*, 3 apart"]
    assert pushes["*–*, 1 apart"] == pytest.approx(-3 * pushes["*–*, 3 apart"])
    assert pushes["*–*, 3 apart"] > 0


@pytest.mark.parametrize("model", [SVC(), SVC(strategy="ovr"), Pegasos(steps=2000, random_state=0), KernelClassifier()])
def test_several_classes(model):
    labels = np.array(["x", "y", "z"])[np.arange(60) % 3]
    model.set_params(kernel=Spectrum(1)).fit(WORDS, labels)
    raw = model._model.scores(model.kernel_.items(WORDS[:1]), "1GB")[0]
    scores = {label: explain(model, WORDS[0], label=label).score for label in "xyz"}
    if isinstance(model, SVC) and model.strategy == "ovo":  # machines x-y, x-z and y-z, each positive for its second
        assert scores["y"] == pytest.approx(raw[0] - raw[2])
    else:
        assert list(scores.values()) == pytest.approx(raw.tolist())
    assert explain(model, WORDS[0]).label == model.predict(WORDS[:1])[0]


def test_kernels_without_names_show_training_items():
    for kernel, items in ((Gaussian(), np.arange(60.0)[:, None]), (Jaccard(), BAGS)):
        found = explain(SVC(kernel).fit(items, LABELS), items[0])
        assert found.features == []
        assert found.similar[0].similarity == pytest.approx(1)
    K = Gaussian()(np.arange(60.0)[:, None])
    found = explain(SVC("precomputed").fit(K, LABELS), K[0])
    assert found.similar[0].place == 0


def test_linear_models_and_regressions():
    frame = pd.DataFrame({"a": [0.0, 1.0, 2.0, 3.0], "b": [1.0, 0.0, 1.0, 0.0]})
    found = explain(Perceptron(random_state=0).fit(frame, [0, 0, 1, 1]), frame.iloc[[3]])
    assert [push.name for push in found.features] == ["a"]
    model = KernelRegressor("linear", lam=1e-6).fit(frame, [1.0, 2.0, 3.0, 4.0])
    found = explain(model, frame.iloc[[3]])
    assert found.label is None
    assert found.score == pytest.approx(model.predict(frame.iloc[[3]])[0])


def test_bad_requests_get_one_sentence():
    model = SVC(Spectrum(1)).fit(WORDS, LABELS)
    with pytest.raises(ValueError, match="no class 7; its classes are 0, 1"):
        explain(model, WORDS[0], label=7)
    with pytest.raises(TypeError, match="machine of mercer"):
        explain("model", WORDS[0])
    with pytest.raises(NotFittedError):
        explain(SVC(Spectrum(1)), WORDS[0])
    with pytest.raises(ValueError, match="one item"):
        explain(SVC().fit([[0.0], [1.0]], [0, 1]), [[1.0], [2.0]])
    with pytest.raises(ValueError, match="has 60 rows"):
        explain(SVC(MIXED).fit(TABLE, LABELS), TABLE)
    with pytest.raises(ValueError, match="no single score"):
        explain(Perceptron(Spectrum(1), variant="voted", random_state=0).fit(WORDS, LABELS), WORDS[0])
