"""Machines on dask arrays and frames: what one process would give, from rows that stay on the workers."""

import json
import os
import signal
import sys
from contextlib import nullcontext
from functools import partial

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from joblib import parallel_config
from joblib.parallel import get_active_backend
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from mercer import (
    SVC,
    Calibrated,
    KernelClassifier,
    KernelRegressor,
    KernelSearchCV,
    OneClassSVM,
    Perceptron,
    TunedThreshold,
    load,
    scan,
)
from mercer.cli import cluster as cluster_of_commands
from mercer.cli import main
from mercer.grams import Scattered
from mercer.io.scanning import _read
from mercer.kernels import Gaussian
from mercer.rows import OnWorkers, rows_of

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

N = 1200


@pytest.fixture(scope="module")
def cluster():
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as running,
        distributed.Client(running, set_as_default=False) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 4))
    values = np.sin(2 * X[:, 0]) + X[:, 1] ** 2 + 0.3 * rng.normal(size=N)
    return X, values, np.where(values > 1, "above", "below")


@pytest.fixture(params=["in turn", "on workers"])
def engine(request):
    """Without a cluster, and with one."""
    return request.getfixturevalue("cluster").as_current() if request.param == "on workers" else nullcontext()


def machine(**options):
    # So little memory that features are computed pass by pass, as those of many rows are.
    return KernelClassifier("gaussian(gamma=0.2)", lam=1e-4, rank=40, memory="200kB", **options)


def assert_near(one, other, rtol=1e-9):
    scale = np.abs(one).max()
    np.testing.assert_allclose(one / scale, other / scale, atol=rtol)


@pytest.mark.parametrize("chunks", [N, 500, (700, 1, 499)])
def test_classes_as_in_one_process(engine, data, chunks):
    X, _, y = data
    here = machine().fit(X, y)
    with engine:
        there = machine().fit(da.from_array(X, chunks=(chunks, 2)), da.from_array(y, chunks=400))
    assert_near(here.dual_coef_, there.dual_coef_)
    assert there.support_.tolist() == here.support_.tolist()
    assert there.converged_
    assert there.predict(X).tolist() == here.predict(X).tolist()


def test_numbers_weights_and_several_columns(engine, data):
    X, values, _ = data
    targets, weight = np.stack([values, X[:, 0]], axis=1), np.linspace(0.5, 2, N)
    model = KernelRegressor("gaussian", lam=1e-4, rank=40, memory="200kB")
    here = clone(model).fit(X, targets, weight)
    with engine:
        there = model.fit(da.from_array(X, chunks=500), da.from_array(targets), da.from_array(weight))
        later = there.predict(da.from_array(X, chunks=500))
        assert later.shape == (N, 2)
        assert later.chunks == ((500, 500, 200), (2,))
        np.testing.assert_allclose(later.compute(), here.predict(X), rtol=1e-7, atol=1e-9)


def test_many_classes_by_one_loss(engine, data):
    X, values, _ = data
    y = np.digitize(values, [0, 1, 2])
    here = machine(tol=1e-2).fit(X, y)
    with engine:
        there = machine(tol=1e-2).fit(da.from_array(X, chunks=300), y)
        probabilities = there.predict_proba(da.from_array(X, chunks=(300, 1)))
        assert probabilities.shape == (N, 4)
        np.testing.assert_allclose(probabilities.compute(), here.predict_proba(X), atol=1e-7)


def test_frames_of_parquet_files(engine, data, tmp_path):
    """Names become those of the features; sizes of parts are counted; an empty part and other kinds of numbers do."""
    X, _, y = data
    frame = pd.DataFrame(X, columns=list("abcd")).assign(label=y, whole=np.arange(N) % 7)
    for number, some in enumerate((frame[:500], frame[:0], frame[500:])):
        some.to_parquet(tmp_path / f"part{number}.parquet")
    here = machine().fit(frame[[*"abcd", "whole"]], y)
    with engine:
        read = dd.read_parquet(tmp_path)
        rows = read.drop(columns="label")
        there = machine().fit(rows, read["label"])
        assert there.feature_names_in_.tolist() == [*"abcd", "whole"]
        assert_near(here.dual_coef_, there.dual_coef_)
        assert there.score(rows, read["label"]) == here.score(frame[[*"abcd", "whole"]], y)
        answers = there.predict(rows)
        assert np.isnan(answers.shape[0])
        assert answers.compute().tolist() == here.predict(frame[[*"abcd", "whole"]]).tolist()
        with pytest.raises(ValueError, match="feature names should match"):
            there.predict(rows[list("dcba")])
        with pytest.raises(ValueError, match=r"column 'label' of X is of type .*; encode it as numbers first"):
            machine().fit(read, read["label"])


def test_scanned_parquet_files_stay_on_the_workers(cluster, data, tmp_path):
    X, _, y = data
    frame = pd.DataFrame(X, columns=list("abcd")).assign(label=y)
    frame[:700].to_parquet(tmp_path / "2.parquet", row_group_size=300)
    frame[700:].to_parquet(tmp_path / "10.parquet", row_group_size=100)
    here = scan(tmp_path, target="label")
    with cluster.as_current():
        there = scan(tmp_path, target="label")
        assert isinstance(there.X, OnWorkers)
        assert (there.y == here.y).all()
        np.testing.assert_array_equal(there.X[np.arange(N)], here.X[np.arange(N)])
        model = machine().fit(there.X, there.y)
        assert_near(machine().fit(here.X, here.y).dual_coef_, model.dual_coef_)
        assert model.feature_names_in_.tolist() == list("abcd")
        (tmp_path / "2.parquet").unlink()
        lost = dask.delayed(_read)(str(tmp_path / "2.parquet"), [0], list("ab"))
        rows = OnWorkers(cluster, list("ab"), 2, np.float64, [lost], [300])
        with pytest.raises(ValueError, match=r"cannot read .*2\.parquet.*; put the file where all machines"):
            rows[np.arange(3)]


def test_files_with_gaps_and_an_index_are_read_as_without_workers(cluster, data, tmp_path):
    frame = pd.DataFrame(data[0], columns=list("abcd")).assign(label=data[2]).sample(frac=1, random_state=0)
    for number, begin in enumerate((0, 400, 800)):
        frame[begin : begin + 400].to_parquet(tmp_path / f"{number}.parquet")
    with cluster.as_current():
        np.testing.assert_array_equal(scan(tmp_path).X[:], frame[list("abcd")])
    frame.iloc[[450, 1100], 1] = np.nan
    for number, begin in enumerate((0, 400, 800)):
        frame[begin : begin + 400].to_parquet(tmp_path / f"{number}.parquet")
    for where in (nullcontext(), cluster.as_current()):
        with where, pytest.raises(ValueError, match="row 451: the value of 'b' is missing"):
            scan(tmp_path).X[:]


def test_work_is_bound_by_keywords(cluster, data):
    with cluster.as_current():
        rows = rows_of(da.from_array(data[0], chunks=500))
    with pytest.raises(TypeError, match="multiply has arguments bound by their places"):
        rows.total(partial(np.multiply, 2.0))


def test_predictions_are_computed_when_asked_for(engine, data):
    X, _, y = data
    made = []

    def rows(block, block_info=None):
        made.append(1)
        return block

    model = machine().fit(X, y)
    svc = SVC().fit(X[:100], y[:100])
    with engine:
        lazy = da.from_array(X, chunks=(600, 4)).map_blocks(rows, meta=np.empty((0, 0)))
        for method in ("predict", "decision_function", "predict_proba", "predict_log_proba"):
            answers = getattr(model, method)(lazy)
            assert isinstance(answers, da.Array)
            assert not made
            expected = getattr(model, method)(X)
            assert answers.shape == expected.shape
            assert answers.dtype == expected.dtype
            np.testing.assert_array_equal(answers.compute(), expected)
            made.clear()
        assert svc.predict(lazy).compute().tolist() == svc.predict(X).tolist()
        assert model.score(lazy, da.from_array(y)) == model.score(X, y)
        detector = OneClassSVM().fit(X[:100])
        np.testing.assert_array_equal(detector.predict(lazy).compute(), detector.predict(X))


def test_what_is_not_there_is_named(engine, data):
    X, values, y = data
    with pytest.raises(ValueError, match="use rank=1000"):
        KernelClassifier().fit(da.from_array(X), y)  # no cluster
    with engine:
        rows = da.from_array(X, chunks=500)
        with pytest.raises(ValueError, match="a chunk at a time with partial_fit"):
            Perceptron().fit(rows, y)
        for exact in (SVC(), KernelRegressor(loss="epsilon_insensitive"), OneClassSVM(), Perceptron("gaussian")):
            with pytest.raises(ValueError, match=r"without rank compares all pairs .*; use rank=1000"):
                exact.fit(rows, y if "Regressor" not in str(exact) else values)
        with pytest.raises(ValueError, match=r"NaN in row 701, column 2"):
            machine().fit(da.from_array(np.where(np.arange(4 * N).reshape(N, 4) == 2806, np.nan, X), chunks=500), y)
        with pytest.raises(ValueError, match="inconsistent numbers of samples"):
            machine().fit(rows, y[:-1])
        with pytest.raises(ValueError, match="Expected 2D array"):
            machine().fit(rows[:, 0], y)
        with pytest.raises(ValueError, match="Expected 2D array"):
            machine().fit(dd.from_pandas(pd.Series(X[:, 0]), npartitions=2), y)
        with pytest.raises(TypeError, match="holds no rows of numbers"):
            machine().fit(dask.delayed(X), y)
        with pytest.raises(ValueError, match="3 features"):
            machine().fit(rows, y).predict(rows[:, :3])
        with pytest.raises(ValueError, match="unknown number of columns"):
            machine().fit(rows[:, rows[0] > 0], y)


@pytest.mark.parametrize("loss", ["logistic", "squared_hinge"])
def test_exact_machines_by_products_on_the_workers(cluster, data, loss):
    X, y = data[0][:400], data[2][:400]
    model = KernelClassifier("gaussian(gamma=0.2)", loss, lam=1e-3)
    here = clone(model).fit(X, y)
    with cluster.as_current():
        there = clone(model).fit(da.from_array(X, chunks=150), y)
    assert there.converged_
    assert_near(here.decision_function(X), there.decision_function(X), 1e-6)
    assert there.objective_ == pytest.approx(here.objective_, rel=1e-9)


def test_exact_products_with_several_columns(cluster, data):
    X, z = data[0].astype(np.float32), np.random.default_rng(1).normal(size=(N, 2))
    kernel = Gaussian(gamma=0.3)
    with cluster.as_current():
        gram = Scattered(kernel, rows_of(da.from_array(X, chunks=(500, 2))))
        np.testing.assert_allclose(gram.matvec(z), kernel.matrix(X.astype(float), X.astype(float)) @ z, atol=1e-3)
        np.testing.assert_allclose(gram.rows([3, 700]), kernel.matrix(X[[3, 700]], X), atol=1e-6)
        np.testing.assert_allclose(gram.diag(), 1.0)


def test_numbers_by_exact_products(cluster, data):
    X, values, _ = data
    model = KernelRegressor("gaussian", lam=1e-3)
    with cluster.as_current():
        there = clone(model).fit(da.from_array(X[:300], chunks=200), values[:300])
    np.testing.assert_allclose(there.predict(X), model.fit(X[:300], values[:300]).predict(X), atol=1e-6)


def test_soft_margins_of_landmarks(engine, data):
    """Their solver needs the features at hand, which have room here."""
    X, _, y = data
    here = SVC("gaussian(gamma=0.2)", rank=40).fit(X, y)
    with engine:
        there = SVC("gaussian(gamma=0.2)", rank=40).fit(da.from_array(X, chunks=500), y)
        assert there.score(X, y) > here.score(X, y) - 0.02
        with pytest.raises(ValueError, match=r"KernelClassifier\(loss='squared_hinge', rank="):
            SVC(rank=40, memory="200kB").fit(da.from_array(X, chunks=500), y)


def test_only_vectors_travel(cluster, data):
    X = data[0]
    with cluster.as_current():
        rows = rows_of(da.from_array(X, chunks=200))
        rows[np.arange(3)]
        before = rows.sent
        ones = np.ones(N)
        total = rows.total(_column_sums, ones)
        np.testing.assert_allclose(total, X.sum(axis=0))
        assert rows.sent - before == ones.nbytes
        received = rows.received
        rows.total(_column_sums, np.ones(N))  # the same vector is there already
        assert rows.sent - before == ones.nbytes
        assert rows.received - received == total.nbytes  # one sum, of however many chunks
        assert [place.stop for place, _ in rows.each(_column_sums, ones)] == [200, 400, 600, 800, 1000, 1200]


def _column_sums(items, weight):
    return weight @ items


def test_rows_by_number(engine, data):
    X, _, _ = data
    with engine:
        rows = rows_of(da.from_array(X.astype(np.float32), chunks=(500, 3)))
        assert rows.dtype == np.float32
        for index in ([], [1199, 0, 0, 500], np.arange(N)[::-3]):
            np.testing.assert_array_equal(rows[np.array(index, int)], X.astype(np.float32)[index])


def test_a_search_on_a_cluster_ends_as_here(cluster, data):
    X, y = data[0][:120], data[2][:120]
    grid = {"kernel": ["cosine", "gaussian(gamma=1)", "gaussian"], "C": [0.1, 1, 10]}
    search = KernelSearchCV(SVC(), grid, cv=3, return_train_score=True)
    here = clone(search).fit(X, y)
    with cluster.as_current(), parallel_config("dask"):
        there = clone(search).fit(X, y)
    for name, values in here.cv_results_.items():
        if "time" not in name:
            np.testing.assert_array_equal(there.cv_results_[name], values)
    np.testing.assert_array_equal(there.decision_function(X), here.decision_function(X))


#: Whom joblib would give tasks to inside of tasks, as the workers note it: they are threads of this process.
NOTED = set()


def note(rows):
    NOTED.add(type(get_active_backend()[0]).__name__)
    return rows


def test_steps_of_a_pipeline_hand_no_tasks_out_from_within_a_task(cluster, data):
    machine = make_pipeline(FunctionTransformer(note), SVC())
    with cluster.as_current(), parallel_config("dask"):
        KernelSearchCV(machine, {"svc__C": [0.1, 1]}, cv=3, refit=False).fit(data[0][:60], data[2][:60])
    assert {"SequentialBackend"} == NOTED


def test_a_search_among_rows_of_dask_says_what_to_do(data):
    X, _, y = data
    with pytest.raises(ValueError, match="divides rows into folds, which it needs in memory"):
        KernelSearchCV(machine(), {"lam": [1e-3, 1e-4]}).fit(da.from_array(X), y)
    for wrapped in (Calibrated(machine()), TunedThreshold(machine())):
        with pytest.raises(ValueError, match="divides rows into folds, which it needs in memory"):
            wrapped.fit(da.from_array(X), y)


def run(*words):
    done = CliRunner().invoke(main, [str(word) for word in words])
    return done.exit_code, done.output


def test_commands_on_a_cluster(cluster, data, tmp_path):
    X, _, y = data
    address = cluster.scheduler.address
    frame = pd.DataFrame(X, columns=list("abcd")).assign(word=np.where(X[:, 0] > 0, "hot", "cold"), label=y)
    frame.to_parquet(tmp_path / "rows.parquet", row_group_size=500)
    frame[:100].to_csv(tmp_path / "few.csv", index=False)
    there, here = tmp_path / "there.safetensors", tmp_path / "here.safetensors"
    trained = ("train", "kernel-logistic", tmp_path / "rows.parquet", "--rank", 40, "--memory", "60kB", "-o")
    status, said = run(*trained, there, "--cluster", address)
    assert status == 0, said
    assert "read by the workers of the cluster" in said
    assert run(*trained, here)[0] == 0
    one, other = (load(path).decision_function(frame.drop(columns="label")) for path in (here, there))
    assert_near(one, other, 1e-6)
    for words, cause in (
        (("train", "svc", tmp_path / "rows.parquet", "-o", there), "add --rank 1000"),
        (("train", "kernel-logistic", tmp_path / "few.csv", "--rank", 10, "-o", there), "store the table as Parquet"),
    ):
        status, said = run(*words, "--cluster", address)
        assert status == 1
        assert cause in said
    searched = [
        run("tune", "svc", tmp_path / "few.csv", "--folds", 3, "--json", "-q", *more)
        for more in ((), ("--cluster", address))
    ]
    assert [status for status, _ in searched] == [0, 0], searched
    found = [json.loads(said)["cells"] for _, said in searched]
    assert found[0] == found[1]


def test_a_cluster_that_is_not_there(monkeypatch, tmp_path):
    monkeypatch.setattr(cluster_of_commands, "_PATIENCE", 0.3)
    status, said = run("tune", "svc", "moons:60", "--cluster", "tcp://127.0.0.1:9")
    assert status == 1
    assert "no scheduler answers at tcp://127.0.0.1:9" in said
    status, said = run("compare", "moons:60", "--cluster", "somewhere")
    assert status == 2
    assert "'somewhere' should be the address of a scheduler" in said
    monkeypatch.setitem(sys.modules, "distributed", None)
    status, said = run("train", "svc", "moons:60", "-o", tmp_path / "m.safetensors", "--cluster", "local")
    assert status == 1
    assert "pip install 'mercer[dask]'" in said


@pytest.mark.thorough
def test_a_worker_that_is_lost_changes_nothing(data):
    X, _, y = data
    here = machine().fit(X, y)
    workers = distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
    with workers as running, distributed.Client(running):
        rows = rows_of(da.from_array(X, chunks=200))
        passes = rows.each

        def each(work, *vectors):
            each.count += 1
            if each.count == 5:
                os.kill(next(iter(running.workers.values())).pid, signal.SIGKILL)
            return passes(work, *vectors)

        each.count, rows.each = 0, each
        there = machine().fit(rows, y)
        assert each.count > 5
    assert_near(here.dual_coef_, there.dual_coef_)
