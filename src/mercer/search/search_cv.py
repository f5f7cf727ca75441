"""Cross-validated search for good parameters, as a scikit-learn estimator."""

from __future__ import annotations

import time
import warnings
from contextlib import nullcontext
from os import PathLike
from typing import Any, ClassVar

import numpy as np
from joblib import parallel_config
from sklearn.base import clone
from sklearn.model_selection import ParameterGrid
from sklearn.model_selection._search import BaseSearchCV
from sklearn.utils import indexable

from ..checks.folds import refuse_bad_rows, refuse_before_folds
from ..checks.parameters import choice, in_all, number, shown
from ..composition import machine_of
from ..rows import refuse_elsewhere
from ..runtime.interrupts import all_or_nothing
from ..runtime.threads import at_most
from .advice import advise
from .loop import STRATEGIES, Loop, Split, all_fits_failed
from .numbered import Numbered, shared_cells_of, threads_asked_for
from .shared_cells import SharedCells

__all__ = ["KernelSearchCV"]


class KernelSearchCV(Loop):
    """Search for good parameters by cross-validation, computing nothing twice.

    A drop-in for scikit-learn's ``GridSearchCV``: same arguments, same attributes, same scores. Kernel matrices are
    shared between folds, the part of them that does not depend on parameters between parameters; machines go on from
    their solution for the last C or λ; numbers of epochs and steps are stages of one run.

    Parameters
    ----------
    estimator : estimator
        A machine of mercer, classifier or regressor, or a pipeline that ends in one. Steps before it are fitted anew in
        each fold. Any other estimator works as well, without sharing; nor is anything shared where scorers are
        functions of the model and its rows, where callbacks watch the fits, or where metadata are routed.
    param_grid : dict or list of dicts
        Values for each parameter; with ``strategy="random"`` also distributions.
    strategy : {"grid", "random", "halving", "path"}, default="grid"
        All settings; ``n_iter`` random ones; all settings on few rows, and the better third of them on three times as
        many, and so on; or the best value along one parameter after the other, until nothing improves.
    n_iter : int, default=20
        Settings to draw, for ``strategy="random"``.
    scoring, refit, cv, error_score, return_train_score
        As in ``GridSearchCV``.
    n_jobs, pre_dispatch
        As in ``GridSearchCV``, for fits that share nothing. Those that share are computed by ``n_jobs`` threads of one
        process (``None``: on all cores) or, inside ``joblib.parallel_config("loky", n_jobs=4)``, ``("dask")`` and the
        like, by ``n_jobs`` tasks at once: one for each kernel and fold, on one core each, with the same result.
    verbose : int, default=0
        As in ``GridSearchCV``; from 1 on, shared work also shows its progress and the time left.
    memory : int or str, default="1GB"
        What kernel matrices and what solvers keep beside them may take, also where ``memory`` of the machine says more.
        Where matrices do not fit they are computed piece by piece, again for each fit.
    journal : str or Path, optional
        A file in which finished shared work is kept. A search that was stopped goes on from it, and ends with the same
        result. What is damaged in it is computed again, with a warning.
    time_limit : float, optional
        Seconds after which no new work is begun; settings not tried have the score NaN.
    random_state : int, RandomState or None, default=None
        For the strategies that draw at random. With a journal, give a number: a random search that goes on has to draw
        the same settings again.

    Attributes
    ----------
    cv_results_, best_estimator_, best_params_, best_score_, best_index_, scorer_, n_splits_, refit_time_
        As in ``GridSearchCV``.
    advice_ : list of Advice
        What to know about the result besides the winner.
    stopped_ : str or None
        Why the search ended early, if it did.
    lost_cells_ : int or None
        How many settings on folds the journal was given and has lost: they were computed again. ``None`` where so much
        of it is damaged that nobody can tell.

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

    _parameter_constraints: ClassVar[dict] = {**BaseSearchCV._parameter_constraints, "param_grid": [dict, list]}

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
        pre_dispatch: Any = "2*n_jobs",
        error_score: Any = np.nan,
        return_train_score: bool = False,
        memory: int | str = "1GB",
        journal: Any = None,
        time_limit: float | None = None,
        random_state: Any = None,
    ) -> None:
        super().__init__(
            estimator=estimator,
            scoring=scoring,
            n_jobs=n_jobs,
            refit=refit,
            cv=cv,
            verbose=verbose,
            pre_dispatch=pre_dispatch,
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

    def fit(self, X: Any, y: Any = None, **params: Any) -> KernelSearchCV:
        """Try all settings on all folds, then fit the best on all rows.

        Parameters
        ----------
        X, y : rows and labels
        **params
            Passed to ``fit`` of the estimator, as in ``GridSearchCV``: weights of rows are divided among the folds, and
            ``groups`` are for splitters that keep groups together.

        Returns
        -------
        self
        """
        self._validate_params()
        self._check()
        self._get_scorers()  # what cannot be scored is refused first, as in GridSearchCV
        for name in [name for name in vars(self) if name.endswith("_") and not name.startswith("_")]:
            delattr(self, name)  # of an earlier fit
        refuse_elsewhere(X, "KernelSearchCV")
        refuse_before_folds(self.estimator, X, y, params.get("sample_weight"))
        if self.refit and not self._tries_kernels():  # else rows that are in no fold do no harm
            refuse_bad_rows(self.estimator, X)
        X, y = indexable(X, y)
        self._plan(self.strategy, self, self._until())
        shared = shared_cells_of(self, clone(self.estimator), X, y, params)
        if shared is None and self.journal is not None:
            warnings.warn(
                "KernelSearchCV keeps a journal of shared work; this search shares none, so it cannot be resumed.",
                stacklevel=2,
            )
        try:
            with in_all(self.memory):
                if shared is None:
                    # A derived class that asks for settings by itself is told nothing of fits that are half made.
                    with nullcontext() if type(self)._run_search is Loop._run_search else all_or_nothing():
                        super().fit(X, y, **params)
                    stopped, splits = self._stopped, self._splits
                else:
                    stopped, splits = self._fit_shared(shared, params)
        finally:
            self._forget()
            lost = 0 if shared is None else shared.close_journal()
        self.lost_cells_ = lost
        refitted = hasattr(self, "best_estimator_")
        status = getattr(machine_of(self), "status_", None) if refitted else None
        self.stopped_ = "interrupted" if status == "interrupted" else stopped
        self.advice_ = advise(self, splits, y)
        if stopped:
            reached = np.isfinite(self.cv_results_[self._name_of_score(self.cv_results_)]).sum()
            warnings.warn(
                f"KernelSearchCV stopped early ({stopped}): {reached} of {len(self.cv_results_['params'])} "
                "settings were tried on all folds, the others have the score NaN.",
                stacklevel=2,
            )
        return self

    def _fit_shared(self, shared: SharedCells, params: dict[str, Any]) -> tuple[str | None, list[Split]]:
        """Search on row numbers, and make the results one's own; why it stopped, and the splits."""
        numbered = Numbered(self, shared, params)
        numbered._plan(self.strategy, self, shared.deadline)
        try:
            # Cells that are known are looked up here, whoever computed them.
            with at_most(threads_asked_for(self.n_jobs)), parallel_config("sequential"):
                numbered.fit(np.arange(shared.size)[:, None], shared.y, **params)
        except ValueError as error:
            if shared.refusals and all_fits_failed(error):
                why, _ = shared.refusals.most_common(1)[0]
                raise ValueError(f"no setting of the search could be fitted: {why}") from None
            raise
        for name, value in vars(numbered).items():
            if name.endswith("_"):
                setattr(self, name, value)
        scorers, _ = self._get_scorers()
        self.scorer_ = getattr(scorers, "_scorers", scorers)
        if self.refit:
            self.best_estimator_ = numbered.best_estimator_.fitted_
            if hasattr(self.best_estimator_, "feature_names_in_"):
                self.feature_names_in_ = self.best_estimator_.feature_names_in_
        for row, seconds in enumerate(numbered.seconds()):
            if seconds:
                self.cv_results_["mean_fit_time"][row] = np.mean(seconds)
                self.cv_results_["std_fit_time"][row] = np.std(seconds)
        return numbered._stopped, numbered._splits

    def _check(self) -> None:
        choice(self, "strategy", tuple(STRATEGIES))
        if self.strategy != "random" and not len(ParameterGrid(self.param_grid)):
            raise ValueError("KernelSearchCV: the grid is empty; give each parameter at least one value.")
        if self.time_limit is not None:
            number(self, "time_limit")
        if self.journal is not None and not isinstance(self.journal, (str, PathLike)):
            raise ValueError(f"KernelSearchCV: journal must be the path of a file or None, got {shown(self.journal)}.")
        if self.strategy == "random":
            number(self, "n_iter", 1, whole=True, strict=False)

    def _tries_kernels(self) -> bool:
        """Whether settings differ in the kernel, and so perhaps in what rows are."""
        grids = [self.param_grid] if isinstance(self.param_grid, dict) else self.param_grid
        return any(name == "kernel" for grid in grids for name in grid)

    def _until(self) -> float:
        return np.inf if self.time_limit is None else time.monotonic() + float(self.time_limit)
