"""Rows that are not in memory: read chunk by chunk, pass by pass, with the same model in the end."""

from __future__ import annotations

import bz2
import gzip
import lzma
import re
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import dump_svmlight_file

import mercer
from mercer.cli import main
from mercer.rows import Held, Mapped, NumberRows, Rows, rows_of

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


# -- files ------------------------------------------------------------------------------------------------------------


def frame_of(rows, labels, dtype=np.float64):
    return pd.DataFrame(np.asarray(rows, dtype), columns=["a", "b", "c", "d"]).assign(kind=labels)


def write_parquet(path, frame):
    frame.to_parquet(path / "t.parquet", row_group_size=400)
    return path / "t.parquet"


def write_folder(path, frame):
    (path / "parts").mkdir()
    for number, part in enumerate(np.array_split(np.arange(len(frame)), 3)):
        frame.iloc[part].to_parquet(path / "parts" / f"{number}.parquet")
    return path / "parts"


def write_csv(path, frame):
    frame.to_csv(path / "t.csv", index=False)
    return path / "t.csv"


def write_packed_semicolons(path, frame):
    frame.to_csv(path / "t.csv.gz", index=False, sep=";", decimal=",")
    return path / "t.csv.gz"


def write_svmlight(path, frame):
    codes = (frame["kind"] == "yes").astype(int)
    dump_svmlight_file(frame.drop(columns="kind").to_numpy(), codes, str(path / "t.svm"), zero_based=False)
    return path / "t.svm"


def write_array(path, frame):
    codes = (frame["kind"] == "yes").astype(float)
    np.save(path / "t.npy", np.column_stack([frame.drop(columns="kind").to_numpy(), codes]))
    return path / "t.npy"


@pytest.fixture
def small_chunks(monkeypatch):
    """Chunks of 250 rows."""
    monkeypatch.setattr("mercer.io.chunked._CHUNK", 1000)
    monkeypatch.setattr("mercer.io.svmlight._PIECE", 20_000)


@pytest.mark.parametrize(
    "write", [write_parquet, write_folder, write_csv, write_packed_semicolons, write_svmlight, write_array]
)
def test_every_kind_of_file_gives_the_model_of_its_rows(write, tmp_path, small_chunks):
    table = mercer.scan(write(tmp_path, frame_of(X, LABELS)), target=-1 if write is write_array else None)
    assert table.n_rows == len(X)
    assert len(table.names) == 4
    known = LABELS if write not in (write_svmlight, write_array) else (LABELS == "yes").astype(int)
    np.testing.assert_array_equal(table.y, known)
    np.testing.assert_allclose(table.X[np.arange(len(X))], X, rtol=1e-12)
    machine = mercer.KernelClassifier("rbf", lam=1e-3, rank=30, memory=LITTLE, tol=1e-10)
    streamed, held = clone(machine).fit(table.X, table.y), clone(machine).fit(X, known)
    np.testing.assert_allclose(streamed.dual_coef_, held.dual_coef_, rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(streamed.predict(table.X), held.predict(X))


def test_names_of_columns_go_into_the_model(tmp_path, small_chunks):
    table = mercer.scan(write_parquet(tmp_path, frame_of(X, LABELS)), target="kind", drop=["b"])
    model = mercer.KernelClassifier("rbf", rank=20, memory=LITTLE).fit(table.X, table.y)
    assert model.feature_names_in_.tolist() == ["a", "c", "d"]
    with pytest.raises(ValueError, match="feature names should match"):
        model.predict(mercer.scan(tmp_path / "t.parquet", target="kind", drop=["a"]).X)
    assert repr(table) == "<Scan 't': 1,500 rows, 3 columns; target 'kind'>"


def test_single_precision_of_a_file_is_kept(tmp_path):
    rows = frame_of(X, LABELS).astype(dict.fromkeys("abcd", np.float32))
    assert mercer.scan(write_parquet(tmp_path, rows)).X.dtype == np.float32
    assert mercer.scan(write_parquet(tmp_path, frame_of(X, LABELS))).X.dtype == np.float64


def test_sparse_files_stay_sparse(tmp_path, small_chunks):
    rows = sparse.random(600, 40, 0.05, format="csr", random_state=0)
    y = np.asarray(rows[:, :20].sum(axis=1)).ravel() > np.asarray(rows[:, 20:].sum(axis=1)).ravel()
    dump_svmlight_file(rows, y.astype(int), str(tmp_path / "t.svm"))
    table = mercer.scan(tmp_path / "t.svm", features=40, zero_based=True)
    assert all(sparse.issparse(chunk) for chunk in table.X.chunks())
    machine = mercer.KernelClassifier("gaussian(gamma=0.5)", lam=1e-3, rank=50, memory="150kB", tol=1e-9)
    streamed, held = clone(machine).fit(table.X, table.y), clone(machine).fit(rows, y.astype(int))
    np.testing.assert_allclose(streamed.decision_function(table.X), held.decision_function(rows), atol=1e-6)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda frame: frame.astype({"b": object}).replace({"b": {frame["b"][1234]: "x"}}), "row 1235.*'b' is 'x'"),
        (lambda frame: frame.assign(c=frame["c"].where(frame.index != 777)), "row 778.*'c' is missing"),
        (lambda frame: frame.assign(kind=frame["kind"].where(frame.index != 5, None)), "row 6: the label"),
        (lambda frame: frame.iloc[:0], "no rows"),
        (lambda frame: frame[["kind"]], "no columns to learn from"),
    ],
)
def test_what_is_wrong_is_named_with_its_row(change, message, tmp_path, small_chunks):
    path = write_csv(tmp_path, change(frame_of(X, LABELS)))
    with pytest.raises(mercer.io.DataError, match=message):
        learned_from(path)


def learned_from(path):
    table = mercer.scan(path)
    return mercer.KernelClassifier("rbf", rank=20, memory=LITTLE).fit(table.X, table.y)


def test_files_that_change_or_are_no_tables_are_refused(tmp_path, small_chunks):
    path = write_csv(tmp_path, frame_of(X, LABELS))
    table = mercer.scan(path)
    write_csv(tmp_path, frame_of(X[:700], LABELS[:700]))
    with pytest.raises(mercer.io.DataError, match="has changed since it was first read"):
        mercer.KernelClassifier("rbf", rank=20, memory=LITTLE).fit(table.X, table.y)
    with pytest.raises(mercer.io.DataError, match="no column 'kynd' to be the target; did you mean 'kind'"):
        mercer.scan(path, target="kynd")
    with pytest.raises(mercer.io.DataError, match="no file"):
        mercer.scan(tmp_path / "nothing.csv")
    with pytest.raises(mercer.io.DataError, match="cannot be read in chunks"):
        mercer.scan(write_as(tmp_path / "t.xlsx"))
    with pytest.raises(mercer.io.DataError, match=r"values of type .*string are no numbers"):
        mercer.scan(write_parquet(tmp_path, frame_of(X, LABELS)), target="a")


def write_as(path):
    path.write_bytes(b"PK")
    return path


# -- what files of other people are like ------------------------------------------------------------------------------


def small(n=40):
    rng = np.random.default_rng(1)
    return pd.DataFrame(rng.normal(size=(n, 2)), columns=["a", "b"]).assign(y=rng.integers(0, 2, n))


def folder_of(path, *texts):
    for number, text in enumerate(texts):
        (path / f"{number}.csv").write_text(text)
    return path


def test_columns_of_text_files_are_matched_by_name(tmp_path):
    folder_of(tmp_path, "a,b,y\n", "a,b,y\n1,10,0\n2,20,1\n", "y,b,a\n0,30,3\n1,40,4\n", "a,b,y\n")
    table = mercer.scan(tmp_path, target="y")
    assert table.X[:].tolist() == [[1, 10], [2, 20], [3, 30], [4, 40]]
    assert table.y.tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize(
    ("second", "message"), [("a,b,z,y\n1,2,3,0\n", "it also has 'z'"), ("a,y\n1,0\n", "it lacks 'b'")]
)
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_parts_with_other_columns_are_refused(kind, second, message, tmp_path):
    folder_of(tmp_path, "a,b,y\n1,10,0\n2,20,1\n", second)
    if kind == "parquet":
        for path in sorted(tmp_path.glob("*.csv")):
            pd.read_csv(path).to_parquet(path.with_suffix(".parquet"))
            path.unlink()
    with pytest.raises(mercer.io.DataError, match=message):
        mercer.scan(tmp_path, target="y")


def test_the_index_of_a_frame_is_no_feature(tmp_path):
    frame = small().sample(frac=1, random_state=0)
    frame.to_parquet(tmp_path / "t.parquet")
    for labelled in (True, False):
        table = mercer.scan(tmp_path / "t.parquet", labelled=labelled)
        assert table.names == (["a", "b"] if labelled else ["a", "b", "y"])
        np.testing.assert_array_equal(table.X[:], frame[table.names])
        assert any("index" in note for note in table.notes)
    frame.rename_axis("when").to_parquet(tmp_path / "t.parquet")
    assert mercer.scan(tmp_path / "t.parquet").names == ["when", "a", "b"]


@pytest.mark.parametrize("suffix", [".gz", ".bz2", ".xz"])
def test_packed_svmlight_files_keep_all_rows(suffix, tmp_path, small_chunks):
    plain = write_svmlight(tmp_path, frame_of(X, LABELS))
    packed = tmp_path / f"t.svm{suffix}"
    packed.write_bytes({".gz": gzip, ".bz2": bz2, ".xz": lzma}[suffix].compress(plain.read_bytes()))
    one, other = mercer.scan(plain), mercer.scan(packed)
    np.testing.assert_array_equal(other.X[:], one.X[:])
    np.testing.assert_array_equal(other.y, one.y)
    packed.write_bytes(packed.read_bytes()[:-200])
    with pytest.raises(mercer.io.DataError, match="is damaged"):
        mercer.scan(packed)


def test_decimal_numbers_are_numbers(tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    numbers = [Decimal("1.25"), Decimal("2.50"), None]
    rows = pa.table({"a": pa.array(numbers, pa.decimal128(10, 2)), "b": [1.0, 2.0, 3.0], "y": [0, 1, 0]})
    pq.write_table(rows[:2], tmp_path / "t.parquet")
    assert mercer.scan(tmp_path / "t.parquet").X[:].tolist() == [[1.25, 1], [2.5, 2]]
    pq.write_table(rows, tmp_path / "t.parquet")
    with pytest.raises(mercer.io.DataError, match="row 3: the value of 'a' is missing"):
        mercer.scan(tmp_path / "t.parquet").X[:]


def test_folders_that_hold_a_column_in_their_names(tmp_path):
    for year in (2023, 2024):
        (tmp_path / "t" / f"year={year}").mkdir(parents=True)
        small().to_parquet(tmp_path / "t" / f"year={year}" / "0.parquet")
    with pytest.raises(mercer.io.DataError, match="'year' is in the names of folders"):
        mercer.scan(tmp_path / "t")
    table = mercer.scan(tmp_path / "t", drop=["year"])
    assert (table.name, table.n_rows) == ("t", 80)


def test_what_is_asked_for_is_done_or_refused(tmp_path):
    small().to_csv(tmp_path / "t.csv", index=False)
    np.save(tmp_path / "t.npy", small().to_numpy())
    dump_svmlight_file(small()[["a", "b"]].to_numpy(), small()["y"], str(tmp_path / "t.svm"))
    for name, asked, message in [
        ("t.csv", {"columns": ["nonsense"]}, "no column 'nonsense' to read"),
        ("t.npy", {"columns": ["x1"]}, "columns= means nothing"),
        ("t.svm", {"target": "y"}, "target= means nothing"),
        ("t.svm", {"drop": ["x1"]}, "drop= means nothing"),
    ]:
        with pytest.raises(mercer.io.DataError, match=message):
            mercer.scan(tmp_path / name, **asked)
    array = mercer.scan(tmp_path / "t.npy")
    np.testing.assert_array_equal(array.y, small()["y"])
    assert array.notes == ("The target is the last column, 'x3'.",)
    assert mercer.scan(tmp_path / "t.npy", labelled=False).X.n_columns == 3


def test_numbers_of_rows_and_constants_are_noted(tmp_path):
    small().reset_index().assign(one=1.0)[["index", "one", "a", "y"]].to_csv(tmp_path / "t.csv", index=False)
    assert "'index' (a number for each row) and 'one' (only one value)" in mercer.scan(tmp_path / "t.csv").notes[-1]


def test_patterns_lists_and_whole_tables(tmp_path):
    for number in range(2):
        small().to_parquet(tmp_path / f"{number}.parquet")
    for source in (str(tmp_path / "*.parquet"), sorted(tmp_path.iterdir())):
        assert mercer.scan(source).n_rows == 80
    with pytest.raises(TypeError, match=r"X is a Scan.*give its \.X"):
        mercer.KernelClassifier(rank=5).fit(mercer.scan(tmp_path), small()["y"])
    small().assign(y="no").to_parquet(tmp_path / "1.parquet")
    with pytest.raises(mercer.io.DataError, match="words such as 'no', not numbers"):
        mercer.scan(tmp_path / "1.parquet", task="regress")


# -- sources of other people ------------------------------------------------------------------------------------------


class Source(NumberRows):
    """Rows that say one thing of themselves and hold another."""

    dtype = np.dtype(float)

    def __init__(self, held, n_rows, n_columns):
        self.held, self.n_rows, self.n_columns = held, n_rows, n_columns

    def __len__(self):
        return self.n_rows

    def chunks(self):
        yield from (self.held[:10], self.held[10:])


@pytest.mark.parametrize(
    ("n_rows", "n_columns", "message"),
    [(30, 4, "held 20 rows, and len() is 30"), (15, 4, "at least 20 rows, and len() is 15"), (20, 3, "n_columns is 3")],
)
def test_rows_must_be_what_they_say(n_rows, n_columns, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        Source(X[:20], n_rows, n_columns)[:]


def test_one_row_and_what_is_kept_of_many():
    rows = Source(X[:20], 20, 4)
    np.testing.assert_array_equal(rows[3], X[3])
    assert rows[:].shape == (20, 4)
    assert rows._last is None
    assert rows[[1, 2]] is rows[[1, 2]]


def test_items_at_hand_are_rows_of_numbers_too():
    rows, machine = Held(X, 500), mercer.KernelClassifier("rbf", lam=1e-3, rank=30, memory=LITTLE, tol=1e-10)
    assert rows.shape == X.shape
    np.testing.assert_array_equal(clone(machine).fit(rows, LABELS).predict(rows), machine.fit(X, LABELS).predict(X))


# -- the command line -------------------------------------------------------------------------------------------------


def test_training_on_a_file_larger_than_memory(tmp_path, monkeypatch):
    """Words, dates and gaps are prepared as a sample of the rows says; the model is one like any other."""
    monkeypatch.setattr("mercer.io.chunked._CHUNK", 5000)
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(RNG.integers(0, 300, len(X)), "D")
    frame = frame_of(X, LABELS).assign(job=RNG.choice(["cook", "smith"], len(X)), day=days)
    frame.loc[RNG.choice(len(X), 50, replace=False), "a"] = np.nan
    path, model = write_parquet(tmp_path, frame), tmp_path / "m.safetensors"
    line = ["kernel-logistic", str(path), "--target", "kind", "--kernel", "gaussian(gamma=0.1)", "--set", "lam=0.001"]
    line += ["--rank", "30", "--memory", "40kB", "-o", str(model)]
    done = CliRunner().invoke(main, ["train", *line])
    assert done.exit_code == 0, done.output
    assert "1,500 rows, 30 landmarks" in done.output
    assert "is read in chunks" in done.output
    held = CliRunner().invoke(main, ["train", *line[:-4], "--memory", "1GB", "-o", str(tmp_path / "held.safetensors")])
    assert "is read in chunks" not in held.output
    found = [predictions_of(each, path) for each in (model, tmp_path / "held.safetensors")]
    errors = [np.mean(each["prediction"] != LABELS) for each in found]
    assert errors[0] == pytest.approx(errors[1], abs=0.02)
    # A table that is too large for --max-bytes is predicted chunk by chunk.
    pd.testing.assert_frame_equal(predictions_of(model, path, "--max-bytes", "30kB"), found[0])


def predictions_of(model, path, *options):
    done = CliRunner().invoke(main, ["run", str(model), str(path), "-o", str(model.with_suffix(".csv")), *options])
    assert done.exit_code == 0, done.output
    assert "of 1500 training rows are wrong" in done.output
    return pd.read_csv(model.with_suffix(".csv"))


def test_numbers_of_a_file_larger_than_memory(tmp_path, small_chunks):
    path, model = write_csv(tmp_path, frame_of(X, HIDDEN)), tmp_path / "m.safetensors"
    line = ["train", "kernel-ridge", str(path), "--rank", "30", "--memory", "40kB", "-o", str(model)]
    done = CliRunner().invoke(main, line)
    assert done.exit_code == 0, done.output
    run = ["run", str(model), str(path), "-o", str(tmp_path / "p.csv")]
    lines = [CliRunner().invoke(main, [*run, *more]).output for more in ([], ["--max-bytes", "30kB"])]
    assert all("RMSE" in text for text in lines), lines
    assert lines[0].partition("RMSE")[2][:6] == lines[1].partition("RMSE")[2][:6]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["perceptron", "--rank", "5"], "perceptron has no --rank"),
        (["kernel-logistic", "--rank", "20", "--memory", "30kB", "--holdout", "0.2"], "--holdout needs the table"),
    ],
)
def test_what_cannot_be_streamed_is_refused(words, message, tmp_path):
    path = write_parquet(tmp_path, frame_of(X, LABELS))
    done = CliRunner().invoke(main, ["train", words[0], str(path), *words[1:], "-o", str(tmp_path / "m.safetensors")])
    assert done.exit_code != 0
    assert message in done.output
