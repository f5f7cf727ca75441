"""What the estimators of tables share: preparation, choice by exact leave-one-out, and the machine of all rows."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.pipeline import Pipeline
from sklearn.utils import Tags
from sklearn.utils.validation import check_consistent_length, check_is_fitted, check_random_state

from .._runtime.compile import Array
from .._runtime.parallel import one_blas_thread
from .._validation.before_folds import refuse_before_folds
from .._validation.memory import bytes_of
from .._validation.parameters import choice, number
from .._validation.wording import enumeration
from ..columns.deciding import KINDS, check_kind
from ..metrics.column_weights import (
    RIDGES,
    ROUNDS,
    SCALES,
    Clock,
    Judge,
    LearnedMetric,
    Setting,
    Tried,
    learned_metric,
    tried_table,
)
from ..metrics.families import FAMILIES
from ..metrics.leave_one_out import exactly_left_out
from .table_rows import as_rows, prepared, sources, table_of

__all__ = ["CERTIFICATE", "TableMachine"]

#: What the machine of all rows says of itself.
CERTIFICATE = ("objective_", "duality_gap_", "status_", "converged_", "n_iter_")

#: Matrices of all rows that a choice by leave-one-out has in memory at once: distances, and the factor.
_MATRICES = 2
#: Rows up to which the kernel's length is looked for again where all of them are looked at, and not λ alone.
_LENGTH_TOO = 3000
#: The part of the time that choosing may take; the machine of all rows gets the rest.
_CHOOSING = 0.7
#: What is said where there are more rows than have room.
_BEYOND = "not tried on all rows: {} of them have room in memory; the others are told by a machine of these"
#: Rows that are compared at once with those that a choice looked at.
_AT_ONCE = 2000
#: Rows by which the importance of columns is measured.
_MEASURED = 500


class TableMachine(BaseEstimator):
    """Base of :class:`TableClassifier` and :class:`TableRegressor`."""

    metric: Any
    kernels: Any
    kinds: Any
    memory: Any
    time_limit: Any
    random_state: Any

    def check_parameters(self) -> None:
        """Raise ``ValueError`` where a parameter is of no use, as ``fit`` does before it looks at the data."""
        choice(self, "metric", ("learned", None))
        known = tuple(FAMILIES)
        if isinstance(self.kernels, str) or not len(self.kernels) or not set(self.kernels) <= set(known):
            raise ValueError(f"{type(self).__name__}: kernels must be some of {list(known)}; got {self.kernels!r}.")
        self._asked_kinds()
        if self.time_limit is not None:
            number(self, "time_limit", 0)
        bytes_of(self.memory)

    def _asked_kinds(self) -> dict[str, str]:
        """The kinds of columns as the user says them."""
        if not isinstance(self.kinds, Mapping | None):
            raise ValueError(
                f"{type(self).__name__}: kinds must be a dict from columns to kinds, as in {{'postcode': 'category'}}; "
                f"got {self.kinds!r}."
            )
        asked = {str(name): kind for name, kind in (self.kinds or {}).items()}
        for name, kind in asked.items():
            if not (isinstance(kind, str) and check_kind(kind)):
                known = enumeration(map(repr, KINDS), last="or")
                raise ValueError(f"{type(self).__name__}: the kind of {name!r} must be {known}; got {kind!r}.")
        return asked

    # -- what classes and numbers do differently ------------------------------------------------------------------

    def _encoded(self, y: Any, sample_weight: Any, X: Any) -> tuple[Any, Array, Array | None]:
        """Targets for the machine, those of the squared loss with a column each, and the weight of each row."""
        raise NotImplementedError

    def _machine(self, kernel: Any, lam: float) -> Any:
        """The machine of all rows, not fitted."""
        raise NotImplementedError

    def _publish(self, targets: Any, predictions: Array, weight: Array | None) -> None:
        """What is known of rows by machines that have not seen them."""
        raise NotImplementedError

    # -- the way --------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Prepare the table, choose, and learn.

        Parameters
        ----------
        X : frame or array of shape (n_rows, n_columns)
            A frame of pandas, or what becomes one, with columns of numbers, words, dates and texts; or numbers. Values
            may be missing.
        y : array of shape (n_rows,)
        sample_weight : array of shape (n_rows,), optional

        Returns
        -------
        self
        """
        self.check_parameters()
        limit = np.inf if self.time_limit is None else float(self.time_limit)
        clock, whole = Clock(_CHOOSING * limit), Clock(limit)
        refuse_before_folds(self, X, y, sample_weight)
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
        table = table_of(self, X, asked=self._asked_kinds())
        check_consistent_length(X, y)
        given, targets, weight = self._encoded(y, sample_weight, X)
        counted = len(targets) if weight is None else np.count_nonzero(weight)
        if counted < 2:
            raise ValueError(
                f"{type(self).__name__} chooses by leaving out one row after the other, and there is one sample "
                "(with a weight); give two or more."
            )
        with one_blas_thread():
            self.kinds_ = {**table.kinds, **table.found.get("kinds", {})}
            self.ignored_ = dict(table.left_out)
            self.preparation_ = prepared(table)
            rows = as_rows(self.preparation_.fit_transform(table.X), self.memory, type(self).__name__)
            chosen, lam = self._chosen(rows, targets, weight, clock)
            self.machine_ = self._machine(chosen.kernel, lam)
            if np.isfinite(limit):
                self.machine_.set_params(time_limit=max(whole.left, (1 - _CHOOSING) * limit))
            self.machine_.fit(rows, given, weight)
            for name in CERTIFICATE:
                setattr(self, name, getattr(self.machine_, name))
            self.feature_importances_ = self._importances(chosen, rows, targets)
            self._publish(given, self._unseen, weight)
        del self._unseen
        return self

    def _seed(self) -> int:
        if isinstance(self.random_state, (int, np.integer)):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _chosen(self, rows: Array, targets: Array, weight: Array | None, clock: Clock) -> tuple[Setting, float]:
        """The kernel and λ of the machine of all rows; and predictions for each by a machine without it."""
        seed = self._seed()
        found = learned_metric(
            rows, targets, weight, families=tuple(self.kernels), rounds=ROUNDS if self.metric == "learned" else 0,
            seconds=clock.left, random_state=seed,
        )  # fmt: skip
        n = len(rows)
        most = int(np.sqrt(bytes_of(self.memory) / (8 * _MATRICES)))
        some = np.arange(n)
        if n > most:
            some = np.sort(np.random.default_rng(seed).choice(n, most, replace=False))
        judge = Judge(rows[some], targets[some], None if weight is None else weight[some], True, clock)
        best = found.best
        setting, distances = judge.begun(best.family, best.round, best.weights)
        place = SCALES.index(best.scale), RIDGES.index(best.ridge)
        if judge.n == found.tried[0].rows:
            model = judge.judge(best, distances)[1]
            setting = best
        else:
            setting, _, model = judge.best(setting, distances, place, along=judge.n > _LENGTH_TOO)
        lam = setting.ridge / (len(some) - 1)
        unseen = np.empty(targets.shape)
        unseen[some] = model.predictions
        if judge.weight is not None and np.ptp(judge.weight) > 0:
            matrix = partial(setting.family.values, distances, setting.gamma)
            unseen[some] = exactly_left_out(matrix, judge.targets, lam, True, judge.weight)
        if n > most:
            judge.tried.append(Tried(best.family.name, best.round, np.nan, np.nan, n, np.nan, _BEYOND.format(most)))
            others = np.setdiff1d(np.arange(n), some)
            for begin in range(0, others.size, _AT_ONCE):
                piece = others[begin : begin + _AT_ONCE]
                apart = setting.family.distances(setting.scaled(rows[piece]), setting.scaled(judge.rows))
                unseen[piece] = setting.family.values(apart, setting.gamma) @ model.z + model.b
            lam *= np.sqrt(len(some) / n)
        self._unseen = unseen
        self._tell(found, judge)
        return setting, lam

    def _tell(self, found: LearnedMetric, judge: Judge) -> None:
        """Set the table of what was tried."""
        self.tried_ = tried_table([*found.tried, *judge.tried])

    def _importances(self, chosen: Setting, rows: Array, targets: Array) -> Array:
        """How much predictions change with a column, over its spread: the parts of all of the user's columns."""
        from ..estimators.model import KernelModel

        model = self.machine_._model
        assert isinstance(model, KernelModel)
        some = np.linspace(0, len(rows) - 1, min(_MEASURED, len(rows))).astype(int)
        items = rows[model.support]
        weights = np.ones(rows.shape[1]) if chosen.weights is None else chosen.weights
        distances = chosen.family.distances(rows[some] * weights, items * weights)
        matrix = chosen.family.values(distances, chosen.gamma)
        gradients = chosen.family.gradients(rows[some], items, weights, chosen.gamma, matrix, model.coef.T)
        size = np.sqrt(np.square(gradients).sum(axis=2).mean(axis=0)) * rows.std(axis=0)
        names = list(getattr(self, "feature_names_in_", [])) or [f"x{k + 1}" for k in range(self.n_features_in_)]
        out = np.bincount(sources(self.preparation_, [str(name) for name in names]), size, minlength=len(names))
        return out / out.sum() if out.sum() > 0 else out

    # -- new rows -------------------------------------------------------------------------------------------------

    @property
    def estimator_(self) -> Pipeline:
        """The preparation and the machine behind it, whose scores are those of the whole."""
        check_is_fitted(self, "machine_")
        return Pipeline([*self.preparation_.steps, ("machine", self.machine_)])

    def _rows(self, X: Any) -> Array:
        """New rows, prepared as those of training were."""
        check_is_fitted(self, "machine_")
        table = table_of(self, X, known=self.kinds_)
        if not table.n_rows:
            return np.empty((0, self.machine_.n_features_in_))
        return as_rows(self.preparation_.transform(table.X), self.memory, type(self).__name__)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags
