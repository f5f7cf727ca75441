"""Numbers from tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import _check_y, check_is_fitted

from ..checks import schema
from ..checks.labels import checked_weights
from ..checks.parameters import bytes_of, is_number, shown
from ..estimators import KernelRegressor
from ..estimators.model import KernelModel
from ..estimators.regressor import Units
from ..intervals import least_rows, upper_rank
from ..kernels import Kernel
from ..metrics import Hat, hat
from ..runtime.compile import Array
from ..runtime.numerics import product
from .base import TableMachine

__all__ = ["TableRegressor"]

#: Matrices of all rows that the models without a row take, and numbers that these say at once.
_MATRICES, _AT_ONCE = 4, 5_000_000


@dataclass(frozen=True)
class _Without:
    """The models without each row, by the matrix that takes targets to coefficients.

    Leaving row i out is to move its target by its error eᵢ, to where the others have it: coefficients by eᵢ·P·1ᵢ.
    """

    kernel: Kernel
    items: Array
    hat: Hat
    errors: Array
    centre: float

    def predictions(self, rows: Array) -> Array:
        """What the model without row i says of each new row, in line i."""
        near = self.kernel(rows, self.items) if len(rows) else np.empty((0, len(self.items)))
        said = product(near, self.hat.z[:, 0]) + self.hat.b[0] + self.centre
        moved = product(near, self.hat.P) + self.hat.of_target
        return np.ascontiguousarray((said[:, None] - moved * self.errors).T)


def _knows_errors(model: TableRegressor) -> bool:
    """Whether there is something to make intervals of."""
    if "machine_" in vars(model) and "loo_errors_" not in vars(model):
        raise AttributeError("TableRegressor: this model was saved without the errors of its rows; fit it again.")
    return True


class TableRegressor(RegressorMixin, TableMachine):
    """Numbers from a table as it is: exact kernel ridge whose kernel, weights of columns and λ are chosen by itself.

    Columns of numbers are standardised, missing ones get the median and a column that says so, words become columns,
    dates and texts numbers. The kernel is ``exp(−Σⱼ wⱼ·|xⱼ − zⱼ|/length)`` or a Gaussian, with weights of columns
    that are learned by how much predictions change with them; its length and λ are tried one by one. All of that is
    judged by the squared error of each row under the machine of all others, which is known exactly from one
    factorisation.

    Parameters
    ----------
    metric : {"learned", None}, default="learned"
        ``None``: all columns count the same.
    kernels : sequence of {"laplacian", "gaussian"}, default=("laplacian", "gaussian")
        What is tried.
    kinds : dict, optional
        What columns hold that are not what they look like, as in :func:`mercer.read`: "number", "category", "date" (or
        how dates are written, "date:%d.%m.%Y"), "text", "keep" or "ignore". Columns without a name are x1, x2, ....
        Of frames, all others are looked at: those that number or name the rows, and those of one value, are left out.
    memory : int or str, default="2GB"
        What matrices may take. The choice is made on up to 4000 rows, and up to ten thousand are left out one by one,
        as far as two matrices of them have room; all others are told by a machine of these, which ``tried_`` says. The
        machine learns from all rows, by conjugate gradients where they are many.
    time_limit : float, optional
        Seconds from the call of ``fit``. What was not tried is in ``tried_``, and so is how many rows the machine had
        time for, where these are not all.
    random_state : int, RandomState or None, default=0
        Draws the rows that weights are learned on, where there are more than some thousand.

    Attributes
    ----------
    machine_ : KernelRegressor
        The machine of all prepared rows, with its certificate.
    preparation_ : Pipeline
        The steps before it.
    kinds_, ignored_ : dict
        The kind of each column that is learned from, and why others are not.
    loo_predictions_ : array of shape (n_rows,)
        What each training row is told by the machine of all others.
    loo_score_ : float
        R² of these.
    loo_errors_ : array of shape (n_rows,)
        How far each target lies above what its row is told so.
    row_weights_ : array of shape (n_rows,) or None
        The sample weights.
    groups_ : array of shape (n_rows,) or None
        The number of each row's group.
    interval_method_ : {"jackknife+", "jackknife"}
        How intervals are made; see :meth:`predict_interval`.
    tried_ : dict of arrays
        What was tried: family, round of weights, length over the median distance, λ, rows, the leave-one-out error
        over the variance of the targets, and a note on what was not; ``pandas.DataFrame(model.tried_)`` is a table.
    feature_importances_ : array of shape (n_columns,)
        How much predictions change over the spread of each column of the table, as parts of 1.
    objective_, duality_gap_, status_, converged_, n_iter_
        Those of ``machine_``.
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import TableRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 5))
    >>> model = TableRegressor().fit(X, np.sin(2 * X[:, 1]))
    >>> int(np.argmax(model.feature_importances_)), model.loo_score_ > 0.95
    (1, True)
    >>> low, high = model.predict_interval(rng.normal(size=(3, 5)), coverage=0.9).T
    >>> bool((low < high).all())
    True
    """

    fields: ClassVar = {
        **TableMachine.fields,
        "machine_": schema.instance(KernelRegressor),
        "loo_predictions_": schema.numbers("rows"),
        "loo_errors_": schema.optional(schema.numbers("rows")),
        "row_weights_": schema.optional(schema.numbers("rows", low=0)),
    }
    row_weights_: Array | None = None
    #: The models without a row, of this process.
    _without: _Without | None = None

    def __init__(
        self,
        metric: str | None = "learned",
        *,
        kernels: Sequence[str] = ("laplacian", "gaussian"),
        kinds: Mapping[str, str] | None = None,
        memory: int | str = "2GB",
        time_limit: float | None = None,
        random_state: Any = 0,
    ) -> None:
        self.metric = metric
        self.kernels = kernels
        self.kinds = kinds
        self.memory = memory
        self.time_limit = time_limit
        self.random_state = random_state

    def _encoded(self, y: Any, sample_weight: Any, X: Any) -> tuple[Any, Array, Array | None]:
        given = np.asarray(_check_y(y, y_numeric=True), dtype=np.float64)
        weight = None if sample_weight is None else checked_weights(sample_weight, given)
        return given, Units.of(given, weight, True).learned(given)[:, None], weight

    def _machine(self, kernel: Any, lam: float) -> KernelRegressor:
        return KernelRegressor(kernel, lam=lam, memory=self.memory)

    def _publish(self, targets: Any, predictions: Array, weight: Array | None) -> None:
        self.loo_predictions_ = Units.of(targets, weight, True).given(predictions[:, 0])
        self.loo_errors_, self.row_weights_, self._without = targets - self.loo_predictions_, weight, None
        centred = targets - np.average(targets, weights=weight)
        apart = float(np.average(np.square(centred), weights=weight))
        missed = float(np.average(np.square(targets - self.loo_predictions_), weights=weight))
        self.loo_score_ = 1 - missed / apart if apart > 0 else float(missed == 0)

    def predict(self, X: Any) -> Array:
        """The value of each row.

        Parameters
        ----------
        X : frame or array of shape (n_rows, n_columns)

        Returns
        -------
        array of shape (n_rows,)
        """
        rows = self._rows(X)
        return self.machine_.predict(rows)

    # -- intervals ------------------------------------------------------------------------------------------------

    @property
    def interval_method_(self) -> str:
        """Whether models without each row are used, or what these said of their row alone."""
        check_is_fitted(self, "machine_")
        model, counted = self.machine_._model, np.flatnonzero(self._counts())
        whole = self.groups_ is None and isinstance(model, KernelModel) and np.array_equal(model.support, counted)
        return "jackknife+" if whole and _MATRICES * 8 * counted.size**2 <= bytes_of(self.memory) else "jackknife"

    @available_if(_knows_errors)
    def predict_interval(self, X: Any, coverage: float = 0.9) -> Array:
        """An interval for the target of each row, which contains as many targets of new rows as asked for.

        With "jackknife+" an interval is what so many of the machines without a row stay between, each moved by the
        error that it made on that row: exactly, from one factorisation, which is made at the first call. Where
        matrices of all rows have no room in ``memory``, the machine had no time for all rows, or groups were left out
        together, all are taken to say what the machine of all rows does ("jackknife"); of many rows it is the same.

        Parameters
        ----------
        X : frame or array of shape (n_rows, n_columns)
        coverage : float, default=0.9

        Returns
        -------
        array of shape (n_rows, 2)
            Lower and upper ends.

        References
        ----------
        Barber, Candès, Ramdas and Tibshirani (2021): Predictive inference with the jackknife+.
        """
        share = self._share(coverage, "coverage")

        def ends(told: Array, errors: Array, counts: Array) -> Array:
            missed = np.abs(errors)[:, None]
            return np.stack([-upper_rank(missed - told, counts, share), upper_rank(missed + told, counts, share)])

        return self._told_by_all(X, share, ends)

    @available_if(_knows_errors)
    def predict_quantiles(self, X: Any, quantiles: Sequence[float] = (0.05, 0.5, 0.95)) -> Array:
        """Quantiles of the target of each row: of what machines without a row say, each moved by its error there.

        Parameters
        ----------
        X : frame or array of shape (n_rows, n_columns)
        quantiles : sequence of floats, default=(0.05, 0.5, 0.95)

        Returns
        -------
        array of shape (n_rows, n_quantiles)
        """
        shares = np.array([self._share(each, "quantiles") for each in quantiles])

        def ends(told: Array, errors: Array, counts: Array) -> Array:
            moved = told + errors[:, None]
            return np.stack(
                [upper_rank(moved, counts, q) if q >= 0.5 else -upper_rank(-moved, counts, 1 - q) for q in shares]
            )

        return self._told_by_all(X, float(np.maximum(shares, 1 - shares).max()), ends)

    @staticmethod
    def _share(value: Any, name: str) -> float:
        if not (is_number(value) and 0 < value < 1):
            raise ValueError(f"TableRegressor: {name} must lie between 0 and 1, got {shown(value)}.")
        return float(value)

    def _counts(self) -> Array:
        """The weights of rows, 1 without."""
        return np.ones(self.loo_errors_.size) if self.row_weights_ is None else self.row_weights_

    def _told_by_all(self, X: Any, share: float, ends: Callable[[Array, Array, Array], Array]) -> Array:
        """Ends made of what all machines say of new rows, (n_errors, some rows), block by block."""
        rows = self._rows(X)
        counts = self._counts()
        counted = np.flatnonzero(counts)
        if counted.size < least_rows(share):
            raise ValueError(
                f"TableRegressor: a share of {share:g} needs the errors of {least_rows(share)} rows or more, there are "
                f"{counted.size}; ask for less."
            )
        if self.interval_method_ == "jackknife+":
            self._without = self._without or self._models_without(counted)
            told, errors = self._without.predictions, self._without.errors
        else:
            errors = self.loo_errors_[counted]
            told = partial(self._repeated, len(errors))
        size = max(1, _AT_ONCE // counted.size)
        blocks = [rows[begin : begin + size] for begin in range(0, max(1, len(rows)), size)]
        return np.concatenate([ends(told(block), errors, counts[counted]) for block in blocks], axis=1).T

    def _repeated(self, times: int, rows: Array) -> Array:
        """What the machine of all rows says, so many times."""
        said = self.machine_.predict(rows) if len(rows) else np.empty(0)
        return np.broadcast_to(said, (times, len(rows)))

    def _models_without(self, counted: Array) -> _Without:
        """The models without each row: their λ is that of the machine, and so is their kernel."""
        model, kernel = self.machine_._model, self.machine_.kernel_
        targets = (self.loo_predictions_ + self.loo_errors_)[counted]
        weights = None
        if self.row_weights_ is not None:
            own = self.row_weights_[counted]
            weights = own * (own.size / own.sum())
        centre = targets.mean()
        ridge = float(self.machine_.lam) * (targets.size - 1)
        found = hat(np.array(kernel(model.items)), (targets - centre)[:, None], ridge, True, weights)
        errors = found.z[:, 0] / np.einsum("ii->i", found.P)
        return _Without(kernel, model.items, found, errors, centre)

    def __getstate__(self) -> dict[str, Any]:
        """Without the models that are made again when they are asked for."""
        return {name: value for name, value in super().__getstate__().items() if name != "_without"}
