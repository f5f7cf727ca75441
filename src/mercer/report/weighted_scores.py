"""Scores as functions of the weights of rows, for many weightings at once.

Drawing n of n rows with replacement is giving each row a whole number as its weight. The spread of a score over a
thousand such draws is its bootstrap interval, and of the difference of two learners' scores over the same draws a
paired test. scikit-learn's metrics take one weighting at a time, and the checks alone of eleven learners, seven
measures and a thousand draws would take minutes; here all draws are rows of one matrix. With all weights 1 each
function is scikit-learn's metric.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
from scipy import sparse

from .._runtime.compile import Array
from .predictions import Predictions

#: (targets, predictions, weights of shape (draws, rows)) → a score for each draw
Weighted = Callable[[Array, Predictions, Array], Array]

#: Draws of a bootstrap, at most and at least, and numbers that all of them may hold together.
_DRAWS, _FEWEST, _NUMBERS = 1000, 200, 8_000_000


def drawn_weights(rows: int, seed: int) -> Array:
    """How often each row is drawn, in each of many draws with replacement: one draw a row of the matrix."""
    random = np.random.default_rng(seed)
    draws = int(np.clip(_NUMBERS // max(1, rows), _FEWEST, _DRAWS))
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


def mean_absolute_error(y: Array, found: Predictions, weights: Array) -> Array:
    return weights @ np.abs(y - found.predicted) / weights.sum(axis=1)


def root_mean_squared_error(y: Array, found: Predictions, weights: Array) -> Array:
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
