"""Whether the logarithms of a skewed target are learned better than the target itself."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from sklearn.model_selection import KFold

from .._runtime.compile import Array
from .._validation.unwrapped import parameter_prefix
from ..estimators import KernelRegressor
from ..io.table import DataError
from ..preprocess import pipeline
from .tuning import search

__all__ = ["RIDGES", "quick_ridge", "target_transform_of"]

#: Skewness from which on logarithms are tried; rows and folds that decide, and folds that must agree.
_SKEWED, _ROWS, _FOLDS, _AGREED = 1.0, 1000, 5, 4
#: Fewest rows from which anything can be told.
_FEWEST = 40
#: What the quick ridge tries: trends that go on, as products of columns are sums of logarithms, beside bumps alone.
RIDGES: dict[str, list[Any]] = {"lam": [1e-5, 1e-4, 1e-3, 1e-2, 1e-1], "kernel": ["gaussian", "gaussian + linear"]}
_SCORING = "neg_root_mean_squared_error"


def target_transform_of(
    asked: str,
    table: Any,
    make: Callable[[str], Any],
    grid: Mapping[str, list[Any]],
    seed: int,
    scoring: Any = _SCORING,
) -> tuple[str, str]:
    """How the target of a table is learned, and a sentence about it where that was decided here.

    By default logarithms are tried where the target is never negative and skewed to the right: in the cross-validation
    of a learner on some rows, by errors in the unit of the target. They must win in the mean and in nearly all folds.

    Parameters
    ----------
    asked : {"auto", "log", "none"}
    table : Table
        Training rows.
    make : function of "log" or "none"
        The learner, with its preparation and either target.
    grid : mapping
        Parameters of the machine that are tuned for either target.
    seed : int
    scoring : str or callable
        The larger the better, at most 0.

    Returns
    -------
    {"log", "none"}, str

    Examples
    --------
    >>> from mercer import read
    >>> table = read("waves:200")
    >>> target_transform_of("auto", table, lambda name: quick_ridge(table, name), RIDGES, 0)
    ('none', '')
    """
    if table.y is None or not table.measured:
        if asked == "log":
            raise DataError("--target-transform log is of numbers, and classes are learned here; leave it out.")
        return "none", ""
    y = np.asarray(table.y, dtype=np.float64)
    plain = y.size < _FEWEST or y.min() < 0 or y.min() == y.max() or table.kind != "rows" or _skewness(y) < _SKEWED
    if asked != "auto" or plain:
        return ("none" if asked == "auto" else asked), ""
    if y.size > _ROWS:
        table = table.take(np.sort(np.random.default_rng(seed).choice(y.size, _ROWS, replace=False)))
    scores = {name: _scores(table, make(name), grid, seed, scoring) for name in ("none", "log")}
    gained = scores["log"] - scores["none"]
    if not np.isfinite(scores["log"]).all() or gained.mean() <= 0 or (gained > 0).sum() < _AGREED:
        return "none", ""
    share = 100 * gained.mean() / abs(scores["none"].mean())
    return "log", (
        f"The target is skewed and its logarithm is learned, with {share:.2g} % less error in cross-validation; "
        "--target-transform none learns it as it is."
    )


def quick_ridge(table: Any, target_transform: str, **preparing: Any) -> Any:
    """A kernel ridge that stands for all learners."""
    return pipeline(table, KernelRegressor("rbf"), target_transform=target_transform, **preparing)


def _scores(table: Any, model: Any, grid: Mapping[str, list[Any]], seed: int, scoring: Any) -> Array:
    """The score of each fold, with the parameters that are best on all."""
    prefix = parameter_prefix(model)
    folds = KFold(_FOLDS, shuffle=True, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tried = {prefix + name: values for name, values in grid.items()}
        found = search(model, tried, folds, scoring).fit(table.X, table.y)
    return np.array([found.cv_results_[f"split{k}_test_score"][found.best_index_] for k in range(_FOLDS)])


def _skewness(y: Array) -> float:
    return float(np.mean(((y - y.mean()) / y.std()) ** 3))
