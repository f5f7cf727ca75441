"""``mercer compare`` as it is on public files, beside what people build from scikit-learn, on the same split.

    python -m reproductions.public_tables --data FOLDER [--only heart esol] [--cache FOLDER] [--json results.json]

A quarter of the rows (of each class, where there are classes) is held out; of more than 40 000 rows that many are drawn
first. The other rows become a CSV file with the cells as they were, on which ``mercer compare`` runs with its default
options; ``mercer run`` then predicts the rows held out, which come without their target. Rows without a target are
never held out. Seconds are those of the whole command, compilation too.

Beside it, on the same rows: boosted trees and a random forest of 300 trees, which take words as categories by number
and of texts fifty components of their n-grams of characters; scikit-learn's support vector machine with C = 1 and with
a small grid (on at most 10 000 training rows), and mercer's own with its defaults, which get medians and scales,
indicators of words and the n-grams themselves. Of dates all get days and hours. Targets that are numbers are brought to
mean 0 and deviation 1 for the machines.

The measure is the study's own: the share of wrong answers, 1 − balanced accuracy, 1 − macro F1, or the RMSE. **The best
of the peers on the rows held out** is the bar, though nobody could know beforehand which it is. Level is who is at most
one standard error of the difference behind it, by the bootstrap over the rows held out. Where a study takes classes for
numbers, its answers are rounded.

``tables.toml`` in the folder says which files there are, or ``public_tables.toml`` where there is none. With
``--cache`` what the peers predict is kept and only mercer runs again; delete the files there of a peer that changed.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.metrics import balanced_accuracy_score, f1_score, r2_score

from .public_files import Halves, PublicTable, found, split, tables_of
from .public_peers import with_peers
from .results import Results

_RESAMPLES = 500


class CommandFailed(Exception):
    """A command of mercer's did not do what it was asked for; the text is what it said last."""


def run_command(folder: Path, *words: str) -> float:
    """Run a command of mercer's; keep what it says in the folder, and return its seconds."""
    begin = time.perf_counter()
    ended = subprocess.run([sys.executable, "-m", "mercer", *words], capture_output=True, text=True)
    for stream in ("stdout", "stderr"):
        (folder / f"{words[0]}.{stream}").write_text(getattr(ended, stream))
    if ended.returncode not in (0, 124):  # 124: the time limit was reached, and what there is by then is there
        said = ended.stderr.strip().splitlines() or [""]
        raise CommandFailed(f"mercer {words[0]} ended with {ended.returncode}: {said[-1]}")
    return time.perf_counter() - begin


def with_mercer(table: PublicTable, halves: Halves, folder: Path, limit: float | None) -> tuple[list[str], Study]:
    """The study of the training rows, and what its model says of the rows held out."""
    model, answers = str(folder / "model.safetensors"), folder / "answers.csv"
    limited = [] if limit is None else ["--time-limit", str(limit)]
    seconds = run_command(
        folder, "compare", str(halves.train_file), "--target", table.target,
        "--model", model, "-o", str(folder / "report"), *limited,
    )  # fmt: skip
    run_command(folder, "run", model, str(halves.new_file), "-o", str(answers), "--quiet")
    said = pd.read_csv(answers, dtype=str, keep_default_na=False)["prediction"].tolist()
    if len(said) != len(halves.held):
        raise CommandFailed(f"mercer run answered {len(said)} of {len(halves.held)} rows")
    return said, Study(json.loads((folder / "report" / "report.json").read_text()), seconds)


def label(word: Any) -> str:
    """A class as a word: 1, 1.0 and "1" are one class."""
    try:
        return f"{float(word):g}"
    except ValueError:
        return str(word).strip()


def _rmse(truth: Any, answers: Any) -> float:
    return float(np.sqrt(np.mean((truth - answers) ** 2)))


#: The measures by which a study judges of itself: what is shown, and the loss of true targets and answers.
MEASURES: dict[str, tuple[str, Callable[[Any, Any], float]]] = {
    "accuracy": ("error", lambda truth, answers: float(np.mean(truth != answers))),
    "balanced_accuracy": ("1 − balanced accuracy", lambda *both: 1 - float(balanced_accuracy_score(*both))),
    "f1_macro": ("1 − macro F1", lambda *both: 1 - float(f1_score(*both, average="macro", zero_division=0))),
    "neg_root_mean_squared_error": ("RMSE", _rmse),
}


@dataclass(frozen=True)
class Study:
    """What ``mercer compare`` says of itself."""

    facts: dict[str, Any]
    seconds: float

    @property
    def measure(self) -> str:
        return str(self.facts["scoring"]["name"])

    @property
    def stated(self) -> tuple[float, float, float]:
        """The loss of the chosen learner on the test rows of the study, and the interval for new rows."""
        chosen = next(one for one in self.facts["learners"] if one["name"] == self.facts["answer"]["chosen"])
        score = chosen["scores"][self.measure]
        best = 0 if self.measure.startswith("neg_") else 1
        return best - score["value"], best - score["high"], best - score["low"]


def noise(statistic: Callable[[Any], float], count: int) -> float:
    """The standard error of what is computed from so many rows, by the bootstrap."""
    rng = np.random.default_rng(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a draw without some class
        return float(np.std([statistic(rng.integers(0, count, count)) for _ in range(_RESAMPLES)]))


def judge(table: PublicTable, halves: Halves, said: list[str], study: Study, peers: dict[str, list[Any]]) -> Row:
    """Hold the study against its peers and against what it stated."""
    classes, as_numbers = table.task == "classes", study.facts["task"] == "regress"
    held = halves.held[table.target]
    plainly, own = (float if as_numbers else label), MEASURES[study.measure][1]
    its_truth, its_answers = (np.array([*map(plainly, words)]) for words in (held, said))
    reached = own(its_truth, its_answers)
    spread = noise(lambda rows: own(its_truth[rows], its_answers[rows]), len(held))
    if classes:
        measure = "accuracy" if as_numbers else study.measure
        truth = np.array([*map(label, held)])
        ours = np.array([label(round(float(word)) if as_numbers else word) for word in said])
        theirs = {peer: np.array([*map(label, answers)]) for peer, answers in peers.items()}
    else:
        measure, truth, ours = "neg_root_mean_squared_error", held.to_numpy(float), np.array(said, float)
        theirs = {peer: np.array(answers, float) for peer, answers in peers.items()}
    title, loss = MEASURES[measure]
    losses = {peer: loss(truth, answers) for peer, answers in theirs.items()}
    best = min(losses, key=lambda peer: losses[peer])
    error = noise(lambda rows: loss(truth[rows], ours[rows]) - loss(truth[rows], theirs[best][rows]), len(truth))
    notes = [f"{peer} {figure(found)}" for peer, found in losses.items()]
    if not classes:
        notes.append(f"R² {r2_score(truth, ours):.3f}")
    elif measure != "accuracy":
        plain = MEASURES["accuracy"][1]
        notes.append(f"plain error {figure(plain(truth, ours))}, of the peers at least "
                     f"{figure(min(plain(truth, answers) for answers in theirs.values()))}")  # fmt: skip
    if classes == as_numbers:
        notes.append(f"the study took the {table.task} for {'numbers' if classes else 'classes'}")
    notes += [f"left out: {one['name']}" for one in study.facts["data"]["left_out"]]
    return Row(
        table.name, study.facts["answer"]["title"], title, loss(truth, ours), reached, spread, study.stated,
        best, losses[best], error, study.seconds, "; ".join(notes),
    )  # fmt: skip


@dataclass(frozen=True)
class Row:
    """A line of the table."""

    name: str
    choice: str
    measure: str
    loss: float
    in_its_measure: float
    spread: float
    stated: tuple[float, float, float]
    peer: str
    of_peer: float
    error: float
    seconds: float
    note: str

    @property
    def level(self) -> bool:
        """At most one standard error of the difference behind the best peer."""
        return self.loss <= self.of_peer + self.error

    @property
    def kept_its_word(self) -> bool:
        """The interval that the study stated contains what was found on the rows held out."""
        return self.stated[1] <= self.in_its_measure <= self.stated[2]


def figure(value: float) -> str:
    return f"{value:.4g}"


def show(row: Row) -> str:
    """A line of the table as text."""
    value, low, high = map(figure, row.stated)
    stated = f"{value} ({low} to {high})" + (
        "" if row.kept_its_word else f", not {figure(row.in_its_measure)} ± {figure(row.spread)}"
    )
    verdict = "best" if row.loss < row.of_peer else "level" if row.level else "BEHIND"
    return (f"{row.name:14s}{verdict:7s}{figure(row.loss):>9s} {row.measure:22s}stated {stated:52s}{row.peer:11s}"
            f"{figure(row.of_peer):>9s} ± {figure(row.error):10s}{row.seconds:5.0f} s  {row.choice}")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, metavar="FOLDER", help="where the files are")
    parser.add_argument("--only", nargs="*", metavar="NAME", help="these tables")
    parser.add_argument("--cache", type=Path, metavar="FOLDER", help="keep the predictions of the peers")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="keep the split, reports, models and messages")
    parser.add_argument("--peers-only", action="store_true", help="fill the cache, without mercer compare")
    parser.add_argument("--time-limit", type=float, metavar="SECONDS", help="passed on to mercer compare")
    parser.add_argument("--json", metavar="FILE")
    given = parser.parse_args()
    if given.cache:
        given.cache.mkdir(parents=True, exist_ok=True)
    results, rows, failures = Results(), [], []
    for table in tables_of(given.data):
        path = found(table, given.data) if not given.only or table.name in given.only else None
        if path is None:
            continue
        with tempfile.TemporaryDirectory() as temporary:
            folder = given.keep / table.name if given.keep else Path(temporary)
            folder.mkdir(parents=True, exist_ok=True)
            halves = split(table, path, folder)
            peers = with_peers(table, halves, given.cache)
            if given.peers_only:
                continue
            try:
                row = judge(table, halves, *with_mercer(table, halves, folder, given.time_limit), peers)
            except CommandFailed as failure:
                failures.append(table.name)
                print(f"{table.name:14s}CRASH  {failure}", flush=True)
                results.add(table.name, None, None, False, str(failure))
                continue
        rows.append(row)
        print(f"{show(row)}\n{'':21s}{row.note}", flush=True)
        value, low, high = map(figure, row.stated)
        note = f"{row.choice}, {row.seconds:.0f} s; {row.measure}, one standard error {figure(row.error)}; {row.note}"
        results.add(f"{row.name}: beside {row.peer}", row.loss, row.of_peer, row.level, note)
        note = f"stated {value}, on new rows {low} to {high}; held out ± {figure(row.spread)} (one standard error)"
        results.add(f"{row.name}: the stated interval", row.in_its_measure, [*row.stated[1:]], row.kept_its_word, note)
    if given.peers_only:
        return
    level, kept, count = (
        sum(row.level for row in rows),
        sum(row.kept_its_word for row in rows),
        len(rows) + len(failures),
    )
    print(f"{level} of {count} best or level, {kept} intervals contain the loss held out, {len(failures)} crashes")
    results.add(
        "tables: best or level", level, count, level == count, f"behind: {[r.name for r in rows if not r.level]}"
    )
    results.add("tables: crashes", len(failures), 0, not failures, ", ".join(failures))
    results.write(given.json)


if __name__ == "__main__":
    main()
