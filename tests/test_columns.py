from math import exp

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from mercer import SVC, KernelClassifier, KernelRegressor, Pegasos, Perceptron
from mercer.kernels import Equal, Gaussian, Hamming, Linear, Normalised, OnColumns, Polynomial, parse

from .structured import Letters

COLUMNS = {
    "age": [30, 31, 60, 45, 30],
    "hours": [40.0, 38.5, 20.0, 40.0, 40.0],
    "job": ["cook", "smith", "cook", "baker", "cook"],
    "town": ["Rome", "Rome", "Oslo", "Oslo", "Rome"],
    "word": ["abba", "bad", "cab", "dada", "add"],
    "member": [True, False, True, True, False],
}
FRAMES = {"pandas": pd.DataFrame(COLUMNS), "polars": pl.DataFrame(COLUMNS)}
MIXED = Gaussian(gamma=0.01).on("age", "hours") * Letters().on("word") + Equal().on("job")

frames = pytest.mark.parametrize("frame", FRAMES.values(), ids=FRAMES)


def by_hand(i, j):
    """The mixed kernel from its words, on plain Python values."""
    a, b = ({name: values[k] for name, values in COLUMNS.items()} for k in (i, j))
    gaussian = exp(-0.01 * ((a["age"] - b["age"]) ** 2 + (a["hours"] - b["hours"]) ** 2))
    letters = sum(x == z for x in a["word"] for z in b["word"])
    return gaussian * letters + (a["job"] == b["job"])


@frames
def test_each_column_is_compared_in_its_own_way(frame):
    expected = [[by_hand(i, j) for j in range(5)] for i in range(5)]
    np.testing.assert_allclose(MIXED(frame), expected)
    np.testing.assert_allclose(MIXED(frame[:2], frame[1:]), np.array(expected)[:2, 1:])
    np.testing.assert_allclose(MIXED.diag(MIXED.items(frame)), np.diag(expected))
    np.testing.assert_allclose(np.diag(Normalised(MIXED)(frame)), 1)
    np.testing.assert_allclose((0.5 * MIXED**2)(frame), 0.5 * np.square(expected))


def test_columns_of_an_array_go_by_position():
    X = np.random.RandomState(0).standard_normal((6, 4))
    np.testing.assert_allclose(Gaussian().on(0, 2)(X), Gaussian()(X[:, [0, 2]]))
    np.testing.assert_allclose(Gaussian().on(0, 2)(X.tolist()), Gaussian()(X[:, [0, 2]]))
    np.testing.assert_allclose(Linear().on(3)(sparse.csr_array(X)), Linear()(X[:, [3]]))
    np.testing.assert_allclose((Linear() + Gaussian().on(1))(X), Linear()(X) + Gaussian()(X[:, [1]]))
    mixed = np.array([[1.5, "a"], [2.5, "b"]], dtype=object)
    np.testing.assert_allclose((Linear().on(0) * Equal().on(1))(mixed), [[2.25, 0], [0, 6.25]])


categories = st.sampled_from(["red", "blue", 3, 3.5, True, ("a", 1), "", "🟣"])


@given(st.integers(1, 4).flatmap(lambda width: st.lists(st.tuples(*[categories] * width), min_size=2, max_size=12)))
@settings(max_examples=30, deadline=None)
def test_equal_and_hamming_are_their_definitions(rows):
    table = np.empty((len(rows), len(rows[0])), dtype=object)
    for i, row in enumerate(rows):
        for k, value in enumerate(row):
            table[i, k] = value
    left, right = table[::2], table[1::2]
    for kernel, value in (
        (Equal(), lambda x, z: float(x == z)),
        (Hamming(), lambda x, z: sum(a == b for a, b in zip(x, z, strict=True)) / len(x)),
    ):
        expected = [[value(x, z) for z in rows] for x in rows]
        K = kernel(table)
        np.testing.assert_allclose(K, expected)
        np.testing.assert_allclose(kernel(left, right), K[::2, 1::2])
        np.testing.assert_allclose(kernel.diag(kernel.items(table)), 1)
        assert np.linalg.eigvalsh(K).min() > -1e-9
        features = kernel.features(kernel.items(table))
        np.testing.assert_allclose((features @ features.T).toarray(), K, atol=1e-12)


@frames
def test_categories_in_frames(frame):
    np.testing.assert_array_equal(Equal().on("job", "town")(frame)[0], [1, 0, 0, 0, 1])
    np.testing.assert_array_equal(Hamming().on("job", "town")(frame)[0], [1, 0.5, 0.5, 0, 1])
    np.testing.assert_array_equal(Equal().on("member")(frame)[0], [1, 0, 1, 1, 0])
    np.testing.assert_array_equal(Equal()(frame["job"]), Equal().on("job")(frame))
    np.testing.assert_array_equal(Linear().on("member")(frame)[0], [1, 0, 1, 1, 0])
    assert Equal()(["new"], frame["job"]).sum() == 0


def test_pandas_categories_and_dates_are_categories():
    frame = pd.DataFrame({"c": pd.Categorical(["a", "b", "a"]), "d": pd.to_datetime(["2020", "2021", "2020"])})
    for name in "cd":
        np.testing.assert_array_equal(Equal().on(name)(frame)[0], [1, 0, 1])


@pytest.mark.parametrize(
    ("kernel", "text"),
    [
        (Gaussian(gamma=0.1).on("age", "hours"), "gaussian(gamma=0.1).on(age, hours)"),
        (Equal().on("hours per week"), "equal.on('hours per week')"),
        (Hamming().on(0, 3), "hamming.on(0, 3)"),
        (Linear().on("class", "é", "0"), "linear.on('class', 'é', '0')"),
        ((Linear() + 2 * Gaussian()).on("x"), "(linear + 2*gaussian).on(x)"),
        ((Linear().on("x") + Equal().on("y")) ** 2, "(linear.on(x) + equal.on(y))**2"),
        (3 * Polynomial(3).on("x") * Equal().on("y"), "3*polynomial(degree=3).on(x)*equal.on(y)"),
        (Normalised(Linear().on("quote ' and \" both")), "normalised(linear.on('quote \\' and \" both'))"),
    ],
)
def test_text_forms(kernel, text):
    assert str(kernel) == text
    assert parse(text) == kernel


@given(st.lists(st.text(min_size=1) | st.integers(0, 10**6), min_size=1, max_size=3))
@settings(deadline=None)
def test_any_column_name_survives_its_text(names):
    kernel = 2 * Gaussian(gamma=0.5).on(*names)
    assert parse(str(kernel)) == kernel


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("linear.on()", "names no column"),
        ("linear.on(hours-per-week)", "a text in quotes"),
        ("linear.on(1.5)", "a column is a word"),
        ("linear.on(x).on(y)", "bind each kernel once"),
        ("(equal.on(x) + linear).on(y)", "bind each kernel once"),
        ("linear.at(x)", "only kernel names"),
        ("3.on(x)", "cannot be read"),
        ("precomputed.on(x)", "cannot be part of an expression"),
    ],
)
def test_bad_texts(text, hint):
    with pytest.raises(ValueError, match=hint):
        parse(text)


@pytest.mark.parametrize("library", [pd, pl])
def test_bad_tables_get_one_sentence(library):
    frame = library.DataFrame(COLUMNS)
    gappy = library.DataFrame({**COLUMNS, "age": [30, None, 60, 45, 30], "job": ["cook", None, "x", "y", "z"]})
    for kernel, table, hint in (
        (Linear().on("ages"), frame, r"no column 'ages' \(did you mean 'age'\?\)"),
        (Linear().on("salary"), frame, "no column 'salary'; its columns are age, hours, job, town, word and member"),
        (Linear().on("age"), gappy, r"column 'age' has no value in row 1 \(1 missing in all\)"),
        (Equal().on("job"), gappy, "column 'job' has no value in row 1"),
        (
            Linear().on("job"),
            frame,
            r"column 'job' holds str values such as 'cook', not numbers.*Equal\(\).on\('job'\)",
        ),
        (Letters().on("age"), frame, "item 0 is .*30"),
    ):
        with pytest.raises(ValueError, match=hint):
            kernel(table)
    with pytest.raises(ValueError, match="row 1, column 0 is missing"):
        Equal()(gappy["job"])


def test_bad_arrays_get_one_sentence():
    X = np.zeros((3, 2))
    for kernel, table, hint in (
        (Linear().on(2), X, "columns 0 to 1, there is no column 2"),
        (Linear().on("age"), X, "go by position"),
        (Linear().on(0), X[0], "rows and columns"),
        (Linear().on(0), np.array([[np.nan]]), "column 0 has no value in row 0"),
        (Linear().on(0), np.array([[np.inf]]), "column 0 has an infinite value in row 0"),
        (Linear().on(0), iter([]), "needs a frame or an array"),
        (Linear().on(True), X, "a name or a position"),
        (Equal(), "red", "put it into a list"),
        (Equal(), [{"a"}], "is no category"),
        (Equal(), np.zeros((2, 0)), "a column of categories"),
    ):
        with pytest.raises(ValueError, match=hint):
            kernel(table)
    with pytest.raises(ValueError, match="2 columns of categories, the right 1"):
        Hamming()([["a", "b"]], [["a"]])
    with pytest.raises(TypeError, match="collect"):
        Linear().on("age")(pl.LazyFrame(COLUMNS))
    twice = pd.DataFrame([[1, 2]], columns=["a", "a"])
    with pytest.raises(ValueError, match="several columns named 'a'"):
        Linear().on("a")(twice)


def people(n=120):
    random = np.random.RandomState(0)
    age, job = random.uniform(20, 60, n), random.choice(["cook", "smith", "baker"], n)
    word = ["".join(random.choice(list("abcd"), 5)) for _ in range(n)]
    rich = np.where((age > 40) ^ (job == "cook"), "rich", "poor")
    return {"age": age / 10, "job": job, "word": word, "noise": random.rand(n)}, rich


@pytest.mark.parametrize("library", [pd, pl])
@pytest.mark.parametrize(
    "learner", [Perceptron(random_state=0), Pegasos(random_state=0), SVC(C=10), KernelClassifier()]
)
def test_learners_on_tables(learner, library):
    columns, rich = people()
    frame = library.DataFrame(columns)
    kernel = Gaussian(gamma=1.0).on("age") * (Equal() + 0.1 * Letters()).on("job")
    model = clone(learner).set_params(kernel=kernel).fit(frame[:80], rich[:80])
    assert model.score(frame[80:], rich[80:]) > 0.8
    assert type(model.support_vectors_) is library.DataFrame
    assert len(model.support_vectors_) == model.support_.size
    shuffled = frame[["noise", "job", "age"]]
    np.testing.assert_array_equal(model.predict(shuffled), model.predict(frame))
    assert model.predict(frame[:0]).shape == (0,)
    with pytest.raises(ValueError, match="no column 'age'"):
        model.predict(frame[["job"]])


def test_inner_parameters_are_tuned():
    columns, rich = people()
    start = Gaussian(gamma=0.1).on("age") * Letters().on("word") + Equal().on("job")
    assert start.get_params()["left__left__kernel__gamma"] == 0.1
    assert clone(start) == start
    search = GridSearchCV(
        SVC(Gaussian().on("noise") * Equal().on("job")), {"kernel__left__columns": [("noise",), ("age",)]}, cv=3
    )
    assert search.fit(pd.DataFrame(columns), rich).best_params_["kernel__left__columns"] == ("age",)


def test_a_list_of_columns_is_told_how_to_name_several():
    with pytest.raises(ValueError, match=r"got \[0, 1\]; .*linear\.on\(0, 1\)"):
        SVC(Linear().on([0, 1])).fit(np.eye(3), [0, 1, 0])


def test_one_column_may_be_named_without_a_tuple():
    assert OnColumns(Linear(), "age").names == ["age"]


def test_regression_on_tables():
    columns, _ = people()
    frame = pd.DataFrame(columns)
    target = columns["age"] + (columns["job"] == "cook")
    model = KernelRegressor("gaussian(gamma=0.1).on(age) + equal.on(job)", lam=1e-4).fit(frame, target)
    assert model.score(frame, target) > 0.99
