"""One function that reads any table: a file in one of the formats below, or a table that is built in.

A new format is one module with a function ``read_x(source, options) -> Table``, and one line in :data:`FORMATS`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from .builtin import BUILTIN, builtin, is_builtin
from .sources import Source, open_source
from .table import DataError, Table

__all__ = ["FORMATS", "Options", "read"]

#: Which function reads which kind of file.
FORMATS: dict[str, str] = {
    ".csv": "csv:read_csv",
    ".tsv": "csv:read_csv",
    ".tab": "csv:read_csv",
    ".parquet": "parquet:read_parquet",
    ".svm": "svmlight:read_svmlight",
    ".svmlight": "svmlight:read_svmlight",
    ".libsvm": "svmlight:read_svmlight",
}


@dataclass(frozen=True)
class Options:
    """How a file is to be read; see :func:`read`."""

    target: str | int | None = None
    labelled: bool = True
    unlabelled_rows: str = "error"
    header: bool | None = None
    delimiter: str | None = None
    decimal: str = "."
    quotes: bool = True
    missing: frozenset[str] = frozenset()
    kinds: Mapping[str, str] = field(default_factory=dict)
    drop: frozenset[str] = frozenset()
    dense: bool | None = None
    features: int | None = None
    max_bytes: int | str = "1GB"


def read(
    source: str | Path,
    target: str | int | None = None,
    *,
    labelled: bool = True,
    unlabelled_rows: str = "error",
    header: bool | None = None,
    delimiter: str | None = None,
    decimal: str = ".",
    quotes: bool = True,
    missing: Sequence[str] = (),
    kinds: Mapping[str, str] | None = None,
    drop: Sequence[str] = (),
    dense: bool | None = None,
    features: int | None = None,
    max_bytes: int | str = "1GB",
) -> Table:
    """Read a table.

    Parameters
    ----------
    source : str or Path
        A file: CSV and its relatives, Parquet or svmlight, as it is or packed with gzip, bzip2 or xz; ``"-"`` for the
        standard input; or a built-in name, see :data:`mercer.io.BUILTIN`.
    target : str or int, optional
        The column of labels, by name or by position from 0 (negative: from the end). By default the last one.
    labelled : bool, default=True
        ``False``: there may be no target column; the table then has no ``y``.
    unlabelled_rows : {"error", "drop", "keep"}, default="error"
        What to do with rows whose label is missing.
    header : bool, optional
        Whether the first line names the columns. By default it is looked at.
    delimiter : str, optional
        What stands between cells. By default it is found out.
    decimal : {".", ","}, default="."
    quotes : bool, default=True
        Whether ``"`` around a cell protects what stands inside; if not, it is an ordinary character.
    missing : sequence of str
        Words that mean "missing" besides the empty cell, ``?``, ``NA``, ``N/A``, ``NaN`` and ``NULL``.
    kinds : mapping, optional
        Columns to read as ``"number"`` or as ``"category"`` whatever they look like; also the target.
    drop : sequence of str
        Columns to leave out.
    dense : bool, optional
        Whether a svmlight file becomes a frame or sparse rows. By default what is smaller.
    features : int, optional
        How many features a svmlight file has at least: those that never occur in it are zero.
    max_bytes : int or str, default="1GB"
        What the file may take in memory, also after unpacking.

    Returns
    -------
    Table

    Raises
    ------
    DataError
        One sentence that names the file, the line and the column.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "fruit.csv"
    >>> _ = path.write_text("weight;colour;kind\\n120;red;apple\\n?;yellow;lemon\\n")
    >>> table = read(path)
    >>> table.numeric_columns, table.category_columns, table.y.tolist(), table.missing
    (['weight'], ['colour'], ['apple', 'lemon'], {'weight': 1})
    >>> table.notes[0]
    "The target is the last column, 'kind'."
    """
    options = Options(
        target=target,
        labelled=labelled,
        unlabelled_rows=unlabelled_rows,
        header=header,
        delimiter=delimiter,
        decimal=decimal,
        quotes=quotes,
        missing=frozenset(missing),
        kinds=dict(kinds or {}),
        drop=frozenset(drop),
        dense=dense,
        features=features,
        max_bytes=max_bytes,
    )
    _check(options)
    if is_builtin(source):
        return builtin(str(source), options)
    try:
        opened = open_source(source, max_bytes)
    except DataError as error:
        if "there is no file" in str(error):
            raise DataError(f"{str(error)[:-1]}; the built-in tables are {', '.join(BUILTIN)}.") from None
        raise
    module, function = _format_of(opened).split(":")
    reader: Any = getattr(import_module(f".{module}", __package__), function)
    return reader(opened, options)


def _check(options: Options) -> None:
    for name, words in (("unlabelled_rows", ("error", "drop", "keep")), ("decimal", (".", ","))):
        if getattr(options, name) not in words:
            raise ValueError(f"read: {name} must be one of {', '.join(words)}; got {getattr(options, name)!r}.")
    for column, kind in options.kinds.items():
        if kind not in ("number", "category"):
            raise ValueError(f"read: the kind of {column!r} must be 'number' or 'category', got {kind!r}.")
    if options.delimiter is not None and len(options.delimiter) != 1:
        raise ValueError(f"read: delimiter must be one character, got {options.delimiter!r}.")


_SVMLIGHT_LINE = re.compile(rb"[-+.\w,]+(\s+qid:\d+)?(\s+\d+:[-+.\w]+)+\s*(#.*)?")


def _format_of(source: Source) -> str:
    """The reader of a file: by its suffix, else by what it looks like."""
    if source.data.startswith(b"PAR1"):
        return FORMATS[".parquet"]
    known = FORMATS.get(source.suffix)
    if known is not None:
        return known
    start = [line for line in source.data[:65536].splitlines()[:20] if line.strip() and not line.startswith(b"#")]
    if start and all(_SVMLIGHT_LINE.fullmatch(line) for line in start[:-1] or start):
        return FORMATS[".svm"]
    return FORMATS[".csv"]
