"""Intervals that contain the target as often as asked for, whatever the machine and the data.

A machine gives two ends [l(x), h(x)] for a row: twice its prediction, or the outer quantiles of ``KernelQuantiles``.
How far a target lies outside of the ends, r = max(l(x) − y, y − h(x)), is known for rows that the machine was not
fitted to. If those and a new row come from the same source in any order, the rank of the new r among all n + 1 is
equally likely any; with q the ⌈(n + 1)·c⌉-th smallest of the known ones,

    c ≤ P( l(x) − q ≤ y ≤ h(x) + q ) ≤ c + 1/(n + 1)        (the second where no two r are equal).

With rows held out that is the whole story (split; of quantiles: Romano, Patterson and Candès 2019). Where each row has
a machine that was fitted without it, be it with others of its fold (cross) or alone (jackknife+), the interval reaches
from the ⌊(n + 1)·(1 − c)⌋-th smallest of all lᵢ(x) − rᵢ to the ⌈(n + 1)·c⌉-th smallest of all hᵢ(x) + rᵢ. A share of
1 − 2·(1 − c) is certain to lie inside (a little less with few folds), and c is what is seen (Barber, Candès, Ramdas and
Tibshirani 2021).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, RegressorMixin, clone, is_classifier
from sklearn.compose import TransformedTargetRegressor
from sklearn.model_selection import KFold, ShuffleSplit, check_cv
from sklearn.utils import Tags, get_tags, indexable
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.validation import _check_y, check_is_fitted

from .._runtime.compile import Array
from .._validation.before_folds import refuse_bad_rows, refuse_before_folds, refuse_no_estimator
from .._validation.labels import checked_weights
from .._validation.parameters import choice, is_number, number, shown
from .._validation.unwrapped import layers, machine_of, rows_at_machine, steps_before
from ..estimators.kernel_quantiles import KernelQuantiles
from ..estimators.model import KernelModel, LinearModel
from ..kernels.engine.parts import length
from ..rows import refuse_elsewhere
from ..search.layers import weight_name
from .left_out import models_without, refusal
from .ranks import least_rows, upper_rank

__all__ = ["Conformal"]

#: Ends of new rows, one for each calibration row, that are in memory at a time.
_ENDS = 5_000_000


class Conformal(MetaEstimatorMixin, RegressorMixin, BaseEstimator):
    """A regressor with intervals that contain the target as often as asked for.

    Nothing is assumed of the machine, nor of the data but that new rows come from where the others came from. What is
    promised is the share of all new rows, not that of rows like a certain one; intervals around the quantiles of
    :class:`KernelQuantiles` are wider where targets scatter more.

    Parameters
    ----------
    estimator : estimator
        A machine, a pipeline that ends in one, or any regressor. Of :class:`KernelQuantiles` the lowest and the highest
        quantile are widened, or narrowed, by the same amount for all rows.
    method : {"split", "cross", "jackknife+"}, default="split"
        Whose errors say how wide intervals are: those of rows held out, of each row by a machine that was fitted
        without its fold, or by one that was fitted without it alone. The last is exact and needs no fits besides one,
        for the squared loss (:func:`leave_one_out`); parameters that the data decide (``gamma="scale"``) and steps of
        a pipeline are then fitted to all rows.
    coverage : float, default=0.9
        The share of new rows whose target is to lie within its interval.
    held_out : float, default=0.25
        The share of rows that are held out, for "split".
    cv : int, splitter or iterable, default=5
        Folds that divide the rows, for "cross". A number of folds is drawn at random.
    random_state : int, RandomState or None, default=0
        For rows that are drawn at random.

    Attributes
    ----------
    estimator_ : estimator
        What predicts: fitted to all rows, but for "split" to those that were not held out.
    errors_ : array
        How far each target lies outside of what is predicted by a machine that has not seen it, for rows of a weight.
    n_features_in_, feature_names_in_ : as those of ``estimator_``

    Notes
    -----
    Sample weights go to ``fit`` of the estimator. Errors count by their weights as well, scaled to a mean of one.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import Conformal, KernelRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 6, (200, 1))
    >>> y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=200)
    >>> model = Conformal(KernelRegressor("gaussian(gamma=1)"), "jackknife+", coverage=0.95).fit(X, y)
    >>> model.predict_interval([[1.5]]).round(1)
    array([[0.8, 1.2]])
    """

    _machines: list[Any]
    _trained: list[Array]
    _without: LinearModel | KernelModel | None

    def __init__(
        self,
        estimator: Any,
        method: str = "split",
        coverage: float = 0.9,
        *,
        held_out: float = 0.25,
        cv: Any = 5,
        random_state: Any = 0,
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.coverage = coverage
        self.held_out = held_out
        self.cv = cv
        self.random_state = random_state

    # -- fitting --------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Conformal:
        """Fit the estimator, and learn how far off it is on rows that it has not seen.

        Parameters
        ----------
        X : rows, as the estimator takes them
        y : array of shape (n_rows,)
        sample_weight : array of shape (n_rows,), optional

        Returns
        -------
        self
        """
        choice(self, "method", ("split", "cross", "jackknife+"))
        _share(self, self.coverage)
        refuse_elsewhere(X, "Conformal")
        refuse_no_estimator(self.estimator)
        if is_classifier(self.estimator):
            raise ValueError(
                f"Conformal: {type(self.estimator).__name__} is a classifier; intervals are of a regressor."
            )
        refuse_before_folds(self.estimator, X, y, sample_weight)
        refuse_bad_rows(self.estimator, X)
        X, y = indexable(X, y)
        targets = np.asarray(_check_y(y, y_numeric=True, estimator=self), dtype=np.float64)
        weight = None if sample_weight is None else checked_weights(sample_weight, np.zeros((length(X), 1)))
        learn = {"split": self._hold_out, "cross": self._cross, "jackknife+": self._leave_out}[self.method]
        errors, owner = learn(X, targets, weight)
        if not np.isfinite(errors).all():
            raise ValueError("Conformal: predictions of the estimator are not finite numbers, so errors are not known.")
        rows = np.flatnonzero(owner >= 0 if weight is None else (owner >= 0) & (weight > 0))
        self.errors_, self._owner = errors[rows], owner[rows]
        self._weights = np.ones(rows.size) if weight is None else weight[rows]
        return self

    # Each of these sets what predicts, and gives for each row the error and the number of the machine that made it; -1
    # where none did.

    def _hold_out(self, X: Any, y: Array, weight: Array | None) -> tuple[Array, Array]:
        number(self, "held_out")
        if not self.held_out < 1:
            raise ValueError(f"Conformal: held_out must be a number between 0 and 1, got {shown(self.held_out)}.")
        splitter = ShuffleSplit(1, test_size=float(self.held_out), random_state=self.random_state)
        folds = list(splitter.split(np.zeros((y.size, 1))))
        found = self._learn_folds(X, y, weight, folds)
        self.estimator_, self._rows = self._machines[0], self._trained[0]
        return found

    def _cross(self, X: Any, y: Array, weight: Array | None) -> tuple[Array, Array]:
        splitter = self.cv
        if is_number(splitter):
            number(self, "cv", 2, whole=True, strict=False)
            splitter = KFold(int(splitter), shuffle=True, random_state=self.random_state)
        folds = list(check_cv(splitter).split(X, y))
        times = np.bincount(np.concatenate([test for _, test in folds]), minlength=y.size)
        if (times != 1).any():
            row = int(np.argmax(times != 1))
            raise ValueError(
                f"Conformal: cv must divide the rows, but row {row} is a test row {times[row]} times; use a splitter "
                "such as KFold, without repeats."
            )
        found = self._learn_folds(X, y, weight, folds)
        self._rows = np.arange(y.size)
        self.estimator_ = self._fitted(X, y, weight, self._rows)
        return found

    def _learn_folds(
        self, X: Any, y: Array, weight: Array | None, folds: list[tuple[Array, Array]]
    ) -> tuple[Array, Array]:
        self._refuse_few(self.coverage, np.concatenate([test for _, test in folds]), weight)
        errors, owner = np.zeros(y.size), np.full(y.size, -1)
        self._machines, self._trained, self._without = [], [train for train, _ in folds], None
        for k, (train, test) in enumerate(folds):
            machine = self._fitted(X, y, weight, train)
            self._machines.append(machine)
            errors[test] = _outside(y[test], _ends(machine, _safe_split(self.estimator, X, None, test, train)[0]))
            owner[test] = k
        return errors, owner

    def _leave_out(self, X: Any, y: Array, weight: Array | None) -> tuple[Array, Array]:
        transformed = any(isinstance(layer, TransformedTargetRegressor) for layer in layers(self.estimator))
        why = "its machine learns a function of the target" if transformed else refusal(machine_of(self.estimator))
        if why is not None:
            raise ValueError(f"Conformal: {why}; use method='cross', which takes a fit for each fold.")
        self._rows = np.arange(y.size)
        self._refuse_few(self.coverage, self._rows, weight)
        _refuse_steps_with_targets(self.estimator, X)
        self.estimator_ = self._fitted(X, y, weight, self._rows)
        self._machines, self._trained = [], []
        machine, rows = machine_of(self.estimator_), rows_at_machine(self.estimator_, X)
        self._without, predictions = models_without(machine, rows, y, weight)
        return np.abs(y - predictions), np.arange(y.size)

    def _fitted(self, X: Any, y: Array, weight: Array | None, rows: Array) -> Any:
        """A copy of the estimator, fitted to some rows."""
        weights = {} if weight is None else {weight_name(self.estimator): weight[rows]}
        own = _safe_split(self.estimator, X, None, rows, rows)[0] if rows.size < y.size else X
        machine = clone(self.estimator).fit(own, y[rows], **weights)
        first = machine.predict(_safe_split(self.estimator, X, None, rows[:1], rows)[0])
        if np.ndim(first) == 2 and not _several(machine):
            raise ValueError(
                "Conformal: an interval needs one prediction a row, or two quantiles or more; "
                f"{type(machine_of(machine)).__name__} predicts neither."
            )
        return machine

    @staticmethod
    def _refuse_few(share: float, rows: Array, weight: Array | None = None) -> None:
        """Of few errors none is so large that enough lie below it."""
        least, there = least_rows(share), rows.size if weight is None else np.count_nonzero(weight[rows])
        if there < least:
            raise ValueError(
                f"Conformal: an interval of coverage {share:g} needs the errors of {least} rows or more, there are "
                f"{there}; ask for less, give more rows, or use method='cross', which has an error of each."
            )

    # -- predictions ----------------------------------------------------------------------------------------------

    def predict(self, X: Any) -> Array:
        """The prediction of each row; of quantiles the median, or what lies between the two levels around it.

        Parameters
        ----------
        X : rows, as the estimator takes them

        Returns
        -------
        array of shape (n_rows,)
        """
        check_is_fitted(self, "errors_")
        predictions = self.estimator_.predict(self._columns(X, self._rows))
        if not _several(self.estimator_):
            return predictions
        levels = machine_of(self.estimator_).quantiles_
        above = int(np.clip(np.searchsorted(levels, 0.5), 1, len(levels) - 1))
        share = np.clip((0.5 - levels[above - 1]) / (levels[above] - levels[above - 1]), 0.0, 1.0)
        return predictions[:, above - 1] + share * (predictions[:, above] - predictions[:, above - 1])

    def predict_interval(self, X: Any, coverage: float | None = None) -> Array:
        """An interval for the target of each row.

        Parameters
        ----------
        X : rows, as the estimator takes them
        coverage : float, optional
            In the place of the one that was given first.

        Returns
        -------
        array of shape (n_rows, 2)
            Lower and upper ends.
        """
        check_is_fitted(self, "errors_")
        share = _share(self, self.coverage if coverage is None else coverage)
        self._refuse_few(share, self.errors_)
        low, high = self._among(X, share)
        middle = 0.5 * (low + high)  # quantiles that were too wide may be narrowed to nothing, and no further
        return np.column_stack([np.minimum(low, middle), np.maximum(high, middle)])

    def _among(self, X: Any, share: float) -> tuple[Array, Array]:
        """The ends that so many stay between, of all machines, each moved by the errors that it made.

        Of one machine alone, as with rows held out, they are its ends moved by the error that so many stay below.
        """
        low, high = [], []
        for lower, upper in self._ends_by_error(X):
            low.append(-upper_rank(self.errors_[:, None] - lower, self._weights, share))
            high.append(upper_rank(self.errors_[:, None] + upper, self._weights, share))
        return np.concatenate(low), np.concatenate(high)

    def _ends_by_error(self, X: Any) -> Iterator[tuple[Array, Array]]:
        """The ends of new rows by the machine of each error, (n_errors, some rows), block by block."""
        if self._without is None:
            pairs = zip(self._machines, self._trained, strict=True)
            ends = np.stack([_ends(machine, self._columns(X, train)) for machine, train in pairs])
        else:
            machine = machine_of(self.estimator_)
            items = machine.read_items(rows_at_machine(self.estimator_, X), machine.kernel_)
            ends = np.repeat(self._without.scores(items, machine.memory).T[:, :, None], 2, axis=2)
        size = max(1, _ENDS // self.errors_.size)
        for begin in range(0, max(1, ends.shape[1]), size):
            part = ends[:, begin : begin + size]
            yield part[self._owner, :, 0], part[self._owner, :, 1]

    def _columns(self, X: Any, train: Array) -> Any:
        """New rows as the machine of some training rows takes them: of a square matrix the columns of those."""
        if not get_tags(self.estimator).input_tags.pairwise:
            return X
        if np.ndim(X) != 2 or np.shape(X)[1] <= train.max(initial=-1):
            raise ValueError("Conformal: rows of a kernel matrix need a column for each training row.")
        return X[:, train]

    # -- what scikit-learn asks for -------------------------------------------------------------------------------

    @property
    def n_features_in_(self) -> int:
        """As many as the estimator takes."""
        check_is_fitted(self, "errors_")
        return self.estimator_.n_features_in_

    @property
    def feature_names_in_(self) -> Any:
        """The names that the estimator has seen."""
        check_is_fitted(self, "errors_")
        return self.estimator_.feature_names_in_

    def fitted_state(self) -> dict[str, Any]:
        """What ``fit`` has found, as values: what a model file is made of."""
        check_is_fitted(self, "errors_")
        parameters = {name: value for name, value in self.get_params(deep=False).items() if name != "estimator"}
        for name, usual in (("cv", 5), ("random_state", None)):  # objects belong to one run of fit, not to its result
            parameters[name] = parameters[name] if is_number(parameters[name]) else usual
        return {
            "parameters": parameters,
            "estimator": self.estimator_,
            "machines": [machine for machine in self._machines if machine is not self.estimator_],
            "rows": self._rows,
            "trained": self._trained,
            "without": self._without,
            "errors": self.errors_,
            "owner": self._owner,
            "weights": self._weights,
        }

    @classmethod
    def from_fitted_state(cls, state: dict[str, Any]) -> Self:
        """A model that predicts as the one did whose state this is."""
        made = cls(clone(state["estimator"]), **state["parameters"])
        made.estimator_, made._without = state["estimator"], state["without"]
        made._machines = state["machines"] or ([made.estimator_] if made._without is None else [])
        made._rows, made._trained = state["rows"], state["trained"]
        made.errors_, made._owner, made._weights = state["errors"], state["owner"], state["weights"]
        return made

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        inside = get_tags(self.estimator).input_tags
        tags.input_tags.sparse, tags.input_tags.pairwise = inside.sparse, inside.pairwise
        tags.input_tags.two_d_array = inside.two_d_array
        return tags


def _share(owner: Conformal, coverage: Any) -> float:
    if not (is_number(coverage) and 0 < coverage < 1):
        raise ValueError(f"{type(owner).__name__}: coverage must be a number between 0 and 1, got {shown(coverage)}.")
    return float(coverage)


def _refuse_steps_with_targets(estimator: Any, X: Any) -> None:
    """Steps before the machine see all rows, which must not tell them the targets of any."""
    for step in steps_before(estimator):
        try:
            X = clone(step).fit_transform(X)
        except Exception:  # whatever a step says of missing targets
            raise ValueError(
                f"Conformal: {type(step).__name__} cannot be fitted without targets, so that rows it has seen are no "
                "test of it; use method='cross', which fits it anew in each fold."
            ) from None


def _several(fitted: Any) -> bool:
    """Whether a fitted estimator predicts two quantiles or more."""
    machine = machine_of(fitted)
    return isinstance(machine, KernelQuantiles) and len(machine.quantiles_) > 1


def _ends(fitted: Any, X: Any) -> Array:
    """Both ends of each row: the outer quantiles, or the prediction twice."""
    predictions = np.asarray(fitted.predict(X), dtype=np.float64)
    return predictions[:, [0, -1]] if _several(fitted) else np.column_stack([predictions, predictions])


def _outside(y: Array, ends: Array) -> Array:
    """How far targets lie outside of their ends; negative inside."""
    return np.maximum(ends[:, 0] - y, y - ends[:, 1])
