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
#: Different values of a target up to this number are labels where they come again; numbers with fractions, or that
#: come once here and there, only up to that one.
_FEW, _VERY_FEW = 20, 10
#: Words that are steps of a scale, each scale from its lower end.
_SCALES = (
    ("none", "very low", "low", "mild", "medium", "middle", "moderate", "mid", "normal", "average", "high",
     "very high", "severe"),
    ("unacc", "acc", "very bad", "very poor", "bad", "poor", "fair", "average", "ok", "medium", "good", "vgood",
     "very good", "premium", "excellent", "ideal"),
    ("xs", "s", "m", "l", "xl", "xxl"),
    ("tiny", "very small", "small", "medium", "large", "very large", "huge"),
    ("never", "rarely", "sometimes", "often", "usually", "always"),
    ("slow", "medium", "fast"), ("cold", "cool", "mild", "warm", "hot"), ("first", "second", "third", "fourth"),
    ("beginner", "novice", "intermediate", "advanced", "expert"),
    ("strongly disagree", "disagree", "neutral", "agree", "strongly agree"),
)  # fmt: skip
#: Sums of squares of larger numbers overflow, of the inverse of it and less vanish.
LARGEST_TARGET = 1e140


def is_measurement(y: Any) -> bool:
    """Whether a target holds measurements, to be regressed on, rather than labels of classes.

    Labels come again, two rows or more of each on average, or there are but few of them. Numbers with fractions are
    labels only where there are very few and each comes again, as doses do and ratings do not. Whole numbers that are
    not very few are labels where they count the classes, from 0 or 1 on without a gap, or where each comes again: the
    largest of many counts or grades rarely do; many of them only where both are so. Words that never come again are
    names, and no better as classes.

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
    very_few, each_again = different.size <= _VERY_FEW, counts.min(initial=2) > 1
    if (values != np.floor(values)).any():
        return not (very_few and again and each_again)
    counted = different.size and different[0] in (0, 1) and different[-1] - different[0] == different.size - 1
    if few:
        return not (very_few or counted or each_again)
    return not (again and counted and each_again)


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
    different = np.unique(values).size
    whole = values.dtype.kind != "f" or (values == np.floor(values)).all()
    fractions = "" if whole or different > _FEW else " with fractions"
    return (
        f"the target {target!r} has {counted(different, 'different ' + ('value' if numbers else 'word'))}{fractions} "
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
        return _ordered_words(target, y)
    learned = {"classify": "classes", "regress": "numbers"}
    if asked:
        return f"{learned[task].capitalize()} are learned of the target {target!r}, as --task says."
    other = "regress" if task == "classify" else "classify"
    said = f"{learned[task].capitalize()}: {looks_in_words(target, y)} (--task {other}: {learned[other]})."
    labels = np.unique(_as_one_kind(np.asarray(y)))
    if task == "regress" or labels.size < 3 or labels[0] == 0:  # from 0 on programs number what has no order
        return said
    return f"{said} Classes have no order: where theirs means something, as of grades, learn numbers."


def _ordered_words(target: Any, y: Any) -> str:
    """That classes are steps of a scale, which they do not know; empty where they are not known to be."""
    found = {str(word).strip().lower(): str(word) for word in np.unique(_as_one_kind(np.asarray(y))).tolist()}
    scale = next((steps for steps in _SCALES if len(found) > 2 and all(word in steps for word in found)), None)
    if scale is None:
        return ""
    steps = " < ".join(found[word] for word in sorted(found, key=scale.index))
    return (
        f"Classes have no order, and those of the target {target!r} seem to have one, {steps}: written as 1, 2, 3 they "
        "can be learned as numbers (--task regress), where near misses count less."
    )


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
