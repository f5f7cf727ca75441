"""Classes of which one is rare: what to say of them, and what learners may try against it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .._runtime.compile import Array
from .._validation.guide import guide
from .._validation.labels import plain_label
from .._validation.unwrapped import machine_of
from ..learners.learner import Learner
from .error_measure import ErrorMeasure, percent

#: A class is rare below this share of two classes, and below this part of an even share of several; of several, rare
#: classes matter to the measure where they hold at least this share of the rows together.
_OF_TWO, _OF_EVEN, _TOGETHER = 0.2, 0.2, 0.01


def is_uneven(y: Array) -> bool:
    """Whether classes are so rare that a learner may leave them out and still be right on nearly all rows.

    Of several classes a few rows of some rare one do not decide how all the others are judged.

    Examples
    --------
    >>> is_uneven(np.repeat(["ham", "spam"], [9, 1])), is_uneven(np.repeat([1, 2, 3], [5, 3, 2]))
    (True, False)
    >>> is_uneven(np.repeat([1, 2, 3, 4], [500, 300, 198, 2]))
    False
    """
    counts = np.unique(y, return_counts=True)[1]
    rare = _rare(counts).sum() / counts.sum()
    return bool(rare > 0 if len(counts) == 2 else rare >= _TOGETHER)


def _rare(counts: Array) -> Array:
    """The sizes of the rare classes."""
    return counts[counts / counts.sum() < (_OF_TWO if len(counts) == 2 else _OF_EVEN / len(counts))]


def usual_measure(y: Array) -> str:
    """The measure that classes are judged by where nobody asks for another.

    Of many classes some are rare as a rule; F1 counts them all without giving the common ones up for them.

    Examples
    --------
    >>> usual_measure(np.repeat(["ham", "spam"], [9, 1])), usual_measure(np.repeat([1, 2, 3], [5, 3, 2]))
    ('balanced_accuracy', 'accuracy')
    """
    if not is_uneven(y):
        return "accuracy"
    return "balanced_accuracy" if np.unique(y).size == 2 else "f1"


def about_uneven(y: Array, measure: ErrorMeasure, asked: bool) -> str | None:
    """One or two sentences about uneven classes; nothing where they are even."""
    labels, counts = np.unique(y, return_counts=True)
    if not is_uneven(y):
        few = _rare(counts)
        if asked or not few.size:
            return None
        one = f"Class {plain_label(labels[counts.argmin()])!r} has"
        return (
            f"{one if few.size == 1 else f'{few.size} rare classes together have'} only {few.sum():,} of {len(y):,} "
            f"rows, too few to decide how all are judged: learners are judged by {measure.title}, which hardly sees "
            f"such classes; with --scoring f1 every class counts the same {guide('class weights')}."
        )
    rare, common = labels[counts.argmin()], labels[counts.argmax()]
    said = (
        f"The classes are uneven: {plain_label(rare)!r} has only {counts.min():,} of {len(y):,} rows "
        f"({percent(counts.min() / len(y), 1)}), and always answering {plain_label(common)!r} would be right on "
        f"{percent(counts.max() / len(y), 1)}."
    )
    if asked:
        return said
    return (
        f"{said} So learners are judged by {measure.title}, in which every class counts the same "
        f"{guide('class weights')}."
    )


def with_class_weights(learner: Learner, always: bool) -> Learner:
    """The learner that counts rare classes as much as common ones: always, or where that is better when it is tuned."""
    if "class_weight" not in machine_of(learner.build()).get_params(deep=False):
        return learner
    choices: list[Any] = ["balanced"] if always else [None, "balanced"]
    return replace(learner, grid={**learner.grid, "class_weight": choices})
