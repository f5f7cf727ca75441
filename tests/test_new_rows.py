"""New rows are read as the training rows were: from files, and as frames that come from elsewhere."""

import io

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_val_score

import mercer
from mercer import SVC, KernelSearchCV
from mercer.kernels import Equal, Gaussian
from mercer.preprocess import ReadColumns, pipeline

rng = np.random.default_rng(0)
N = 120
PEOPLE = pd.DataFrame({
    "age": rng.normal(40, 10, N).round(1),
    "children": rng.integers(0, 5, N),
    "job": rng.choice(["cook", "smith", "driver"], N),
    "member": rng.choice(["true", "false"], N),
    "ward": rng.choice(["007", "012", "100"], N),
    "came": pd.date_range("2024-01-01", periods=N).strftime("%d.%m.%Y"),
    "note": [f"some words about {one} and then {two}" for one, two in rng.integers(0, 1000, (N, 2))],
})  # fmt: skip
PEOPLE["kind"] = np.where(PEOPLE.age + 8 * (PEOPLE.job == "cook") + 5 * (PEOPLE.ward == "007") > 42, "a", "b")
TEXT = PEOPLE.assign(children=[None if row == 3 else count for row, count in enumerate(PEOPLE.children)]).to_csv(
    index=False, na_rep="none"
)


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("rows") / "people.csv"
    path.write_text(TEXT)
    return path


@pytest.fixture(scope="module")
def table(file):
    return mercer.read(file, kinds={"ward": "category"}, missing=["none"])


@pytest.fixture(scope="module")
def model(table):
    return pipeline(table, SVC("gaussian(gamma=0.1)", C=10)).fit(table.X, table.y)


def as_pandas():
    return pd.read_csv(io.StringIO(TEXT))


def as_polars():
    return pytest.importorskip("polars").read_csv(io.BytesIO(TEXT.encode()), null_values=["none"])


FRAMES = {
    "objects": lambda: as_pandas().astype(object),
    "strings": as_pandas,
    "missing values as floats": lambda: pd.read_csv(io.StringIO(TEXT), na_values=["none"]),
    "nullable": lambda: pd.read_csv(io.StringIO(TEXT), na_values=["none"]).convert_dtypes(),
    "categories": lambda: as_pandas().astype({"job": "category", "ward": "category", "member": "category"}),
    "dates": lambda: as_pandas().assign(came=lambda frame: pd.to_datetime(frame.came, format="%d.%m.%Y")),
    "another order": lambda: as_pandas().iloc[:, ::-1],
    "further columns": lambda: as_pandas().assign(shoe=41, town=[["Bern"]] * N),
    "another index": lambda: as_pandas().set_axis([f"r{k}" for k in range(N)]),
    "polars": as_polars,
}


@pytest.mark.parametrize("name", FRAMES)
def test_frames_of_any_origin_are_predicted_as_the_table_is(model, table, name, tmp_path):
    expected = model.decision_function(table.X)
    np.testing.assert_array_equal(model.decision_function(FRAMES[name]()), expected)
    mercer.save(model, tmp_path / "m.safetensors")
    loaded = mercer.load(tmp_path / "m.safetensors")
    np.testing.assert_array_equal(loaded.decision_function(FRAMES[name]()), expected)
    np.testing.assert_array_equal(loaded.decision_function(mercer.read(FRAMES[name](), like=loaded).X), expected)


def test_a_file_of_new_rows_is_read_like_a_table_a_model_and_a_model_from_a_file(model, table, tmp_path):
    new = tmp_path / "new.csv"
    new.write_text(
        "note;job;came;children;member;ward;age\nx;baker;01.02.2024;none;true;007;33,5\ny;cook;;2;?;012;41\n"
    )
    mercer.save(model, tmp_path / "m.safetensors")
    loaded = mercer.load(tmp_path / "m.safetensors")
    by_table, by_model, by_loaded = (mercer.read(new, like=like) for like in (table, model, loaded))
    pd.testing.assert_frame_equal(by_table.X, by_model.X)
    pd.testing.assert_frame_equal(by_table.X, by_loaded.X)
    assert by_table.kinds == table.kinds
    assert by_table.X.age.tolist() == [33.5, 41]
    assert by_table.X.children.isna().tolist() == [True, False]
    assert by_table.X.ward.tolist() == ["007", "012"]
    assert by_table.X.came[0] == pd.Timestamp("2024-02-01")
    assert any("'job': 1 row holds a category that the model has not seen" in note for note in by_loaded.notes)
    assert set(loaded.predict(by_loaded.X)) <= {"a", "b"}
    labelled = mercer.read(io_path(tmp_path, as_pandas()), like=table)
    assert (labelled.y == table.y).all()


def io_path(folder, frame):
    frame.to_csv(folder / "again.csv", index=False)
    return folder / "again.csv"


def test_words_and_missing_values_that_training_rows_did_not_hold_are_no_error(model):
    odd = as_pandas().assign(job="astronaut", age=None, member=None, note=None, came=None)
    assert np.isfinite(model.decision_function(odd)).all()


def test_what_cannot_be_read_is_refused_with_its_place(model):
    with pytest.raises(ValueError, match="lack the columns 'age' and 'job'"):
        model.predict(as_pandas().drop(columns=["job", "age"]))
    with pytest.raises(ValueError, match="row 3, column 'age': 'old'"):
        model.predict(as_pandas().astype(object).assign(age=[1, 2, "old"] * (N // 3)))
    with pytest.raises(ValueError, match="does not know how its rows were read"):
        mercer.read(as_pandas(), like=SVC().fit([[0.0], [1.0]], [0, 1]))


def test_kernels_on_columns_take_frames_of_any_origin(table):
    kernel = Gaussian(gamma=0.01).on("age") + Equal().on("member", "ward")
    model = pipeline(table, SVC(kernel, C=10)).fit(table.X, table.y)
    np.testing.assert_array_equal(model.decision_function(as_pandas()), model.decision_function(table.X))


def test_a_search_over_a_plain_frame_is_that_over_the_table(table):
    found = [
        KernelSearchCV(pipeline(table, SVC()), {"learner__C": [0.1, 10]}, cv=3).fit(X, table.y)
        for X in (table.X, FRAMES["another order"]())
    ]
    np.testing.assert_array_equal(*(each.cv_results_["mean_test_score"] for each in found))
    scores = cross_val_score(pipeline(table, SVC()), as_pandas(), table.y, cv=3)
    np.testing.assert_array_equal(scores, cross_val_score(pipeline(table, SVC()), table.X, table.y, cv=3))


def test_frames_that_are_read_go_through_untouched(table):
    steps = ReadColumns(table.kinds).fit(table.X)
    assert steps.transform(table.X) is table.X
    with pytest.raises(ValueError, match="the kind of 'age' must be"):
        ReadColumns({"age": "size"}).fit(table.X)
