"""Rows that are not in memory: read chunk by chunk, pass by pass, with the same model in the end."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import dump_svmlight_file

import mercer
from mercer.cli import main
from mercer.rows import Mapped, Rows, rows_of

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
    monkeypatch.setattr("mercer.io.svmlight_rows._PIECE", 20_000)


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
    assert "of 1500 rows are wrong" in done.output
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
