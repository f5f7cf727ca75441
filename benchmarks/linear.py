"""Linear soft margins on sparse rows against LIBLINEAR.

    python -m benchmarks.linear [--large] [--json results.json]

LIBLINEAR's hinge penalises the intercept, ours is free. Both are judged by the objective of our problem, with the
intercept that is best for their weights, and by their errors on test rows:

- a9a and reuters, two classes, by their own C and a large one;
- surnames of 18 languages as character n-grams, one machine for each pair of languages and one for each language;
- generated text, 100 000 rows (``--large``: a million) of 20 words out of 100 000.
"""

from __future__ import annotations

import argparse
import lzma
import warnings
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import train_test_split
from sklearn.multiclass import OneVsOneClassifier
from sklearn.svm import LinearSVC

from mercer import SVC
from mercer.problems import best_intercept
from reproductions.data import data_path
from reproductions.results import Results

from . import datasets
from .timing import race, touch_memory


def objective(X: Any, y: np.ndarray, w: np.ndarray, C: float) -> float:
    """½‖w‖²/(C·n) + the mean hinge, with the best intercept."""
    bounds = C * np.minimum(y, 0.0), C * np.maximum(y, 0.0)
    scores = X @ w
    margins = y * (scores + best_intercept(y - scores, *bounds))
    return float(0.5 * w @ w / (C * len(y)) + np.maximum(0.0, 1.0 - margins).mean())


def two_classes(name: str, split: datasets.Split | None, C: float, results: Results, repeats: int = 3) -> None:
    if split is None:
        return
    X, y, X_test, y_test = split
    y, y_test = (np.where(part == y.max(), 1.0, -1.0) for part in (y, y_test))

    def ours() -> SVC:
        return SVC(None, C=C).fit(X, y)

    def theirs() -> LinearSVC:
        return LinearSVC(C=C, loss="hinge").fit(X, y)

    times = race(repeats, ours=ours, theirs=theirs)
    mine, other = times["ours"].value, times["theirs"].value
    costs = [objective(X, y, model.coef_[0], C) for model in (mine, other)]
    errors = [100 * (1 - model.score(X_test, y_test)) for model in (mine, other)]
    gap = float(mine.duality_gap_[0] / mine.objective_[0])
    ratio = times["ours"].median / times["theirs"].median
    print(f"{name}, C = {C:g}   mercer {times['ours']}   LIBLINEAR {times['theirs']}   ratio {ratio:.2f}")
    print(f"    objectives {costs[0]:.8f} / {costs[1]:.8f}, relative gap {gap:.1e}, "
          f"errors {errors[0]:.2f} / {errors[1]:.2f} %")  # fmt: skip
    note = f"objectives {costs[0]:.7f} / {costs[1]:.7f}, errors {errors[0]:.2f} / {errors[1]:.2f} %"
    results.add(f"{name}, C={C:g}: time / LIBLINEAR's", round(ratio, 2), 0.9, ratio <= 0.9, note)
    better = costs[0] / costs[1] - 1
    results.add(f"{name}, C={C:g}: objective above LIBLINEAR's", better, 1e-4, better <= 1e-4, note)
    results.add(f"{name}, C={C:g}: relative duality gap", gap, 1e-3, gap <= 1e-3, mine.status_)


def surnames(rows: int, results: Results) -> None:
    path = data_path("names18/names.tsv.xz")
    if path is None:
        return
    with lzma.open(path, "rt", encoding="utf-8") as file:
        languages, names = zip(*(line.rstrip("\n").split("\t") for line in file), strict=True)
    X = TfidfVectorizer(analyzer="char_wb", ngram_range=(1, 4)).fit_transform(names)
    X, X_test, y, y_test = train_test_split(X, np.array(languages), train_size=rows, random_state=0)
    for strategy, liblinear in (("ovo", OneVsOneClassifier(LinearSVC(loss="hinge"))), ("ovr", LinearSVC(loss="hinge"))):

        def ours(strategy: str = strategy) -> SVC:
            return SVC(None, strategy=strategy).fit(X, y)

        def theirs(liblinear: Any = liblinear) -> Any:
            return liblinear.fit(X, y)

        times = race(3, ours=ours, theirs=theirs)
        errors = [100 * (1 - times[who].value.score(X_test, y_test)) for who in ("ours", "theirs")]
        mine = times["ours"].value
        gap = float((mine.duality_gap_ / mine.objective_).max())
        ratio = times["ours"].median / times["theirs"].median
        print(f"surnames, {strategy}   mercer {times['ours']}   LIBLINEAR {times['theirs']}   ratio {ratio:.2f}")
        print(f"    largest relative gap {gap:.1e}, errors {errors[0]:.2f} / {errors[1]:.2f} %")
        note = f"errors {errors[0]:.2f} / {errors[1]:.2f} %"
        seconds = times["ours"].median
        results.add(f"surnames, {strategy}: seconds", round(seconds, 3), 2.0, seconds <= 2, mine.status_)
        results.add(f"surnames, {strategy}: time / LIBLINEAR's", round(ratio, 2), 0.9, ratio <= 0.9, note)
        results.add(f"surnames, {strategy}: largest relative duality gap", gap, 1e-3, gap <= 1e-3, mine.status_)


def text(rows: int, columns: int = 100_000, words: int = 20) -> datasets.Split:
    """Rows of words, the k-th as frequent as 1/k and weighted by how rare it is; labels of a noisy linear rule."""
    rng = np.random.default_rng(0)
    chance = 1 / np.arange(1, columns + 1)
    chance /= chance.sum()
    drawn = np.searchsorted(np.cumsum(chance), rng.random(rows * words)).clip(max=columns - 1).astype(np.int32)
    ends = np.arange(0, rows * words + 1, words, dtype=np.int32)
    X = sparse.csr_matrix((-np.log(chance)[drawn], drawn, ends), shape=(rows, columns))
    X.sum_duplicates()
    lengths = np.sqrt(np.asarray(X.multiply(X).sum(axis=1)).ravel())
    X.data /= np.repeat(lengths, np.diff(X.indptr))
    scores = X @ rng.normal(size=columns)
    y = np.where(scores + 0.1 + 0.2 * scores.std() * rng.normal(size=rows) > 0, 1.0, -1.0)
    cut = rows * 9 // 10
    return X[:cut], y[:cut], X[cut:], y[cut:]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--large", action="store_true", help="a million rows of text as well")
    parser.add_argument("--json", help="write the figures to this file")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    results = Results()
    touch_memory()
    a9a = datasets.svmlight("a9a/a9a.bz2", "a9a/a9a.t.bz2", 123, dense=False)
    reuters = datasets.svmlight("reuters_lasvm/reuters.trn.bz2", "reuters_lasvm/reuters.tst.bz2", 8315, dense=False)
    for C in (0.1, 1.0):
        two_classes("a9a", a9a, C, results)
    for C in (1.0, 30.0):
        two_classes("reuters", reuters, C, results)
    surnames(4000, results)
    two_classes("text, 1e5 rows", text(100_000), 1.0, results)
    if options.large:
        two_classes("text, 1e6 rows", text(1_000_000), 1.0, results, repeats=1)
    print(f"{results.count_ok()} of {len(results.rows)} figures within their bars")
    results.write(options.json)


if __name__ == "__main__":
    main()
