"""Numbers from tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import _check_y

from ..checks.labels import checked_weights
from ..estimators import KernelRegressor
from ..estimators.regressor import Units
from ..runtime.compile import Array
from .base import TableMachine

__all__ = ["TableRegressor"]


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
    """

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
