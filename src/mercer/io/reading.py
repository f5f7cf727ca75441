"""One function that reads any table: a file in one of :data:`mercer.io.FORMATS`, or a table that is built in."""

from __future__ import annotations

import glob
import io
import lzma
import os
import re
import struct
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple

from ..checks.parameters import bytes_of
from ..messages import enumeration, nearest
from .assemble import RawTable, assembled, joined
from .builtin import BUILTIN, builtin, is_builtin
from .databases import columns_at as database_columns
from .databases import is_address, without_password
from .formats import FORMATS, Format, format_of
from .frames import (
    as_described,
    described,
    explicit_options,
    frame_as_known,
    is_frame,
    options_as_in_training,
    read_frame,
    reading_like,
    with_unknown_words,
)
from .sources import MissingFileError, Source, open_source, said_by, suffix_of, unpacked
from .structures import part_of
from .table import DataError, Options, Table

# Which files of a folder or an archive hold data, and which are there to be read by people.


#: Suffixes that published tables have besides those of the formats, surest first.
_LIKELY = (".data", ".dat", ".txt")
#: Of which a folder, where anything may lie, is believed only these.
_SURE = (".data",)
_DOCUMENTATION = re.compile(
    r"(readme|index|licen[cs]e|about|changelog|citation)(\..*)?|.*\.(md|names|html?|pdf|rst|docx?|py|r|sha256|md5)",
    re.IGNORECASE,
)


def _with_data(names: Sequence[str]) -> list[str]:
    """Those that are neither folders, hidden nor documentation."""
    return [
        name
        for name in names
        if not name.endswith("/")
        and not name.startswith("__MACOSX")
        and not PurePosixPath(name).name.startswith(".")
        and not _DOCUMENTATION.fullmatch(PurePosixPath(name).name)
    ]


def data_files(names: Sequence[str], packed: bool = True) -> list[str]:
    """Those of some files that hold data: by their suffixes, or else the only file there is.

    Files that were ``packed`` together are more likely to be data than those of a folder, where anything may lie.

    Examples
    --------
    >>> data_files(["a/iris.data", "a/iris.names", "__MACOSX/._x"]), data_files(["README.md", "x.csv", "y.csv.gz"])
    (['a/iris.data'], ['x.csv', 'y.csv.gz'])
    """
    possible = _with_data(names)
    graphs = [name for name in possible if part_of(PurePosixPath(name).name) is not None]
    if graphs:
        return graphs
    known = {suffix for entry in FORMATS.values() for suffix in entry.suffixes}
    for suffixes in (known, *({suffix} for suffix in (_LIKELY if packed else _SURE))):
        found = [name for name in possible if suffix_of(name) in suffixes]
        if found:
            return found
    return possible if packed and len(possible) == 1 else []


def left_out_in_words(names: Sequence[str], place: str, packed: bool = True) -> list[str]:
    """A note on files that might hold data too, and were not read.

    Examples
    --------
    >>> left_out_in_words(["adult.data", "adult.test", "adult.names"], "'adult.zip'")
    ["'adult.zip' also holds 'adult.test', which was not read."]
    """
    read = set(data_files(names, packed))
    others = [repr(PurePosixPath(name).name) for name in _with_data(names) if name not in read]
    if not others or not read or any(part_of(PurePosixPath(name).name) for name in read):
        return []
    return [f"{place} also holds {enumeration(others, 4)}, which {'was' if len(others) == 1 else 'were'} not read."]


# Which files are meant: by a path, a folder, a pattern such as ``data/*.csv``, or several of them.


#: A file, and the sheet, member or table in it that is asked for.
Named = tuple[str, str | None]


def part_named(path: str, sheet: str | None = None) -> Named:
    """A file and what is meant in it: ``book.xlsx#Sheet2`` is a sheet of a workbook.

    Examples
    --------
    >>> part_named("book.xlsx#Sheet 2"), part_named("book.xlsx", "Sheet 3")
    (('book.xlsx', 'Sheet 2'), ('book.xlsx', 'Sheet 3'))
    """
    front, mark, part = path.rpartition("#")
    if mark and front and part and not os.path.exists(path):
        return front, part
    return path, sheet


def named(source: str, sheet: str | None) -> list[Named]:
    """The files that are meant by a path, a folder or a pattern."""
    if is_address(source):
        raise DataError(f"{without_password(source)!r} is a database, which is read alone; name no other data.")
    if os.path.isdir(source):
        found = [str(Path(source) / name) for name in data_files(_files_in(source), packed=False)]
        if not found:
            folders = [entry.folder.title for entry in FORMATS.values() if entry.folder]
            instead = enumeration(["a file in it", *folders], last="or")
            raise DataError(f"{source!r} is a folder; name {instead}.")
        return [(path, sheet) for path in found]
    if (
        any(mark in source for mark in "*?[")
        and not os.path.exists(source)
        and not os.path.exists(part_named(source)[0])
    ):
        found = sorted(path for path in glob.glob(source, recursive=True) if os.path.isfile(path))
        if not found:
            raise DataError(f"no file matches {source!r}.")
        return [(path, sheet) for path in found]
    return [part_named(source, sheet)]


def _files_in(folder: str) -> list[str]:
    return sorted(path.name for path in Path(folder).iterdir() if path.is_file())


def notes_on(source: str) -> list[str]:
    """What else lies in a folder."""
    return (
        left_out_in_words(_files_in(source), repr(Path(source).resolve().name), packed=False)
        if os.path.isdir(source)
        else []
    )


def together(sources: Sequence[str]) -> str:
    """What several files are called in messages.

    Examples
    --------
    >>> together(["a/x.csv", "a/y.csv", "a/z.csv"])
    "'x.csv' and 2 more files"
    """
    more = len(sources) - 1
    return f"{Path(sources[0]).name!r} and {more} more file{'s' if more != 1 else ''}"


# Zip archives, as people publish and send tables: which of the files inside are data, within a limit on their size.


#: Office documents are zip archives; each has a file that no other has.
_DOCUMENTS = {
    "xl/workbook.bin": "is a binary Excel workbook; save it as .xlsx, or the sheet as CSV",
    "word/document.xml": "is a Word document; save its table as CSV",
    "ppt/presentation.xml": "is a PowerPoint document, not a table",
    "content.xml": "is an OpenDocument file; save the sheet as .xlsx or CSV",
}
_FAULTS = (
    zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error,
    EOFError, OSError, NotImplementedError, RuntimeError, ValueError, LookupError,
)  # fmt: skip


def is_zip(source: Source) -> bool:
    """Whether a file is a zip archive, of whatever."""
    return source.data.startswith((b"PK\x03\x04", b"PK\x05\x06"))


def names_in(source: Source) -> list[str]:
    """The names of the files in a zip archive; none where it cannot be read."""
    try:
        with zipfile.ZipFile(io.BytesIO(source.data)) as archive:
            return archive.namelist()
    except _FAULTS:
        return []


def members(source: Source, limit: int, wanted: str | None = None) -> list[Source]:
    """The data files of a zip archive; one of them where it is ``wanted``.

    An archive is read, never extracted, so that it does not matter where its names point to.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(source.data)) as archive:
            names = archive.namelist()
            for name, what in _DOCUMENTS.items():
                if name in names:
                    raise DataError(f"{source.shown} {what}.")
            chosen = data_files(names) if wanted is None else [_named(wanted, names, source)]
            if not chosen:
                inside = enumeration(map(repr, names), 6)
                raise DataError(
                    f"{source.shown} holds {inside}; name the one that is data after a #, as in archive.zip#data.csv."
                    if names
                    else f"{source.shown} is an empty archive."
                )
            found = []
            for info in (archive.getinfo(name) for name in chosen):
                found.append(_member(archive, info, source, limit))
                limit -= len(found[-1].data)
            return found
    except DataError:
        raise
    except _FAULTS as error:
        raise DataError(f"{source.shown} is a damaged zip archive: {said_by(error)}; fetch it again.") from None


def _member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, source: Source, limit: int) -> Source:
    member = Source(source.path, b"", source.digest, info.filename)
    if info.flag_bits & 1:
        raise DataError(f"{member.shown} is locked with a password; unpack it first.")
    if info.file_size > limit:  # what zipfile reads at most, so that no archive can say less than it unpacks to
        raise DataError(
            f"{source.shown} unpacks to more than {limit:,} bytes; allow more with max_bytes (--max-bytes)."
        )
    data = unpacked(archive.read(info), limit, member.shown)
    inner = Source(source.path, data, source.digest, info.filename)
    if is_zip(inner) and "xl/workbook.xml" not in names_in(inner):
        raise DataError(f"{member.shown} is itself an archive; unpack the outer one first.")
    return inner


def _named(wanted: str, names: Sequence[str], source: Source) -> str:
    found = [name for name in names if wanted in (name, PurePosixPath(name).name)]
    if not found:
        near = nearest(wanted, names)
        hint = f"it holds {enumeration(map(repr, names), 6)}." if near is None else f"did you mean {near!r}?"
        raise DataError(f"{source.shown} holds no file {wanted!r}; {hint}")
    return found[0]


# From names of files to a table: of one file, of those in an archive or a folder, of several.


class _Opened(NamedTuple):
    """A file in memory, and the sheet or table in it that is asked for."""

    source: Source
    sheet: str | None


def table_of_files(paths: list[str], options: Options) -> Table:
    """The table of files, each named by its path, by a folder or by a pattern."""
    notes = [note for path in paths for note in notes_on(path)]
    opened = _opened([each for path in paths for each in named(path, options.sheet)], options, notes)
    table = _table_of_files(opened, paths, options)
    return replace(table, notes=(*table.notes, *notes))


def _opened(files: list[Named], options: Options, notes: list[str]) -> list[_Opened]:
    """The files; those of an archive stand in its place. Together they keep within the limit."""
    left = bytes_of(options.max_bytes)
    found: list[_Opened] = []
    for path, part in files:
        try:
            source = open_source(path, left)
        except MissingFileError as error:
            raise MissingFileError(f"{str(error)[:-1]}; the built-in tables are {enumeration(BUILTIN)}.") from None
        if is_zip(source) and not FORMATS["excel"].looks_like(source):
            new = [_Opened(member, None) for member in members(source, left, part)]
            if part is None:
                notes += left_out_in_words(names_in(source), source.shown)
        else:
            new = [_Opened(source, part)]
        left = max(1, left - sum(len(each.source.data) for each in new))
        found += new
    return found


def _table_of_files(opened: list[_Opened], paths: list[str], options: Options) -> Table:
    if all(part_of(Path(each.source.member).name) is not None for each in opened):
        from .structures import read_parts

        return read_parts([each.source for each in opened], options)
    entries = [_format(each, options) for each in opened]
    if len(opened) == 1:
        return entries[0].table(opened[0].source, replace(options, sheet=opened[0].sheet))
    for each, entry in zip(opened, entries, strict=True):
        if entry.columns_of is None:
            raise DataError(
                f"{each.source.shown} is one of {entry.title}, which are read one at a time; name one file."
            )
    readers = [partial(_columns_of, entry, each) for each, entry in zip(opened, entries, strict=True)]
    place = Path(paths[0]).resolve()
    alone = len(paths) == 1
    shown = repr(place.name) if alone else together([each.source.path for each in opened])
    name = place.stem if alone and place.exists() else opened[0].source.name
    return assembled(joined(readers, options, shown, name, enumeration(paths, 5)), options)


def _format(opened: _Opened, options: Options) -> Format:
    source = opened.source
    entry = FORMATS[options.format] if options.format is not None else format_of(source)
    if options.labels is not None and entry.holds == "rows":
        raise DataError(f"{source.shown} is a table, whose labels are one of its columns; name it with --target.")
    if opened.sheet is not None and not entry.has_sheets:
        raise DataError(f"{source.shown} is one table and has no part {opened.sheet!r}; leave that name out.")
    return entry


def _columns_of(entry: Format, opened: _Opened, options: Options) -> RawTable:
    return entry.raw_table(opened.source, replace(options, sheet=opened.sheet))


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
    table = _read(source, _options(reading_like(options_as_in_training(given, about, said), about)))
    table = as_described(table, about)
    return table if isinstance(like, Table) else with_unknown_words(table, getattr(like, "estimator", like))


def _options(given: dict[str, Any]) -> Options:
    sets = {name: frozenset(given[name]) for name in ("missing", "drop", "columns") if given[name] is not None}
    return Options(**{**given, "kinds": dict(given["kinds"] or {}), **sets})


def _read(source: Any, options: Options) -> Table:
    return replace(_table_of(source, options), read_as=explicit_options(options))


def _table_of(source: Any, options: Options) -> Table:
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
