"""Predictions with error bars: exact leave-one-out predictions, and intervals of the coverage that is asked for.

Examples
--------
>>> import numpy as np
>>> from mercer import Conformal, KernelRegressor
>>> rng = np.random.default_rng(0)
>>> X = rng.uniform(0, 6, (400, 1))
>>> y = np.sin(X[:, 0]) + 0.1 * rng.normal(size=400)
>>> model = Conformal(KernelRegressor("gaussian(gamma=1)"), coverage=0.9).fit(X[:300], y[:300])
>>> low, high = model.predict_interval(X[300:]).T
>>> round(float(np.mean((low <= y[300:]) & (y[300:] <= high))), 1)
0.9
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import ceil
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, RegressorMixin, clone, is_classifier
from sklearn.compose import TransformedTargetRegressor
from sklearn.model_selection import KFold, ShuffleSplit, check_cv
from sklearn.utils import Tags, get_tags, indexable
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.validation import _check_y, check_is_fitted

from .checks.folds import refuse_bad_rows, refuse_before_folds, refuse_no_estimator
from .checks.labels import checked_weights
from .checks.parameters import bytes_of, choice, is_number, memory_in_words, number, shown
from .composition import layers, machine_of, rows_at_machine, steps_before
from .estimators import KernelClassifier, KernelRegressor, Run
from .estimators.choosing import chosen
from .estimators.kernel_regressor import KernelQuantiles
from .estimators.model import KernelModel, LinearModel, model_of
from .estimators.training import Training, training_of
from .kernels.engine.tiles import length
from .losses import Squared
from .rows import refuse_elsewhere
from .runtime.compile import Array
from .search.keys import weight_name
from .solvers.ridge import RidgePath

__all__ = ["Conformal", "least_rows", "leave_one_out", "models_without", "refusal", "upper_rank"]

# What machines with a squared loss say of each item when they are fitted without it, and no machine is.


#: Matrices of all items that are in memory at once: kernel, its eigenvectors, and one that is made of them.
_MATRICES = 3


def leave_one_out(
    machine: Any, X: Any, y: Any, sample_weight: Any = None, lam: float | Sequence[float] | None = None
) -> Array:
    """Predict each row by the machine that is fitted without it: exactly, from one eigendecomposition for every λ.

    The result is that of ``cross_val_predict(machine, X, y, cv=LeaveOneOut())``, but for parameters that the data
    decide: a kernel's ``gamma="scale"`` and classes' weights are those of all rows.

    Parameters
    ----------
    machine : KernelRegressor or KernelClassifier, with loss="squared"
        Need not be fitted, and stays as it is.
    X : array, sparse matrix or frame of shape (n_rows, n_features), or a collection of the kernel's items
    y : array of shape (n_rows,) or (n_rows, n_targets)
    sample_weight : array of shape (n_rows,), optional
        A row of weight zero is predicted by the machine of all rows.
    lam : float or sequence of floats, optional
        In the place of the machine's own; a sequence costs hardly more than one number.

    Returns
    -------
    array of the shape of ``y``; with a sequence of λ one for each, (n_lam, n_rows) or (n_lam, n_rows, n_targets)
        Predictions; decision values of a classifier, with a column for each of three classes or more.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelRegressor
    >>> from mercer.intervals import leave_one_out
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 6, (100, 1))
    >>> y = np.sin(X[:, 0]) + 0.3 * rng.normal(size=100)
    >>> lams = [1e-5, 1e-3, 1e-1]
    >>> errors = leave_one_out(KernelRegressor("gaussian(gamma=1)"), X, y, lam=lams) - y
    >>> lams[np.argmin(np.mean(errors**2, axis=1))]
    0.001
    """
    own = _checked(machine)
    lams: list[Any] = [] if lam is None else np.atleast_1d(np.asarray(lam, dtype=object)).tolist()
    for value in lams:
        if not (is_number(value) and 0 < value < np.inf):
            raise ValueError(f"leave_one_out: each lam must be a number greater than 0, got {shown(value)}.")
    data, path, targets = _decomposed(own, X, y, sample_weight)
    found = []
    for value in lams if lam is not None else [own._lam()]:
        learned = [path.leave_one_out(target, float(value), bool(own.fit_intercept)) for target in targets]
        found.append(own.decisions_of(np.column_stack(own._in_target_units(data, learned))))
    return found[0] if lam is None or np.ndim(lam) == 0 else np.stack(found)


def models_without(machine: Any, X: Any, y: Any, sample_weight: Any = None) -> tuple[LinearModel | KernelModel, Array]:
    """A model with a score for each row, fitted without that row, and what each predicts for its own row.

    Targets are one number a row.
    """
    own = _checked(machine)
    data, path, targets = _decomposed(own, X, y, sample_weight)
    lam, intercept = own._lam(), bool(own.fit_intercept)
    (models,) = own._models(data, [path.models_without(targets[0], lam, intercept)])
    (predictions,) = own._in_target_units(data, [path.leave_one_out(targets[0], lam, intercept)])
    return model_of(data, models.columns()), predictions


def refusal(machine: Any) -> str | None:
    """Why predictions without each row take a fit for each row, if they do."""
    if not isinstance(machine, (KernelRegressor, KernelClassifier)):
        return (
            "leave-one-out predictions are known from one fit for KernelRegressor and KernelClassifier, not for "
            f"{type(machine).__name__}"
        )
    if getattr(machine, "loss", None) not in ("squared", Squared()):
        return "leave-one-out predictions are known from one fit for loss='squared' alone"
    return None


def _checked(machine: Any) -> Any:
    """A copy of the machine, if it is one that this can be done for."""
    if (why := refusal(machine)) is not None:
        raise ValueError(f"{why}; for others there is sklearn.model_selection.cross_val_predict.")
    own = clone(machine)
    own._check()
    return own


def _decomposed(machine: Any, X: Any, y: Any, sample_weight: Any) -> tuple[Training, RidgePath, list[Array]]:
    """The training items with the eigendecomposition of their matrix, and the targets of every score."""
    data = chosen(machine, training_of(machine, X, y, sample_weight, Run(machine, X, y, sample_weight)))
    n = len(data.gram)
    if n < 2 or (data.weight is not None and np.count_nonzero(data.weight) < 2):
        raise ValueError("leave-one-out predictions need two rows or more with a weight; there is one sample.")
    if _MATRICES * 8 * n * n > bytes_of(machine.memory):
        raise ValueError(
            f"leave-one-out predictions of {n} rows need {_MATRICES * 8 * n * n / 1e9:.2g} GB for matrices of all rows "
            f"and {memory_in_words(machine.memory)}; raise it, or leave out folds instead (cross_val_predict)."
        )
    return data, RidgePath.of(data.gram, data.weight), machine._ridge_targets(data)


# The number among n whose rank makes a new one as likely to be below it as asked for.


#: (n + 1)·c that should be a whole number is one, whatever rounding makes of it.
_ROUNDING = 1e-9


def least_rows(coverage: float) -> int:
    """How many numbers it takes: ⌈(n + 1)·c⌉ ≤ n.

    Examples
    --------
    >>> least_rows(0.9), least_rows(0.5), least_rows(0.95)
    (9, 1, 19)
    """
    return ceil(coverage / (1 - coverage) - _ROUNDING)


def upper_rank(values: Array, weights: Array, coverage: float) -> Array:
    """The ⌈(n + 1)·c⌉-th smallest of n values, in each column.

    With weights, scaled to a mean of one, the least value such that those up to it weigh (n + 1)·c or more.

    Examples
    --------
    >>> import numpy as np
    >>> upper_rank(np.arange(1.0, 20.0)[:, None], np.ones(19), 0.9)
    array([18.])
    """
    n = len(values)
    wanted = (n + 1) * coverage - _ROUNDING
    if np.ptp(weights) == 0:
        rank = ceil(wanted) - 1
        return np.partition(values, rank, axis=0)[rank]
    order = np.argsort(values, axis=0, kind="stable")
    weighed = np.cumsum((weights * (n / weights.sum()))[order], axis=0)
    rank = np.minimum((weighed < wanted).sum(axis=0), n - 1)
    return np.take_along_axis(np.take_along_axis(values, order, axis=0), rank[None], axis=0)[0]


# Intervals that contain the target as often as asked for, whatever the machine and the data.
#
# A machine gives two ends [l(x), h(x)] for a row: twice its prediction, or the outer quantiles of ``KernelQuantiles``.
# How far a target lies outside of the ends, r = max(l(x) − y, y − h(x)), is known for rows that the machine was not
# fitted to. If those and a new row come from the same source in any order, the rank of the new r among all n + 1 is
# equally likely any; with q the ⌈(n + 1)·c⌉-th smallest of the known ones,
#
#     c ≤ P( l(x) − q ≤ y ≤ h(x) + q ) ≤ c + 1/(n + 1)        (the second where no two r are equal).
#
# With rows held out that is the whole story (split; of quantiles: Romano, Patterson and Candès 2019). Where each row
# has a machine that was fitted without it, be it with others of its fold (cross) or alone (jackknife+), the interval
# reaches from the ⌊(n + 1)·(1 − c)⌋-th smallest of all lᵢ(x) − rᵢ to the ⌈(n + 1)·c⌉-th smallest of all hᵢ(x) + rᵢ. A
# share of 1 − 2·(1 − c) is certain to lie inside (a little less with few folds), and c is what is seen (Barber, Candès,
# Ramdas and Tibshirani 2021).


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
        machine = machine_of(self.estimator)
        why = "its machine learns a function of the target" if transformed else refusal(machine)
        if why is None and machine.metric is not None:
            why = f"metric={machine.metric!r} is learned from all rows, also from the one that is left out"
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
