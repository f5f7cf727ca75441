"""Labels and weights, checked: any two or more labels of one kind, none missing; weights that make sense."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from numbers import Number, Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight

from ..messages import counted
from ..runtime.arrays import Array
from .parameters import is_number, shown
from .tables import is_missing

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

# Is a target a measurement, to be regressed on, or a label? The one rule for it, and the one sentence.


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
    """Whether a target's known values are measurements, to be regressed on, rather than labels of classes.

    Labels come again, two rows or more of each on average, or there are but few of them. Numbers with fractions are
    labels only where there are very few and each comes again, as doses do and ratings do not. Whole numbers that are
    not very few are labels where they count the classes, from 0 or 1 on without a gap, or where each comes again: the
    largest of many counts or grades rarely do; many of them only where both are so. Words that never come again are
    names, and no better as classes.

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


#: What weights sum to is at most the inverse of this, and the largest is not less; and what part of it is nothing.
_LEAST_WEIGHT, _LOST = 1e-300, 1e-200


def _refuse_masked(values: Any, name: str) -> None:
    if np.ma.is_masked(values):
        row = int(np.argmax(np.ma.getmaskarray(values)))
        raise ValueError(f"{name} is masked in row {row}, and its mask would be ignored; drop the masked rows.")


def refuse_bad_labels(y: Any) -> None:
    """Name the first missing label, and labels of mixed kinds, before NumPy turns them into text."""
    _refuse_masked(y, "y")
    if y is None or hasattr(y, "columns") or sparse.issparse(y):  # scikit-learn says what it thinks of a table
        return
    if isinstance(y, np.ndarray) and (y.dtype.kind in "iubUS" or (y.dtype.kind == "f" and np.isfinite(y).all())):
        return
    values = y.tolist() if hasattr(y, "tolist") else list(y) if hasattr(y, "__iter__") else []
    _refuse_label_sets(values)
    if any(isinstance(value, (list, tuple, np.ndarray)) for value in values):
        return  # two-dimensional: scikit-learn says what is wrong with that
    kinds: dict[str, int] = {}
    for row, value in enumerate(values):
        if is_missing(value):
            raise ValueError(f"Input y contains NaN or nothing: missing label in row {row}; drop that row or label it.")
        if isinstance(value, float) and np.isinf(value):
            raise ValueError(
                f"Input y contains infinity: the label of row {row} is {value}; drop that row or label it."
            )
        kind = "text" if isinstance(value, (str, bytes)) else "numbers" if isinstance(value, Number) else "others"
        kinds.setdefault(kind, row)
    if "text" in kinds and "numbers" in kinds:
        raise ValueError(
            f"y mixes numbers (row {kinds['numbers']}) and text (row {kinds['text']}); make all labels one kind."
        )


def _refuse_label_sets(values: list[Any]) -> None:
    """A list of the labels that each row has is not what is learned from, and scikit-learn has what makes it so."""
    lists = [value for value in values if isinstance(value, (list, tuple, set, frozenset))]
    sets = any(isinstance(value, (set, frozenset)) for value in lists)
    words = any(isinstance(label, str) for value in lists for label in value)
    if sets or words or len({len(value) for value in lists}) > 1:
        raise ValueError(
            "y holds a list or set of labels for each row; make an indicator matrix of them, a column of 0 and 1 for "
            "each label, with sklearn.preprocessing.MultiLabelBinarizer().fit_transform(y)."
        )


def has_many_labels(y: Any) -> bool:
    """Whether targets have several columns: one for each of the labels that a row may have or not.

    Examples
    --------
    >>> has_many_labels([[0, 1], [1, 1]]), has_many_labels([[0], [1]]), has_many_labels(["a", "b"])
    (True, False, False)
    """
    if not hasattr(y, "shape"):
        y = np.asarray(y[0]).reshape(1, -1) if isinstance(y, (list, tuple)) and len(y) and np.ndim(y[0]) == 1 else [0]
    return len(np.shape(y)) == 2 and np.shape(y)[1] > 1


def indicators(y: Any, name: str, weight: Array | None = None) -> Array:
    """Targets of many labels as an array of 0 and 1, with a label at least that tells rows that count apart.

    Examples
    --------
    >>> indicators([[True, False], [True, True]], "SVC")
    array([[1, 0],
           [1, 1]])
    """
    table = y.toarray() if sparse.issparse(y) else np.asarray(y)
    if table.dtype.kind not in "biuf" or not np.isin(table, (0, 1)).all():
        raise ValueError(
            f"y has {table.shape[1]} columns, which {name} takes for labels that a row has (1) or has not (0), but "
            "they hold something else; give one class for each row, or an indicator matrix of 0 and 1 "
            "(sklearn.preprocessing.MultiLabelBinarizer makes one)."
        )
    found = table.astype(np.int64)
    counted = found if weight is None else found[weight > 0]
    if (counted == counted[:1]).all():
        raise ValueError(f"{name} needs a label that some rows have and others have not; y is the same in all rows.")
    return found


def refuse_bad_targets(y: Any, where: str = "") -> None:
    """Name the first target of a regression that is missing or no number; ``where`` names a column of several."""
    _refuse_masked(y, "y")
    if sparse.issparse(y):
        raise ValueError("y is a sparse matrix; targets of a regression are wanted as numbers: pass y.toarray().")
    if y is None:  # scikit-learn says what it thinks of that
        return
    if hasattr(y, "columns") or getattr(y, "ndim", 1) == 2:
        for name, column in _columns_of(y):
            refuse_bad_targets(column, f", column {name}")
        return
    if isinstance(y, np.ndarray) and y.dtype.kind in "iubf":
        row = int(np.argmax(~np.isfinite(y))) if y.ndim == 1 and y.size else 0
        if y.ndim == 1 and y.size and not np.isfinite(y[row]):
            what = "NaN" if np.isnan(y[row]) else "infinity"
            raise ValueError(f"Input y contains {what}: the target in row {row}{where} is {y[row]}; drop that row.")
        _refuse_large(y, where)
        return
    values = y.tolist() if hasattr(y, "tolist") else list(y) if hasattr(y, "__iter__") else []
    for row, value in enumerate(values):
        if isinstance(value, (list, tuple)):
            return  # two-dimensional: scikit-learn says what is wrong with that
        if is_missing(value):
            raise ValueError(f"Input y contains NaN or nothing: missing target in row {row}{where}; drop that row.")
        if isinstance(value, complex):
            raise ValueError(f"Complex data not supported: the target in row {row}{where} is {value!r}.")
        if not isinstance(value, (Real, Decimal)) or not np.isfinite(_as_float(value)):
            raise ValueError(f"y must hold finite numbers (not infinity), but row {row}{where} holds {shown(value)}.")
    _refuse_large(np.array([_as_float(value) for value in values]), where)


def _refuse_large(y: Array, where: str) -> None:
    """Squares of targets must be numbers."""
    largest = float(np.abs(y).max(initial=0.0))
    if largest > LARGEST_TARGET:
        row = int(np.argmax(np.abs(y).reshape(len(y), -1).max(axis=1)))
        raise ValueError(
            f"y has values up to {largest:.3g} (row {row}{where}), whose squares overflow; write it in other units."
        )


def _columns_of(y: Any) -> Iterator[tuple[Any, Any]]:
    """The columns of a table of targets, with their names or numbers."""
    if hasattr(y, "columns"):
        yield from ((repr(name), y[name].to_numpy()) for name in y.columns)
    else:
        yield from enumerate(np.asarray(y).T)


def _as_float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return np.inf


def plain_label(label: Any) -> Any:
    """A label as a person would write it: NumPy's scalars show their type, Python's own do not.

    Examples
    --------
    >>> plain_label(np.str_("p")), plain_label(np.int64(3)), plain_label("q")
    ('p', 3, 'q')
    """
    return label.item() if isinstance(label, np.generic) else label


def encode(y: Array, name: str) -> tuple[Array, Array]:
    """The classes in sorted order, and for each row the number of its class.

    Examples
    --------
    >>> encode(np.array([3.0, -1.0, 3.0]), "SVC")
    (array([-1.,  3.]), array([1, 0, 1]))
    """
    try:
        classes, codes = _two_classes(y) or np.unique(y, return_inverse=True)
    except TypeError:
        raise ValueError("y has labels of different kinds, which cannot be sorted; make all labels one kind.") from None
    if classes.size > 2 and (y.dtype.kind not in "biu" or 2 * classes.size > y.size):
        check_classification_targets(y)  # scikit-learn's own word on numbers with fractions, which its tools expect
    if classes.size < 2:
        raise ValueError(f"{name} needs two classes or more; y holds only one class, {plain_label(classes[0])!r}.")
    return classes, codes


def _two_classes(y: Array) -> tuple[Array, Array] | None:
    """The same where there are two classes of numbers, without sorting all rows; ``None`` where there are not."""
    if y.dtype.kind not in "biuf":
        return None
    others = y != y[0]
    second = y[np.argmax(others)]
    if not others.any() or not np.array_equal(y == second, others):
        return None
    classes = np.sort(np.array([y[0], second]))
    return classes, (y == classes[1]).astype(np.intp)


def checked_weights(sample_weight: Any, X: Any) -> Array:
    """Weights as numbers, one a row and none negative."""
    _refuse_masked(sample_weight, "sample_weight")
    try:
        _refuse_bad_weights(np.asarray(sample_weight, dtype=np.float64))
        return _within_range(_check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True))
    except (TypeError, OverflowError):
        raise ValueError(f"sample_weight must hold one number for each row, got {shown(sample_weight)}.") from None


def _refuse_bad_weights(weight: Array) -> None:
    """Name the first weight that is negative or not finite."""
    fine = (weight >= 0) & (weight < np.inf)
    if weight.ndim == 1 and not fine.all():
        row = int(np.argmin(fine))
        what = "NaN" if np.isnan(weight[row]) else "infinity" if weight[row] == np.inf else "Negative values"
        raise ValueError(
            f"{what} in data passed to `sample_weight`: the weight of row {row} is {weight[row]:g}; weights must be "
            "zero or more."
        )


def _within_range(weight: Array) -> Array:
    """Weights that numbers can be divided by; one that is no digit of the largest is none.

    Examples
    --------
    >>> _within_range(np.array([1.0, 2.0, 1e-310]))
    array([1., 2., 0.])
    """
    largest = float(weight.max(initial=0.0))
    with np.errstate(over="ignore"):
        total = float(weight.sum())
    if total > 1 / _LEAST_WEIGHT or 0 < largest < _LEAST_WEIGHT:
        raise ValueError(
            f"Sample weights of up to {largest:.3g} leave the range of numbers when they are added up or divided by; "
            "multiply all of them by the same number, so that they are about one."
        )
    return np.where(weight < _LOST * largest, 0.0, weight) if (weight < _LOST * largest).any() else weight


def combine_weights(sample_weight: Any, class_weight: Any, X: Any, y: Array, whole: bool = True) -> Array | None:
    """One weight a row from both kinds of weights; ``None`` where all rows count the same.

    ``whole``: these are all rows, so a class whose weights are all zero is a mistake.
    """
    if isinstance(class_weight, dict):
        for label, value in class_weight.items():
            if not is_number(value) or not 0 <= float(value) < np.inf:
                raise ValueError(
                    f"class_weight of {plain_label(label)!r} is {value!r}; it must be a number, zero or more."
                )
    elif class_weight is not None and not (isinstance(class_weight, str) and class_weight == "balanced"):
        raise ValueError(
            f"class_weight must be 'balanced' or a dict of a number for each class, got {shown(class_weight)}."
        )
    if sample_weight is None and class_weight is None:
        return None
    weight = checked_weights(sample_weight, X)
    if class_weight is not None:
        weight = _within_range(weight * compute_sample_weight(class_weight, y))
    if not whole:
        return weight
    if not weight.any():
        raise ValueError("Sample weights must contain at least one non-zero number; all of them are zero.")
    for label in np.unique(y):
        if not weight[y == label].any():
            raise ValueError(
                f"the weights remove class {plain_label(label)!r}: each sample_weight or class_weight of it is zero "
                "beside those of others."
            )
    return weight
