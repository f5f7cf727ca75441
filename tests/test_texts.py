"""Texts as rows of numbers: string kernels by their features."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import train_test_split

from mercer import SVC, KernelClassifier, read
from mercer.kernels import Gaussian, Normalised, Spectrum
from mercer.kernels.engine import product
from mercer.preprocess import Texts, pipeline

rng = np.random.default_rng(0)
WORDS = [
    a + b for a in ["sun", "rain", "wood", "stone", "water", "fire"] for b in ["man", "land", "fall", "house", "y"]
]
TEXTS = [" ".join(rng.choice(WORDS, 12)) for _ in range(40)]


def column(texts):
    return pd.DataFrame({"t": pd.Series(texts, dtype=object)})


def test_words_are_weighed_as_scikit_learn_does():
    own = Texts("words").fit(column(TEXTS))
    other = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, min_df=2, token_pattern=r"\w+").fit(TEXTS)
    names = [name.removeprefix("t '").removesuffix("'") for name in own.get_feature_names_out()]
    order = [names.index(name) for name in other.get_feature_names_out()]
    assert len(order) == len(names)
    new = [" ".join(rng.choice([*WORDS, "unseen"], 9)) for _ in range(10)]
    for texts in (TEXTS, new):
        rows = own.transform(column(texts)).toarray()[:, order]
        np.testing.assert_allclose(rows, other.transform(texts).toarray(), atol=1e-12)


def test_the_dot_product_is_a_normalised_spectrum_kernel():
    """Where every substring stands in as many texts and at most once in each, all weights are the same."""
    texts = ["abcdef", "ghijkl"] * 2
    rows = Texts("characters", weight=2.0).fit_transform(column(texts))
    padded = [f" {text} " for text in texts]
    np.testing.assert_allclose((rows @ rows.T).toarray(), 4 * Normalised(Spectrum(p=(2, 5)))(padded), atol=1e-12)


def test_a_gaussian_on_all_columns_is_a_product_of_two():
    rows = Texts("both").fit_transform(column(TEXTS)).toarray()
    others = rng.normal(size=(len(TEXTS), 3))
    kernel = Gaussian(gamma=0.3)
    np.testing.assert_allclose(kernel(np.hstack([others, rows])), kernel(others) * kernel(rows), atol=1e-12)


@pytest.mark.parametrize("units", ["words", "characters", "both"])
def test_rows_have_one_length_but_for_texts_of_nothing_known(units):
    fitted = Texts(units, weight=3.0).fit(column(TEXTS))
    rows = fitted.transform(column([*TEXTS[:3], "", None, "ŷŵ ŷŵ"]))
    lengths = np.sqrt(np.asarray(rows.multiply(rows).sum(axis=1)).ravel())
    np.testing.assert_allclose(lengths, [3, 3, 3, 0, 0, 0], atol=1e-9)
    assert rows.shape[1] == len(set(fitted.get_feature_names_out()))


def test_the_most_frequent_features_are_kept():
    fitted = Texts("words", most=7).fit(column(TEXTS))
    assert [keys.size for keys in fitted.keys_] == [7]
    assert (np.diff(fitted.keys_[0].astype(object)) > 0).all()


def test_mistakes_are_named():
    with pytest.raises(ValueError, match="units must be"):
        Texts("letters").fit(column(TEXTS))
    with pytest.raises(ValueError, match="all texts are empty"):
        Texts().fit(column(["", None]))
    with pytest.raises(ValueError, match="one column of texts at a time, got 2"):
        Texts().fit(np.array([["a", "b"]], dtype=object))


def test_reviews_in_a_file_are_told_apart_by_default(tmp_path):
    """Long texts of two kinds that share most words, against scikit-learn's usual way."""
    draw = np.random.default_rng(3)
    vocabulary = [f"{a}{b}" for a in WORDS for b in ("", "ed", "ing", "ly", "ness")]
    weights = draw.dirichlet(np.full(len(vocabulary), 0.3), 2)
    weights = 0.8 * weights.mean(axis=0) + 0.2 * weights
    kinds = draw.integers(0, 2, 300)
    texts = [" ".join(draw.choice(vocabulary, draw.integers(30, 90), p=weights[kind])) for kind in kinds]
    path = tmp_path / "reviews.csv"
    pd.DataFrame({"id": range(300), "review": texts, "kind": np.array(["bad", "good"])[kinds]}).to_csv(
        path, index=False
    )
    table = read(path)
    assert table.kinds == {"review": "text"}
    train, test = train_test_split(np.arange(300), random_state=0, stratify=kinds)
    other = LogisticRegression(C=10)
    tfidf = TfidfVectorizer(sublinear_tf=True, min_df=2, ngram_range=(1, 2))
    theirs = other.fit(tfidf.fit_transform(np.array(texts)[train]), kinds[train]).score(
        tfidf.transform(np.array(texts)[test]), kinds[test]
    )
    for learner in (KernelClassifier(None, "logistic", lam=1e-3), SVC("gaussian(gamma=0.1)", C=10)):
        model = pipeline(table, learner).fit(table.X.iloc[train], table.y[train])
        assert model.score(table.X.iloc[test], table.y[test]) >= theirs - 0.03


def test_names_are_told_apart_by_their_letters(tmp_path):
    draw = np.random.default_rng(4)
    endings = {"one": ["ov", "enko", "sky"], "other": ["ini", "ello", "ucci"]}
    rows = [(f"{''.join(draw.choice(list('bdklmrst')) + draw.choice(list('aeiou')) for _ in range(3))}"
             f"{draw.choice(endings[kind])}".title(), kind) for kind in draw.choice(list(endings), 300)]  # fmt: skip
    path = tmp_path / "names.csv"
    pd.DataFrame(rows, columns=["surname", "language"]).to_csv(path, index=False)
    table = read(path)
    assert table.kinds == {"surname": "text"}
    model = pipeline(table, KernelClassifier(None, "logistic", lam=1e-3)).fit(table.X[:200], table.y[:200])
    assert model.score(table.X[200:], table.y[200:]) > 0.97


def test_molecules_keep_their_capitals():
    """Benzene and cyclohexane are one text in small letters."""
    tails = ["O", "CO", "N", "CC", "Cl", "C(=O)O", "Br", "CCN", "CCC", "C#N", "OC", "S"]
    rings = {"aromatic": "c1ccccc1", "not": "C1CCCCC1"}
    frame = pd.DataFrame(
        [(ring + tail, kind) for kind, ring in rings.items() for tail in tails], columns=["smiles", "kind"]
    )
    table = read(frame, target="kind", kinds={"smiles": "text"})
    assert "holds molecules (SMILES)" not in "".join(read(pd.DataFrame({"t": TEXTS, "y": [0, 1] * 20})).notes)
    model = pipeline(table, SVC("gaussian", C=10)).fit(table.X[::2], table.y[::2])
    assert model.score(table.X[1::2], table.y[1::2]) == 1
    assert Texts("characters").fit_transform(column(["c1ccccc1", "C1CCCCC1"])).toarray().std(axis=0).max() == 0


def test_wide_sparse_rows_have_the_same_products_however_they_are_computed():
    """Rows that hardly meet are multiplied as sparse ones, others with one side dense: bit for bit the same."""
    wide = sparse.random(60, 50_000, density=0.001, format="csr", random_state=0)
    for rows in (wide, Texts("both").fit_transform(column(TEXTS))):
        with_one_side_dense = rows @ rows.T.toarray(order="C")
        np.testing.assert_array_equal(product(rows, rows), with_one_side_dense)
        np.testing.assert_array_equal(product(rows[3:5], rows), with_one_side_dense[3:5])
        np.testing.assert_allclose(Gaussian(gamma=0.1)(rows), Gaussian(gamma=0.1)(rows.toarray()), atol=1e-12)
