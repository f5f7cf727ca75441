"""One function that reads any table: a file in one of :data:`mercer.io.FORMATS`, or a table that is built in."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from .builtin import builtin, is_builtin
from .database import columns_of as database_columns
from .database import is_address
from .formats import FORMATS
from .frames import is_frame, read_frame
from .like import (
    as_described,
    described,
    frame_as_known,
    reading_like,
    said_or_described,
    what_was_said,
    with_unknown_words,
)
from .opening import table_of_files
from .options import Options
from .raw import assembled
from .table import DataError, Table

__all__ = ["read"]


def read(
    source: Any,
    target: str | int | None = None,
    *,
    labelled: bool = True,
    unlabelled_rows: str | None = None,
    header: bool | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    quotes: bool = True,
    missing: Sequence[str] = (),
    missing_words: bool = True,
    kinds: Mapping[str, str] | None = None,
    drop: Sequence[str] = (),
    columns: Sequence[str] | None = None,
    dense: bool | None = None,
    features: int | None = None,
    zero_based: bool | None = None,
    serials: bool = False,
    format: str | None = None,
    labels: str | Path | None = None,
    sheet: str | None = None,
    max_bytes: int | str = "1GB",
    task: str | None = None,
    like: Any = None,
) -> Table:
    """Read a table.

    Parameters
    ----------
    source : str, Path, DataFrame or list
        A file in one of :data:`mercer.io.FORMATS`, as it is or packed with gzip, bzip2, xz or zip; ``"-"`` for the
        standard input; a built-in name, see :data:`mercer.io.BUILTIN`; the address of a database with a table or a
        query (``"sqlite:///people.db?table=people"``); a frame of pandas, or of what becomes one. A part of a file
        stands after a ``#``: ``"book.xlsx#Sheet2"``, ``"archive.zip#data.csv"``.

        Several files with the same columns are one table: a list of them, a folder, a pattern such as ``"data/*.csv"``,
        or a zip archive. Graphs also come from folders (``"folder/NAME"`` where one holds several collections).
    target : str or int, optional
        The column of labels, by name or by position from 0 (negative: from the end). By default the last one. In a
        FASTA header, the word before ``=``, by default ``"label"``; in a basket, ``"first"`` (default) or ``"last"``.
    labelled : bool, default=True
        ``False``: there may be no target column; the table then has no ``y``.
    unlabelled_rows : {"error", "drop", "keep"}, optional
        What to do with rows whose label is missing. By default they are left out, which ``notes`` says, and an error
        where they are half of all rows or more.
    header : bool, optional
        Whether the first line names the columns. By default it is looked at.
    delimiter : str, optional
        What stands between cells. By default it is found out.
    decimal : {".", ","}, optional
        The decimal sign. By default it is looked at.
    quotes : bool, default=True
        Whether ``"`` around a cell protects what stands inside; if not, it is an ordinary character.
    missing : sequence of str
        Words that mean "missing" besides the empty cell, ``?``, ``NA``, ``N/A``, ``NaN`` and ``NULL``.
    missing_words : bool, default=True
        ``False``: only empty cells are missing, and the words of ``missing``.
    kinds : mapping, optional
        What some columns hold whatever they look like: ``"number"``, ``"category"``, ``"date"`` (or how dates are
        written, ``"date:%d.%m.%Y"``), ``"text"``, or ``"ignore"`` to leave one out; also the target. All others are
        looked at: see ``table.kinds``, ``table.left_out`` and ``table.notes``.
    drop : sequence of str
        Columns to leave out.
    columns : sequence of str, optional
        The only columns to read, besides the target.
    dense : bool, optional
        Whether a svmlight file becomes a frame or sparse rows. By default what is smaller.
    features : int, optional
        How many features a svmlight file has at least: those that never occur in it are zero.
    zero_based : bool, optional
        Whether the first feature of a svmlight file has the number 0, or 1. By default 0 where that number occurs; a
        file that is read for a model should be read as the file that it was trained on (``table.found``).
    serials : bool, default=False
        Whether the number 0 of a svmlight file is the serial number of a row, as LIBSVM has it with precomputed
        kernels, and left out.
    format : str, optional
        The name of one of :data:`mercer.io.FORMATS`. By default what the suffix says, or the beginning of the file.
    labels : str or Path, optional
        A file with the labels of strings, sets or graphs: one a line, or the name of a record and its label.
    sheet : str, optional
        The sheet of a workbook, the file of an archive, or the table of a database. By default the first sheet, all
        files, the only table.
    max_bytes : int or str, default="1GB"
        What the file may take in memory, also after unpacking.
    task : {"classify", "regress"}, optional
        Whether the target holds classes or numbers. By default it is looked at (``table.task``).
    like : Table or fitted model, optional
        Read new rows as these were read: with the same columns, each of the same kind, the same words for missing
        values and the same decimal sign. Labels may be missing. A model is one of :func:`mercer.preprocess.pipeline`,
        also from :func:`mercer.load`.

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
    >>> _ = path.write_text("colour;weight;label\\ngreen;?;new\\n")
    >>> read(path, like=table).X
       weight colour
    0     NaN  green
    """
    given: dict[str, Any] = {
        "target": target,
        "labelled": labelled,
        "unlabelled_rows": unlabelled_rows,
        "header": header,
        "delimiter": delimiter,
        "decimal": decimal,
        "quotes": quotes,
        "missing": tuple(missing),
        "missing_words": missing_words,
        "kinds": kinds,
        "drop": tuple(drop),
        "columns": columns,
        "dense": dense,
        "features": features,
        "zero_based": zero_based,
        "serials": serials,
        "format": format,
        "labels": labels,
        "sheet": sheet,
        "max_bytes": max_bytes,
        "task": task,
    }
    options = _options(given)
    if like is None:
        return _read(source, options)
    about, usual = described(like), Options()
    said = [name for name in given if getattr(options, name) != getattr(usual, name)]
    if is_frame(source):
        source = frame_as_known(source, like)
    table = _read(source, _options(reading_like(said_or_described(given, about, said), about)))
    table = as_described(table, about)
    return table if isinstance(like, Table) else with_unknown_words(table, getattr(like, "estimator", like))


def _options(given: dict[str, Any]) -> Options:
    sets = {name: frozenset(given[name]) for name in ("missing", "drop", "columns") if given[name] is not None}
    return Options(**{**given, "kinds": dict(given["kinds"] or {}), **sets})


def _read(source: Any, options: Options) -> Table:
    return replace(_table(source, options), read_as=what_was_said(options))


def _table(source: Any, options: Options) -> Table:
    if is_frame(source):
        return read_frame(source, options)
    paths = [str(each) for each in source] if isinstance(source, (list, tuple)) else [str(source)]
    if not paths:
        raise DataError("no file is named; give at least one.")
    if len(paths) == 1:
        alone = _alone(paths[0], options)
        if alone is not None:
            return alone
    return table_of_files(paths, options)


def _alone(path: str, options: Options) -> Table | None:
    """The table of something that is no file: built in, in a database, or a folder that is one data set."""
    if is_builtin(path):
        return builtin(path, options)
    if is_address(path):
        return assembled(database_columns(path, options), options)
    if path != "-" and not os.path.isfile(path):
        folders = (each.folder for each in FORMATS.values() if each.folder and options.format in (None, each.name))
        for folder in folders:
            if folder.holds(Path(path)):
                return folder.read(Path(path), options)
    return None
