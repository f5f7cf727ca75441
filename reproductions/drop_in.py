"""KernelSearchCV beside GridSearchCV on random searches: the same results, key by key.

    python -m reproductions.drop_in [--draws 300] [--first 0] [--json results.json]

Each draw (``draws.py``) is fitted by both classes, which get objects of their own. Either both refuse it with the same
kind of error, or all of ``cv_results_`` but the times agrees, and with it the winner, what it predicts, and the score.
Cells that share work of an exact machine are solved to a tolerance, from another start: there a row whose score is zero
up to that tolerance may fall on the other side, and its copies with it; and measures of ranking on training rows put
rows that lie on the margin, whose scores are equal but for rounding, in another order. Such draws are shown with the
scores that differ, and counted. Bars: no draw differs by more than that; at
least 97 % do not differ at all.
"""

from __future__ import annotations

import argparse
import warnings
from collections import Counter
from typing import Any

import numpy as np
from sklearn import config_context
from sklearn.model_selection import GridSearchCV

from mercer.search import KernelSearchCV

from .draws import Draw, draw
from .results import Results

#: How far scores may be apart where solvers stop at a tolerance: rows with a score near zero, and their copies.
TOLERANCE = 0.12
#: Scores that are no farther apart are equal: those of a regression are seldom the same to the last digit.
ROUNDING = 1e-9
#: The share of draws that must not differ at all.
EQUAL = 0.97


def fitted(kind: type, case: Draw) -> Any:
    """A search of this kind, fitted, or the error that it ends with."""
    with warnings.catch_warnings(), config_context(enable_metadata_routing=case.routed):
        warnings.simplefilter("ignore")
        try:
            return kind(case.estimator, case.grid, **case.options).fit(case.X, case.y, **case.params)
        except Exception as error:
            return error


def apart(mine: Any, theirs: Any) -> list[str]:
    """The scores that are not the same to rounding, by their names in ``cv_results_``."""
    ours, other = mine.cv_results_, theirs.cv_results_
    names = [name for name in other if ("_test_" in name or "_train_" in name) and not name.startswith("rank")]
    return [name for name in names if float(np.nanmax(np.abs(ours[name] - other[name]), initial=0.0)) > ROUNDING]


def difference(case: Draw, mine: Any, theirs: Any) -> tuple[str | None, float]:
    """What is not the same, and the greatest difference of scores that a tolerance explains."""
    if isinstance(mine, Exception) or isinstance(theirs, Exception):
        same = isinstance(mine, type(theirs)) or isinstance(theirs, type(mine))
        return (None if same else f"{mine!r} instead of {theirs!r}"), 0.0
    ours, other = mine.cv_results_, theirs.cv_results_
    if list(ours) != list(other):
        return f"keys {set(ours) ^ set(other)}", 0.0
    if str(ours["params"]) != str(other["params"]):
        return "params", 0.0
    gap = 0.0
    for name in other:
        if name.startswith("param") and str(ours[name]) != str(other[name]):
            return name, 0.0
        if "_test_" in name or "_train_" in name:
            if not np.array_equal(np.isnan(ours[name]), np.isnan(other[name])):
                return f"NaN in {name}: {ours[name]} instead of {other[name]}", 0.0
            if not name.startswith("rank"):
                gap = max(gap, float(np.nanmax(np.abs(ours[name] - other[name]), initial=0.0)))
    if gap > (ROUNDING if case.exact else TOLERANCE):
        return f"scores differ by {gap:g}", gap
    return (_of_winner(case, mine, theirs) if gap == 0 else None), gap


def _of_winner(case: Draw, mine: Any, theirs: Any) -> str | None:
    """What is not the same about the results, where scores are."""
    for name in (name for name in theirs.cv_results_ if name.startswith("rank")):
        if not np.array_equal(mine.cv_results_[name], theirs.cv_results_[name]):
            return name
    for name in ("best_index_", "best_score_", "n_splits_", "multimetric_", "n_features_in_"):
        if str(getattr(mine, name, None)) != str(getattr(theirs, name, None)):  # NaN is NaN
            return f"{name}: {getattr(mine, name, None)!r} instead of {getattr(theirs, name, None)!r}"
    if str(getattr(mine, "best_params_", None)) != str(getattr(theirs, "best_params_", None)):
        return "best_params_"
    if type(mine.scorer_) is not type(theirs.scorer_):
        return f"scorer_ {mine.scorer_!r} instead of {theirs.scorer_!r}"
    for name in ("predict", "decision_function", "predict_proba", "transform", "score_samples"):
        if hasattr(mine, name) != hasattr(theirs, name):
            return f"only one has {name}"
        if hasattr(mine, name) and not np.array_equal(getattr(mine, name)(case.X), getattr(theirs, name)(case.X)):
            return name
    return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--draws", type=int, default=300)
    parser.add_argument("--first", type=int, default=0, help="the seed of the first draw")
    parser.add_argument("--json", help="write the figures to this file")
    options = parser.parse_args()
    gaps, wrong, kinds = [], [], Counter[str]()
    for seed in range(options.first, options.first + options.draws):
        case = draw(seed)
        mine, theirs = fitted(KernelSearchCV, case), fitted(GridSearchCV, draw(seed))
        what, gap = difference(case, mine, theirs)
        kinds[case.words[0] + (" (refused)" if isinstance(theirs, Exception) else "")] += 1
        gaps.append(gap)
        if what is not None:
            wrong.append(seed)
            print(f"draw {seed}: {what}\n  {case}")
        elif gap > ROUNDING:
            print(f"draw {seed}: up to {gap:.2g} in {', '.join(apart(mine, theirs))}\n  {case}")
    equal = float(np.mean(np.array(gaps) <= ROUNDING))
    print(", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())))
    print(
        f"{len(gaps)} draws: {len(wrong)} differ; {100 * equal:.1f} % have equal scores, others within {max(gaps):.2g}"
    )
    results = Results()
    note = f"seeds {options.first} to {options.first + options.draws - 1}"
    results.add("drop-in: draws whose results differ from GridSearchCV's", len(wrong), 0, not wrong, note)
    results.add(
        "drop-in: share of draws with equal scores",
        equal,
        EQUAL,
        equal >= EQUAL,
        "the others: scores of zero up to tol, and ranks of rows on the margin",
    )
    results.add("drop-in: greatest difference of a score", max(gaps), TOLERANCE, max(gaps) <= TOLERANCE, note)
    results.write(options.json)


if __name__ == "__main__":
    main()
