"""scikit-learn's loop over settings and folds, in the order of a strategy, until it is told to stop."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import nullcontext, suppress
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import ParameterGrid, ParameterSampler, check_cv
from sklearn.model_selection._search import BaseSearchCV
from sklearn.utils import check_random_state
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.validation import _num_samples

from ..checks.folds import cv_of
from ..estimators.training import task_below
from ..runtime.compile import Array
from ..runtime.interrupts import all_or_nothing, keeps_best, until
from .keys import setting_key

if TYPE_CHECKING:
    from .search_cv import KernelSearchCV

# Which settings of a search are tried.


#: A halving search goes on with one in so many settings, and as many times more rows.
_FACTOR = 3
#: Training rows of a fold that a halving search begins with, at least.
_FEWEST_ROWS = 200


@dataclass(frozen=True)
class Evaluate:
    """Evaluates settings, on the folds of the search or on parts of them."""

    #: settings, splits or ``None``, more columns of the results → the mean test score of each setting
    call: Callable[..., Array]
    search: KernelSearchCV
    splits: list[tuple[Array, Array]]

    def __call__(self, settings: list[dict[str, Any]], splits: Any = None, more: Any = None) -> Array:
        return self.call(settings, splits, more)

    def grid(self) -> list[dict[str, Any]]:
        return list(ParameterGrid(self.search.param_grid))


def _grid(evaluate: Evaluate) -> None:
    evaluate(evaluate.grid())


def _random(evaluate: Evaluate) -> None:
    search = evaluate.search
    evaluate(list(ParameterSampler(search.param_grid, search.n_iter, random_state=search.random_state)))


def _halving(evaluate: Evaluate) -> None:
    """All settings on few training rows of each fold, the best third on three times as many, until all rows are in."""
    rng = check_random_state(evaluate.search.random_state)
    orders = [rng.permutation(train) for train, _ in evaluate.splits]
    whole = min(order.size for order in orders)
    settings = evaluate.grid()
    rounds = int(np.ceil(np.log(max(len(settings), 2)) / np.log(_FACTOR)))
    rows, turn = max(min(_FEWEST_ROWS, whole), whole // _FACTOR**rounds), 0
    while True:
        last = len(settings) == 1 or rows >= whole
        rows = whole if last else rows
        splits = [
            (train if last else np.sort(order[:rows]), test)
            for order, (train, test) in zip(orders, evaluate.splits, strict=True)
        ]
        more = {"iter": [turn] * len(settings), "n_resources": [rows] * len(settings)}
        scores = evaluate(settings, splits, more)
        if last:
            return
        keep = max(1, int(np.ceil(len(settings) / _FACTOR)))
        best = np.argsort(-np.nan_to_num(scores, nan=-np.inf), kind="stable")[:keep]
        settings = [settings[k] for k in sorted(best)]
        rows, turn = min(whole, rows * _FACTOR), turn + 1


def _path(evaluate: Evaluate) -> None:
    """The best value along one parameter after the other, from the middle of the grid, until nothing improves."""
    grids = evaluate.search.param_grid
    tried: dict[str, float] = {}
    for grid in [grids] if isinstance(grids, dict) else grids:
        if not grid:  # one setting: the estimator as it is
            evaluate([{}])
            continue
        names = [name for name in grid if len(grid[name]) > 1]
        here = {name: list(values)[len(values) // 2] for name, values in grid.items()}
        improved = True
        while improved:
            improved = False
            for name in names or list(grid)[:1]:
                line = [{**here, name: value} for value in grid[name]]
                new = [setting for setting in line if setting_key(setting) not in tried]
                if new:
                    tried.update(zip(map(setting_key, new), map(float, evaluate(new)), strict=True))
                keys = [setting_key(setting) for setting in line]
                scores = [tried[key] for key in keys]
                best = int(np.argmax(np.nan_to_num(scores, nan=-np.inf)))
                now = setting_key(here)
                if keys[best] != now and (new or scores[best] > tried.get(now, -np.inf)):
                    improved, here = True, line[best]


STRATEGIES: dict[str, Callable[[Evaluate], None]] = {
    "grid": _grid,
    "random": _random,
    "halving": _halving,
    "path": _path,
}


Split = tuple[Array, Array]


class _Over(Exception):
    """The search was stopped: nothing more is asked for."""


@dataclass
class _Asked:
    """A setting that the strategy asked for."""

    params: dict[str, Any]
    more: dict[str, Any]
    #: Whether it was tried on all folds; else the score that it has on them.
    scored: bool = False
    score: float = np.nan

    @cached_property
    def key(self) -> str:
        """What the setting is known by."""
        return setting_key(self.params)


class _DrawnOnce:
    """A splitter that draws its splits when it is asked how many they are; they stay the same from then on."""

    def __init__(self, splitter: Any) -> None:
        self.splitter = splitter
        self.splits: list[Split] = []

    def get_n_splits(self, X: Any = None, y: Any = None, **params: Any) -> int:
        rows = np.arange(_num_samples(X))
        drawn = self.splitter.split(X, y, **params)
        self.splits = [(rows[np.asarray(train)], rows[np.asarray(test)]) for train, test in drawn]
        return self.splitter.get_n_splits(X, y, **params)

    def split(self, X: Any, y: Any = None, **params: Any) -> Iterator[Split]:
        return iter(self.splits)

    def get_metadata_routing(self) -> Any:
        """What the splitter asks for besides rows and labels, such as groups."""
        return get_routing_for_object(self.splitter)


class Loop(BaseSearchCV):
    """A search as scikit-learn runs it, except that a strategy asks for settings, and that it may stop before the end.

    Splits are drawn once: all rounds of a strategy see the same. A setting that was not reached has the score NaN.
    """

    cv: Any

    def _plan(self, strategy: str, search: Any, deadline: float) -> None:
        """What to do in the next :meth:`fit`: which strategy, with the parameters of which search, until when."""
        self._strategy, self._search, self._deadline = strategy, search, deadline
        #: Whether a round is all or nothing; else settings are tried one by one, and those that were tried count.
        self._at_once = deadline == np.inf and not keeps_best()
        self._asked: list[_Asked] = []
        #: The cells of settings that were not left to scikit-learn, by the identity of their parameters.
        self._cells: dict[int, list[dict[str, Any]]] = {}
        #: What scikit-learn has made of the settings so far, and from what.
        self._results: dict[str, Any] = {}
        self._made_of: tuple[Any, ...] = ()
        self._failure: ValueError | None = None
        self._stopped: str | None = None

    def _forget(self) -> None:
        """Leave nothing of the plan."""
        for name in ("_strategy", "_search", "_deadline", "_at_once", "_asked", "_cells", "_results", "_made_of",
                     "_failure", "_stopped", "_splits"):  # fmt: skip
            self.__dict__.pop(name, None)

    def fit(self, X: Any, y: Any = None, **params: Any) -> Any:
        """As scikit-learn's, with splits that are drawn once."""
        given = self.cv
        self.cv = _DrawnOnce(cv_of(given, y, classifier=is_classifier(self.estimator)))
        try:
            super().fit(X, y, **params)
        finally:
            self._splits: list[Split] = self.cv.splits
            self.cv = given
        return self

    def _run_search(self, evaluate_candidates: Callable, *, callback_ctx: Any = None) -> None:
        one_round = self._strategy in ("grid", "random") and self._at_once
        with (
            nullcontext(callback_ctx) if one_round else task_below(callback_ctx, self, "search", None, True) as context
        ):

            def score(batch: list[_Asked], splits: list[Split]) -> dict[str, Any]:
                batch = self._left_to_score(batch, splits)
                name = "search" if one_round else "round"
                with task_below(context, self, name, len(batch) * len(splits), False) as task:
                    options = {} if task is None else {"callback_ctx": task}
                    return evaluate_candidates([each.params for each in batch], check_cv(splits), None, **options)

            with suppress(_Over):
                STRATEGIES[self._strategy](Evaluate(partial(self._evaluate, score), self._search, self.cv.splits))
        if not any(asked.scored for asked in self._asked):
            if self._stopped == "interrupted":
                raise KeyboardInterrupt  # the best was to be kept, but there is none
            raise self._failure or ValueError(
                f"KernelSearchCV stopped ({self._stopped}) before any setting was tried on all folds; allow more "
                "time, or search fewer settings."
            )
        if self._stopped or self._failure:  # settings may be without a score since scikit-learn last looked
            results = self._results
            results.update(self._format_results(*self._made_of))

    def _evaluate(
        self, score: Callable, candidates: list[dict[str, Any]], splits: Any = None, more: Any = None
    ) -> Array:
        """The mean test scores of candidates."""
        splits, more = splits or self.cv.splits, more or {}
        asked = [_Asked(dict(params), {name: more[name][k] for name in more}) for k, params in enumerate(candidates)]
        self._asked += asked
        results: dict[str, Any] = {}
        for batch in self._batches(asked, splits):
            done = False
            try:
                with all_or_nothing(), until(self._deadline_of(batch, splits)):
                    results = score(batch, splits)
                    done = True
                for each in batch:
                    each.scored = done
                self._stopped = self._stopped if done else "time_limit"
            except KeyboardInterrupt:
                if not keeps_best():
                    raise
                self._stopped = "interrupted"
            except ValueError as error:
                # scikit-learn gives up where all fits of a batch fail; a batch of one setting is not the whole search.
                if self._at_once or not all_fits_failed(error) or self.error_score == "raise":
                    raise
                for each in batch:
                    each.score = self.error_score
                self._failure = error
                warnings.warn(str(error), FitFailedWarning, stacklevel=2)
        if self._stopped:
            raise _Over
        name = self._name_of_score(results)
        return np.asarray(results[name])[-len(asked) :] if name else np.full(len(asked), np.nan)

    def _batches(self, asked: list[_Asked], splits: list[Split]) -> Iterator[list[_Asked]]:
        """Settings to score together, until there is a reason to stop."""
        if self._at_once:
            yield asked
            return
        for each in asked:
            if self._stopped is None and time.monotonic() > self._deadline:
                self._stopped = "time_limit"
            if self._stopped:
                return
            yield [each]

    def _left_to_score(self, batch: list[_Asked], splits: list[Split]) -> list[_Asked]:
        """The settings of a batch that scikit-learn is to fit and score, one at least; cells of the others are known.

        They stand in ``_cells``.
        """
        return batch

    def _deadline_of(self, batch: list[_Asked], splits: list[Split]) -> float:
        """When the fits of these settings are dropped in the middle."""
        return self._deadline

    def _name_of_score(self, results: dict[str, Any]) -> str | None:
        """The column by which settings are compared."""
        name = f"mean_test_{self.refit if isinstance(self.refit, str) else 'score'}"
        return name if name in results else next((name for name in results if name.startswith("mean_test_")), None)

    def _format_results(self, candidate_params: Any, n_splits: int, out: list[Any], more_results: Any = None) -> Any:
        """As scikit-learn's, of all settings that were asked for, those without a score included."""
        if not self._asked:  # a derived class that asks by itself
            return super()._format_results(candidate_params, n_splits, out, more_results)
        self._made_of = candidate_params, n_splits, out
        # Every setting is an object of its own, which tells where its cells are.
        found = {id(params): out[k * n_splits : (k + 1) * n_splits] for k, params in enumerate(candidate_params)}
        found |= {key: [{**out[0], **cell} for cell in known] for key, known in self._cells.items()}
        cells: list[Any] = []
        for asked in self._asked:
            cells += found.get(id(asked.params)) or [_blank(out[0], asked.score)] * n_splits
        more = {name: [asked.more[name] for asked in self._asked] for name in self._asked[0].more}
        self._results = super()._format_results([asked.params for asked in self._asked], n_splits, cells, more)
        return self._results

    @staticmethod
    def _select_best_index(refit: Any, refit_metric: str, results: dict[str, Any]) -> int:
        """As scikit-learn's; of a halving search, only settings that were tried on most rows can win."""
        if "n_resources" not in results or callable(refit):
            return BaseSearchCV._select_best_index(refit, refit_metric, results)
        scores = results[f"mean_test_{refit_metric}"]
        most = np.max(results["n_resources"][np.isfinite(scores)], initial=0)
        return int(np.nanargmax(np.where(results["n_resources"] == most, scores, -np.inf)))


def _blank(cell: dict[str, Any], score: float) -> dict[str, Any]:
    """A cell like another one, with this score and no time spent."""
    blank = {**cell, "fit_time": 0.0, "score_time": 0.0}
    for name in ("test_scores", "train_scores"):
        if name in cell:
            scores = cell[name]
            blank[name] = dict.fromkeys(scores, score) if isinstance(scores, dict) else score
    return blank


def all_fits_failed(error: ValueError) -> bool:
    """Whether scikit-learn gave up because nothing could be fitted: it has no exception of its own for that."""
    return "fits failed" in str(error)
