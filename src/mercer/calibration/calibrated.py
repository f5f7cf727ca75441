"""Probabilities for any machine, at the price of a few fits."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, is_outlier_detector, is_regressor
from sklearn.isotonic import IsotonicRegression
from sklearn.utils import Tags, get_tags, indexable
from sklearn.utils.validation import check_is_fitted, column_or_1d

from ..checks.folds import cv_of, refuse_bad_rows, refuse_before_folds, refuse_no_estimator, refuse_single
from ..checks.labels import checked_weights, encode, plain_label
from ..checks.parameters import choice, is_whole, offered_if
from ..composition import machine_of
from ..estimators.classifier import cheapest, cost_matrix
from ..kernels.engine.tiles import length
from ..rows import refuse_elsewhere
from ..runtime.compile import Array, jit
from ..search.cross_validation import fit_and_score_out_of_fold, responses, scores_of

__all__ = ["Calibrated", "CalibrationMap", "IsotonicMap", "SigmoidMap", "VennAbersMap", "coupled", "normalised"]

# From the score of a two-class machine to a probability: what every map is asked for.


class CalibrationMap(ABC):
    """A function from scores to probabilities, learned from scores of rows that the machine had not seen."""

    #: Whether the map has an interval for each probability.
    has_intervals: ClassVar[bool] = False

    @classmethod
    @abstractmethod
    def of(cls, scores: Array, positive: Array, weight: Array) -> CalibrationMap:
        """Learn from scores, from whether each belongs to the class that they speak for, and from weights."""

    @abstractmethod
    def probabilities(self, scores: Array) -> Array:
        """How probable the class is that the scores speak for; never exactly 0 or 1."""

    def intervals(self, scores: Array) -> Array:
        """The lowest and highest probability of each score, in two columns."""
        raise NotImplementedError


def effective_count(weight: Array) -> float:
    """As how many rows of equal weight the weighted ones count: (Σw)²/Σw², whatever the weights are measured in.

    Examples
    --------
    >>> import numpy as np
    >>> effective_count(np.array([0.1, 0.1, 0.1, 0.0]))
    3.0
    """
    return float(round(weight.sum() ** 2 / (weight @ weight), 12))


# Platt's map: a logistic function of the score.
#
#     p(f) = 1/(1 + exp(−(a·f + b)))
#
# with the a and b that make Σ s·[−t·log p − (1 − t)·log(1 − p)] least. The targets t are not 0 and 1 but what the rule
# of succession says after N₊ rows of one class and N₋ of the other, t₊ = (N₊ + 1)/(N₊ + 2) and t₋ = 1/(N₋ + 2): the
# least is then finite also where the scores separate the classes. Written as softplus(h) − t·h with h = a·f + b, the
# sum is smooth and convex; Newton's method with halved steps finds its least value (Lin, Lin and Weng, 2007).


#: Newton steps, and the smallest part of one.
_STEPS, _SMALLEST = 100, 1e-12
#: A Newton step that promises less than this part of the sum is the last.
_CLOSE = 1e-15


@dataclass(frozen=True)
class SigmoidMap(CalibrationMap):
    """p = 1/(1 + exp(−(slope·f + intercept))).

    Examples
    --------
    >>> import numpy as np
    >>> scores, positive = np.array([-2.0, -1, 1, 2]), np.array([False, False, True, True])
    >>> found = SigmoidMap.of(scores, positive, np.ones(4))
    >>> found.probabilities(np.array([-2.0, 0, 2])).round(2)
    array([0.21, 0.5 , 0.79])
    """

    slope: float
    intercept: float

    @classmethod
    def of(cls, scores: Array, positive: Array, weight: Array) -> SigmoidMap:
        above, below = effective_count(weight[positive]), effective_count(weight[~positive])
        targets = np.where(positive, (above + 1) / (above + 2), 1 / (below + 2))
        # In units of their spread around their middle, scores of any size give a matrix that can be solved with.
        share = weight / weight.sum()
        middle = float(share @ scores)
        spread = float(np.sqrt(share @ (scores - middle) ** 2))
        if not spread > 1e-12 * (abs(middle) + 1e-300):  # all scores alike say nothing
            rate = float(share @ targets)
            return cls(0.0, float(np.log(rate / (1 - rate))))
        slope, level = _least((scores - middle) / spread, targets, share)
        return cls(slope / spread, level - slope * middle / spread)

    def probabilities(self, scores: Array) -> Array:
        smallest = np.finfo(np.float64).eps
        return np.clip(expit(self.slope * scores + self.intercept), smallest, 1 - smallest)


@jit
def _least(f: Array, targets: Array, share: Array) -> tuple:
    """The slope and level at which the sum is least."""
    rate = np.dot(share, targets)
    a, b = 0.0, np.log(rate / (1 - rate))
    here = _cost(f, targets, share, a, b)
    for _ in range(_STEPS):
        g, h = np.zeros(2), np.zeros(3)
        for i in range(f.size):
            p = 1 / (1 + np.exp(-(a * f[i] + b)))
            slope, curve = share[i] * (p - targets[i]), share[i] * p * (1 - p)
            g[0] += slope * f[i]
            g[1] += slope
            h[0] += curve * f[i] * f[i]
            h[1] += curve * f[i]
            h[2] += curve
        ridge = 1e-14 * (h[0] + h[2])
        xx, yy = h[0] + ridge, h[2] + ridge
        det = xx * yy - h[1] * h[1]
        da, db = (yy * g[0] - h[1] * g[1]) / det, (xx * g[1] - h[1] * g[0]) / det
        if g[0] * da + g[1] * db <= _CLOSE * here:
            return a - da, b - db
        there, size = _cost(f, targets, share, a - da, b - db), 1.0
        while there >= here and size > _SMALLEST:
            size *= 0.5
            there = _cost(f, targets, share, a - size * da, b - size * db)
        if there >= here:
            return a, b
        a, b, here = a - size * da, b - size * db, there
    return a, b


@jit
def _cost(f: Array, targets: Array, share: Array, a: float, b: float) -> float:
    """Σ share·(softplus(h) − t·h)."""
    total = 0.0
    for i in range(f.size):
        h = a * f[i] + b
        total += share[i] * (max(h, 0.0) + np.log1p(np.exp(-abs(h))) - targets[i] * h)
    return total


# The best of all maps that never fall: a staircase, fitted by isotonic regression.
#
# Its first step is often exactly 0 and its last exactly 1: no row of the class below some score. As many rows as there
# are do not prove that there is none, and one row there would make a log loss infinite. After n rows of which none is
# of the class, the rule of succession says 1/(n + 2); no probability goes beyond that.


@dataclass(frozen=True)
class IsotonicMap(CalibrationMap):
    """Probabilities at some scores, straight lines between them, and level beyond.

    Examples
    --------
    >>> import numpy as np
    >>> scores, positive = np.array([-2.0, -1, 1, 2]), np.array([False, True, False, True])
    >>> IsotonicMap.of(scores, positive, np.ones(4)).probabilities(np.array([-3.0, 0, 2])).round(2)
    array([0.17, 0.5 , 0.83])
    """

    scores: Array
    values: Array

    @classmethod
    def of(cls, scores: Array, positive: Array, weight: Array) -> IsotonicMap:
        bound = 1 / (effective_count(weight) + 2)
        fitted = IsotonicRegression(y_min=bound, y_max=1 - bound)
        fitted.fit(scores, positive.astype(np.float64), weight)
        return cls(fitted.X_thresholds_, fitted.y_thresholds_)

    def probabilities(self, scores: Array) -> Array:
        return np.interp(scores, self.scores, self.values)


# Venn–Abers: an isotonic map for either class that a new row may have.
#
# A new row is put among the calibration rows once with the label 0 and once with the label 1; isotonic regression gives
# it the probabilities p₀ and p₁. One of the two labels is right, so that one of the two is calibrated, however few rows
# there are: the interval from p₀ to p₁ says how much the rows leave open. One number that serves both (the least regret
# of the log loss) is p₁/(1 − p₀ + p₁) (Vovk, Petej and Fedorova, 2015).
#
# No regression is run again for a new row. Isotonic regression pools neighbours that are out of order, in any order of
# pooling. The pools of all scores up to the i-th, and of all scores from the i-th on, are known beforehand, each with a
# pointer to the pool before or behind it; a new row between them begins as a pool of its own and takes in neighbours
# until it is in order. A row can only fall on one of the k known scores or into one of the k + 1 gaps between them, so
# all answers are found in advance.


@dataclass(frozen=True)
class VennAbersMap(CalibrationMap):
    """p₀ and p₁ on each of k known scores, and in each of the k + 1 gaps between them.

    Examples
    --------
    >>> import numpy as np
    >>> scores, positive = np.array([-2.0, -1, 1, 2]), np.array([False, False, True, True])
    >>> found = VennAbersMap.of(scores, positive, np.ones(4))
    >>> found.intervals(np.array([-2.0, 0, 2])).round(2)
    array([[0.  , 0.33],
           [0.  , 1.  ],
           [0.67, 1.  ]])
    >>> found.probabilities(np.array([-2.0, 0, 2])).round(2)
    array([0.25, 0.5 , 0.75])
    """

    has_intervals = True
    scores: Array
    #: Two columns, p₀ and p₁; the rows are gap, score, gap, score, …, gap.
    values: Array

    @classmethod
    def of(cls, scores: Array, positive: Array, weight: Array) -> VennAbersMap:
        there = weight > 0
        known, place = np.unique(scores[there], return_inverse=True)
        total = np.bincount(place, weight[there])
        ones = np.bincount(place, weight[there] * positive[there])
        values = np.empty((2 * known.size + 1, 2))
        # A new row counts as much as the others do on average.
        _answers(ones, total, float(weight[there].mean()), values)
        return cls(known, values)

    def intervals(self, scores: Array) -> Array:
        left = np.searchsorted(self.scores, scores, side="left")
        right = np.searchsorted(self.scores, scores, side="right")
        return self.values[left + right]  # 2·left in a gap, 2·left + 1 on a known score

    def probabilities(self, scores: Array) -> Array:
        low, high = self.intervals(scores).T
        return high / (1 - low + high)


@jit
def _pools(ones: Array, total: Array, step: int) -> tuple:
    """For each score the pool that ends (step 1) or begins (step −1) there, and the one that is next to it."""
    k = ones.size
    pooled, weight, beside = np.empty(k), np.empty(k), np.empty(k, np.int64)
    for count in range(k):
        i = count if step == 1 else k - 1 - count
        a, w, j = ones[i], total[i], i - step
        # Out of order is a higher mean to the left, or a lower one to the right.
        while 0 <= j < k and step * (pooled[j] * w - a * weight[j]) >= 0:
            a, w, j = a + pooled[j], w + weight[j], beside[j]
        pooled[i], weight[i], beside[i] = a, w, j
    return pooled, weight, beside


@jit
def _answers(ones: Array, total: Array, new: float, values: Array) -> None:
    """p₀ and p₁ of a new row of weight ``new`` in every gap and on every score."""
    k = ones.size
    left, left_weight, before = _pools(ones, total, 1)
    right, right_weight, behind = _pools(ones, total, -1)
    for spot in range(2 * k + 1):
        on = spot % 2
        for label in range(2):
            a, w = label * new, new
            if on:
                a, w = a + ones[spot // 2], w + total[spot // 2]
            i, j = spot // 2 - 1, spot // 2 + on
            while True:
                if j < k and right[j] * w < a * right_weight[j]:
                    a, w, j = a + right[j], w + right_weight[j], behind[j]
                elif i >= 0 and left[i] * w > a * left_weight[i]:
                    a, w, i = a + left[i], w + left_weight[i], before[i]
                else:
                    break
            values[spot, label] = a / w


# From probabilities of pairs of classes, or of each class against the rest, to probabilities of all classes.


#: Numbers of the linear systems that are solved at once.
_NUMBERS = 4_000_000


def coupled(second: Array, classes: int) -> Array:
    """The probabilities of all classes from those of pairs (Wu, Lin and Weng, 2004, their second method).

    Where r_ij is the probability of i in the pair (i, j), r_ij·p_j = r_ji·p_i would hold for all pairs if they agreed.
    They do not, and the p with Σp = 1 that minimise Σ (r_ji·p_i − r_ij·p_j)² come nearest. That is ½·pᵀQp with
    Q_ii = Σ_j r_ji² and Q_ij = −r_ji·r_ij, so that p solves Qp = μ·1, Σp = 1; all p are positive.

    Parameters
    ----------
    second : array of shape (n_rows, n_pairs)
        The probability of the second class of each pair, strictly between 0 and 1; pairs as ``combinations`` has them.
    classes : int

    Returns
    -------
    array of shape (n_rows, classes)

    Examples
    --------
    >>> import numpy as np
    >>> coupled(np.array([[0.5, 0.8, 0.8]]), 3).round(3)
    array([[0.167, 0.167, 0.667]])
    """
    size = max(1, _NUMBERS // classes**2)
    parts = [_coupled(second[begin : begin + size], classes) for begin in range(0, len(second), size)]
    return np.concatenate(parts) if parts else np.empty((0, classes))


def _coupled(second: Array, classes: int) -> Array:
    r = np.zeros((len(second), classes, classes))
    for column, (i, j) in enumerate(combinations(range(classes), 2)):
        r[:, j, i], r[:, i, j] = second[:, column], 1 - second[:, column]
    system = np.zeros((len(second), classes + 1, classes + 1))
    system[:, :classes, :classes] = -r * r.transpose(0, 2, 1)
    every = np.arange(classes)
    system[:, every, every] = (r**2).sum(axis=1)
    system[:, :classes, classes] = system[:, classes, :classes] = 1.0
    one = np.zeros((classes + 1, 1))
    one[classes] = 1.0
    return normalised(np.linalg.solve(system, np.broadcast_to(one, (len(second), classes + 1, 1)))[:, :classes, 0])


def normalised(values: Array) -> Array:
    """Positive numbers that sum to 1 in each row."""
    values = np.maximum(values, np.finfo(np.float64).eps)
    return values / values.sum(axis=1, keepdims=True)


_MAPS: dict[str, type[CalibrationMap]] = {"sigmoid": SigmoidMap, "isotonic": IsotonicMap, "venn_abers": VennAbersMap}


def _has_intervals(model: Calibrated) -> bool:
    if model.method != "venn_abers":
        raise AttributeError(f"Calibrated has no intervals with method={model.method!r}; use method='venn_abers'.")
    return True


class Calibrated(MetaEstimatorMixin, ClassifierMixin, BaseEstimator):
    """A classifier whose probabilities mean what they say: of rows with a probability of 0.8, 80 % are of the class.

    The machine is fitted once on all rows, and once without each of a few folds, whose rows it then scores; a map from
    scores to probabilities is learned from these scores of rows that it had not seen. Folds share a kernel matrix.

    With several classes each has a map of its own, against the rest, and the probabilities are normalised to a sum of
    1. Where machines of pairs of classes vote (``SVC`` with ``strategy="ovo"``), the sigmoid and isotonic regression
    are fitted to the score of each pair and the probabilities of pairs coupled (Wu, Lin and Weng, 2004): scores know
    more than votes, and the log loss on letter, splice and digits is 3 to 50 % lower. Venn–Abers is careful where rows
    are few, as those of a pair are; coupling would add up so much care, so it is fitted to the votes.

    Parameters
    ----------
    estimator : classifier
        A machine of mercer, or a pipeline that ends in one; any other classifier works as well, without sharing.
    method : {"sigmoid", "isotonic", "venn_abers"}, default="sigmoid"
        Platt's sigmoid, which is right for most machines and needs few rows; isotonic regression, which takes any
        shape and needs more of them (no probability is 0 or 1: after n rows none lies beyond 1/(n + 2)); or
        Venn–Abers, isotonic regression with an interval for each probability.
    cv : int, splitter or iterable, default=5
        Folds, which divide the rows; stratified, where this is a number.
    costs : array of shape (n_classes, n_classes) or dict, optional
        What it costs to answer class j where class i is true, ``costs[i, j]`` in the order of ``classes_``, or
        ``{(true, answered): cost}`` with 1 for all other mistakes. ``predict`` then answers the class of least
        expected cost; the probabilities are as they are.
    memory : int or str, default="1GB"
        What the kernel matrix that folds share may take.

    Attributes
    ----------
    estimator_ : classifier
        Fitted on all rows, with its certificate.
    maps_ : list
        The map of each score.
    pairs_ : bool
        Whether maps are those of pairs of classes.
    classes_ : array
    n_features_in_, feature_names_in_ : where ``estimator_`` has them

    See Also
    --------
    KernelClassifier : the logistic loss has probabilities of its own.
    sklearn.calibration.CalibrationDisplay : ``from_estimator`` draws how reliable the probabilities are.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from mercer import SVC, Calibrated
    >>> X, y = make_moons(400, noise=0.3, random_state=0)
    >>> model = Calibrated(SVC("gaussian(gamma=1)")).fit(X, y)
    >>> model.predict_proba([[0.0, 1.0], [0.5, 0.25]]).round(1)
    array([[0.9, 0.1],
           [0.6, 0.4]])
    >>> model.estimator_.converged_
    True
    """

    def __init__(
        self, estimator: Any, *, method: str = "sigmoid", cv: Any = 5, costs: Any = None, memory: int | str = "1GB"
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.cv = cv
        self.costs = costs
        self.memory = memory

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Calibrated:
        """Learn the machine from all rows, and the map from scores of rows that it had not seen.

        Parameters
        ----------
        X : rows, as the estimator takes them
        y : array of labels
        sample_weight : array of shape (n_rows,), optional
            For the machine and for the map.
        groups : array, optional
            For splitters that keep groups together.

        Returns
        -------
        self
        """
        choice(self, "method", tuple(_MAPS))
        refuse_elsewhere(X, "Calibrated")
        refuse_no_estimator(self.estimator)
        if is_regressor(self.estimator) or is_outlier_detector(self.estimator):
            raise ValueError(
                f"Calibrated: {type(self.estimator).__name__} is no classifier, and probabilities are of classes; "
                "intervals around numbers are what Conformal makes."
            )
        refuse_before_folds(self.estimator, X, y, sample_weight)
        refuse_bad_rows(self.estimator, X)
        X, y, sample_weight, groups = indexable(X, y, sample_weight, groups)
        if not length(X):
            raise ValueError("Calibrated cannot learn from no rows: X holds 0 samples.")
        labels = column_or_1d(y, warn=True)
        self.classes_, codes = encode(labels, "Calibrated")
        if self.costs is not None:
            cost_matrix(self.costs, self.classes_, "Calibrated")
        weight = None if sample_weight is None else checked_weights(sample_weight, np.zeros((length(X), 1)))
        counts = np.bincount(codes if weight is None else codes[weight > 0], minlength=self.classes_.size)
        if is_whole(self.cv):
            refuse_single(self.classes_, counts, "Calibrated")
            if weight is not None and not weight.all() and counts.min() < self.cv:
                raise ValueError(
                    f"Calibrated: class {plain_label(self.classes_[counts.argmin()])!r} has {counts.min()} rows that "
                    f"weigh anything, fewer than the cv={self.cv} folds; use a smaller cv."
                )
        folds = list(cv_of(self.cv, labels, classifier=True).split(X, labels, groups))
        self.estimator_, unseen = fit_and_score_out_of_fold(self.estimator, X, labels, folds, weight, self.memory)
        several = self.method != "venn_abers" and self.classes_.size > 2
        self.pairs_ = several and hasattr(machine_of(self.estimator_), "pair_scores")
        scores = unseen.scores if self.pairs_ else unseen.decisions
        self.maps_ = self._learned(scores, codes, np.ones(codes.size) if weight is None else weight)
        for name in ("n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
            if hasattr(self.estimator_, name):
                setattr(self, name, getattr(self.estimator_, name))
        return self

    def _learned(self, unseen: Array, codes: Array, weight: Array) -> list[CalibrationMap]:
        """A map for each score."""
        make, k = _MAPS[self.method].of, self.classes_.size
        if k == 2:
            return [make(unseen, codes == 1, weight)]
        if not self.pairs_:
            return [make(unseen[:, c], codes == c, weight) for c in range(k)]
        made = []
        for column, (first, second) in enumerate(combinations(range(k), 2)):
            rows = (codes == first) | (codes == second)
            made.append(make(unseen[rows, column], codes[rows] == second, weight[rows]))
        return made

    # -- predictions ----------------------------------------------------------------------------------------------

    def _columns(self, X: Any) -> Array:
        """The scores, a column for each map."""
        check_is_fitted(self, "maps_")
        scores = (scores_of if self.pairs_ else responses)(self.estimator_, X)
        return scores[:, None] if scores.ndim == 1 else scores

    def predict_proba(self, X: Any) -> Array:
        """The probability of each class, in the order of ``classes_``; never exactly 0 or 1.

        Parameters
        ----------
        X : rows, as the estimator takes them

        Returns
        -------
        array of shape (n_rows, n_classes)
        """
        scores = self._columns(X)
        found = np.stack(
            [each.probabilities(column) for each, column in zip(self.maps_, scores.T, strict=True)], axis=1
        )
        if self.classes_.size == 2:
            return np.column_stack([1 - found[:, 0], found[:, 0]])
        return coupled(found, self.classes_.size) if self.pairs_ else normalised(found)

    def predict_log_proba(self, X: Any) -> Array:
        """The logarithm of each probability."""
        return np.log(self.predict_proba(X))

    def predict(self, X: Any) -> Array:
        """The most probable label of each row, the first of equals; with ``costs`` that of least expected cost.

        Parameters
        ----------
        X : rows, as the estimator takes them

        Returns
        -------
        array of labels
        """
        probabilities = self.predict_proba(X)
        if self.costs is None:
            return self.classes_[probabilities.argmax(axis=1)]
        return self.classes_[cheapest(probabilities, cost_matrix(self.costs, self.classes_, "Calibrated"))]

    @offered_if(_has_intervals)
    def predict_proba_interval(self, X: Any) -> Array:
        """From where to where the probability may be, by Venn–Abers: narrow where many rows are near.

        Parameters
        ----------
        X : rows, as the estimator takes them

        Returns
        -------
        array of shape (n_rows, 2), or (n_rows, n_classes, 2) for three classes or more
            For two classes the interval is that of the second; else each class has one, against the rest, by the factor
            that makes the probabilities of a row sum to 1. It contains what :meth:`predict_proba` says.
        """
        scores = self._columns(X)
        found = np.stack([each.intervals(column) for each, column in zip(self.maps_, scores.T, strict=True)], axis=1)
        if self.classes_.size == 2:
            return found[:, 0]
        alone = [each.probabilities(column) for each, column in zip(self.maps_, scores.T, strict=True)]
        return np.minimum(found / np.sum(alone, axis=0)[:, None, None], 1.0)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags = get_tags(self.estimator).input_tags
        return tags
