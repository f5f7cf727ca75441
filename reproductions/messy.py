"""From a messy file to a decision: the defaults of ``mercer compare`` beside those of scikit-learn's usual learners.

    python -m reproductions.messy [--tables sms_spam adult] [--json results.json]

Each table is cut in two (a quarter is the test), and both parts are written in the format that the table comes in.
``mercer compare TRAIN --model MODEL`` and ``mercer run MODEL TEST`` are run as a person would, without any option that
says what the columns are. Beside them: gradient boosting, a random forest and logistic (for numbers: ridge) regression,
each with its defaults behind skrub's table vectoriser, given the same rows as a frame. **The best of the three on the
test rows** is what mercer is held against, though nobody could know beforehand which it is.

Noise is that of the difference on the same test rows: two standard errors by the bootstrap. The bar: within noise or
better on at least half of the tables.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.compose import make_column_transformer
from sklearn.ensemble import (
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import recall_score, roc_auc_score
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from .messy_tables import TABLES, MessyTable
from .results import Results

_CLASSES = {
    "boosting": lambda: HistGradientBoostingClassifier(random_state=0),
    "forest": lambda: RandomForestClassifier(random_state=0, n_jobs=-1),
    "linear": lambda: LogisticRegression(max_iter=1000),
}
_NUMBERS = {
    "boosting": lambda: HistGradientBoostingRegressor(random_state=0),
    "forest": lambda: RandomForestRegressor(random_state=0, n_jobs=-1),
    "linear": Ridge,
}
_RESAMPLES = 300


def run_command(*words: str) -> None:
    """Run a command of mercer's, and stop with its message where it fails."""
    found = subprocess.run([sys.executable, "-m", "mercer", *words], capture_output=True, text=True)
    if found.returncode:
        raise SystemExit(f"mercer {' '.join(words)}: {found.stderr}")


def with_mercer(table: MessyTable, train: pd.DataFrame, test: pd.DataFrame) -> tuple[Any, Any, float, dict[str, Any]]:
    """Predictions, scores, seconds, and the facts of the study."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        learn, new = table.write(train, folder, "train"), table.write(test, folder, "test")
        begin = time.perf_counter()
        model, answers = str(folder / "model.safetensors"), str(folder / "answers.csv")
        run_command("compare", learn, "--model", model, "-o", str(folder / "report"), "--quiet")
        seconds = time.perf_counter() - begin
        run_command("run", model, new, "-o", answers, "--quiet")
        found = pd.read_csv(answers, keep_default_na=False)
        facts = json.loads((folder / "report" / "report.json").read_text())
    scores = found["score"].to_numpy() if "score" in found else None
    return found["prediction"].to_numpy(), scores, seconds, facts


def with_peers(table: MessyTable, train: pd.DataFrame, test: pd.DataFrame) -> dict[str, tuple[Any, Any, float]]:
    """For each of the usual learners its predictions, scores and seconds."""
    from skrub import tabular_pipeline

    target, found = train.columns[-1], {}
    for name, make in (_NUMBERS if table.measure == "rmse" else _CLASSES).items():
        begin = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = tabular_pipeline(make()).fit(train.drop(columns=target), train[target])
            rows = test.drop(columns=target)
            scores = model.predict_proba(rows)[:, 1] if table.measure == "auc" else None
            found[name] = model.predict(rows), scores, time.perf_counter() - begin
    return found


def by_hand(train: pd.DataFrame, test: pd.DataFrame) -> float:
    """The AUC of logistic regression on the uneven table as somebody who knows it would prepare it.

    Without the id; gaps filled and marked, capital gains and losses on a logarithmic scale, words as indicators, the
    free text by the words in it, the date as a number of days.
    """
    target = train.columns[-1]

    def features(frame: pd.DataFrame) -> pd.DataFrame:
        days = (pd.to_datetime(frame["since"]) - pd.Timestamp("2021-01-01")).dt.days
        return frame.drop(columns=[target, "customer_id"]).assign(
            since=days, capital_gain=np.log1p(frame["capital_gain"]), capital_loss=np.log1p(frame["capital_loss"])
        )

    rows = features(train)
    words = [name for name in rows if rows[name].dtype.kind not in "if" and name != "note"]
    numbers = [name for name in rows if rows[name].dtype.kind in "if"]
    prepared = make_column_transformer(
        (make_pipeline(SimpleImputer(strategy="median", add_indicator=True), StandardScaler()), numbers),
        (make_pipeline(SimpleImputer(strategy="most_frequent"), OneHotEncoder(handle_unknown="ignore")), words),
        (TfidfVectorizer(), "note"),
    )
    model = make_pipeline(prepared, LogisticRegression(max_iter=5000)).fit(rows, train[target])
    return float(roc_auc_score(test[target], model.decision_function(features(test))))


def measured(table: MessyTable, truth: Any, predicted: Any, scores: Any) -> float:
    """The measure of the table; more is better."""
    if table.measure == "rmse":
        return -float(np.sqrt(np.mean((truth - predicted.astype(float)) ** 2)))
    if table.measure == "auc":
        return float(roc_auc_score(truth, scores))
    if all(labels.dtype.kind in "iufb" for labels in (truth, predicted)):
        return float(np.mean(truth == predicted))  # 1 and 1.0 are one class
    return float(np.mean(truth.astype(str) == predicted.astype(str)))


def noise(table: MessyTable, truth: Any, ours: tuple[Any, Any], theirs: tuple[Any, Any]) -> float:
    """The standard error of the difference, over resampled test rows."""
    rng = np.random.default_rng(0)
    differences = []
    for _ in range(_RESAMPLES):
        rows = rng.integers(0, truth.size, truth.size)
        if table.measure == "auc" and np.unique(truth[rows]).size < 2:
            continue
        values = [
            measured(table, truth[rows], answers[rows], None if scores is None else scores[rows])
            for answers, scores in (ours, theirs)
        ]
        differences.append(values[0] - values[1])
    return float(np.std(differences))


def compare(table: MessyTable, results: Results) -> bool | None:
    """One table: a line on the screen and a figure; ``None`` where the data are not there."""
    frame = table.make()
    if frame is None:
        return None
    y = frame.iloc[:, -1]
    train, test = train_test_split(
        frame, test_size=0.25, random_state=0, stratify=None if table.measure == "rmse" else y
    )
    train, test = train.reset_index(drop=True), test.reset_index(drop=True)
    truth = test.iloc[:, -1].to_numpy()
    answers, scores, seconds, facts = with_mercer(table, train, test)
    peers = with_peers(table, train, test)
    ours = measured(table, truth, answers, scores)
    of_peers = {name: measured(table, truth, *peer[:2]) for name, peer in peers.items()}
    best = max(of_peers, key=lambda name: of_peers[name])
    error = noise(table, truth, (answers, scores), peers[best][:2])
    ok = ours >= of_peers[best] - 2 * error
    chosen = facts["answer"]["title"]
    trees = (facts.get("trees") or {}).get("words")
    note = f"{table.measure}; {chosen}, {seconds:.0f} s; " + ", ".join(
        f"{name} {abs(value):.4g} in {peers[name][2]:.0f} s" for name, value in of_peers.items()
    )
    note += f"; two standard errors of the difference {2 * error:.2g}" + (f"; the report: {trees}" if trees else "")
    if table.name == "sms_spam":
        recall = recall_score(truth, answers, pos_label="spam")
        note += f"; spam recall {recall:.3f}"
        results.add("sms_spam: accuracy", round(ours, 4), 0.98, ours >= 0.98, f"spam recall {recall:.3f}")
    if table.name == "adult_uneven":
        hand = by_hand(train, test)
        what = "adult_uneven: AUC beside logistic regression on a table prepared by hand"
        results.add(what, round(ours, 4), round(hand, 4), ours >= hand, chosen)
        note += f"; logistic regression on a table prepared by hand {hand:.4f}"
    print(f"{table.name:15s}{table.suffix:11s}{abs(ours):8.4g} beside {abs(of_peers[best]):.4g} ({best}) "
          f"{'within noise or better' if ok else 'behind':23s}{note}", flush=True)  # fmt: skip
    results.add(f"{table.name}{table.suffix}", round(abs(ours), 4), round(abs(of_peers[best]), 4), ok, note)
    return ok


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", nargs="*", choices=[table.name for table in TABLES])
    parser.add_argument("--json", metavar="FILE")
    given = parser.parse_args()
    results = Results()
    asked = [table for table in TABLES if not given.tables or table.name in given.tables]
    outcomes = [ok for ok in (compare(table, results) for table in asked) if ok is not None]
    share = sum(outcomes) / max(1, len(outcomes))
    print(f"{sum(outcomes)} of {len(outcomes)} tables within noise of the best of three, or better")
    results.add("share of tables within noise or better", round(share, 3), 0.5, share >= 0.5, f"{len(outcomes)} tables")
    results.write(given.json)


if __name__ == "__main__":
    main()
