"""Errors of predicted numbers, in the unit of the target, and how far most of them reach."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error

from .._runtime.compile import Array
from .._validation.unwrapped import layers, learner_of
from .predictions import labels_of
from .significance import CONFIDENCE
from .splits import Division

__all__ = [
    "COVERAGES",
    "error_of_numbers",
    "half_width",
    "half_widths",
    "in_digits",
    "out_of_fold_predictions",
    "out_of_fold_residuals",
]

#: Shares of new rows whose value an interval may be asked to hold.
COVERAGES = tuple(round(0.01 * percent, 2) for percent in range(1, 100))
#: Rows of which predictions out of their fold are made at most, folds, and draws of a bootstrap.
_ROWS, _FOLDS, _DRAWS = 4000, 5, 1000


def in_digits(value: float, digits: int = 4) -> str:
    r"""A number with some digits that matter, written out where it is neither huge nor tiny.

    Examples
    --------
    >>> in_digits(53.21987), in_digits(123456.7), in_digits(0.00123456), in_digits(-2e-12), in_digits(0.0)
    ('53.22', '123457', '0.001235', '-2e-12', '0')
    """
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    power = math.floor(math.log10(abs(value)))
    if not -4 <= power <= 9:
        return f"{value:.{digits - 1}g}"
    return f"{value:.{max(0, digits - 1 - power)}f}"


def error_of_numbers(y: Any, predicted: Any) -> dict[str, float]:
    """Root of the mean squared error, mean absolute error, and the share of the variance that is explained.

    Examples
    --------
    >>> error_of_numbers([1.0, 2.0, 6.0], [1.0, 2.0, 3.0])["mae"]
    1.0
    """
    y, predicted = np.asarray(y, dtype=np.float64), np.asarray(predicted, dtype=np.float64)
    explained = float(r2_score(y, predicted)) if y.size > 1 and np.ptp(y) > 0 else math.nan
    return {
        "rmse": float(root_mean_squared_error(y, predicted)),
        "mae": float(mean_absolute_error(y, predicted)),
        "r2": explained,
        "rows": int(y.size),
    }


def interval_of_rmse(residuals: Array, seed: int = 0) -> tuple[float, float]:
    """Between which values the RMSE on rows of the same kind lies, by drawing the rows again with replacement."""
    size = float(np.abs(residuals).max(initial=0.0)) or 1.0
    squares = np.square(residuals / size)
    random = np.random.default_rng(seed)
    means = [squares[random.integers(0, squares.size, squares.size)].mean() for _ in range(_DRAWS)]
    low, high = size * np.sqrt(np.quantile(means, [(1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2]))
    return float(low), float(high)


def out_of_fold_residuals(
    model: Any, table: Any, y: Array, seed: int, division: Division | None = None, rows: Array | None = None
) -> Array:
    """What is left of each target by a model that has not seen its row; see :func:`out_of_fold_predictions`."""
    division = Division(classes=False) if division is None else division
    tested, predicted, _ = out_of_fold_predictions(model, table, y, seed, division, rows)
    return y[tested] - predicted


def out_of_fold_predictions(
    model: Any, table: Any, y: Array, seed: int, division: Division, rows: Array | None = None
) -> tuple[Array, Array, int]:
    """What each row is told by a model that has not seen it: that of the other folds.

    Of a fitted model that knows what each row is told by the model of all others it is that, and no fit is needed. Of
    many rows some are drawn at random: a model of fewer rows errs more, so that errors are rather too large. In the
    order of time the first rows are predicted from none, and are not among those that are tested.

    Parameters
    ----------
    model : classifier or regressor
    table : Table
    y : array
        Its targets.
    seed : int
    division : Division
        How the rows of the whole table are divided.
    rows : array, optional
        The places of these rows in the whole table, where they are not all of it.

    Returns
    -------
    array of int, array, int
        The places of rows that were tested, rising; what they were told; and the number of folds.
    """
    left_out = left_out_predictions(model)
    if left_out is not None and len(left_out) == len(y) and division.repeatable:
        return np.arange(len(y)), left_out, len(y)
    rows = np.arange(len(y)) if rows is None else rows
    kept = np.arange(len(y))
    if len(y) > _ROWS:
        kept = np.sort(np.random.default_rng(seed).choice(len(y), _ROWS, replace=False))
        table, y, rows = table.take(kept), y[kept], rows[kept]
    folds = min(_FOLDS, max(2, division.most_folds(rows, y)))
    tested, told = [], []
    for train, test in division.folds(rows, y, folds, seed):
        fitted = clone(model).fit(table.take(train).X, y[train])
        tested.append(kept[test])
        told.append(fitted.predict(table.take(test).X))
    places = np.concatenate(tested)
    order = np.argsort(places)
    return places[order], np.concatenate(told)[order], folds


def left_out_predictions(model: Any) -> Array | None:
    """What each training row is told by the model of all others, in the unit of the target, where a model knows it."""
    learner = learner_of(model)
    told = getattr(learner, "loo_predictions_", None)
    if told is not None and isinstance(learner, ClassifierMixin):
        told = labels_of(learner, told)
    if told is None or any(hasattr(layer, "filter_") for layer in layers(model)):
        return None
    for layer in layers(model):
        if isinstance(layer, TransformedTargetRegressor):
            told = layer.inverse_func(told)
    return np.asarray(told)


def half_widths(residuals: Array) -> list[float | None]:
    """For each of :data:`COVERAGES`, how far an interval reaches on either side of a prediction.

    The residual of a new row is as likely to take any place among n others: it is at most the k-th smallest of them
    with probability k/(n + 1). ``None`` where there are too few rows to promise so much.
    """
    sizes = np.sort(np.abs(residuals))
    places = [math.ceil(round(coverage * (sizes.size + 1), 9)) for coverage in COVERAGES]
    return [float(sizes[place - 1]) if place <= sizes.size else None for place in places]


def half_width(widths: Sequence[float | None], coverage: float) -> float | None:
    """The half-width for one share of new rows, out of :func:`half_widths`; for shares between two, the larger."""
    place = next(k for k, share in enumerate(COVERAGES) if share >= coverage - 1e-9)
    return widths[place]
