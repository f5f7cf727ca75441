"""Targets learned as logarithms: scikit-learn's TransformedTargetRegressor."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.compose import TransformedTargetRegressor

from .._runtime.compile import Array
from .._validation.wording import enumeration
from ..io.table import DataError

__all__ = ["TARGET_TRANSFORMS", "transformed_target", "with_transformed_target"]

#: By name: the logarithm, and the way back. Where a target is zero, logarithms are of 1 + it.
TARGET_TRANSFORMS: dict[str, tuple[Any, Any]] = {"log": (np.log, np.exp), "log1p": (np.log1p, np.expm1)}


def _named(name: str | None, y: Any) -> str | None:
    """The entry of :data:`TARGET_TRANSFORMS` for these targets; ``None`` where they stay as they are."""
    if name in (None, "none"):
        return None
    if name != "log":
        known = enumeration(map(repr, ("log", "none")), last="or")
        raise ValueError(f"pipeline: target_transform must be {known}, got {name!r}.")
    smallest = float(np.min(y))
    if smallest < 0:
        raise DataError(
            f"the target has negative values, such as {smallest:g}, and these have no logarithm; leave "
            "--target-transform log out."
        )
    return "log" if smallest > 0 else "log1p"


def with_transformed_target(estimator: Any, name: str | None, y: Any) -> Any:
    """An estimator that learns the logarithms of targets, and predicts in their unit.

    Parameters
    ----------
    estimator : regressor
    name : {"log", "none"}, optional
    y : array
        All targets there are: where some are zero, logarithms are of 1 + y.

    Returns
    -------
    TransformedTargetRegressor, or the estimator as it is

    Examples
    --------
    >>> from mercer import KernelRegressor
    >>> with_transformed_target(KernelRegressor(), "log", [1.0, 10.0]).func is np.log
    True
    """
    found = _named(name, y)
    if found is None:
        return estimator
    there, back = TARGET_TRANSFORMS[found]
    return TransformedTargetRegressor(estimator, func=there, inverse_func=back, check_inverse=False)


def transformed_target(name: str | None, y: Array) -> Array:
    """Targets as they are learned."""
    found = _named(name, y)
    return y if found is None else TARGET_TRANSFORMS[found][0](np.asarray(y, dtype=np.float64))
