"""Tuning: cross-validation inside the training rows, and what it says."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.model_selection import KFold, train_test_split

from ..checks import drawn_evenly, is_number
from ..composition import parameter_prefix
from ..estimators import KernelRegressor
from ..io import DataError
from ..learners import named
from ..messages import enumeration
from ..preprocess import pipeline
from ..runtime import Array
from ..search import KernelSearchCV
from .measures import ErrorMeasure
from .predictions import number, setting, text

__all__ = ["RIDGES", "quick_ridge", "target_transform_of"]

#: Parameters that a contest tunes finely, and how often a search goes beyond an edge of its grid.
_FINELY = ("gamma", "C", "lam")
_BEYOND = 3


def search(
    estimator: Any, grid: Mapping[str, list[Any]], cv: Any, scoring: Any, time_limit: float | None = None
) -> Any:
    """The search that every learner is tuned by. It does not refit: the final fit may have more rows."""
    options: dict[str, Any] = {"refit": False, "return_train_score": True, "time_limit": time_limit}
    return KernelSearchCV(estimator, dict(grid), cv=cv, scoring=scoring, **options)


def sample(y: Array, limit: int | None, seed: int, even: bool = True) -> Array | None:
    """Numbers of ``limit`` rows, each class with its share; ``None`` where there are no more rows than that.

    Rows with numbers for targets are drawn without looking at them (``even=False``).
    """
    if limit is None or len(y) <= limit:
        return None
    if even:
        kept, _ = drawn_evenly(y, seed, train_size=limit)
    else:
        kept, _ = train_test_split(np.arange(len(y)), train_size=limit, random_state=seed)
    return np.sort(kept)


def settings_around(grid: Mapping[str, list[Any]], params: Mapping[str, Any]) -> dict[str, list[Any]]:
    """A finer grid around a setting: each number that has steps, with half a step on either side.

    The setting itself is tried first, so that it is there if the time is short. What counts something, and what is no
    number, stays as it is.

    Examples
    --------
    >>> settings_around({"C": [1.0, 100.0], "epochs": [5, 20]}, {"C": 100.0, "epochs": 5})
    {'C': [100.0, 10.0, 1000.0], 'epochs': [5]}
    """
    found = {}
    for name, values in grid.items():
        best = params[name]
        found[name] = [best]
        if len(values) > 1 and all(isinstance(value, float) and value > 0 for value in values) and _has_steps(name):
            step = float((max(values) / min(values)) ** (0.5 / (len(values) - 1)))
            found[name] += [float(f"{best * factor:.3g}") for factor in (1 / step, step)]
    return found


def _has_steps(name: str) -> bool:
    """Whether a parameter is finely tuned: those that decide most."""
    return name.rpartition("__")[2] in _FINELY


def tune(
    estimator: Any,
    grid: Mapping[str, list[Any]],
    frame: Any,
    y: Array,
    splits: Sequence[tuple[Array, Array]],
    measure: ErrorMeasure,
    time_limit: float | None = None,
) -> tuple[Any, dict]:
    """The best parameters, for ``set_params``, and the table of all that was tried in the time there was.

    Where the best value of a parameter lies on the edge of the grid, values beyond it are tried as long as they are
    better.
    """
    start = time.perf_counter()

    def left() -> float | None:
        return None if time_limit is None else time_limit - (time.perf_counter() - start)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of candidates that lose; the final fit says what is wrong with the winner
        scoring = measure.scorer or measure.scoring
        searches = [search(estimator, grid, splits, scoring, time_limit).fit(frame, y)]
        best = searches[0]
        for _ in range(_BEYOND):
            further = beyond_edges(best, grid)
            time_left = left()
            if not further or searches[-1].stopped_ or (time_left is not None and time_left <= 0):
                break
            try:
                searches.append(search(estimator, further, splits, scoring, time_left).fit(frame, y))
            except ValueError:  # no setting there could be fitted, or in time
                break
            if not searches[-1].best_score_ > best.best_score_:
                break
            best = searches[-1]
    candidates = [one for found in searches for one in _candidates(found, measure)]
    scores = [one["validation"]["mean"] for one in candidates]
    chosen = int(np.argmin([np.inf if score is None else score for score in scores]))
    order = sorted(range(len(candidates)), key=lambda k: np.inf if scores[k] is None else scores[k])
    for rank, k in enumerate(order):
        candidates[k]["rank"] = rank + 1
    facts = {
        "rows": len(y),
        "folds": len(splits),
        "candidates": candidates,
        "best": chosen,
        "advice": [
            {"kind": str(fact.kind), "message": _with_short_names(text(fact.message), grid)}
            for fact in getattr(best, "advice_", [])
            if best is searches[-1] or fact.kind != "edge"  # beyond that edge nothing is better
        ],
        "seconds": number(time.perf_counter() - start, 4),
        "stopped": next((found.stopped_ for found in searches if found.stopped_), None),
    }
    return best.best_params_, facts


def beyond_edges(found: Any, grid: Mapping[str, list[Any]]) -> dict[str, list[Any]] | None:
    """Settings beside the best one of a search, beyond the edge of what it tried; ``None`` without an edge."""
    further = {
        fact.facts["parameter"]: fact.facts["next"] for fact in getattr(found, "advice_", []) if fact.kind == "edge"
    }
    if not further:
        return None
    tried = found.cv_results_["params"]
    around = {}
    for name, best in found.best_params_.items():
        values = sorted({params[name] for params in tried}) if is_number(best) else [best]
        place = values.index(best)
        around[name] = [further[name]] if name in further else values[max(0, place - 1) : place + 2]
    return around


def _candidates(found: Any, measure: ErrorMeasure) -> list[dict[str, Any]]:
    """The settings of a search, with their errors."""
    table = found.cv_results_
    return [
        {
            "params": short_params(params),
            "train": _error(table, "train", k, measure),
            "validation": _error(table, "test", k, measure),
            "fit_seconds": number(table["mean_fit_time"][k], 3),
        }
        for k, params in enumerate(table["params"])
    ]


def folds_in_words(tuning: Mapping[str, Any]) -> str:
    """How rows were held out: in all folds by turns, or in some of them where rows are many.

    Examples
    --------
    >>> folds_in_words({"folds": 5, "of_folds": 5}), folds_in_words({"folds": 1, "of_folds": 5})
    ('5-fold cross-validation', 'cross-validation with 1 of 5 folds held out')
    """
    folds, whole = tuning["folds"], tuning.get("of_folds", tuning["folds"])
    if folds == whole:
        return f"{whole}-fold cross-validation"
    return f"cross-validation with {folds} of {whole} folds held out"


def chosen_setting(tuning: Mapping[str, Any]) -> dict[str, Any]:
    """The row of the table of settings that was chosen."""
    return tuning["candidates"][tuning["best"]]


def short_params(params: Mapping[str, Any]) -> dict[str, Any]:
    """Parameters under the names they have in the learner: ``learner__model__lam`` is ``lam``.

    Examples
    --------
    >>> short_params({"learner__model__lam": 0.1, "learner__kernel__gamma": 2.0})
    {'lam': 0.1, 'gamma': 2.0}
    """
    return {name.rpartition("__")[2]: setting(value) for name, value in params.items()}


def _with_short_names(message: str, grid: Mapping[str, list[Any]]) -> str:
    """A sentence with the parameters under their own names."""
    for name in grid:
        message = message.replace(name, name.rpartition("__")[2])
    return message


def _error(table: Mapping[str, Any], rows: str, candidate: int, measure: ErrorMeasure) -> dict[str, float | None]:
    """Mean and standard deviation over the folds of the error on one kind of rows."""
    return {
        "mean": number(measure.perfect - table[f"mean_{rows}_score"][candidate]),
        "sd": number(table[f"std_{rows}_score"][candidate]),
    }


# Which learner is chosen, from cross-validation alone.


Facts = dict[str, Any]


@dataclass(frozen=True)
class Choice:
    """The facts of the chosen learner, and titles of others: as good in cross-validation, or better but passed over.

    ``why`` is what speaks against those that were passed over; ``nested`` whether all rows are both learned from and,
    by turns, tested.
    """

    learner: Mapping[str, Any]
    passed_over: tuple[str, ...] = ()
    why: str = ""
    equals: tuple[str, ...] = ()
    nested: bool = False

    @property
    def name(self) -> str:
        return self.learner["name"]

    def in_words(self, measure: ErrorMeasure) -> str:
        """How the choice was made."""
        title = self.learner["title"]
        if measure.perfect and not measure.is_usual:
            best, better = f"the highest {measure.title}", f"a higher {measure.title}"
        else:
            what = "error" if measure.is_usual else measure.title
            best, better = f"the lowest {what}", f"a lower {what}"
        when = "chosen by that alone" if self.nested else "chosen before any test row was looked at"
        if self.passed_over:
            return (
                f"{title} was {when}: {enumeration(self.passed_over, 6)} had {better} in cross-validation, {self.why}."
            )
        if self.equals:
            return (
                f"{title} was {when}: it had {best} in cross-validation, and so had {enumeration(self.equals, 6)}; "
                "it was tried first."
            )
        return f"{title} had {best} in cross-validation and was {when}."

    def about_convergence(self) -> list[str]:
        """What is to be said of a chosen learner whose solver did not come to its end."""
        if self.learner.get("converged", True):
            return []
        return [f"{self.learner['title']} did not converge: with more passes or steps it could still change."]


#: Standard errors by which the best of many settings must be better than one that is chosen inside each fold.
_FLATTERY = 2.0


def _ahead(learners: Sequence[Facts], errors: Mapping[str, float], of: Facts) -> tuple[str, ...]:
    """The titles of learners with a lower error than one of them."""
    return tuple(one["title"] for one in learners if errors[one["name"]] < errors[of["name"]])


def choose(learners: Sequence[Facts], nested: bool = False) -> Choice:
    """The learner with the least error in cross-validation, of those that were tuned on all rows.

    Where it did not converge, the best one that did is taken instead, if its error is higher by no more than the
    standard error of that mean, which is the deviation over the folds divided by the root of their number.

    A learner that chooses everything inside each fold is judged by folds that it has not seen. The error of others is
    the least of many settings on the same folds, and the least of many learners besides: they must be better by
    :data:`_FLATTERY` standard errors of the difference.
    """
    learners = [one for one in learners if one["tuning"].get("final", True)] or learners
    found = {one["name"]: chosen_setting(one["tuning"])["validation"] for one in learners}
    errors = {name: each["mean"] for name, each in found.items()}
    first = min(learners, key=lambda one: errors[one["name"]])
    converged = [one for one in learners if one.get("converged", True)]
    if not first.get("converged", True) and converged:
        best = min(converged, key=lambda one: errors[one["name"]])
        deviation = found[first["name"]]["sd"] or 0.0
        if errors[best["name"]] - errors[first["name"]] <= deviation / math.sqrt(first["tuning"]["folds"]):
            if ahead := _ahead(learners, errors, best):
                return Choice(best, ahead, "by less than its standard error, but did not converge", nested=nested)
            first = best
    for own in (one for one in converged if named(one["name"]).prepares and one is not first):
        spread = math.hypot(*(found[one["name"]]["sd"] or 0.0 for one in (first, own)))
        behind = errors[own["name"]] - errors[first["name"]]
        if behind == 0:
            first = own
        elif behind <= _FLATTERY * spread / math.sqrt(own["tuning"]["folds"]):
            why = "by less than two standard errors, but as the best of many settings on the same folds"
            return Choice(own, _ahead(learners, errors, own), why, nested=nested)
    equals = [one["title"] for one in learners if errors[one["name"]] == errors[first["name"]] and one is not first]
    return Choice(first, equals=tuple(equals), nested=nested)


# Whether the logarithms of a skewed target are learned better than the target itself.


#: Skewness from which on logarithms are tried; rows and folds that decide, and folds that must agree.
_SKEWED, _ROWS, _FOLDS, _AGREED = 1.0, 1000, 5, 4
#: Fewest rows from which anything can be told.
_FEWEST = 40
#: What the quick ridge tries: trends that go on, as products of columns are sums of logarithms, beside bumps alone.
RIDGES: dict[str, list[Any]] = {"lam": [1e-5, 1e-4, 1e-3, 1e-2, 1e-1], "kernel": ["gaussian", "gaussian + linear"]}
_SCORING = "neg_root_mean_squared_error"


def target_transform_of(
    asked: str,
    table: Any,
    make: Callable[[str], Any],
    grid: Mapping[str, list[Any]],
    seed: int,
    scoring: Any = _SCORING,
) -> tuple[str, str]:
    """Whether "log" or "none" happens to the target of a table, and a sentence about it where that was decided here.

    By default ("auto") logarithms are tried where the target is never negative and skewed to the right: in the
    cross-validation of a learner on some rows, by errors in the unit of the target. They must win in the mean and in
    nearly all folds. ``make`` gives the learner with either target, whose parameters in ``grid`` are tuned.

    Examples
    --------
    >>> from mercer import read
    >>> table = read("waves:200")
    >>> target_transform_of("auto", table, lambda name: quick_ridge(table, name), RIDGES, 0)
    ('none', '')
    """
    if table.y is None or not table.measured:
        if asked == "log":
            raise DataError("--target-transform log is of numbers, and classes are learned here; leave it out.")
        return "none", ""
    y = np.asarray(table.y, dtype=np.float64)
    plain = y.size < _FEWEST or y.min() < 0 or y.min() == y.max() or table.kind != "rows" or _skewness(y) < _SKEWED
    if asked != "auto" or plain:
        return ("none" if asked == "auto" else asked), ""
    if y.size > _ROWS:
        table = table.take(np.sort(np.random.default_rng(seed).choice(y.size, _ROWS, replace=False)))
    scores = {name: _scores(table, make(name), grid, seed, scoring) for name in ("none", "log")}
    gained = scores["log"] - scores["none"]
    if not np.isfinite(scores["log"]).all() or gained.mean() <= 0 or (gained > 0).sum() < _AGREED:
        return "none", ""
    share = 100 * gained.mean() / abs(scores["none"].mean())
    return "log", (
        f"The target is skewed and its logarithm is learned, with {share:.2g} % less error in cross-validation; "
        "--target-transform none learns it as it is."
    )


def quick_ridge(table: Any, target_transform: str, **preparing: Any) -> Any:
    """A kernel ridge that stands for all learners."""
    return pipeline(table, KernelRegressor("rbf"), target_transform=target_transform, **preparing)


def _scores(table: Any, model: Any, grid: Mapping[str, list[Any]], seed: int, scoring: Any) -> Array:
    """The score of each fold, with the parameters that are best on all."""
    prefix = parameter_prefix(model)
    folds = KFold(_FOLDS, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tried = {prefix + name: values for name, values in grid.items()}
        found = search(model, tried, folds, scoring).fit(table.X, table.y)
    return np.array([found.cv_results_[f"split{k}_test_score"][found.best_index_] for k in range(_FOLDS)])


def _skewness(y: Array) -> float:
    return float(np.mean(((y - y.mean()) / y.std()) ** 3))
