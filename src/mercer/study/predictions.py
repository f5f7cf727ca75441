"""What a fitted model says of some rows: answers, scores and probabilities, asked for once."""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import binomtest

from ..composition import learner_of
from ..runtime import Array
from ..tables import TableMachine


@dataclass(frozen=True)
class Predictions:
    """What a model predicts for rows, in their order: labels or numbers, and how many ``seconds`` that took.

    Of classes also decision values (``scores``) and ``probabilities``, where the model has any.
    """

    predicted: Array
    scores: Array | None = None
    probabilities: Array | None = None
    classes: Array | None = None
    seconds: float = 0.0

    def score_for(self, label: Any) -> Array:
        """How much each row looks like one class, larger for more."""
        assert self.scores is not None
        assert self.classes is not None
        if self.scores.ndim == 1:
            return self.scores if label == self.classes[1] else -self.scores
        return self.scores[:, int(np.searchsorted(self.classes, label))]

    def probability_of(self, label: Any) -> Array | None:
        """The probability of one class for each row."""
        if self.probabilities is None or self.classes is None:
            return None
        return self.probabilities[:, int(np.searchsorted(self.classes, label))]


def predictions_of(model: Any, rows: Any) -> Predictions:
    """All that a fitted model says of rows; a classifier is asked for its decision values alone, and once."""
    start = time.perf_counter()
    if not hasattr(model, "classes_"):
        predicted = np.asarray(model.predict(rows), dtype=np.float64)
        return Predictions(predicted, seconds=time.perf_counter() - start)
    scores = model.decision_function(rows)
    seconds = time.perf_counter() - start
    learner = learner_of(model)
    probabilities = learner.probabilities_of(scores) if hasattr(model, "predict_proba") else None
    return Predictions(labels_of(learner, scores), scores, probabilities, model.classes_, seconds)


def labels_of(learner: Any, scores: Array) -> Array:
    """The labels that belong to decision values: estimators of tables answer by probabilities."""
    if isinstance(learner, TableMachine):
        codes = learner.probabilities_of(scores).argmax(axis=1)
    else:
        codes = (scores >= 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
    return learner.classes_[codes]


def put_together(parts: Sequence[tuple[Array, Predictions]]) -> Predictions:
    """The predictions of parts of the rows, each with the numbers of its rows, in the order of the rows."""
    order = np.argsort(np.concatenate([rows for rows, _ in parts]))

    def joined(name: str) -> Any:
        values = [getattr(part, name) for _, part in parts]
        return None if any(value is None for value in values) else np.concatenate(values)[order]

    seconds = sum(part.seconds for _, part in parts)
    return Predictions(joined("predicted"), joined("scores"), joined("probabilities"), parts[0][1].classes, seconds)


# How sure one can be of an error rate, and of one learner being better than another.


#: Intervals hold with this probability, and a difference counts as real where chance alone makes it this rarely.
CONFIDENCE, ALPHA = 0.95, 0.05


def error_rate(wrong: int, rows: int) -> dict[str, float]:
    """An error rate with its Wilson interval, which stays within 0 and 1 and is not empty where no row is wrong.

    Examples
    --------
    >>> error_rate(0, 10)
    {'wrong': 0, 'rows': 10, 'rate': 0.0, 'low': 0.0, 'high': 0.2775}
    """
    low, high = wilson(wrong, rows)
    return {"wrong": wrong, "rows": rows, "rate": wrong / rows, "low": round(low, 4), "high": round(high, 4)}


def wilson(some: int, rows: int) -> tuple[float, float]:
    """Between which values a share lies of which ``some`` of ``rows`` were seen.

    Examples
    --------
    >>> [round(end, 4) for end in wilson(0, 10)]
    [0.0, 0.2775]
    """
    low, high = binomtest(some, rows).proportion_ci(CONFIDENCE, method="wilson")
    return float(low), float(high)


def mcnemar(only_first_right: int, only_second_right: int) -> float:
    """The exact p-value of McNemar's test.

    If two learners err equally often, then each row on which exactly one of them is right falls to either side like a
    fair coin. Rows on which both are right, or both wrong, say nothing.

    Examples
    --------
    >>> mcnemar(5, 0)
    0.0625
    """
    rows = only_first_right + only_second_right
    return 1.0 if rows == 0 else float(binomtest(only_first_right, rows).pvalue)


#: How often all differences get random signs, and how many signs are drawn at once.
_FLIPS, _FLIPPED = 9999, 2**22


def sign_flips(differences: Array, seed: int = 0) -> float:
    """The p-value of a mean of paired differences, by flipping their signs at random.

    If two learners err equally much, then the difference of their errors on a row is as likely as its opposite. The
    p-value is the share of flips whose mean is at least as far from zero as the real one, which counts as one of them.

    Examples
    --------
    >>> sign_flips(np.array([1.0, -1.0])), sign_flips(np.ones(50)) < 0.001
    (1.0, True)
    """
    size = float(np.abs(differences).max(initial=0.0))
    if size == 0:
        return 1.0
    scaled, random = differences / size, np.random.default_rng(seed)
    real = abs(float(scaled.sum()))
    reached = 1
    at_once = max(1, _FLIPPED // scaled.size)
    for begin in range(0, _FLIPS, at_once):
        flips = min(at_once, _FLIPS - begin)
        signs = random.integers(0, 2, size=(flips, scaled.size), dtype=np.int8) * 2 - 1
        reached += int((np.abs(signs @ scaled) >= real * (1 - 1e-9)).sum())
    return reached / (1 + _FLIPS)


def drawn_differences(differences: Array) -> float:
    """The p-value of a difference of two scores, from its values in draws of the same rows with replacement.

    Were there no difference, about as many draws would fall on either side of zero. The p-value is twice the share on
    the smaller side, draws without any difference counted half on each, and one more draw on either side.

    Examples
    --------
    >>> drawn_differences(np.zeros(99)), drawn_differences(np.linspace(1, 2, 199))
    (1.0, 0.01)
    """
    seen = differences[np.isfinite(differences)]
    if not seen.size:
        return 1.0
    above = np.sum(seen > 0) + np.sum(seen == 0) / 2
    return float(min(1.0, 2 * (1 + min(above, seen.size - above)) / (1 + seen.size)))


def holm(p_values: Sequence[float]) -> list[float]:
    """p-values corrected for being several, by Holm's steps: the k-th smallest of m times m − k + 1, never falling.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    corrected = [0.0] * len(p_values)
    worst = 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=lambda k: p_values[k])):
        worst = max(worst, min(1.0, (len(p_values) - rank) * p_values[place]))
        corrected[place] = worst
    return corrected


# Numbers and words as plain JSON values.


#: Letters of a name from the data that are kept.
_LONGEST = 200


def number(value: Any, digits: int = 6) -> float | None:
    """A number to some significant digits; ``None`` where there is none.

    Examples
    --------
    >>> number(0.123456789), number(float("nan"))
    (0.123457, None)
    """
    value = float(value)
    return float(f"{value:.{digits}g}") if math.isfinite(value) else None


def numbers(values: Iterable[Any], digits: int = 6) -> list[float | None]:
    """Each of some numbers to some significant digits."""
    return [number(value, digits) for value in values]


def text(value: Any) -> str:
    """A name from the data: one line, without control characters, and not endless.

    Examples
    --------
    >>> text("a\\nb\\x00")
    'a b\\ufffd'
    """
    words = " ".join(str(value).split())
    clean = "".join(letter if letter.isprintable() else "\ufffd" for letter in words)
    return clean if len(clean) <= _LONGEST else clean[: _LONGEST - 1] + "…"


def setting(value: Any) -> Any:
    """The value of a parameter: JSON's own kinds as they are, all else as text."""
    if isinstance(value, bool) or value is None or isinstance(value, (int, str)):
        return value
    return number(value) if isinstance(value, float) else str(value)
