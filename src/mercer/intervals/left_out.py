"""What machines with a squared loss say of each item when they are fitted without it, and no machine is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import clone

from .._runtime.compile import Array
from .._validation.memory import bytes_of, memory_in_words
from .._validation.parameters import is_number, shown
from ..estimators import KernelClassifier, KernelRegressor
from ..estimators.by_leaving_out import chosen
from ..estimators.model import KernelModel, LinearModel, model_of
from ..estimators.training import Training, training_of
from ..losses import Squared
from ..solvers.ridge import RidgePath

__all__ = ["leave_one_out", "models_without", "refusal"]

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
    data = chosen(machine, training_of(machine, X, y, sample_weight))
    n = len(data.gram)
    if n < 2 or (data.weight is not None and np.count_nonzero(data.weight) < 2):
        raise ValueError("leave-one-out predictions need two rows or more with a weight; there is one sample.")
    if _MATRICES * 8 * n * n > bytes_of(machine.memory):
        raise ValueError(
            f"leave-one-out predictions of {n} rows need {_MATRICES * 8 * n * n / 1e9:.2g} GB for matrices of all rows "
            f"and {memory_in_words(machine.memory)}; raise it, or leave out folds instead (cross_val_predict)."
        )
    return data, RidgePath.of(data.gram, data.weight), machine._ridge_targets(data)
