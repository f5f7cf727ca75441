"""What errors are counted in: mistakes in percent of the rows, the unit of the target, or what a score lacks."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import ClassifierMixin, clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error

from ..composition import layers, learner_of
from ..messages import in_digits, percent
from ..runtime import Array
from .predictions import CONFIDENCE, Predictions, labels_of, number, wilson
from .splits import Division

__all__ = [
    "COVERAGES",
    "NUMBERS",
    "SHARE",
    "ErrorMeasure",
    "error_of_numbers",
    "half_width",
    "half_widths",
    "in_digits",
    "measure_of",
    "out_of_fold_predictions",
    "out_of_fold_residuals",
    "percent",
]

# Errors of predicted numbers, in the unit of the target, and how far most of them reach.


#: Shares of new rows whose value an interval may be asked to hold.
COVERAGES = tuple(round(0.01 * percent, 2) for percent in range(1, 100))
#: Rows of which predictions out of their fold are made at most, folds, and draws of a bootstrap.
_ROWS, _FOLDS, _DRAWS = 4000, 5, 1000


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
    """The places of the tested rows, rising, a prediction of each by a model that was fitted without it, and the folds.

    A fitted model may know its leave-one-out predictions, and then no fit is needed. Of many rows some are drawn at
    random: a model of fewer rows errs more, so that errors are rather too large. In the order of time the first rows
    are predicted from none, and are not among those that are tested. ``rows`` are the places of the table's rows in the
    whole table that ``division`` is of.
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


# Scores as functions of the weights of rows, for many weightings at once.
#
# Drawing n of n rows with replacement is giving each row a whole number as its weight. The spread of a score over a
# thousand such draws is its bootstrap interval, and of the difference of two learners' scores over the same draws a
# paired test. scikit-learn's metrics take one weighting at a time, and the checks alone of eleven learners, seven
# measures and a thousand draws would take minutes; here all draws are rows of one matrix. With all weights 1 each
# function is scikit-learn's metric.


#: (targets, predictions, weights of shape (draws, rows)) → a score for each draw
Weighted = Callable[[Array, Predictions, Array], Array]

#: Draws of a bootstrap, at most and at least, and numbers that all of them may hold together.
_BOOTSTRAP_DRAWS, _FEWEST, _NUMBERS = 1000, 200, 8_000_000


def drawn_weights(rows: int, seed: int) -> Array:
    """How often each row is drawn, in each of many draws with replacement: one draw a row of the matrix."""
    random = np.random.default_rng(seed)
    draws = int(np.clip(_NUMBERS // max(1, rows), _FEWEST, _BOOTSTRAP_DRAWS))
    counts = [np.bincount(random.integers(0, rows, rows), minlength=rows) for _ in range(draws)]
    return np.minimum(counts, 255).astype(np.uint8)


def over_draws(score: Weighted, y: Array, found: Predictions, weights: Array) -> Array:
    """The score in each draw, some of them at a time."""
    at_once = max(1, _NUMBERS // max(1, weights.shape[1] * 8))
    parts = [weights[begin : begin + at_once] for begin in range(0, len(weights), at_once)]
    with np.errstate(divide="ignore", invalid="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # draws without a row of some class have no score
        return np.concatenate([score(y, found, part.astype(np.float64)) for part in parts])


def on_all_rows(score: Weighted, y: Array, found: Predictions) -> float:
    """The score with each row once."""
    return float(over_draws(score, y, found, np.ones((1, len(y)), dtype=np.uint8))[0])


def accuracy(y: Array, found: Predictions, weights: Array) -> Array:
    return weights @ (found.predicted == y) / weights.sum(axis=1)


def balanced_accuracy(y: Array, found: Predictions, weights: Array) -> Array:
    """The mean over the classes of the share of their rows that is found."""
    right, rows, _ = _counts(y, found, weights)
    return np.nanmean(np.where(rows > 0, right / rows, np.nan), axis=1)


def matthews(y: Array, found: Predictions, weights: Array) -> Array:
    """The correlation of answers and classes, of any number of them (Gorodkin, 2004)."""
    right, rows, answered = _counts(y, found, weights)
    total = weights.sum(axis=1)
    covariance = right.sum(axis=1) * total - (rows * answered).sum(axis=1)
    spread = np.sqrt(np.maximum(0, total**2 - (answered**2).sum(axis=1)) * (total**2 - (rows**2).sum(axis=1)))
    return np.where(spread > 0, covariance / spread, 0.0)


def f1_of(positive: object) -> Weighted:
    """F1 of one class, or the mean over all where there is no such class (``None``)."""

    def f1(y: Array, found: Predictions, weights: Array) -> Array:
        right, rows, answered = _counts(y, found, weights)
        each = np.where(rows + answered > 0, 2 * right / (rows + answered), np.nan)
        if positive is None:
            return np.nanmean(each, axis=1)
        return np.nan_to_num(each[:, _place(found, positive)])

    return f1


def log_loss(y: Array, found: Predictions, weights: Array) -> Array:
    """The mean of −log of the probability that the true class was given."""
    assert found.probabilities is not None
    assert found.classes is not None
    codes = np.searchsorted(found.classes, y)
    given = found.probabilities[np.arange(len(y)), codes]
    return weights @ -np.log(np.maximum(given, np.finfo(given.dtype).eps)) / weights.sum(axis=1)


def roc_auc(y: Array, found: Predictions, weights: Array) -> Array:
    """How often a row of a class has a higher score than one of another class.

    Of two classes it is the same for both. Of several it is the mean over the classes, each with its share of the rows.
    """
    assert found.classes is not None
    labels = found.classes[1:] if len(found.classes) == 2 else found.classes
    total, share = np.zeros(len(weights)), np.zeros(len(weights))
    for label in labels:
        hits, misses = _above(found.score_for(label), y == label, weights)
        pairs = hits[:, -1] * misses[:, -1]
        # Each step to the next score passes rows of other classes: the hits before and after it are below half of them.
        area = np.sum(np.diff(misses, axis=1) * (hits[:, 1:] + hits[:, :-1]) / 2, axis=1)
        total += np.where(pairs > 0, hits[:, -1] * area / pairs, 0.0)
        share += np.where(pairs > 0, hits[:, -1], 0.0)
    return total / share


def average_precision_of(positive: object) -> Weighted:
    """The mean precision over all rows of one class as they are found, or its mean over the classes (``None``)."""

    def average_precision(y: Array, found: Predictions, weights: Array) -> Array:
        assert found.classes is not None
        each = []
        for label in found.classes if positive is None else [positive]:
            hits, misses = _above(found.score_for(label), y == label, weights)
            precision = hits[:, 1:] / (hits[:, 1:] + misses[:, 1:])
            gained = np.diff(hits, axis=1) / hits[:, -1:]
            each.append(np.sum(np.where(gained > 0, gained * precision, 0.0 * gained), axis=1))
        return np.nanmean(each, axis=0)

    return average_precision


def weighted_mean_absolute_error(y: Array, found: Predictions, weights: Array) -> Array:
    return weights @ np.abs(y - found.predicted) / weights.sum(axis=1)


def weighted_root_mean_squared_error(y: Array, found: Predictions, weights: Array) -> Array:
    return np.sqrt(weights @ np.square(y - found.predicted) / weights.sum(axis=1))


def r2(y: Array, found: Predictions, weights: Array) -> Array:
    """The share of the variance that is explained."""
    centred, rows = y - y.mean(), weights.sum(axis=1)
    variance = weights @ centred**2 - (weights @ centred) ** 2 / rows
    return 1 - weights @ np.square(y - found.predicted) / variance


def pinball_of(quantile: float) -> Weighted:
    """The mean pinball loss: values above the prediction cost the quantile, those below it what is left to 1."""

    def pinball(y: Array, found: Predictions, weights: Array) -> Array:
        left = y - found.predicted
        return weights @ np.maximum(quantile * left, (quantile - 1) * left) / weights.sum(axis=1)

    return pinball


def _counts(y: Array, found: Predictions, weights: Array) -> tuple[Array, Array, Array]:
    """For each draw and class: rows that are found, rows there are, rows that are answered so."""
    assert found.classes is not None
    size, numbers = len(found.classes), np.arange(len(y))
    true, said = np.searchsorted(found.classes, y), np.searchsorted(found.classes, found.predicted)

    def summed(codes: Array, chosen: Array) -> Array:
        member = sparse.csr_array((np.ones(chosen.sum()), (codes[chosen], numbers[chosen])), shape=(size, len(y)))
        return (member @ weights.T).T

    everywhere = np.ones(len(y), dtype=bool)
    return summed(true, true == said), summed(true, everywhere), summed(said, everywhere)


def _above(scores: Array, of_class: Array, weights: Array) -> tuple[Array, Array]:
    """Rows of a class and of the others whose score is at least each threshold, from none of the rows to all."""
    order = np.argsort(-scores, kind="stable")
    last = np.flatnonzero(np.append(np.diff(scores[order]) != 0, True))
    sorted_weights, hit = weights[:, order], of_class[order]
    hits = np.cumsum(sorted_weights * hit, axis=1)[:, last]
    misses = np.cumsum(sorted_weights * ~hit, axis=1)[:, last]
    nothing = np.zeros((len(weights), 1))
    return np.hstack([nothing, hits]), np.hstack([nothing, misses])


def _place(found: Predictions, label: object) -> int:
    return int(np.flatnonzero(found.classes == label)[0])


@dataclass(frozen=True)
class ErrorMeasure:
    """How errors are scored in searches, found in the facts, and shown.

    ``name`` stands in a table after "test" or "training", ``title`` in a sentence, ``axis`` beside a drawing, where
    errors are multiplied by ``scale``; ``key`` is where the error on some rows stands in the facts. ``scoring`` names
    scikit-learn's score that falls by as much as the error rises from ``perfect``; searches score by ``scorer`` where
    the name alone does not say it. ``words`` is an error as the score that people know. ``weighted`` gives the score,
    or the error where scikit-learn's score is that with a minus sign, for many weightings of the rows, from the
    "labels", "scores" or "probabilities" that it ``needs`` of a classifier.
    """

    task: str
    name: str
    key: str
    scoring: str
    perfect: float
    scale: float
    axis: str
    words: Callable[[float], str]
    weighted: Weighted
    title: str
    needs: str = "labels"
    scorer: Any = None

    @property
    def is_usual(self) -> bool:
        """Whether it is the measure of a study that nobody asked for another."""
        return self.scoring in (SHARE.scoring, NUMBERS.scoring)

    def score(self, weighted: Any) -> Any:
        """scikit-learn's score, larger for better, of what :attr:`weighted` gives."""
        return -weighted if self.scoring.startswith("neg_") else weighted

    def of(self, rows: Mapping[str, Any]) -> str:
        """The error on some rows, in words."""
        return self.words(rows[self.key])

    def between(self, rows: Mapping[str, Any]) -> str:
        """Its interval, in words."""
        if self.task == "classify":
            return f"{100 * rows['low']:.1f}–{percent(rows['high'], 1)}"
        return f"{in_digits(rows['low'])}–{in_digits(rows['high'])}"

    def to(self, rows: Mapping[str, Any]) -> str:
        """Its interval in a sentence."""
        if self.task == "classify":
            return f"{percent(rows['low'], 1)} to {percent(rows['high'], 1)}"
        return f"{in_digits(rows['low'])} to {in_digits(rows['high'])}"

    def drawn(self, rows: Mapping[str, Any], key: str | None = None) -> float:
        """The error on some rows, or one end of its interval, as it is drawn."""
        return self.scale * rows[key or self.key]

    def spread(self, validation: Mapping[str, Any]) -> str:
        """The mean over folds and its deviation, in words."""
        if validation["mean"] is None:
            return "—"
        if self.scale == 100:
            return f"{100 * validation['mean']:.2f} ± {percent(validation['sd'])}"
        return f"{self.words(validation['mean'])} ± {self.deviation(validation['sd'])}"

    def deviation(self, size: float) -> str:
        """How much errors differ between folds, in words without a unit."""
        if self.scale == 100:
            return f"{100 * size:.2f}"
        return f"{size:.3f}" if self.perfect else in_digits(size, 3)

    def in_words(self, score: float | None) -> str:
        """A score of scikit-learn as people write it."""
        if score is None:
            return "—"
        return percent(score) if self.scale == 100 else self.words(self.perfect - score)


SHARE = ErrorMeasure("classify", "error", "rate", "accuracy", 1.0, 100.0, "error, %", percent, accuracy, "accuracy")
NUMBERS = ErrorMeasure(
    "regress",
    "RMSE",
    "rmse",
    "neg_root_mean_squared_error",
    0.0,
    1.0,
    "RMSE, in the unit of the target",
    in_digits,
    weighted_root_mean_squared_error,
    "RMSE",
)


def measure_of(facts: Mapping[str, Any]) -> ErrorMeasure:
    """What the errors of a study on training and test rows are counted in, whatever score decided."""
    return NUMBERS if facts.get("task") == "regress" else SHARE


# Scores of learners on test rows, with intervals.


def draws_of(measure: ErrorMeasure, y: Array, found: Predictions, weights: Array) -> Array:
    """scikit-learn's score in each draw of rows; scores of many classes, which cost a curve each, in fewer draws."""
    if measure.needs == "scores" and found.classes is not None and len(found.classes) > 2:
        weights = weights[: max(100, len(weights) // len(found.classes))]
    return measure.score(over_draws(measure.weighted, y, found, weights))


def scored(measure: ErrorMeasure, y: Array, found: Predictions, weights: Array) -> dict[str, Any]:
    """A score with its interval: Wilson's for the accuracy, of which there is a formula, else by drawing rows again."""
    value = measure.score(on_all_rows(measure.weighted, y, found))
    if measure.scoring == "accuracy":
        low, high = wilson(int(np.sum(found.predicted == y)), len(y))
    else:
        tail = (1 - CONFIDENCE) / 2
        drawn = draws_of(measure, y, found, weights)
        drawn = drawn[np.isfinite(drawn)]
        low, high = np.quantile(drawn, [tail, 1 - tail]) if drawn.size else (np.nan, np.nan)
    return {
        "value": number(value),
        "low": number(low),
        "high": number(high),
        "title": measure.title,
        "words": measure.in_words(number(value)),
    }


def all_scores(measures: Iterable[ErrorMeasure], y: Array, found: Predictions, weights: Array) -> dict[str, Any]:
    """Every score that a learner can have, by its name in scikit-learn."""
    return {
        measure.scoring: scored(measure, y, found, weights)
        for measure in measures
        if measure.needs != "probabilities" or found.probabilities is not None
    }


# By which score a study was judged, and scores in words.


Facts = dict[str, Any]

#: Scores that say the same as the error that every page shows.
_USUAL = ("accuracy", "neg_root_mean_squared_error")


def chosen_of_facts(facts: Facts) -> Facts:
    """The learner that was chosen."""
    return next(one for one in facts["learners"] if one["name"] == facts["answer"]["chosen"])


def scored_by(facts: Facts) -> Facts | None:
    """The score that decided, where it is another than the usual error.

    Examples
    --------
    >>> scored_by({"scoring": {"name": "accuracy", "title": "accuracy"}}) is None
    True
    >>> scored_by({"scoring": {"name": "roc_auc", "title": "AUC"}})["title"]
    'AUC'
    """
    scoring = facts.get("scoring")
    return None if not scoring or scoring["name"] in _USUAL else scoring


def score_in_words(name: str, value: float | None) -> str:
    """A score with a few digits; those that are errors with a minus sign are shown as errors.

    Examples
    --------
    >>> score_in_words("balanced_accuracy", 0.83456), score_in_words("neg_mean_absolute_error", -41.3)
    ('0.835', '41.30')
    """
    if value is None:
        return "—"
    return in_digits(-value) if name.startswith("neg_") else f"{value:.3f}".replace("-", "−")


def score_between(name: str, score: Facts) -> str:
    """The interval of a score; empty where none is known.

    Examples
    --------
    >>> score_between("f1", {"value": 0.8, "low": 0.75, "high": 0.84})
    '0.750–0.840'
    """
    low, high = score.get("low"), score.get("high")
    if low is None or high is None:
        return ""
    ends = sorted((low, high), key=lambda value: -value if name.startswith("neg_") else value)
    return "–".join(score_in_words(name, end) for end in ends)
