"""Kernels on categories: words or numbers that are either equal or not."""

from __future__ import annotations

from numbers import Number
from typing import Any

import numpy as np

from .._runtime.compile import Array, jit
from .._validation.objects import is_missing
from .base import OfStatistic
from .engine.collection import Collection
from .engine.counts import Counts
from .engine.flat import starts_of
from .engine.keys import chain, key_of
from .engine.statistics import Statistic
from .readable import InColumns

__all__ = ["Equal", "Hamming"]


class Categories(Collection):
    """A table of categories, each written as its number among the different ones of its column."""

    kind = "categories"

    def __init__(self, codes: Array, levels: list[dict[Any, int]]) -> None:
        super().__init__()
        self.codes, self.levels = codes, levels

    @classmethod
    def of(cls, items: Any) -> Categories:
        """One column of categories, or several, none of them missing.

        Examples
        --------
        >>> Categories.of(["red", "blue", "red"]).codes.ravel().tolist()
        [0, 1, 0]
        """
        return items if isinstance(items, Categories) else _coded(items)

    def __len__(self) -> int:
        return self.codes.shape[0]

    def take(self, index: Array) -> Categories:
        return Categories(self.codes[index], self.levels)

    def item(self, place: int) -> list[Any]:
        return [list(known)[code] for known, code in zip(self.levels, self.codes[place], strict=True)]

    def named(self) -> list[list[tuple[int, str]]]:
        """For each row its categories as (column, " = category")."""
        names = [[f" = {value}" for value in known] for known in self.levels]
        return [[(column, names[column][code]) for column, code in enumerate(row)] for row in self.codes.tolist()]

    def keys(self) -> Array:
        """For each category a key that depends on it and on nothing else."""
        out = np.empty(self.codes.shape, np.uint64)
        for column, known in enumerate(self.levels):
            keys = np.array([_key(value) for value in known], dtype=np.uint64)
            out[:, column] = keys[self.codes[:, column]] if len(self) else 0
        return out


def _key(category: Any) -> int:
    return key_of(category if isinstance(category, (str, bytes, Number, np.bool_)) else repr(category))


def _coded(table: Any) -> Categories:
    if isinstance(table, (str, bytes)) or not hasattr(table, "__len__"):
        raise ValueError(f"expected a list, array or frame of categories, got {table!r:.60}; put it into a list.")
    values = table.to_numpy() if hasattr(table, "to_numpy") else np.asarray(table, dtype=object)
    values = values.astype(object)[:, None] if values.ndim == 1 else values.astype(object)
    if values.ndim != 2 or values.shape[1] == 0:
        raise ValueError(f"expected a column of categories or a table of such columns, got shape {values.shape}.")
    codes = np.empty(values.shape, dtype=np.int32)
    levels: list[dict[Any, int]] = [{} for _ in range(values.shape[1])]
    for column, known in enumerate(levels):
        for row, value in enumerate(values[:, column]):
            if is_missing(value):
                raise ValueError(
                    f"the category in row {row}, column {column} is missing ({value!r}); fill it in first."
                )
            try:
                codes[row, column] = known.setdefault(value, len(known))
            except TypeError:
                raise ValueError(
                    f"row {row}, column {column} holds a {type(value).__name__}, which is no category; use words or "
                    "numbers."
                ) from None
    return Categories(codes, levels)


class Agreement(Statistic):
    """The share of columns in which two rows have the same category."""

    def prepare(self, A: Categories, B: Categories) -> tuple[Array, Array]:
        if len(A.levels) != len(B.levels):
            raise ValueError(f"the left items have {len(A.levels)} columns of categories, the right {len(B.levels)}.")
        if A.levels is B.levels:
            return A.codes, np.ascontiguousarray(B.codes.T)
        # The right side's categories by the numbers that they have on the left, −1 where the left never saw them.
        right = np.empty(B.codes.shape[::-1], dtype=np.int32)
        for column, (known, others) in enumerate(zip(A.levels, B.levels, strict=True)):
            number = np.array([known.get(value, -1) for value in others], dtype=np.int32)
            right[column] = number[B.codes[:, column]]
        return A.codes, right

    def tile(self, a: Array, b: Array, i: Any, j: Any) -> Array:
        left, right = a[i], b[:, j]
        out = np.zeros((left.shape[0], right.shape[1]))
        _count_equal(left, right, out)
        out /= left.shape[1]
        return out

    def diag(self, A: Categories) -> Array:
        return np.ones(len(A))


@jit
def _count_equal(left: Array, right: Array, out: Array) -> None:
    for i in range(left.shape[0]):
        for k in range(left.shape[1]):
            x = left[i, k]
            for j in range(out.shape[1]):
                out[i, j] += x == right[k, j]


@jit
def _with_columns(keys: Array) -> None:
    """Tell a category in one column from the same category in another."""
    for i in range(keys.shape[0]):
        for k in range(keys.shape[1]):
            keys[i, k] = chain(keys[i, k], k)


@jit
def _of_rows(keys: Array) -> Array:
    out = np.zeros(keys.shape[0], np.uint64)
    for i in range(keys.shape[0]):
        for k in range(keys.shape[1]):
            out[i] = chain(out[i], keys[i, k])
    return out


def _one_hot(keys: Array, value: float) -> Counts:
    """For each row of keys the value at every key of the row."""
    n, width = keys.shape
    return Counts(starts_of(np.full(n, width)), keys.ravel(), np.full(keys.size, value))


AGREEMENT = Agreement()


class Equal(OfStatistic):
    """1 where two items have the same category (in every column, if there are several), else 0.

    Examples
    --------
    >>> from mercer.kernels import Equal
    >>> Equal()(["red", "blue", "red"])
    array([[1., 0., 1.],
           [0., 1., 0.],
           [1., 0., 1.]])
    """

    good_for = "one column of categories, as equal.on(job)"
    collection = Categories
    statistic = AGREEMENT

    def __init__(self) -> None:
        pass

    def apply(self, values):
        return (values == 1).astype(values.dtype)

    def features(self, A):
        return self.keyed(A).hashed()

    def keyed(self, A):
        return _one_hot(_of_rows(A.keys())[:, None], 1.0)

    def named_features(self, A):
        return [{InColumns.name(row): 1.0} for row in A.named()]

    def cheaper_in_primal(self, A, B):
        return np.full(len(A), len(A.levels) == len(B.levels))


class Hamming(OfStatistic):
    """The share of columns in which two items have the same category.

    Examples
    --------
    >>> from mercer.kernels import Hamming
    >>> Hamming()([["red", "round"]], [["red", "square"]])
    array([[0.5]])
    """

    good_for = "several columns of categories"
    collection = Categories
    statistic = AGREEMENT

    def __init__(self) -> None:
        pass

    def apply(self, values):
        return values

    def features(self, A):
        return self.keyed(A).hashed()

    def keyed(self, A):
        keys = A.keys()
        _with_columns(keys)
        return _one_hot(keys, 1 / np.sqrt(keys.shape[1]))

    def named_features(self, A):
        return [{InColumns.name([value]): float(1 / np.sqrt(len(row))) for value in row} for row in A.named()]

    def cheaper_in_primal(self, A, B):
        return np.full(len(A), len(A.levels) == len(B.levels))
