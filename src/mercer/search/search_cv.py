"""Cross-validated search for good parameters, as a scikit-learn estimator."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

import joblib
import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.exceptions import FitFailedWarning
from sklearn.model_selection import ParameterGrid, check_cv
from sklearn.model_selection._search import BaseSearchCV
from sklearn.utils import indexable

from .. import __version__
from .._compile import Array
from .._interrupts import kept
from .._labels import checked_weights
from .._numbers import choice, number
from .._parallel import bytes_of
from .._rows import refuse_damaged
from ..displays._fitted import last_step
from .advice import Advice, advise
from .cell import Cell, share_right
from .journal import Journal
from .layers import weight_name
from .outcome import content_key, setting_key
from .progress import shown
from .strategies import STRATEGIES, Evaluate
from .study import Fold, Study

__all__ = ["KernelSearchCV"]


class KernelSearchCV(BaseSearchCV):
    """Search for good parameters by cross-validation, computing nothing twice.

    A drop-in for scikit-learn's ``GridSearchCV``: same arguments, same attributes, same scores. Kernel matrices are
    shared between folds, the part of them that does not depend on parameters between parameters; machines go on from
    their solution for the last C or λ; numbers of epochs and steps are stages of one run.

    Parameters
    ----------
    estimator : estimator
        A machine of mercer, or a pipeline that ends in one. Steps before it are fitted anew in each fold. Any other
        estimator works as well, without sharing.
    param_grid : dict or list of dicts
        Values for each parameter; with ``strategy="random"`` also distributions.
    strategy : {"grid", "random", "halving", "path"}, default="grid"
        All settings; ``n_iter`` random ones; all settings on few rows, and the better third of them on three times as
        many, and so on; or the best value along one parameter after the other, until nothing improves.
    n_iter : int, default=20
        Settings to draw, for ``strategy="random"``.
    scoring, refit, cv, error_score, return_train_score
        As in ``GridSearchCV``.
    n_jobs : int, optional
        Accepted for compatibility; all cores are used, as threads that share the matrices.
    verbose : int, default=0
        From 1 on, show progress and the time left on a terminal.
    memory : int or str, default="1GB"
        What kernel matrices may take. Where they do not fit they are computed piece by piece, again for each fit.
    journal : str or Path, optional
        A file in which finished work is kept. A search that was stopped goes on from it, and ends with the same result.
    time_limit : float, optional
        Seconds after which no new work is begun; settings not tried have the score NaN.
    random_state : int, RandomState or None, default=0
        For the strategies that draw at random.

    Attributes
    ----------
    cv_results_, best_estimator_, best_params_, best_score_, best_index_, scorer_, n_splits_, refit_time_
        As in ``GridSearchCV``.
    advice_ : list of Advice
        What to know about the result besides the winner.
    stopped_ : str or None
        Why the search ended early, if it did.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from mercer import SVC
    >>> from mercer.search import KernelSearchCV
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> search = KernelSearchCV(SVC("gaussian"), {"kernel__gamma": [0.1, 1, 10], "C": [0.1, 1, 10]}).fit(X, y)
    >>> search.best_params_
    {'C': 0.1, 'kernel__gamma': 10}
    >>> search.advice_[0].kind
    'edge'
    """

    def __init__(
        self,
        estimator: Any,
        param_grid: Any,
        *,
        strategy: str = "grid",
        n_iter: int = 20,
        scoring: Any = None,
        n_jobs: int | None = None,
        refit: Any = True,
        cv: Any = None,
        verbose: int = 0,
        error_score: Any = np.nan,
        return_train_score: bool = False,
        memory: int | str = "1GB",
        journal: Any = None,
        time_limit: float | None = None,
        random_state: Any = 0,
    ) -> None:
        super().__init__(
            estimator=estimator,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            error_score=error_score,
            return_train_score=return_train_score,
        )
        self.param_grid = param_grid
        self.strategy = strategy
        self.n_iter = n_iter
        self.memory = memory
        self.journal = journal
        self.time_limit = time_limit
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, *, groups: Any = None, **params: Any) -> KernelSearchCV:
        """Try all settings on all folds, then fit the best on all rows.

        Parameters
        ----------
        X, y : rows and labels
        groups : array, optional
            For splitters that keep groups together.
        **params
            Passed to ``fit`` of the estimator; weights of rows are divided among the folds.

        Returns
        -------
        self
        """
        self._check()
        refuse_damaged(X)
        X, y, groups = indexable(X, y, groups)
        estimator = clone(self.estimator)
        n = X.shape[0] if hasattr(X, "shape") else len(X)
        numbers = np.arange(n)[:, None]
        splitter = check_cv(self.cv, y, classifier=is_classifier(estimator))
        splits = [(np.asarray(a), np.asarray(b)) for a, b in splitter.split(numbers, y, groups)]
        custom = _sees_rows(self.scoring)
        weight = params.get(weight_name(estimator))
        if weight is not None:
            weight = checked_weights(weight, numbers.astype(float))
        alone = custom or set(params) - {weight_name(estimator)}
        journal = None if alone else self._open_journal(X, y, weight, splits)
        study = Study(estimator, X, y, weight, bytes_of(self.memory), journal, self._deadline())
        inner = _Inner(Cell(estimator, study), self, study, splits, shares=not alone)
        if custom:
            inner.scoring = _on_rows(self.scoring, study)
        elif not params and self._wants_accuracy(estimator, y):
            inner.scoring = share_right
        with warnings.catch_warnings():
            if study.deadline < np.inf or kept():  # settings that were not reached are told of in one sentence
                warnings.simplefilter("ignore", FitFailedWarning)
            try:
                inner.fit(numbers, y, **params)
            except ValueError as error:
                if "fits failed" not in str(error):
                    raise
                raise _no_evidence(study) or error from None
        self._take(inner, study, splits)
        if hasattr(self, "best_estimator_") and not hasattr(inner.best_estimator_, "fitted_"):  # a fold of all rows
            self.best_estimator_ = inner.best_estimator_.made().fit(X, y, **params)
        return self

    def _check(self) -> None:
        choice(self, "strategy", tuple(STRATEGIES))
        if self.strategy != "random" and not len(ParameterGrid(self.param_grid)):
            raise ValueError("KernelSearchCV: the grid is empty; give each parameter at least one value.")
        if self.time_limit is not None:
            number(self, "time_limit")
        if self.strategy == "random":
            number(self, "n_iter", 1, whole=True, strict=False)

    def _wants_accuracy(self, estimator: Any, y: Any) -> bool:
        default = self.scoring is None and is_classifier(estimator)
        return (default or self.scoring == "accuracy") and np.ndim(y) == 1

    def _deadline(self) -> float:
        return np.inf if self.time_limit is None else time.monotonic() + float(self.time_limit)

    def _open_journal(self, X: Any, y: Any, weight: Array | None, splits: Any) -> Journal | None:
        if self.journal is None:
            return None
        about = [
            joblib.hash(part)
            for part in (X, np.asarray(y), weight, splits, content_key(self.estimator), bool(self.return_train_score))
        ]
        return Journal(self.journal, f"{__version__} {joblib.hash(about)}")

    def _take(self, inner: _Inner, study: Study, splits: list[tuple[Array, Array]]) -> None:
        """Make the results of the inner search one's own."""
        for name, value in vars(inner).items():
            if name.endswith("_") and not name.startswith("_"):
                setattr(self, name, value)
        if hasattr(inner, "best_estimator_"):
            self.best_estimator_ = getattr(inner.best_estimator_, "fitted_", None)
        self.scorer_ = self._get_scorers()[0]  # of the estimator itself, not of a cell
        for name in ("feature_names_in_", "n_features_in_"):
            self.__dict__.pop(name, None)
        if hasattr(getattr(self, "best_estimator_", None), "feature_names_in_"):
            self.feature_names_in_ = self.best_estimator_.feature_names_in_
        _true_times(self.cv_results_, study, splits)
        refitted = getattr(last_step(getattr(self, "best_estimator_", None)), "status_", None)
        self.stopped_ = "interrupted" if refitted == "interrupted" else study.stopped
        self.advice_: list[Advice] = advise(self, splits)
        if study.stopped:
            reached = np.isfinite(self.cv_results_[_score_name(self)]).sum()
            warnings.warn(
                f"KernelSearchCV stopped early ({study.stopped}): {reached} of {len(self.cv_results_['params'])} "
                "settings were tried on all folds, the others have the score NaN.",
                stacklevel=3,
            )


def _no_evidence(study: Study) -> BaseException | None:
    """Why no setting has a score, where the study knows: it was stopped, or the machine refused."""
    if study.stopped == "interrupted":
        return KeyboardInterrupt()  # asked to keep the best, but there is none
    if study.stopped:
        return ValueError(
            f"KernelSearchCV stopped ({study.stopped}) before any setting was tried on all folds; allow more time, or "
            "search fewer settings."
        )
    if study.refusals:
        why, _ = study.refusals.most_common(1)[0]
        return ValueError(f"no setting of the search could be fitted: {why}")
    return None


def _raw(scorer: Any) -> bool:
    return callable(scorer) and not hasattr(scorer, "_score_func")


def _sees_rows(scoring: Any) -> bool:
    """Whether a scorer was written by hand, and may look at the rows and at the model."""
    return any(map(_raw, scoring.values())) if isinstance(scoring, dict) else _raw(scoring)


def _on_rows(scoring: Any, study: Study) -> Any:
    """Scorers that are given a cell and row numbers, and hand the model and its rows on."""
    if isinstance(scoring, dict):
        return {name: _on_rows(scorer, study) if _raw(scorer) else scorer for name, scorer in scoring.items()}
    return lambda cell, rows, truth: scoring(cell.fitted_, study.rows(rows[:, 0], cell.train_), truth)


def _score_name(search: Any) -> str:
    if search.multimetric_:
        metric = search.refit if isinstance(search.refit, str) else next(iter(search.scorer_))
        return f"mean_test_{metric}"
    return "mean_test_score"


def _true_times(results: dict[str, Any], study: Study, splits: list[tuple[Array, Array]]) -> None:
    """Looking a cell up takes no time; its share of the work that it was part of is what it cost."""
    for row, params in enumerate(results["params"]):
        cells = [study.outcome(setting_key(params), train) for train, _ in splits]
        seconds = [cell.seconds for cell in cells if cell is not None]
        if seconds:
            results["mean_fit_time"][row] = np.mean(seconds)
            results["std_fit_time"][row] = np.std(seconds)


class _Over(Exception):
    """The search was stopped: what it has found by now is what there is."""


class _Inner(BaseSearchCV):
    """The same search as scikit-learn runs it, on row numbers instead of rows."""

    def __init__(
        self, estimator: Cell, outer: KernelSearchCV, study: Study, splits: list[tuple[Array, Array]], shares: bool
    ) -> None:
        super().__init__(
            estimator=estimator,
            scoring=outer.scoring,
            refit=outer.refit,
            cv=splits,
            error_score=np.nan if kept() or outer.time_limit is not None else outer.error_score,
            return_train_score=outer.return_train_score,
        )
        self.outer, self.study, self.splits, self.shares = outer, study, splits, shares

    def _run_search(self, evaluate_candidates: Callable) -> None:
        evaluate = Evaluate(self._sharing(evaluate_candidates), self.outer, self.splits, self.study.y)
        with suppress(_Over):
            STRATEGIES[self.outer.strategy](evaluate)

    def _sharing(self, evaluate_candidates: Callable) -> Callable:
        """Before scikit-learn asks for the cells one by one, compute them together."""

        def evaluate(candidates: Iterable[dict[str, Any]], splits: Any = None, more: Any = None) -> dict[str, Any]:
            candidates = list(candidates)
            if self.shares:
                folds = [self._fold(train, test) for train, test in (splits or self.splits)]
                total = len(candidates) * len(folds)
                with shown(total, self.outer.verbose) as self.study.tell:
                    self.study.run(candidates, folds)
                if self.study.stopped:
                    self.error_score = np.nan
            try:
                results = evaluate_candidates(candidates, None if splits is None else check_cv(splits), more)
            except ValueError:
                if self.study.stopped and rounds:
                    raise _Over from None
                raise
            if self.study.stopped:
                raise _Over
            rounds.append(len(candidates))
            return results

        rounds: list[int] = []
        return evaluate

    def _fold(self, train: Array, test: Array) -> Fold:
        wanted = np.union1d(train, test) if self.return_train_score else np.unique(test)
        return train, wanted

    def _select_best_index(self, refit: Any, refit_metric: str, results: dict[str, Any]) -> int:
        """As scikit-learn's, where there is a score at all.

        Of a halving search, only settings that were tried on most rows can win.
        """
        scores = np.asarray(results[f"mean_test_{refit_metric}"], dtype=float)
        if np.isnan(scores).all() and (why := _no_evidence(self.study)) is not None:
            raise why
        if "n_resources" not in results or callable(refit):
            return BaseSearchCV._select_best_index(refit, refit_metric, results)
        rows = np.asarray(results["n_resources"])
        most = np.max(rows, where=~np.isnan(scores), initial=0)
        return int(np.nanargmax(np.where(rows == most, scores, -np.inf)))
