"""Journals: what is damaged is counted, said and computed again; nothing else is ever taken from them."""

import json
import os
import random
import warnings
from pathlib import Path
from unittest import mock

import numpy as np
import pytest
from sklearn.datasets import make_moons

from benchmarks.fault_trials.journals import DAMAGES
from mercer import SVC
from mercer.search import Journal, KernelSearchCV, Outcome

X, y = make_moons(60, noise=0.3, random_state=0)
GRID = {"C": [0.1, 1, 10], "kernel__gamma": [0.3, 3]}


def searched(path=None, **options):
    return KernelSearchCV(SVC("gaussian"), GRID, cv=3, journal=path, refit=False, **options).fit(X, y)


def scores(search):
    return {name: values for name, values in search.cv_results_.items() if name.endswith("test_score")}


def cells(count, first=0):
    """Cells of a search on 20 rows."""
    rng = np.random.default_rng(first)
    settings = [f"C={k}" for k in range(first, first + count)]
    return {(each, "fold"): Outcome(np.arange(0, 20, 2), rng.normal(size=(10, 2)), 0.5) for each in settings}


def written(path, *units):
    journal = Journal(path, "a search", 20)
    for unit in units:
        journal.write(unit)
    journal.close()
    return path


def opened(path, fingerprint="a search"):
    journal = Journal(path, fingerprint, 20)
    journal.close()
    return journal


@pytest.fixture
def path(tmp_path):
    return written(tmp_path / "journal", cells(3), cells(2, 3), cells(1, 5))


def test_every_digit_comes_back(path):
    found = opened(path)
    assert (found.lost_cells, found.damage) == (0, None)
    expected = {**cells(3), **cells(2, 3), **cells(1, 5)}
    assert found.known.keys() == expected.keys()
    for key, outcome in expected.items():
        assert np.array_equal(found.known[key].decision, outcome.decision)
        assert np.array_equal(found.known[key].rows, outcome.rows)


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_damage_is_counted_and_said_once(path, damage):
    whole, truth = path.read_bytes(), opened(path).known
    chance = random.Random(0)
    for _ in range(10):
        damaged = damage(whole, chance)
        path.write_bytes(damaged)
        lines = {line for line in damaged.split(b"\n") if line in whole.split(b"\n")}
        expected = {
            (cell["setting"], cell["fold"])
            for line in filter(None, lines)
            for cell in json.loads(line.rpartition(b" ")[0]).get("cells", [])
        }
        found = opened(path)
        assert found.known.keys() == expected
        assert all(np.array_equal(found.known[key].decision, truth[key].decision) for key in expected)
        assert found.lost_cells == len(truth) - len(expected) or (found.lost_cells is None and not expected)
        assert found.damage is not None or found.lost_cells == 0
        assert opened(path).damage is None  # the file is in order again
        assert opened(path).known.keys() == expected


def test_a_search_goes_on_from_a_damaged_journal_with_the_same_result(tmp_path):
    path = tmp_path / "journal"
    searched(path)
    lines = path.read_bytes().splitlines(keepends=True)
    lines[5] = lines[5].replace(b"A", b"B")
    del lines[-1]
    path.write_bytes(b"".join(lines))
    with pytest.warns(UserWarning, match=r"of 18 cells 6 cells are lost and computed again"):
        again = searched(path)
    assert again.lost_cells_ == 6
    for name, values in scores(searched()).items():
        assert np.array_equal(values, scores(again)[name])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert searched(path).lost_cells_ == 0


def test_a_journal_cut_in_its_first_line_begins_anew(path):
    first = path.read_bytes().split(b"\n")[0]
    for length in (0, 1, 30, 60, len(first)):
        path.write_bytes(first[:length])
        found = opened(path)
        assert not found.known
        assert (found.damage is None) == (length == 0)
        assert length == 0 or "begins anew" in found.damage
        assert opened(path).damage is None


def test_a_last_line_without_its_end_is_whole_and_the_next_one_begins_anew(path):
    path.write_bytes(path.read_bytes().removesuffix(b"\n"))
    assert opened(written(path, cells(1, 6))).lost_cells == 0
    assert len(opened(path).known) == 7


def test_other_files_are_refused_and_stay(path, tmp_path):
    whole = path.read_bytes()
    old = b'{"journal": "mercer search", "version": 1, "fingerprint": "0.1.0 abc"}\n{"cells": []}\n'
    newer = whole.split(b"\n")[0].replace(b'"version": 2', b'"version": 3') + b"\n"
    files = {
        b"a,b\n1,2\n": "not the journal of a search",
        b"\x00" * 500: "not the journal of a search",
        b'{"cells": [], "handed": 3}\n': "nothing in it belongs|not the journal",
        old: "written by another version",
        newer: "damaged, and nothing in it belongs to this search",
    }
    for content, words in files.items():
        path.write_bytes(content)
        with pytest.raises(ValueError, match=words):
            opened(path)
        assert path.read_bytes() == content
    path.write_bytes(whole)
    with pytest.raises(ValueError, match="belongs to a search on other rows"):
        opened(path, "another search")
    # Without its first line it is nobody's, and lines of another search are not taken for this one's.
    path.write_bytes(b"".join(whole.splitlines(keepends=True)[1:]))
    with pytest.raises(ValueError, match="nothing in it belongs to this search"):
        opened(path, "another search")
    assert len(opened(path).known) == 6
    os.mkfifo(tmp_path / "pipe")
    for name, words in {tmp_path / "pipe": "is a pipe", tmp_path: "is a folder", "/dev/null": "is a device"}.items():
        with pytest.raises(ValueError, match=words):
            opened(name)


@pytest.mark.parametrize(
    "change",
    [
        {"rows": np.arange(11, 31)[:10]},
        {"rows": np.arange(10)[::-1]},
        {"rows": np.arange(9)},
        {"rows": np.arange(10.0)},
        {"decision": np.array(["a"] * 10)},
        {"seconds": float("inf")},
        {"seconds": -1.0},
        {"error": 5},
    ],
    ids=repr,
)
def test_a_cell_that_makes_no_sense_is_lost(tmp_path, change):
    key, outcome = next(iter(cells(1).items()))
    values = {"rows": outcome.rows, "decision": outcome.decision, "seconds": 0.5, "error": None, **change}
    found = opened(written(tmp_path / "journal", {key: Outcome(**values)}, cells(2, 1)))
    assert (len(found.known), found.lost_cells) == (2, 1)
    assert "1 cell is lost" in found.damage


def test_two_searches_do_not_write_one_journal(path, monkeypatch):
    monkeypatch.setattr("mercer.search.journal._PATIENCE", 0.05)
    journal = Journal(path, "a search", 20)
    with pytest.raises(ValueError, match="is being written by another search"):
        opened(path)
    journal.close()
    assert len(opened(path).known) == 6


def test_a_process_that_was_forked_meanwhile_does_not_hold_a_journal(path):
    journal, (waiting, over) = Journal(path, "a search", 20), os.pipe()
    child = os.fork()
    if not child:
        os.close(over)
        os.read(waiting, 1)
        os._exit(0)
    journal.close()
    try:
        assert len(opened(path).known) == 6
    finally:
        os.close(over)
        os.waitpid(child, 0)
        os.close(waiting)


def test_a_journal_is_let_go_when_a_search_fails(tmp_path):
    def broken(estimator, X, y):
        raise KeyboardInterrupt

    path = tmp_path / "journal"
    with mock.patch("mercer.search.numbered.Numbered._batches", broken), pytest.raises(KeyboardInterrupt):
        searched(path)
    assert searched(path).lost_cells_ == 0


def test_a_full_disk_ends_the_journal_and_not_the_search(tmp_path):
    path, limit = tmp_path / "journal", [4]
    put = Journal._put

    def filling(self, data, place):
        limit[0] -= 1
        if limit[0] < 0:
            raise OSError(28, "No space left on device")
        return put(self, data, place)

    with mock.patch.object(Journal, "_put", filling), pytest.warns(UserWarning, match="No space left on device"):
        found = searched(path)
    for name, values in scores(searched()).items():
        assert np.array_equal(values, scores(found)[name])
    with pytest.warns(UserWarning, match="lost and computed again"):
        assert searched(path).lost_cells_ == 3  # what was handed over when the disk was full


def test_the_command_says_what_was_lost(mercer):
    mercer("tune svc moons:60 --kernel linear --folds 3 --journal j")
    lines = Path("j").read_bytes().splitlines(keepends=True)
    Path("j").write_bytes(b"".join(lines[:-1]))
    again = mercer("tune svc moons:60 --kernel linear --folds 3 --journal j --resume --json")
    assert "lost and computed again" in again.stderr
    assert json.loads(again.stdout)["lost_cells"] > 0
