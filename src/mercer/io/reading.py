"""One function that reads any table: a file in one of the formats below, or a table that is built in.

A new format is one module with a function ``read_x(source, options) -> Table``, and one line in :data:`FORMATS`.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any

from .builtin import BUILTIN, builtin, is_builtin
from .sources import Source, open_source
from .table import DataError, Table
from .tu_parts import is_collection

__all__ = ["FORMATS", "FORMAT_NAMES", "Options", "read"]

#: Which function reads which kind of file.
FORMATS: dict[str, str] = {
    ".csv": "csv:read_csv",
    ".tsv": "csv:read_csv",
    ".tab": "csv:read_csv",
    ".parquet": "parquet:read_parquet",
    ".svm": "svmlight:read_svmlight",
    ".svmlight": "svmlight:read_svmlight",
    ".libsvm": "svmlight:read_svmlight",
    ".fasta": "items:fasta_table",
    ".fa": "items:fasta_table",
    ".fna": "items:fasta_table",
    ".faa": "items:fasta_table",
    ".basket": "items:basket_table",
    ".baskets": "items:basket_table",
    ".tar": "items:graph_table",
    ".tgz": "items:graph_table",
    ".txz": "items:graph_table",
}
#: The formats by name, each with one of its suffixes.
FORMAT_NAMES: dict[str, str] = {
    "csv": ".csv",
    "parquet": ".parquet",
    "svmlight": ".svm",
    "fasta": ".fasta",
    "baskets": ".basket",
    "graphs": ".tar",
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
    zero_based: bool | None = None
    format: str | None = None
    labels: str | Path | None = None
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
    zero_based: bool | None = None,
    format: str | None = None,
    labels: str | Path | None = None,
    max_bytes: int | str = "1GB",
) -> Table:
    """Read a table.

    Parameters
    ----------
    source : str or Path
        A file: CSV and its relatives, Parquet or svmlight, as it is or packed with gzip, bzip2 or xz; ``"-"`` for the
        standard input; or a built-in name, see :data:`mercer.io.BUILTIN`. Strings from FASTA files, sets from files
        with one basket a line, graphs from folders and archives in the TU format (``"folder/NAME"`` where a folder
        holds several collections of graphs).
    target : str or int, optional
        The column of labels, by name or by position from 0 (negative: from the end). By default the last one. In a
        FASTA header, the word before ``=``, by default ``"label"``; in a basket, ``"first"`` (default) or ``"last"``.
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
    zero_based : bool, optional
        Whether the first feature of a svmlight file has the number 0, or 1. By default 0 where that number occurs; a
        file that is read for a model should be read as the file that it was trained on (``table.found``).
    format : str, optional
        One of :data:`FORMAT_NAMES`. By default what the suffix says, or the beginning of the file.
    labels : str or Path, optional
        A file with the labels of strings, sets or graphs: one a line, or the name of a record and its label.
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
        zero_based=zero_based,
        format=format,
        labels=labels,
        max_bytes=max_bytes,
    )
    _check(options)
    if is_builtin(source):
        return builtin(str(source), options)
    if source != "-" and os.path.isdir(source):
        return _folder(Path(source), options)
    if source != "-" and is_collection(source):
        return _function("items:folder_table")(Path(source), options)
    try:
        opened = open_source(source, max_bytes)
    except DataError as error:
        if "there is no file" in str(error):
            raise DataError(f"{str(error)[:-1]}; the built-in tables are {', '.join(BUILTIN)}.") from None
        raise
    reader = FORMATS[FORMAT_NAMES[format]] if format is not None else _format_of(opened)
    if labels is not None and not reader.startswith("items:"):
        raise DataError(f"{opened.shown} is a table, whose labels are one of its columns; name it with --target.")
    return _function(reader)(opened, options)


def _function(reader: str) -> Any:
    module, function = reader.split(":")
    return getattr(import_module(f".{module}", __package__), function)


def _is_graph_part(filename: str) -> bool:
    return filename.endswith(("_A.txt", "_graph_indicator.txt", "_graph_labels.txt"))


def _folder(folder: Path, options: Options) -> Table:
    if options.format not in (None, "graphs") or not any(_is_graph_part(path.name) for path in folder.iterdir()):
        raise DataError(
            f"{str(folder)!r} is a folder; name a file in it, or a folder of graphs with files NAME_A.txt, "
            "NAME_graph_indicator.txt and NAME_graph_labels.txt."
        )
    return _function("items:folder_table")(folder, options)


def _check(options: Options) -> None:
    for name, words in (("unlabelled_rows", ("error", "drop", "keep")), ("decimal", (".", ","))):
        if getattr(options, name) not in words:
            raise ValueError(f"read: {name} must be one of {', '.join(words)}; got {getattr(options, name)!r}.")
    for column, kind in options.kinds.items():
        if kind not in ("number", "category"):
            raise ValueError(f"read: the kind of {column!r} must be 'number' or 'category', got {kind!r}.")
    if options.format is not None and options.format not in FORMAT_NAMES:
        raise ValueError(f"read: format must be one of {', '.join(FORMAT_NAMES)}; got {options.format!r}.")
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
    if source.data.startswith((b">", b"\xef\xbb\xbf>")):
        return FORMATS[".fasta"]
    if source.data[257:262] == b"ustar":
        return FORMATS[".tar"]
    start = [line for line in source.data[:65536].splitlines()[:20] if line.strip() and not line.startswith(b"#")]
    if start and all(_SVMLIGHT_LINE.fullmatch(line) for line in start[:-1] or start):
        return FORMATS[".svm"]
    return FORMATS[".csv"]
