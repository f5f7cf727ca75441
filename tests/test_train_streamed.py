"""``mercer train --rank`` and ``mercer run`` on files that are larger than the memory allowed."""

from __future__ import annotations

import re
import tracemalloc

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import mercer
from mercer.cli import main
from mercer.cli.large_files import in_chunks
from mercer.grams import Streamed
from mercer.kernels import Gaussian


def called(*words):
    return CliRunner().invoke(main, [str(word) for word in words])


def rows(n=600, columns=12):
    random = np.random.default_rng(0)
    X = random.normal(size=(n, columns))
    frame = pd.DataFrame(X, columns=[f"x{k}" for k in range(columns)])
    return frame.assign(kind=np.where(X[:, 0] * X[:, 1] > 0, "same", "apart"))


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("NUMBA_NUM_THREADS", "1")
    rows().to_parquet("t.parquet")


@pytest.mark.parametrize("learner", ["svc", "kernel-squared-hinge"])
def test_learners_keep_the_tolerance_of_their_machines(learner):
    done = called("train", learner, "t.parquet", "--rank", 10, "--memory", "50kB", "-o", "m")
    assert done.exit_code == 0, done.output
    assert "is read in chunks" in done.stderr
    machine = mercer.load("m").steps[-1][1]
    assert machine.tol == type(machine)().tol


@pytest.mark.parametrize("memory", ["40kB", "1GB"])
def test_a_time_limit_ends_alike_in_chunks_and_in_memory(memory):
    done = called("train", "kernel-logistic", "t.parquet", "--rank", 10, "--memory", memory, "--set", "time_limit=1e-6",
                  "-o", "m")  # fmt: skip
    assert done.exit_code == 124
    assert "the time limit was reached: the model in m is the best so far" in done.stderr


def test_a_folder_with_marks_of_other_programs_is_read_in_chunks(tmp_path):
    parts = tmp_path / "parts"
    parts.mkdir()
    rows()[:300].to_parquet(parts / "part-0.parquet")
    rows()[300:].to_parquet(parts / "part-1.PARQUET")
    rows()[:0].to_parquet(parts / "part-2.parquet")
    for mark in ("_SUCCESS", ".part-0.parquet.crc", "README.md"):
        (parts / mark).write_text("done")
    assert in_chunks("parts", 600 * 13 * 8 - 1)
    assert not in_chunks("parts", 600 * 13 * 8)
    rows().to_csv(parts / "more.csv")
    assert not in_chunks("parts", 1)


def test_packed_text_counts_for_more_than_its_size(tmp_path):
    rows().to_csv("t.csv.gz", index=False)
    size = (tmp_path / "t.csv.gz").stat().st_size
    assert in_chunks("t.csv.gz", 2 * size)
    (tmp_path / "t.csv.gz").rename("t.csv")
    assert not in_chunks("t.csv", 2 * size)
    (tmp_path / "damaged.parquet").write_bytes(b"PAR1")
    assert not in_chunks("damaged.parquet", 1)


def test_files_are_called_by_their_names():
    assert called("train", "svc", "t.parquet", "--rank", 10, "--memory", "50kB", "-o", "m").exit_code == 0
    assert re.search(r"trained on +t, 600 rows", called("inspect", "m").stdout)
    rows().assign(kind="other").to_parquet("strange.parquet")
    done = called("run", "m", "strange.parquet", "--max-bytes", "10kB", "-o", "p.csv")
    assert "'strange.parquet' has labels that the model does not know: 'other'" in done.stderr
    done = called("run", "m", "strange.parquet", "--max-bytes", "10kB")
    assert done.exit_code == 1
    assert "more than 10,000 bytes" in done.stderr
    assert done.stderr.endswith("or read it chunk by chunk with -o FILE.\n")


def test_features_at_hand_take_their_memory_once():
    """Those of a chunk, which may be all rows, are not held besides those of all."""
    rows(20_000, 2).to_parquet("long.parquet")
    table = mercer.scan("long.parquet", target="kind")
    streamed = Streamed.of(Gaussian(gamma=9.0), table.X, 100, memory="20MB")
    expected = streamed.held()  # what is imported and compiled is none of it
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        tracemalloc.reset_peak()
        held = streamed.held()
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    np.testing.assert_array_equal(held.Phi, expected.Phi)
    assert peak - before < 1.5 * held.Phi.nbytes


def test_small_sizes_are_said_in_small_units():
    table = mercer.scan("t.parquet", target="kind")
    with pytest.raises(ValueError, match=r"60 landmarks of 600 rows take 288\.0 kB, more than memory='100kB'"):
        mercer.SVC("rbf", rank=60, memory="100kB").fit(table.X, table.y)


def test_a_search_without_a_graphics_card_says_so_in_one_sentence(monkeypatch):
    monkeypatch.setattr("mercer.cuda.device.find_spec", lambda name: None)
    table = mercer.read("moons:40")
    with pytest.raises(ValueError, match=r"^no setting of the search could be fitted: device=\"cuda\" needs torch"):
        mercer.KernelSearchCV(mercer.SVC(device="cuda"), {"C": [1, 10]}, cv=2).fit(table.X, table.y)
