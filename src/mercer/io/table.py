"""A table: features, labels, and what was noticed while they were read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from ..checks.labels import TASKS, is_measurement, task_in_words, task_of
from ..columns.kinds import KINDS, check_kind
from ..messages import counted, enumeration, printable
from ..presentation import escaped
from ..runtime.arrays import Array
from .formats import FORMATS

if TYPE_CHECKING:
    import pandas as pd

# Where rows stand, for messages: in which row of a sheet, in which line of which file.


class RowPlaces:
    """The places of the rows of a table: their ``numbers``, as people count in each file, and the ``file`` of each.

    ``words`` are what such a number counts in each file, such as "line", and ``files`` what messages call it.

    Examples
    --------
    >>> places = RowPlaces([2, 3, 2], ["line", "row"], ["'a.csv'", "'b.xlsx'"], [0, 0, 1])
    >>> places[1], places[[2, 0]][0], len(places)
    ("line 3 of 'a.csv'", "row 2 of 'b.xlsx'", 3)
    """

    def __init__(self, numbers: Any, words: Any = ("row",), files: Any = ("",), file: Any = None):
        self.numbers: Array = np.asarray(numbers, dtype=np.int64)
        self.words, self.files = list(words), list(files)
        self.file: Array = np.zeros(len(self.numbers), np.int32) if file is None else np.asarray(file, np.int32)

    def __len__(self) -> int:
        return len(self.numbers)

    def __getitem__(self, index: Any) -> Any:
        if not isinstance(index, (int, np.integer)):
            return RowPlaces(self.numbers[index], self.words, self.files, self.file[index])
        file = self.file[index]
        of = f" of {self.files[file]}" if self.files[file] else ""
        return f"{self.words[file]} {self.numbers[index]}{of}"

    def tolist(self) -> list[str]:
        """The place of each row."""
        return [self[row] for row in range(len(self))]


#: Rows that a notebook shows, and columns of sparse ones.
_HEAD = 5


class DataError(ValueError):
    """Data that cannot be used, in one sentence that says where, why and what to do.

    Examples
    --------
    >>> raise DataError("scores.csv, line 3: the row has 4 cells, the header 5.")
    Traceback (most recent call last):
        ...
    mercer.io.table.DataError: scores.csv, line 3: the row has 4 cells, the header 5.
    """


@dataclass(frozen=True, eq=False, repr=False)
class Table:
    """Rows with labels, as :func:`mercer.read` returns them.

    Parameters
    ----------
    name : str
        What the table is called in reports: the file's name without its suffix.
    frame : DataFrame, optional
        Feature columns: float64 for numbers (NaN where missing), ``category`` for words, ``datetime64[ns]`` for dates
        (NaT where missing), objects for texts (``None`` where missing).
    rows : sparse matrix, optional
        The features instead, where a file is sparse.
    y : array, optional
        A label for each row; ``None`` where the data has no target column. Where unlabelled rows were kept, an array
        of objects with ``None`` in their places.
    target : str, optional
        The name of the target column.
    notes : tuple of str
        What was assumed or noticed while reading, in plain sentences.
    source : str
        Where it came from.
    digest : str
        The SHA-256 of the file, in hexadecimal digits.
    lines : array or RowPlaces, optional
        The line of the file at which each row begins; where it stands, if that is not a line of one file.
    items : collection, optional
        Strings, sets or graphs instead of features, see :mod:`mercer.kernels`.
    kind : {"rows", "strings", "sets", "graphs"}
        What the rows are.
    found : dict
        Arguments of :func:`mercer.read` that were found out from the file, and that other files of the same kind
        should be read with.
    asked : {"classify", "regress"}, optional
        What is to be learned of the target, where somebody said so.
    left_out : dict
        Columns of the file that are not learned from, and why.
    names : array, optional
        What each row is called: the header of a FASTA record, the cell of a column of ids.
    named_by : str, optional
        The column that these names come from.
    read_as : dict
        Arguments of :func:`mercer.read` that were given, and that other files of the same kind should be read with.

    time : str, optional
        The column by which rows are in the order of time, where somebody said so.

    Examples
    --------
    >>> import mercer
    >>> table = mercer.read("breast_cancer")
    >>> table
    <Table 'breast_cancer': 569 rows, 30 columns; target 'diagnosis': 'benign' (357) and 'malignant' (212)>
    >>> len(table.numeric_columns), table.category_columns
    (30, [])
    """

    name: str
    frame: pd.DataFrame | None
    rows: Any = None
    y: Array | None = None
    target: str | None = None
    notes: tuple[str, ...] = ()
    source: str = ""
    digest: str = ""
    lines: Array | RowPlaces | None = None
    items: Any = None
    kind: str = "rows"
    found: dict[str, Any] = field(default_factory=dict)
    asked: str | None = None
    left_out: dict[str, str] = field(default_factory=dict)
    names: Array | None = None
    named_by: str | None = None
    read_as: dict[str, Any] = field(default_factory=dict)
    time: str | None = None

    def __repr__(self) -> str:
        return f"<Table {self.name!r}: {self.extent}; {self._labels_in_words()}>"

    def _labels_in_words(self) -> str:
        if self.y is None:
            return "no labels"
        if self.measured:
            return f"target {self.target!r}: measurements"
        counts = enumeration((f"{label!r} ({count})" for label, count in self.class_counts.items()), 6)
        return f"target {self.target!r}: {counts}"

    def _repr_html_(self) -> str:
        """The first rows, for notebooks. What a file holds is never taken for markup."""
        head = self.take(np.arange(min(_HEAD, self.n_rows)))
        if head.frame is not None:
            shown = head.frame
        elif head.items is not None:
            shown = pd.DataFrame({self.kind: [repr(item) for item in head.items]})
        else:
            shown = pd.DataFrame.sparse.from_spmatrix(head.rows[:, :_HEAD], columns=head.columns[:_HEAD])
        if head.y is not None:
            shown = shown.assign(**{str(self.target): head.y})
        table = shown.to_html(max_cols=20, index=False, escape=True)
        return f"<p>{escaped(repr(self)[1:-1])}</p>{printable(table, longest=None)}"

    @property
    def X(self) -> Any:
        """What is learned from: the frame, the sparse rows, or the items."""
        if self.items is not None:
            return self.items
        return self.rows if self.frame is None else self.frame

    @property
    def extent(self) -> str:
        """How much it holds, in words."""
        if self.kind == "rows":
            return f"{counted(self.n_rows, 'row')}, {counted(self.n_columns, 'column')}"
        return counted(self.n_rows, self.kind.removesuffix("s"))

    @property
    def n_rows(self) -> int:
        return int(self.X.shape[0])

    @property
    def n_columns(self) -> int:
        return int(self.X.shape[1]) if self.items is None else 0

    @cached_property
    def columns(self) -> list[str]:
        """The names of the feature columns; sparse ones are numbered from x1."""
        if self.frame is None:
            return [f"x{number}" for number in range(1, self.n_columns + 1)]
        return list(self.frame.columns)

    @cached_property
    def kinds(self) -> dict[str, str]:
        """What each feature column holds: "number", "category", "date" or "text"."""
        if self.frame is None:
            return dict.fromkeys(self.columns, "number")
        return {name: _kind_of(dtype) for name, dtype in zip(self.columns, self.frame.dtypes, strict=True)}

    def _of_kind(self, kind: str) -> list[str]:
        if self.frame is None and kind != "number":
            return []
        return [name for name, own in self.kinds.items() if own == kind]

    @cached_property
    def category_columns(self) -> list[str]:
        """Columns of categories."""
        return self._of_kind("category")

    @cached_property
    def numeric_columns(self) -> list[str]:
        """Columns of numbers."""
        return self._of_kind("number")

    @cached_property
    def date_columns(self) -> list[str]:
        """Columns of dates."""
        return self._of_kind("date")

    @cached_property
    def text_columns(self) -> list[str]:
        """Columns of texts."""
        return self._of_kind("text")

    @cached_property
    def missing(self) -> dict[str, int]:
        """For each column with missing values, how many."""
        if self.frame is None:
            return {}
        counts = self.frame.isna().sum().to_numpy()
        return {name: int(count) for name, count in zip(self.columns, counts, strict=True) if count}

    @cached_property
    def labelled(self) -> Array:
        """For each row, whether it has a label."""
        if self.y is None:
            return np.zeros(self.n_rows, dtype=bool)
        if self.y.dtype == object:
            return np.array([label is not None for label in self.y], dtype=bool)
        return np.ones(self.n_rows, dtype=bool)

    @cached_property
    def class_counts(self) -> dict[Any, int]:
        """How many rows each label has, in the order of the labels."""
        if self.y is None:
            return {}
        return dict(sorted(Counter(self.y[self.labelled].tolist()).items()))

    def take(self, index: Any) -> Table:
        """The table of some rows.

        Examples
        --------
        >>> from mercer import read
        >>> read("moons:50").take([3, 1]).n_rows
        2
        """
        index = np.asarray(index)
        taken = replace(
            self,
            frame=None if self.frame is None else self.frame.iloc[index].reset_index(drop=True),
            rows=None if self.rows is None else self.rows[index],
            items=None if self.items is None else self.items[index],
            y=None if self.y is None else self.y[index],
            lines=None if self.lines is None else self.lines[index],
            names=None if self.names is None else self.names[index],
        )
        if self.y is not None:
            taken.__dict__["task"] = self.task  # some of the rows are learned as all of them are
        return taken

    @cached_property
    def task(self) -> str:
        """What is to be learned of the target: "classify" or "regress", as asked for or as it looks."""
        if self.asked is not None or self.y is None:
            return self.asked or "classify"
        return task_of(self.y[self.labelled])

    @property
    def measured(self) -> bool:
        """Whether the target holds measurements rather than labels of classes."""
        return self.task == "regress"

    @property
    def task_in_words(self) -> str:
        """Why this is learned of the target, and how to say otherwise; empty where there is no other way."""
        if self.y is None:
            return ""
        return task_in_words(self.target, self.y[self.labelled], self.task, asked=self.asked is not None)

    def where(self, row: int) -> str:
        """The place of a row in its file, for messages."""
        if self.lines is None:
            return f"row {row + 1}"
        return self.lines[row] if isinstance(self.lines, RowPlaces) else f"line {self.lines[row]}"


def _kind_of(dtype: Any) -> str:
    """What a column of a frame holds, by its dtype."""
    if str(dtype) == "category":
        return "category"
    return {"M": "date", "O": "text"}.get(dtype.kind, "number")


#: Longer labels stay Python strings: an array of fixed width would take their length for every row.
_LONG = 100


def as_labels(values: list[Any] | Array, words_only: bool = False, asked: str | None = None) -> Array:
    """Labels as whole numbers, as numbers or as words, whichever all of them are.

    Fractions that are names of classes, such as doses, become words; measurements stay numbers. Where classes are asked
    for, all fractions are names.

    Examples
    --------
    >>> as_labels(["1", "-1"]).tolist(), as_labels(["1", "b"]).tolist(), as_labels([2.0, 0.5] * 2).tolist()
    ([1, -1], ['1', 'b'], ['2.0', '0.5', '2.0', '0.5'])
    """
    try:
        numbers = np.fromiter(map(float, values), np.float64, len(values))
        plain = not words_only and all("_" not in value for value in values if isinstance(value, str))
    except (TypeError, ValueError):
        plain = False
    if plain and np.isfinite(numbers).all():
        whole = numbers.astype(np.int64) if (np.abs(numbers) < 2**53).all() else numbers
        if (whole == numbers).all():
            return whole
        if asked != "classify" and is_measurement(numbers):
            return numbers
    words = [str(value) for value in values]
    return np.array(words, dtype=object if any(len(word) > _LONG for word in words) else np.str_)


def as_targets(values: list[Any] | Array) -> tuple[Array, int | None]:
    """Targets as numbers, and the place of the first that is none.

    Examples
    --------
    >>> as_targets(["1", "2.5"]), as_targets(["1", "b"])[1]
    ((array([1. , 2.5]), None), 1)
    """
    numbers = np.full(len(values), np.nan)
    for place, value in enumerate(values):
        try:
            numbers[place] = float(value)
        except (TypeError, ValueError):
            return numbers, place
    strange = np.flatnonzero(~np.isfinite(numbers))
    return numbers, int(strange[0]) if strange.size else None


# How a file is to be read.


_CHOICES = {"unlabelled_rows": (None, "error", "drop", "keep"), "decimal": (None, ".", ",")}


@dataclass(frozen=True)
class Options:
    """How a file is to be read, checked; see :func:`mercer.read`."""

    target: str | int | None = None
    labelled: bool = True
    unlabelled_rows: str | None = None
    header: bool | None = None
    delimiter: str | None = None
    decimal: str | None = None
    quotes: bool = True
    missing: frozenset[str] = frozenset()
    missing_words: bool = True
    kinds: Mapping[str, str] = field(default_factory=dict)
    drop: frozenset[str] = frozenset()
    columns: frozenset[str] | None = None
    dense: bool | None = None
    features: int | None = None
    zero_based: bool | None = None
    serials: bool = False
    format: str | None = None
    labels: str | Path | None = None
    sheet: str | None = None
    max_bytes: int | str = "1GB"
    task: str | None = None

    def __post_init__(self) -> None:
        choices = {**_CHOICES, "format": (None, *FORMATS), "task": (None, *TASKS)}
        for name, words in choices.items():
            given = getattr(self, name)
            if given not in words:
                known = enumeration(filter(None, words), last="or")
                raise ValueError(f"read: {name} must be one of {known}; got {given!r}.")
        for column, kind in self.kinds.items():
            if not check_kind(kind):
                known = enumeration(map(repr, KINDS), last="or")
                raise ValueError(f"read: the kind of {column!r} must be {known}, got {kind!r}.")
        if self.delimiter is not None and len(self.delimiter) != 1:
            raise ValueError(f"read: delimiter must be one character, got {self.delimiter!r}.")
