"""``/api/words``: what it says is what the library says of the same words."""

import json
import time

import numpy as np
import pytest

from mercer import SVC
from mercer.explain import explain
from mercer.kernels import Normalised, parse
from mercer.play import letter_pushes, words

ENGLISH = ["house", "water", "night", "mother", "weather", "bridge", "thought", "north"]
ITALIAN = ["casa", "acqua", "notte", "madre", "tempo", "ponte", "pensiero", "nord"]
ASKED = {
    "words": ENGLISH + ITALIAN,
    "labels": [0] * 8 + [1] * 8,
    "names": ["English", "Italian"],
    "kernel": "normalised(spectrum(p=2))",
    "C": 2.0,
    "asked": "giardino",
}


@pytest.mark.parametrize("kernel", ["spectrum(p=2)", "normalised(spectrum(p=(1, 3)))", "subsequence(k=2, decay=0.5)"])
def test_the_machine_is_the_library_s(kernel):
    answer = words({**ASKED, "kernel": kernel})
    model = SVC(parse(kernel), C=2.0).fit(ASKED["words"], ASKED["labels"])
    scores = model.decision_function(ASKED["words"])
    np.testing.assert_allclose(answer["scores"], scores, rtol=1e-9)
    alpha = np.zeros(16)
    alpha[model.support_] = np.abs(model.dual_coef_[0])
    np.testing.assert_allclose(answer["alpha"], alpha, rtol=1e-9)
    assert answer["support"] == (alpha > 0).tolist()
    assert answer["wrong"] == (model.predict(ASKED["words"]) != ASKED["labels"]).tolist()
    assert answer["certificate"]["gap"] == model.duality_gap_[0]
    np.testing.assert_allclose(answer["matrix"], Normalised(parse(kernel))(ASKED["words"]), atol=1e-4)
    assert answer["asked"]["score"] == pytest.approx(model.decision_function(["giardino"])[0])


def test_pushes_are_those_of_explain_and_add_up():
    answer = words(ASKED)
    about = answer["asked"]
    model = SVC(parse(ASKED["kernel"]), C=2.0).fit(ASKED["words"], ASKED["labels"])
    told = explain(model, "giardino", label=1, top=100)
    assert {each["feature"]: each["push"] for each in about["pushes"]} == pytest.approx(dict(told.features))
    for each in about["pushes"]:
        assert each["count"] * each["weight"] == pytest.approx(each["push"])
    total = answer["intercept"] + sum(each["push"] for each in about["pushes"])
    assert total == pytest.approx(about["score"])
    assert sum(about["letters"]) + answer["intercept"] == pytest.approx(about["score"])
    assert [each["place"] for each in about["nearest"]] == [each.place for each in told.similar[:6]]
    assert about["nearest"][0]["push"] == pytest.approx(told.similar[0].value)
    assert about["nearest"][0]["word"] == ASKED["words"][about["nearest"][0]["place"]]
    assert about["name"] == ASKED["names"][about["label"]]


def test_a_word_without_any_score_is_where_predict_has_it():
    answer = words({"words": ["aa", "bb"], "labels": [0, 1], "kernel": "spectrum(p=2)", "asked": "zz"})
    model = SVC("spectrum(p=2)", C=1.0).fit(["aa", "bb"], [0, 1])
    assert answer["asked"]["score"] == 0.0
    assert answer["asked"]["label"] == model.predict(["zz"])[0]


def test_features_speak_for_the_class_that_has_them():
    weights = {each["feature"]: each["weight"] for each in words(ASKED)["features"]}
    assert len(weights) == 30
    assert weights["'th'"] < 0 < weights["'no'"]


def test_a_word_need_not_be_asked_about():
    for nothing in ("", None):
        assert words({**ASKED, "asked": nothing})["asked"] is None


def test_letters_have_the_pushes_of_substrings_alone():
    assert letter_pushes("aXa", [{"feature": "'a' at 0", "push": 1.0}, {"feature": "'X'", "push": -2.0}]) == [1, -2, 0]
    assert letter_pushes("ab", [{"feature": "'a' … 'b'", "push": 1.0}]) is None
    assert letter_pushes("ab", [{"feature": "'a' and 'b'", "push": 1.0}]) is None
    assert letter_pushes("ab", [{"feature": "'c'", "push": 1.0}]) is None  # of a mismatch kernel
    assert letter_pushes("a warm", [{"feature": "'a'", "push": 1.0}], whole_words=True) == [1, 0, 0, 0, 0, 0]
    phrases = {"words": ["a cold day", "a warm day"], "labels": [0, 1], "kernel": "spectrum(p=1, tokens='words')"}
    letters = words({**phrases, "asked": "warm wars"})["asked"]["letters"]
    assert min(letters[:4]) > 0 == max(np.abs(letters[4:]))


@pytest.mark.parametrize("kernel", ["spectrum(p=2)**9", "spectrum(p=1)*spectrum(p=2)*spectrum(p=3)"])
def test_more_features_than_memory_are_not_listed(kernel):
    long = ["".join(np.random.RandomState(k).choice(list("abcdefgh"), 200)) for k in range(20)]
    answer = words({"words": long, "labels": [0, 1] * 10, "kernel": kernel, "asked": long[0]})
    assert answer["features"] == answer["asked"]["pushes"] == []
    assert "more features than can be listed" in answer["notes"][0]
    assert answer["asked"]["letters"] is None
    assert answer["asked"]["nearest"][0]["word"] == long[0]


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"words": "house"}, "the words should be a list"),
        ({"words": None}, "the words should be a list"),
        ({"words": [3, "house"]}, "word 1 should be a text, got 3"),
        ({"words": ["a", ""], "labels": [0, 1]}, "word 2 is empty; remove it"),
        ({"words": ["a", "b" * 201], "labels": [0, 1]}, "word 2 has 201 characters; at most 200 are read"),
        ({"words": ["a"] * 201}, "the words are 201; at most 200 are taken"),
        ({"words": ["a", "\ud800"], "labels": [0, 1]}, "word 2 holds half a character"),
        ({"labels": [0, 1]}, "16 words but 2 labels"),
        ({"labels": [0] * 16}, "put some words into each"),
        ({"labels": [0, 2] * 8}, "a list of 0 and 1"),
        ({"labels": [True, 0] * 8}, "a list of 0 and 1"),
        ({"names": ["one"]}, "two classes"),
        ({"names": ["one", 2]}, "name 2 should be a text"),
        ({"C": 0}, "C should be a number"),
        ({"C": float("nan")}, "C should be a number"),
        ({"C": "1"}, "C should be a number"),
        ({"asked": 3}, "the word asked about should be a text"),
        ({"asked": "x" * 201}, "the word asked about has 201"),
        ({"kernel": "gaussian"}, "gaussian compares rows, not strings; take a kernel such as 'spectrum(p=2)'"),
        ({"kernel": "shortestpath + spectrum"}, "compares graphs, not strings"),
        ({"kernel": "precomputed"}, "not strings"),
        ({"kernel": 7}, "the kernel text should be a text"),
        ({"kernel": "spectrm(p=2)"}, "the nearest name is 'spectrum'"),
        ({"kernel": "spectrum(p=2"}, "cannot be read"),
        ({"kernel": "+".join(["spectrum"] * 9)}, "at most 8 are taken"),
        ({"kernel": "spectrum(p=2).on(word)"}, "."),
        ({"words": ["ab" * 90, "ba" * 90], "labels": [0, 1], "kernel": "spectrum(p=2)**100"}, "overflows"),
        ({"kernel": "mismatch(k=3)"}, "not in the alphabet"),
        ({"kernel": "mismatch(k=8, m=4, alphabet='abcdefghijklmnopqrstuvwxyz')"}, "take a smaller k or m"),
        ({"kernel": "weighteddegree"}, "must have one length"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_in_a_sentence(change, sentence):
    with pytest.raises(ValueError, match=r"\.$") as refusal:
        words({**ASKED, **change})
    said = str(refusal.value)
    assert sentence in said
    assert "\n" not in said


@pytest.mark.thorough
def test_nobody_waits_for_long():
    words({**ASKED, "kernel": "subsequence(k=2)"})  # compiled
    long = ["".join(np.random.RandomState(k).choice(list("abcdefgh"), 200)) for k in range(200)]
    slow = " + ".join(f"subsequence(k={k})" for k in range(150, 158))
    begun = time.monotonic()
    with pytest.raises(ValueError, match="takes more than 5 s for 200 words; take fewer or smaller ones"):
        words({"words": long, "labels": [0, 1] * 100, "kernel": slow})
    assert time.monotonic() - begun < 30


def test_as_much_as_is_allowed_is_answered():
    rng = np.random.RandomState(0)
    most = ["".join(rng.choice(list("abcdefgh"), 200)) for _ in range(200)]
    answer = words({"words": most, "labels": [0, 1] * 100, "kernel": "normalised(spectrum(p=3))", "asked": most[3]})
    assert len(json.dumps(answer, allow_nan=False)) < 1_500_000
    assert answer["asked"]["nearest"][0]["word"] == most[3]
