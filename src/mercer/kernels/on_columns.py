"""Kernels on some columns of a table, so that an expression can compare each column in its own way."""

from __future__ import annotations

from collections import Counter
from numbers import Number
from typing import Any

import numpy as np
from scipy import sparse

from .._runtime.compile import Array
from .._validation.objects import holds_no_rows_yet, is_missing
from .._validation.wording import enumeration, nearest
from .base import Kernel
from .engine.pairing import Tile
from .engine.parts import Parts, part_of
from .readable import InColumns, Name, renamed
from .text_form import Precedence, Text, column, within

__all__ = ["OnColumns", "columns_named"]

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
