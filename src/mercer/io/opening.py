"""From names of files to a table: of one file, of those in an archive or a folder, of several."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from .._validation.memory import bytes_of
from .._validation.wording import enumeration
from .archives import is_zip, members, names_in
from .builtin import BUILTIN
from .data_files import left_out_in_words
from .formats import FORMATS, Format, format_of
from .naming import Named, named, notes_on, together
from .options import Options
from .raw import RawTable, assembled
from .several import joined
from .sources import MissingFileError, Source, open_source
from .table import DataError, Table
from .tu_parts import part_of

__all__ = ["table_of_files"]


class _Opened(NamedTuple):
    """A file in memory, and the sheet or table in it that is asked for."""

    source: Source
    sheet: str | None


def table_of_files(paths: list[str], options: Options) -> Table:
    """The table of files, each named by its path, by a folder or by a pattern."""
    notes = [note for path in paths for note in notes_on(path)]
    opened = _opened([each for path in paths for each in named(path, options.sheet)], options, notes)
    table = _table(opened, paths, options)
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


def _table(opened: list[_Opened], paths: list[str], options: Options) -> Table:
    if all(part_of(Path(each.source.member).name) is not None for each in opened):
        from .tu import read_parts

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
