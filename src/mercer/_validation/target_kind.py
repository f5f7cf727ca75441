"""Is a target a measurement, to be regressed on, or a label? The one rule for it, and the one sentence."""

from __future__ import annotations

from typing import Any

import numpy as np

from .wording import counted

__all__ = [
    "LARGEST_TARGET",
    "TASKS",
    "could_be_numbers",
    "extreme_in_words",
    "is_measurement",
    "looks_in_words",
    "task_in_words",
    "task_of",
]

#: What can be learned about a target: which class it is, or which number.
TASKS = ("classify", "regress")
#: Different values of a target up to this number are labels where they come again.
_FEW = 20
#: Sums of squares of larger numbers overflow, of the inverse of it and less vanish.
LARGEST_TARGET = 1e140


def is_measurement(y: Any) -> bool:
    """Whether a target holds measurements, to be regressed on, rather than labels of classes.

    Labels come again, two rows or more of each on average, or there are but few of them. Numbers with fractions are
    labels only where both are so, as doses are. Many whole numbers are labels only where they count the classes, from 0
    or 1 on without a gap, and where each comes again: the largest of many counts of something rarely do. Words that
    never come again are names, and no better as classes.

    Parameters
    ----------
    y : array
        The values that are not missing.

    Returns
    -------
    bool

    Examples
    --------
    >>> is_measurement([0.5, 2.0, 0.5, 2.0]), is_measurement([0.5, 2.0, 0.7]), is_measurement(["a", "b", "c"])
    (False, True, False)
    >>> is_measurement(list(range(26)) * 3), is_measurement(list(range(18, 70)) * 3)
    (False, True)
    """
    values = _as_one_kind(np.asarray(y))
    different, counts = np.unique(values, return_counts=True)
    few, again = different.size <= _FEW, 2 * different.size <= values.size
    if values.dtype.kind not in "iuf":
        return not (few or again)
    if (values != np.floor(values)).any():
        return not (few and again)
    counted = different.size and different[0] in (0, 1) and different[-1] - different[0] == different.size - 1
    return not few and not (again and counted and counts.min() > 1)


def task_of(y: Any) -> str:
    """What is to be learned of a target that nobody said more about: numbers only where they are measurements.

    Examples
    --------
    >>> task_of([1.5, 2.25, 7.0]), task_of(["a", "b", "a"]), task_of([str(k) for k in range(30)])
    ('regress', 'classify', 'classify')
    """
    values = _as_one_kind(np.asarray(y))
    return "regress" if values.dtype.kind in "iuf" and is_measurement(values) else "classify"


def looks_in_words(target: Any, y: Any) -> str:
    """What a target looks like, and why.

    Examples
    --------
    >>> looks_in_words("dose", [1, 2, 1, 2])
    "the target 'dose' has 2 different values in 4 rows, so it looks like classes"
    """
    values = _as_one_kind(np.asarray(y))
    numbers = could_be_numbers(values)
    kind = "classes" if not is_measurement(values) else "a measurement" if numbers else "names"
    return (
        f"the target {target!r} has {counted(np.unique(values).size, 'different ' + ('value' if numbers else 'word'))} "
        f"in {counted(values.size, 'row')}, so it looks like {kind}"
    )


def task_in_words(target: Any, y: Any, task: str, asked: bool) -> str:
    """What is learned of a target, why, and how to say otherwise; empty where it holds words, which are classes.

    Examples
    --------
    >>> task_in_words("dose", [1, 2, 1, 2], "classify", asked=False)
    "Classes: the target 'dose' has 2 different values in 4 rows, so it looks like classes (--task regress: numbers)."
    """
    if not could_be_numbers(y) and task == "classify":
        return ""
    learned = {"classify": "classes", "regress": "numbers"}
    if asked:
        return f"{learned[task].capitalize()} are learned of the target {target!r}, as --task says."
    other = "regress" if task == "classify" else "classify"
    return f"{learned[task].capitalize()}: {looks_in_words(target, y)} (--task {other}: {learned[other]})."


def could_be_numbers(y: Any) -> bool:
    """Whether all values are numbers, also where they are written as the names of classes.

    Examples
    --------
    >>> could_be_numbers(["0.5", "2"]), could_be_numbers(["0.5", "low"])
    (True, False)
    """
    values = _as_one_kind(np.asarray(y))
    if values.dtype.kind in "iuf":
        return True
    try:
        return bool(np.isfinite(np.unique(values).astype(np.float64)).all())
    except ValueError:
        return False


def extreme_in_words(target: Any, y: Any) -> str:
    """Why numbers of this size cannot be learned: their squares overflow, or vanish; empty where they can.

    Examples
    --------
    >>> extreme_in_words("y", [1.0, 1e200])
    "the target 'y' has values up to 1e+200, whose squares no number holds; write it in other units."
    """
    largest = float(np.abs(np.asarray(y, dtype=np.float64)).max(initial=0.0))
    if largest == 0 or 1 / LARGEST_TARGET < largest < LARGEST_TARGET:
        return ""
    return (
        f"the target {target!r} has values up to {largest:.3g}, whose squares no number holds; write it in other units."
    )


def _as_one_kind(values: Any) -> Any:
    """Values that can be compared with each other: numbers where all of them are, else words."""
    if values.dtype != object:
        return values
    numbers = all(isinstance(value, (int, float, np.number)) for value in values.tolist())
    return values.astype(np.float64 if numbers else np.str_)
