"""Processes killed while they write, disks that fill up, and two writers at once.

- 500 times a process that saves two models in turn is killed (SIGKILL) at a random moment: on a disk, in memory, and
  where files without a name are not to be had. Counted are model files that are neither the one nor the other, byte by
  byte, and drafts that are still there after the next save.
- 30 times a search with a journal is killed at a random moment, and run again. Counted are results that differ in any
  bit from those of a search that nobody disturbed.
- 200 times a process that writes the reports of two studies in turn is killed, and 10 times "mercer compare" as a
  whole. Counted are folders with a page of one study beside the facts of another, and files that are neither.
- Two processes save to one path while a third reads it 1000 times. Counted are reads that give neither of the models.
- Files of limited size, and a disk of one megabyte, stop 50 saves somewhere on the way. Counted are old files that
  changed, drafts that were left, and saves that did not end with a sentence.
"""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import subprocess
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

from mercer import SVC, load, save
from mercer.cli import main
from mercer.io import writing as drafts
from mercer.io.table import DataError
from mercer.report import page, study_name, write
from mercer.search import KernelSearchCV
from mercer.study import compare
from reproductions.results import Results

from ._processes import forked, in_memory, kill, killed_after, result_of

#: Where models are saved: in which folder, None being on a disk, and whether files without a name are allowed.
_PLACES: list[tuple[str | None, bool]] = [(None, True), (in_memory(), True), (in_memory(), False)]


def show(results: Results, scale: float, seed: int) -> None:
    chance = random.Random(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _show_saves(results, max(6, round(500 * scale)), chance)
        _show_searches(results, max(3, round(30 * scale)), chance)
        _show_reports(results, max(5, round(200 * scale)), max(1, round(10 * scale)), chance)
        _show_two_savers(results, max(50, round(1000 * scale)))
        _show_full_disks(results, max(5, round(50 * scale)), chance)


def _models(columns: int = 100) -> list[Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, columns))
    return [SVC("gaussian").fit(X, np.where(X[:, k] > 0, "yes", "no")) for k in range(2)]


def _files_of(models: list[Any], folder: Path) -> list[Any]:
    """What each of the models is as a file."""
    found = []
    for model in models:
        save(model, folder / "alone")
        found.append(_content(folder / "alone"))
        (folder / "alone").unlink()
    return found


def _content(path: Path) -> tuple[int, Any, bytes]:
    """All bytes of a model file, except for the order of words in its header, which safetensors draws at random."""
    data = path.read_bytes()
    end = 8 + int.from_bytes(data[:8], "little")
    try:
        return len(data), json.loads(data[8:end]), data[end:]
    except ValueError:
        return len(data), None, data


def _saving(models: list[Any], path: Path) -> Callable[[], None]:
    def work() -> None:
        for model in cycle(models):
            save(model, path)

    return work


def _show_saves(results: Results, trials: int, chance: random.Random) -> None:
    models = _models()
    damaged = left = at_once = changes = 0
    for root, nameless in _PLACES:
        with tempfile.TemporaryDirectory(dir=root) as name, _without_nameless(nameless):
            folder = Path(name)
            contents, path = _files_of(models, folder), folder / "model.safetensors"
            save(models[0], path)
            begin = time.perf_counter()
            save(models[0], path)
            usual = time.perf_counter() - begin
            for _ in range(-(-trials // len(_PLACES))):
                killed_after(_saving(models[::-1], path), chance.uniform(0, 6 * usual))
                damaged += _content(path) not in contents
                changes += _content(path) != contents[0]
                at_once += len(os.listdir(folder)) > 1
                save(models[0], path)
                left += len(os.listdir(folder)) > 1
    results.add("kills while saving: files that are neither old nor new", damaged, 0, damaged == 0,
                f"of {trials}: on a disk, in memory, with named drafts; {changes} had the new model")  # fmt: skip
    results.add("kills while saving: drafts left after the next save", left, 0, left == 0,
                f"{at_once} there right after the kill")  # fmt: skip


@contextmanager
def _without_nameless(allowed: bool) -> Iterator[None]:
    """Where not allowed, as on file systems that have no files without a name."""
    if allowed:
        yield
        return
    with mock.patch.object(drafts, "_nameless", side_effect=OSError):
        yield


def _show_searches(results: Results, trials: int, chance: random.Random) -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(150, 3))
    y = (X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=150) > 0).astype(int)
    grid = {"kernel__gamma": np.geomspace(0.05, 5, 8), "C": [0.1, 1.0, 10.0]}

    def search(journal: Path | None) -> Any:
        found = KernelSearchCV(SVC("gaussian"), grid, cv=4, journal=journal).fit(X, y)
        scores = {name: values for name, values in found.cv_results_.items() if name.endswith("_score")}
        return scores, found.best_estimator_.decision_function(X), found.lost_cells_

    different = taken = lost = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        scores, decisions, _ = search(None)
        begin = time.perf_counter()
        search(folder / "whole")
        usual = time.perf_counter() - begin
        lines = (folder / "whole").read_bytes().count(b"\n")
        for trial in range(trials):
            journal = folder / f"journal{trial}"
            killed_after(lambda journal=journal: search(journal), chance.uniform(0, usual))
            done = journal.read_bytes().count(b"\n") if journal.exists() else 0
            taken += 2 < done < lines
            again = result_of(lambda journal=journal: search(journal), folder)
            same = all(np.array_equal(scores[name], again[0][name]) for name in scores)
            different += not (same and np.array_equal(decisions, again[1]))
            lost += again[2] or 0
    results.add("kills in searches: results that differ", different, 0, different == 0,
                f"of {trials}; {taken} went on in the middle; {lost} cells were being written")  # fmt: skip


def _show_reports(results: Results, trials: int, whole_commands: int, chance: random.Random) -> None:
    studies = [_study(seed) for seed in range(2)]
    pages = {study_name(facts): page(facts, study_name(facts)) for facts in studies}
    ready = mock.patch("mercer.report.writing.page", lambda facts, study: pages[study])  # kills are to meet the writing
    mixed = neither = missing = 0
    with tempfile.TemporaryDirectory(dir=in_memory()) as name, ready:
        folder, pairs = Path(name) / "report", []
        for facts in studies:
            begin = time.perf_counter()
            write(facts, folder)
            usual = time.perf_counter() - begin
            pairs.append(_pair(folder))

        def work() -> None:
            for facts in cycle(studies):
                write(facts, folder)

        for _ in range(trials):
            killed_after(work, chance.uniform(0, 4 * usual))
            found = _pair(folder)
            missing += None in found
            neither += any(found[k] not in [pairs[0][k], pairs[1][k], None] for k in range(2))
            mixed += None not in found and found not in pairs
    mixed += _halves_of_commands(whole_commands, chance)
    results.add("kills while reports are written: halves of two studies", mixed, 0, mixed == 0,
                f"of {trials} while writing and {whole_commands} of mercer compare")  # fmt: skip
    results.add("kills while reports are written: files that are not whole", neither, 0, neither == 0,
                f"{missing} times a page had no facts beside it")  # fmt: skip


def _study(seed: int) -> Any:
    from mercer import read

    return compare(read("moons:60"), learners=["logistic"], trees=False, seed=seed, cv=2)


def _pair(folder: Path) -> tuple[bytes | None, bytes | None]:
    files = [folder / "report.html", folder / "report.json"]
    shown, facts = (file.read_bytes() if file.exists() else None for file in files)
    return shown, facts


def _halves_of_commands(trials: int, chance: random.Random) -> int:
    """How often "mercer compare" over the report of another study leaves halves of both, killed at a random moment."""
    mixed = 0

    def command(folder: str, seed: int) -> Callable[[], Any]:
        line = f"compare moons:60 --learners logistic --no-trees --cv 2 --seed {seed} -o {folder}"
        return lambda: main(line.split(), standalone_mode=False)

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "report"
        begin = time.perf_counter()
        result_of(command(str(folder), trials), Path(name))
        usual = time.perf_counter() - begin
        for trial in range(trials):
            killed_after(command(str(folder), trial), chance.uniform(0, 1.1 * usual))
            shown, facts = _pair(folder)
            if shown is not None and facts is not None:
                mixed += json.loads(facts)["study"].encode() not in shown
    return mixed


def _show_two_savers(results: Results, reads: int) -> None:
    models, failed, seen = _models(10), 0, set()
    with tempfile.TemporaryDirectory(dir=in_memory()) as name:
        folder = Path(name)
        contents, path = _files_of(models, folder), folder / "model.safetensors"
        rows = models[0].X_fit_ if hasattr(models[0], "X_fit_") else np.zeros((1, 10))
        answers = [model.decision_function(rows) for model in models]
        save(models[0], path)
        savers = [forked(_saving([model], path)) for model in models]
        try:
            for _ in range(reads):
                try:
                    scores = load(path).decision_function(rows)
                    which = [k for k, answer in enumerate(answers) if np.array_equal(scores, answer)]
                    failed += not which or _content(path) not in contents
                    seen |= set(which)
                except (DataError, OSError):
                    failed += 1
        finally:
            for child in savers:
                kill(child)
        save(models[0], path)
        failed += len(os.listdir(folder)) != 1
    results.add("two savers and a reader: failed reads", failed, 0, failed == 0,
                f"of {reads}; {len(seen)} models were seen")  # fmt: skip


def _show_full_disks(results: Results, trials: int, chance: random.Random) -> None:
    models, wrong, silent = _models(), 0, 0
    disks = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        contents, path = _files_of(models, folder), folder / "model.safetensors"
        save(models[0], path)
        for _ in range(trials):
            limit = chance.randrange(contents[1][0])
            silent += not result_of(lambda limit=limit: _refused(models[1], path, limit), folder)
            wrong += _content(path) != contents[0] or len(os.listdir(folder)) > 1
    with _small_disk() as disk:
        if disk is not None:
            disks, path = 1, disk / "model.safetensors"
            save(models[0], path)
            (disk / "filler").write_bytes(bytes(shutil.disk_usage(disk).free - 4096))
            silent += not _refused(models[1], path)
            wrong += _content(path) != contents[0] or len(os.listdir(disk)) > 2
    results.add("full disks: old files that changed, or drafts left", wrong, 0, wrong == 0,
                f"of {trials} limits of file size and {disks} full disk")  # fmt: skip
    results.add("full disks: saves without a sentence", silent, 0, silent == 0, "")


def _refused(model: Any, path: Path, limit: int | None = None) -> bool:
    """Whether saving is refused in a sentence, where files may have so many bytes."""
    if limit is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    try:
        save(model, path)
    except DataError as error:
        return "cannot be written" in str(error)
    finally:
        if limit is not None:
            resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    return False


@contextmanager
def _small_disk() -> Iterator[Path | None]:
    """A disk of a megabyte; ``None`` where this user may not mount one."""
    with tempfile.TemporaryDirectory() as folder:
        mounting = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder]
        if shutil.which("mount") is None or subprocess.run(mounting, capture_output=True).returncode:
            yield None
            return
        try:
            yield Path(folder)
        finally:
            subprocess.run(["umount", folder], check=True)
