"""How rows are divided for training, validation and test: at random, by groups, or in the order of time."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from sklearn.model_selection import (
    GroupKFold,
    GroupShuffleSplit,
    KFold,
    RepeatedKFold,
    StratifiedGroupKFold,
    TimeSeriesSplit,
    train_test_split,
)

from ..checks import EvenFolds, RepeatedEvenFolds, drawn_evenly, plain_label
from ..io import DataError, Table
from ..messages import enumeration
from ..runtime import Array

Split = tuple[Array, Array]

#: Training rows below which folds are drawn several times, and how often.
_SMALL, _REPEATS = 500, 3


def usual_repeats(rows: int) -> int:
    """How often folds are drawn unless somebody says so: with few rows, chance has much to say in who gets which."""
    return _REPEATS if rows < _SMALL else 1


class Division:
    """Rows are divided at random; of ``classes``, rather than numbers, each part gets its share."""

    #: Whether the rows of a part can be any: else folds may not be drawn again and again.
    repeatable = True

    def __init__(self, classes: bool) -> None:
        self.classes = classes

    def test_rows(self, y: Array, share: float, seed: int) -> Split:
        """Training rows and test rows."""
        if self.classes:
            train, test = drawn_evenly(y, seed, test_size=share)
        else:
            train, test = train_test_split(np.arange(len(y)), test_size=share, random_state=seed)
        return np.sort(train), np.sort(test)

    def folds(self, rows: Array, y: Array, folds: int, seed: int, repeats: int = 1) -> list[Split]:
        """Splits of some of the table's rows, of which ``y`` are the targets, in places among these rows."""
        once, often = (EvenFolds, RepeatedEvenFolds) if self.classes else (KFold, RepeatedKFold)
        cv = (
            once(folds, shuffle=True, random_state=seed)
            if repeats == 1
            else often(n_splits=folds, n_repeats=repeats, random_state=seed)
        )
        return list(cv.split(np.zeros(len(y)), y))

    def most_folds(self, rows: Array, y: Array) -> int:
        """Into how many folds these rows can be divided."""
        if not self.classes:
            return len(y) // 2
        counts = np.unique(y, return_counts=True)[1]
        # Of two classes each fold is to test both; of several, a rare one does not decide how all are tested.
        return max(2, int(counts.min() if len(counts) == 2 else counts.max()))

    def why_fewer(self) -> str:
        """Why there cannot be more folds."""
        return "a class has no more training rows" if self.classes else "there are no more training rows"

    def notes(self, train: Array, test: Array) -> list[str]:
        """What is to be said of the division."""
        return []


class Grouped(Division):
    """Rows of one group stay together: they are all training rows, or all validation rows, or all test rows.

    ``groups`` has the group of each row of the table, taken from ``column``.
    """

    repeatable = False

    def __init__(self, classes: bool, column: str, groups: Array) -> None:
        super().__init__(classes)
        self.column = column
        self.groups = np.unique(groups, return_inverse=True)[1]
        number = int(self.groups.max()) + 1
        if number < 3:
            raise DataError(
                f"the column {column!r} has {number} group{'s' * (number != 1)}; training, validation and test rows "
                "need one each, so 3 at least."
            )

    def test_rows(self, y: Array, share: float, seed: int) -> Split:
        parts = int(min(max(2, round(1 / share)), np.unique(self.groups).size))
        cv: Any = (
            StratifiedGroupKFold(parts, shuffle=True, random_state=seed)
            if self.classes and share <= 0.5
            else GroupShuffleSplit(1, test_size=share, random_state=seed)
        )
        train, test = next(cv.split(np.zeros(len(y)), y, self.groups))
        if self.classes:
            refuse_missing_class(y, [(train, test)], f"the groups of {self.column!r}")
        return np.sort(train), np.sort(test)

    def folds(self, rows: Array, y: Array, folds: int, seed: int, repeats: int = 1) -> list[Split]:
        cv = (StratifiedGroupKFold if self.classes else GroupKFold)(folds, shuffle=True, random_state=seed)
        found = list(cv.split(np.zeros(len(y)), y, self.groups[rows]))
        return _with_all_classes(found, y, f"the groups of {self.column!r}") if self.classes else found

    def most_folds(self, rows: Array, y: Array) -> int:
        return min(super().most_folds(rows, y), np.unique(self.groups[rows]).size)

    def why_fewer(self) -> str:
        return f"{self.column!r} has no more groups among the training rows, or the smallest class no more rows"

    def notes(self, train: Array, test: Array) -> list[str]:
        learned, held = (np.unique(self.groups[rows]).size for rows in (train, test))
        if np.array_equal(train, test):
            return [f"Rows with the same {self.column!r} stay together: each of {held} groups is tested by models "
                    "that have seen none of its rows."]  # fmt: skip
        return [f"Rows with the same {self.column!r} stay together: {learned} groups are learned from, and {held} "
                "others tested."]  # fmt: skip


class Ordered(Division):
    """The last rows are tested, and in cross-validation each part is predicted from those before it.

    ``times`` is what each row of the table is ordered by, and ``by`` says so in words.
    """

    repeatable = False

    def __init__(self, classes: bool, by: str, times: Array) -> None:
        super().__init__(classes)
        self.by, self.times = by, times

    def test_rows(self, y: Array, share: float, seed: int) -> Split:
        order = np.argsort(self.times, kind="stable")
        last = max(1, round(share * len(y)))
        train, test = order[:-last], order[-last:]
        if self.classes:
            refuse_missing_class(y, [(train, test)], f"the order of {self.by}")
        return np.sort(train), np.sort(test)

    def folds(self, rows: Array, y: Array, folds: int, seed: int, repeats: int = 1) -> list[Split]:
        order = np.argsort(self.times[rows], kind="stable")
        found = [(order[train], order[test]) for train, test in TimeSeriesSplit(folds).split(order)]
        return _with_all_classes(found, y, f"the order of {self.by}") if self.classes else found

    def most_folds(self, rows: Array, y: Array) -> int:
        return max(2, len(y) // 4)

    def why_fewer(self) -> str:
        return "there are no more training rows"

    def notes(self, train: Array, test: Array) -> list[str]:
        return [f"Rows are in the order of {self.by}: the last {len(test):,} are tested, and in cross-validation each "
                "part is predicted from those before it."]  # fmt: skip


def about_folds(
    division: Division, train: Array, test: Array, cv: int, folds: int, repeats: int, nested: bool
) -> list[str]:
    """What is to be said of how rows were divided."""
    said = [] if folds == cv else [f"{folds} folds instead of {cv}: {division.why_fewer()}."]
    if repeats > 1:
        said.append(f"Folds were drawn {repeats} times, as with few rows chance decides much in a single draw.")
    if nested:
        said.append(f"Nested cross-validation: each of {len(test):,} rows was tested once, by learners that were tuned "
                    f"and fitted on the other {folds - 1} of {folds} parts.")  # fmt: skip
    return said + division.notes(train, test)


def refuse_missing_class(y: Array, splits: Iterable[Split], why: str) -> None:
    """A class that is not among the training rows cannot be learned."""
    for train, _ in splits:
        missing = np.setdiff1d(y, y[train])
        if missing.size:
            raise DataError(
                f"{why} leaves no training row of class {plain_label(missing[0])!r}; leave the class out, or divide "
                "the rows another way."
            )


def _with_all_classes(splits: list[Split], y: Array, why: str) -> list[Split]:
    """The splits whose training rows hold every class."""
    whole = [split for split in splits if np.unique(y[split[0]]).size == np.unique(y).size]
    if not whole:
        refuse_missing_class(y, splits, f"in cross-validation {why}")
    return whole


def without_column(table: Table, column: str, what: str) -> tuple[Table, Any]:
    """The table without a column, which is no feature then, and that column."""
    values = _column(table, column, what)
    assert table.frame is not None
    if table.frame.shape[1] == 1:
        raise DataError(f"without the column {column!r} there is nothing left to learn from.")
    return replace(table, frame=table.frame.drop(columns=column)), values


def _column(table: Table, column: str, what: str) -> Any:
    """A column that has a value in every row."""
    if table.frame is None or column not in table.frame.columns:
        left_out = getattr(table, "left_out", {})
        if column == table.target:
            why = "it is the target"
        elif column in left_out:
            why = f"it was left out: {left_out[column]}"
        elif table.frame is None:
            why = f"{table.name} has no columns with names"
        else:
            why = f"the columns are {enumeration(map(repr, table.frame.columns))}"
        raise DataError(f"there is no column {column!r} for the {what}: {why}.")
    values = table.frame[column]
    missing = np.flatnonzero(values.isna())
    if missing.size:
        raise DataError(
            f"{table.where(int(missing[0]))} has no {column!r}, by which rows are to be divided; fill in the "
            f"{missing.size} missing value{'s' * (missing.size > 1)}, or leave these rows out."
        )
    return values


def division_of(
    table: Table, group: str | None = None, time: str | None = None, ordered: bool = False
) -> tuple[Table, Division]:
    """The table to learn from, and how its rows are to be divided: by a column of groups, or in the order of time.

    A column of time holds numbers, dates, or words that are dates. It is learned from like others, but for words.
    ``ordered`` rows are in the order of time already.
    """
    classes = not table.measured
    if sum([group is not None, time is not None, ordered]) > 1:
        raise DataError("rows are divided by a group, by a time, or in the order they have: choose one of these.")
    if group is not None:
        table, values = without_column(table, group, "groups")
        return table, Grouped(classes, group, values.astype(str).to_numpy())
    if time is not None:
        division = Ordered(classes, repr(time), _as_times(_column(table, time, "time"), time))
        if table.kinds[time] in ("date", "number"):
            return replace(table, time=time), division
        return without_column(table, time, "time")[0], division
    if ordered:
        return table, Ordered(classes, "the file", np.arange(table.n_rows))
    return table, Division(classes)


def _as_times(values: Any, column: str) -> Array:
    """Numbers and dates as numbers; words as dates."""
    if pd.api.types.is_numeric_dtype(values.dtype):
        return values.to_numpy(dtype=np.float64)
    if not pd.api.types.is_datetime64_any_dtype(values.dtype):
        try:
            values = pd.to_datetime(values.astype(str), format="mixed")
        except (ValueError, TypeError):
            raise DataError(
                f"the column {column!r} is neither numbers nor dates, so it gives no order in time; write dates as "
                "2024-01-31, or sort the file and use --ordered."
            ) from None
    return values.to_numpy().astype("datetime64[ns]").astype(np.int64)
