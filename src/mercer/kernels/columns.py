"""Kernels on some columns of a table, so that an expression can compare each column in its own way."""

from __future__ import annotations

from collections import Counter
from numbers import Number
from typing import Any, ClassVar

import numpy as np
from scipy import sparse

from ..checks.parameters import shown
from ..checks.tables import holds_no_rows_yet, is_missing
from ..messages import enumeration, nearest
from ..runtime.compile import Array, jit
from .base import Kernel, OfStatistic, Range
from .engine.counts import Collection, Counts, chain, key_of
from .engine.statistics import Statistic, in_directions
from .engine.tiles import Parts, Tile, part_of, starts_of
from .text_form import InColumns, Name, Precedence, Text, column, literal, renamed, within

__all__ = ["Equal", "Hamming", "OnColumns", "ScaledColumns", "columns_named"]

#: Column names that an error message lists.
_LISTED = 20


class OnColumns(Kernel, named=False):
    """A kernel that sees only some columns of a table, written ``kernel.on("age", "hours")``.

    Parameters
    ----------
    kernel : Kernel
    columns : tuple of str or int
        Names of columns of a pandas or polars frame, or positions of columns of an array.

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer.kernels import Equal, Gaussian
    >>> people = pd.DataFrame({"age": [30, 31, 60], "job": ["cook", "smith", "cook"]})
    >>> kernel = Gaussian(gamma=0.1).on("age") + Equal().on("job")
    >>> kernel
    gaussian(gamma=0.1).on(age) + equal.on(job)
    >>> kernel(people).round(2)
    array([[2. , 0.9, 1. ],
           [0.9, 2. , 0. ],
           [1. , 0. , 2. ]])
    """

    def __init__(self, kernel: Kernel, columns: tuple[str | int, ...]) -> None:
        self.kernel = kernel
        self.columns = columns

    @property
    def names(self) -> list[Any]:
        """The columns as a list, also where only one was given."""
        return [self.columns] if isinstance(self.columns, (str, int, np.integer)) else list(self.columns)

    @property
    def translation_invariant(self):
        return False

    @property
    def on_rows(self):
        return False

    def statistics(self):
        return Counter()  # the inner kernel's statistics are of the columns

    def suited(self, X):
        return self  # the kernel sees some of the columns

    def part_items(self, A):
        return [part_of(A, 0)]

    def text(self) -> Text:
        return Text(f"{within(self.kernel, Precedence.ATOM)}.on({', '.join(map(column, self.names))})")

    def check(self):
        super().check()
        if not self.names:
            raise ValueError(f"{self.kernel}.on() names no column; write for example {self.kernel}.on('age').")
        for name in self.names:
            if isinstance(name, bool) or not isinstance(name, (str, int, np.integer)):
                raise ValueError(
                    f"OnColumns: a column is a name or a position, got {name!r}; write several one after the other, "
                    f"for example {self.kernel}.on(0, 1)."
                )
        for part in [self.kernel, *self.kernel.get_params().values()]:
            if isinstance(part, OnColumns):
                raise ValueError(f"{self.kernel} already says its columns ({part}); bind each kernel once.")

    def items(self, A):
        if isinstance(A, Parts):
            return A
        return Parts([self.kernel.items(select(A, self.names, numbers=self.kernel.on_rows))])

    def evaluate(self, tile: Tile) -> Array:
        return self.kernel.evaluate(tile.part(0, self.kernel))

    def diag(self, A):
        return self.kernel.diag(part_of(A, 0))

    def features(self, A):
        return self.kernel.features(part_of(A, 0))

    def keyed(self, A):
        return self.kernel.keyed(part_of(A, 0))

    def named_features(self, A):
        return renamed(self.kernel.named_features(part_of(A, 0)), self._renamed)

    def _renamed(self, name: Name) -> Name:
        """A feature by the names of columns: its own columns, where it says which, or else the first."""
        if isinstance(name.mark, InColumns):
            return Name(name.mark.text(self.names), name.mark)
        return Name(f"{name.text} in {self.names[0]}", name.mark)

    def cheaper_in_primal(self, A, B):
        return self.kernel.cheaper_in_primal(part_of(A, 0), part_of(B, 0))


def columns_named(kernel: Kernel) -> set[str | int]:
    """The columns that the parts of a kernel are bound to.

    Examples
    --------
    >>> from mercer.kernels import Equal, Gaussian
    >>> sorted(columns_named(Gaussian().on("age") + Equal().on("job", "city")))
    ['age', 'city', 'job']
    """
    if isinstance(kernel, OnColumns):
        return set(kernel.names)
    found: set[str | int] = set()
    for value in kernel.get_params(deep=False).values():
        for part in value if isinstance(value, (list, tuple)) else [value]:
            if isinstance(part, Kernel):
                found |= columns_named(part)
    return found


def select(table: Any, names: list[Any], numbers: bool) -> Any:
    """Some columns of a table: rows of ``numbers``, one column of other things, or a table of several such columns."""
    if sparse.issparse(table) and numbers:
        return sparse.csr_array(table)[:, [_position(table.shape[1], name) for name in names]]
    columns = [(name, _column(table, name)) for name in names]
    for name, values in columns:
        _refuse_missing(values, name)
    if numbers or (len(columns) > 1 and all(values.dtype.kind in "fiub" for _, values in columns)):
        return np.column_stack([_numbers(values, name) for name, values in columns])
    if len(columns) == 1:
        return columns[0][1]
    return np.column_stack([values.astype(object) for _, values in columns])


def _column(table: Any, name: Any) -> Array:
    """One column as an array: by name from a frame, by position from an array."""
    if holds_no_rows_yet(table):
        raise TypeError("X is a LazyFrame, which holds no rows yet; call .collect() first.")
    if hasattr(table, "columns"):
        known = list(table.columns)
        if name not in known:
            raise ValueError(f"X has no column {name!r}{_suggestion(name, known)}.")
        column = table[name]
        if hasattr(column, "columns"):
            raise ValueError(f"X has several columns named {name!r}; give each its own name.")
        return column.to_numpy()
    values = table if isinstance(table, np.ndarray) else _as_table(table)
    if values.ndim != 2:
        raise ValueError(
            f"a kernel on columns needs a frame or an array of rows and columns, got shape {values.shape}."
        )
    return values[:, _position(values.shape[1], name)]


def _as_table(rows: Any) -> Array:
    if sparse.issparse(rows):
        return rows.toarray()
    if not isinstance(rows, (list, tuple)):
        raise ValueError(f"a kernel on columns needs a frame or an array, got {type(rows).__name__}.")
    return np.array(rows, dtype=object)


def _position(count: int, name: Any) -> int:
    if isinstance(name, str):
        raise ValueError(
            f"columns of an array go by position (0 to {count - 1}), not {name!r}; pass a frame to use names."
        )
    if not 0 <= name < count:
        raise ValueError(f"X has columns 0 to {count - 1}, there is no column {name}.")
    return int(name)


def _suggestion(name: Any, known: list[Any]) -> str:
    close = nearest(str(name), map(str, known))
    return f" (did you mean {close!r}?)" if close else f"; its columns are {enumeration(known, _LISTED)}"


def _refuse_missing(values: Array, name: Any) -> None:
    if values.dtype.kind == "f":
        missing = np.isnan(values)
    elif values.dtype.kind in "mM":
        missing = np.isnat(values)
    elif values.dtype.kind == "O":
        missing = np.fromiter((is_missing(value) for value in values), dtype=bool, count=len(values))
    else:
        return
    if missing.any():
        raise ValueError(
            f"column {name!r} has no value in row {int(np.argmax(missing))} ({int(missing.sum())} missing in all); "
            "drop those rows or fill them in first, for example with sklearn.impute.SimpleImputer."
        )


def _numbers(values: Array, name: Any) -> Array:
    strange = [] if values.dtype.kind in "fiub" else [v for v in values if not isinstance(v, (Number, np.bool_))]
    if strange:
        raise ValueError(
            f"column {name!r} holds {type(strange[0]).__name__} values such as {strange[0]!r:.40}, not numbers; use a "
            f"kernel that knows them, for example Equal().on({name!r})."
        )
    out = values.astype(np.float64)
    if not np.isfinite(out).all():
        raise ValueError(f"column {name!r} has an infinite value in row {int(np.argmin(np.isfinite(out)))}.")
    return out


# Kernels on categories: words or numbers that are either equal or not.


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
        for place, known in enumerate(self.levels):
            keys = np.array([_key(value) for value in known], dtype=np.uint64)
            out[:, place] = keys[self.codes[:, place]] if len(self) else 0
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
    for place, known in enumerate(levels):
        for row, value in enumerate(values[:, place]):
            if is_missing(value):
                raise ValueError(f"the category in row {row}, column {place} is missing ({value!r}); fill it in first.")
            try:
                codes[row, place] = known.setdefault(value, len(known))
            except TypeError:
                raise ValueError(
                    f"row {row}, column {place} holds a {type(value).__name__}, which is no category; use words or "
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
        for place, (known, others) in enumerate(zip(A.levels, B.levels, strict=True)):
            number = np.array([known.get(value, -1) for value in others], dtype=np.int32)
            right[place] = number[B.codes[:, place]]
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


# Kernels on rows whose columns count more or less: those of rows whose columns were multiplied by weights, or by a
# matrix.


class ScaledColumns(Kernel):
    """k(w∘x, w∘z): a kernel on rows of numbers, after each column was multiplied by its weight; or k(Wx, Wz).

    ``kernel.scaled(weights)`` makes one. A column of weight 0 does not count. Machines learn such weights with
    ``metric="learned"``, and such a matrix with ``metric="learned-full"``.

    Parameters
    ----------
    kernel : Kernel
        On rows of numbers.
    weights : sequence of float, or array of shape (n_directions, n_columns)
        A number of at least 0 for each column; or a matrix W.

    Examples
    --------
    >>> from mercer.kernels import Laplacian
    >>> kernel = Laplacian(gamma=1.0).scaled([1.0, 0.0])
    >>> kernel
    scaled(laplacian(gamma=1.0), [1.0, 0.0])
    >>> kernel([[0.0, 5.0]], [[0.0, 7.0]])
    array([[1.]])
    >>> Laplacian(gamma=1.0).scaled([[1.0, -1.0]])([[3.0, 2.0]], [[5.0, 4.0]])  # the difference of both columns
    array([[1.]])
    """

    good_for = "columns that count more: weights given, or learned (metric='learned')"
    aliases = ("scaled",)
    smooth: ClassVar = {"weights": Range.POSITIVE}

    def __init__(self, kernel: Kernel, weights: Any) -> None:
        self.kernel = kernel
        self.weights = weights

    def check(self):
        super().check()
        try:
            values = np.asarray(self.weights, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            values = np.empty(0)
        few = values.ndim == 2 or (values.ndim == 1 and (values >= 0).all())
        if not (few and values.size and np.isfinite(values).all()) or np.asarray(self.weights).dtype.kind not in "fiu":
            raise ValueError(
                "ScaledColumns: weights must be numbers of at least 0, or a matrix with a column for each column of "
                f"the rows; got {shown(self.weights)}."
            )
        if not self.kernel.on_rows or self.kernel.precomputed:
            raise ValueError(f"ScaledColumns: {self.kernel} does not compare rows of numbers, which weights are for.")

    def text(self) -> Text:
        return Text(f"scaled({within(self.kernel, Precedence.SUM)}, {literal(np.asarray(self.weights, float))})")

    def part_items(self, A):
        return [self._scaled(A)]

    def items(self, A):
        return self.kernel.items(A)

    def statistics(self):
        return Counter()  # the inner kernel's statistics are of the scaled rows

    @property
    def translation_invariant(self):
        return self.kernel.translation_invariant

    def _scaled(self, A: Any) -> Any:
        weights = np.asarray(self.weights, dtype=np.float64)
        if A.shape[1] != weights.shape[-1]:
            raise ValueError(
                f"{type(self).__name__}: the rows have {A.shape[1]} columns, and there are {weights.shape[-1]} "
                "weights; give one for each column."
            )
        if weights.ndim == 2:
            return in_directions(A, weights)
        if sparse.issparse(A):
            return sparse.csr_array(A @ sparse.diags_array(weights)).astype(A.dtype, copy=False)
        return np.ascontiguousarray(A * weights.astype(A.dtype))

    def evaluate(self, tile: Tile) -> Array:
        return self.kernel.evaluate(tile.mapped(self, self._scaled, self.kernel))

    def diag(self, A):
        return self.kernel.diag(self._scaled(A))

    def features(self, A):
        return self.kernel.features(self._scaled(A))

    def keyed(self, A):
        return self.kernel.keyed(self._scaled(A))
