import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mercer.kernels import LocalAlignment, Mismatch, Normalised, Spectrum, Strings, Subsequence, WeightedDegree

from . import naive_structured as naive

text = st.text(st.sampled_from("abAB é🙂"), max_size=9)


@pytest.mark.parametrize(("p", "value"), [(1, 10), (2, 4), (3, 2), (4, 1), (5, 0)])
def test_the_course_example(p, value):
    assert Spectrum(p)(["statistics"], ["computation"])[0, 0] == value


def test_the_course_example_with_itself():
    assert Spectrum(3)(["statistics", "computation"]).diagonal().tolist() == [8, 9]


@given(st.lists(text, min_size=2, max_size=4), st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_random_texts(texts, k):
    for kernel in (Spectrum(p=(1, k)), Spectrum(k, tokens="bytes"), Spectrum(k, tokens="words"), Subsequence(k, 0.6)):
        expected = [[naive.value(kernel, x, z) for z in texts] for x in texts]
        np.testing.assert_allclose(kernel(texts), expected, rtol=1e-12)


@given(st.lists(st.text("ACGT", max_size=12), min_size=2, max_size=3), st.integers(1, 3))
@settings(max_examples=30, deadline=None)
def test_random_sequences(texts, k):
    for kernel in (Mismatch(k + 1, k), Mismatch(k + 1, 1), LocalAlignment(2.0, -0.5, 1.0, 0.5)):
        expected = [[naive.value(kernel, x, z) for z in texts] for x in texts]
        np.testing.assert_allclose(kernel(texts), expected, rtol=1e-12)


def test_inputs_of_every_kind():
    texts = ["GATTACA", "", "CAT"]
    expected = Spectrum(2)(texts)
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    for given_as in (
        tuple(texts),
        np.array(texts),
        np.array(texts, dtype=object),
        np.array(texts)[:, None],
        [np.str_(text) for text in texts],
        [text.encode() for text in texts],
        pandas.Series(texts, index=[7, 8, 9]),
        pandas.DataFrame({"sequence": texts}),
        polars.Series(texts),
        polars.DataFrame({"sequence": texts}),
        Strings.of(texts),
    ):
        np.testing.assert_array_equal(Spectrum(2)(given_as), expected)


def test_bytes_that_are_no_text():
    assert Spectrum(1, tokens="bytes")([b"\xff\xff\x00"], [b"\xff"])[0, 0] == 2


@pytest.mark.parametrize(
    ("items", "hint"),
    [
        ("GATTACA", "put it into a list"),
        (["a", None], "text 1 is missing"),
        (["a", float("nan")], "text 1 is missing"),
        (["a", 3], "item 1 is not a text but 3 (int)"),
        ([["a", "b"]], "item 0 is not a text"),
        (np.array([["a", "b"]]), "expected one column of texts, got 2 columns"),
        ({"a", "b"}, "expected a list, array or column of texts, got set"),
        (7, "got int"),
    ],
)
def test_what_is_no_collection_of_texts_is_refused(items, hint):
    with pytest.raises(ValueError, match=re.escape(hint)):
        Spectrum()(items)


@pytest.mark.parametrize(
    ("kernel", "hint"),
    [
        (Spectrum(0), "p must be a length of at least 1"),
        (Spectrum((3, 2)), "p must be a length"),
        (Spectrum(1.5), "p must be a length"),
        (Spectrum((1, 2), weights=[1.0]), "weights must be 2 numbers"),
        (Spectrum((1, 2), weights=[0.0, 0.0]), "not all zero"),
        (Spectrum(tokens="letters"), "tokens must be one of 'characters', 'bytes', 'words'"),
        (Mismatch(k=3, m=3), "m must be less than k"),
        (Mismatch(alphabet="AA"), "two different characters"),
        (Mismatch(k=40), "take a smaller k or m"),
        (Subsequence(decay=1.5), "decay must be a number of at most 1"),
        (Subsequence(k=0), "k must be a whole number of at least 1"),
        (WeightedDegree(k=-1), "k must be a whole number"),
        (LocalAlignment(mismatch=1.0), "mismatch must be a number of at most 0"),
        (LocalAlignment(gap_open=-1.0), "gap_open"),
    ],
)
def test_impossible_parameters_are_refused(kernel, hint):
    with pytest.raises(ValueError, match=re.escape(hint)):
        kernel(["ACGT"])


def test_a_character_outside_the_alphabet_is_named():
    with pytest.raises(ValueError, match=r"string 1 has the character 'N', which is not in the alphabet 'ACGT'"):
        Mismatch()(["ACGTA", "ACNTA"])


def test_strings_of_different_lengths_do_not_align():
    with pytest.raises(ValueError, match="string 0 has 4 characters and string 2 has 3"):
        WeightedDegree()(["ACGT", "AAAA", "ACG"])
    with pytest.raises(ValueError, match="those on the left have 4 characters and those on the right 3"):
        WeightedDegree()(["ACGT"], ["ACG"])


def test_empty_strings():
    for kernel in (Spectrum(), Mismatch(), Subsequence(), WeightedDegree(), LocalAlignment(), Normalised(Spectrum())):
        assert kernel(["", ""]).tolist() == [[0, 0], [0, 0]]
        assert kernel([]).shape == (0, 0)


def test_long_strings_of_counts_too_large_for_single_precision():
    K = Spectrum(1)(["a" * 10_000, "a" * 9_999])
    assert K.tolist() == [[1e8, 99_990_000], [99_990_000, 9_999.0**2]]


def test_a_large_protein_alphabet_uses_hashed_features():
    proteins = ["MKVLAAGIVG", "MKVLSAGIVG"]
    kernel = Mismatch(k=5, m=1, alphabet="ACDEFGHIKLMNPQRSTVWY")
    features = kernel.features(kernel.items(proteins))
    np.testing.assert_allclose((features @ features.T).toarray(), kernel(proteins), rtol=0.05)  # columns collide


def test_many_neighbours_are_counted_in_groups(monkeypatch):
    from mercer.kernels import strings as mismatch

    strings = ["".join(row) for row in np.random.RandomState(0).choice(list("ACGT"), (12, 20))] + ["", "A"]
    expected = Mismatch(4, 1)(strings)
    monkeypatch.setattr(mismatch, "_KEYS_AT_ONCE", 300)
    assert np.array_equal(Mismatch(4, 1)(strings), expected)
