"""Files of any size as frames, some rows at a time.

Each pass opens the files anew and reads the columns that it needs, one chunk ahead of whoever works on them. What a
machine learns in many passes makes sense only if all of them see the same rows: a file that has changed since it was
first looked at ends a pass.
"""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import cached_property
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd

from ..columns import decide
from ..messages import enumeration
from ..runtime.arrays import Array
from ..runtime.threads import prefetched
from .arrow import frame_of_arrow, without_index
from .assemble import refuse_other_columns
from .cells import Cells, missing_words, open_cells, unique_names, with_decimal_sign
from .csv import layout_of
from .sources import Source, is_packed, raw_bytes, said_by, unpacked, unpacking
from .table import DataError, Options

if TYPE_CHECKING:
    import pandas as pd

#: Numbers of a chunk.
_CHUNK = 2_000_000


class Chunked:
    """Files with the same columns that are read chunk by chunk, one after another; messages call them ``shown``."""

    def __init__(self, paths: list[Path], options: Options, shown: str) -> None:
        self.paths, self.options, self.shown = paths, options, shown
        self.notes: list[str] = []
        self._marks = [_mark(path) for path in paths]

    @property
    def columns(self) -> list[str]:
        """The names of all columns."""
        raise NotImplementedError

    @cached_property
    def n_rows(self) -> int:
        """How many rows there are."""
        return sum(len(frame) for frame in self.frames(self.columns[:1]))

    def _frames_of(self, path: Path, columns: Sequence[str], size: int) -> Iterator[pd.DataFrame]:
        """Some columns of one file, in frames of at most ``size`` rows."""
        raise NotImplementedError

    def frames(self, columns: Sequence[str]) -> Iterator[pd.DataFrame]:
        """Some columns of all files, in their order."""
        self.refuse_changed()
        size = max(1, _CHUNK // max(1, len(columns)))
        read = (frame for path in self.paths for frame in self._frames_of(path, columns, size))
        yield from prefetched(read)

    def taken(self, columns: Sequence[str], index: Array) -> pd.DataFrame:
        """Some columns of the rows with these numbers, which rise."""
        found, first = [], 0
        for frame in self.frames(columns):
            here = index[np.searchsorted(index, first) : np.searchsorted(index, first + len(frame))]
            found.append(frame.iloc[here - first])
            first += len(frame)
        return pd.concat(found, ignore_index=True)

    def refuse_changed(self) -> None:
        """Raise where a file is not what it was."""
        for path, mark in zip(self.paths, self._marks, strict=True):
            if _mark(path) != mark:
                raise DataError(
                    f"{path.name!r} has changed since it was first read, and rows are read again and again; begin once "
                    "more with the file as it is now."
                )


def _mark(path: Path) -> tuple[int, int] | None:
    """What changes when a file does; ``None`` where there is none any more."""
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_size, found.st_mtime_ns


# Text tables of any size as frames, some rows at a time.


#: Bytes of a file that tell how it is written.
_HEAD = 1 << 20


class _Written(NamedTuple):
    """How a text table is written, without the text."""

    names: list[str]
    delimiter: str
    encoding: str
    #: Lines above the first row, and cells in a line.
    above: int
    width: int
    has_rows: bool = True

    @classmethod
    def by(cls, layout: Any) -> _Written:
        cells = layout.cells
        return cls(layout.names, cells.delimiter, cells.encoding, layout.above + layout.has_header, layout.width)

    @classmethod
    def of(cls, cells: Cells, options: Options) -> _Written:
        if not options.header or _has_rows(cells):
            return cls.by(layout_of(cells, options))
        header = next(row for _, row in cells.rows() if any(row))
        named = header[: len(header) - (not header[-1])]
        names, _ = unique_names([cell or f"column {k + 1}" for k, cell in enumerate(named)])
        return cls(names, cells.delimiter, cells.encoding, 1, len(names), has_rows=False)


class ChunkedCsv(Chunked):
    """A text table, or those of a folder, plain or packed.

    The first one with rows tells how they are written; columns of the others are matched by their names.
    """

    def __init__(self, paths: list[Path], options: Options, shown: str) -> None:
        super().__init__(paths, options, shown)
        first = next((path for path in paths if _has_rows(_cells(path, options))), paths[0])
        self.options, said = with_decimal_sign(_cells(first, options), options)
        layout = layout_of(_cells(first, options), self.options)
        self.notes = [*layout.notes, *said]
        as_first = replace(self.options, header=layout.has_header, delimiter=layout.cells.delimiter)
        #: How each file is written.
        self._written = {path: _Written.of(_cells(path, as_first), as_first) for path in paths if path != first}
        self._columns = layout.names
        for path, written in self._written.items():
            refuse_other_columns(repr(first.name), self._columns, repr(path.name), written.names)
        self._written[first] = _Written.by(layout)

    @property
    def columns(self) -> list[str]:
        return self._columns

    def _frames_of(self, path: Path, columns: Sequence[str], size: int) -> Iterator[pd.DataFrame]:
        written = self._written[path]
        if not written.has_rows:
            return
        padding = [f"__nothing {k}__" for k in range(written.width - len(written.names))]
        words = missing_words(self.options)
        try:
            chunks = pd.read_csv(
                path,
                sep=r"\s+" if written.delimiter == " " else written.delimiter,
                decimal=self.options.decimal or ".",
                encoding=written.encoding,
                quoting=csv.QUOTE_MINIMAL if self.options.quotes else csv.QUOTE_NONE,
                skiprows=written.above,
                header=None,
                names=[*written.names, *padding],
                usecols=list(columns),
                na_values=sorted(words | {word.upper() for word in words} | {word.title() for word in words}),
                keep_default_na=False,
                skipinitialspace=True,
                chunksize=size,
                low_memory=False,
            )
            with chunks:
                yield from (frame[list(columns)] for frame in chunks)
        except (ValueError, OSError, EOFError) as error:  # pandas' own errors are ValueErrors
            raise DataError(f"{path.name!r} cannot be read as a table: {said_by(error)}.") from None


def _cells(path: Path, options: Options) -> Cells:
    return open_cells(Source(str(path), _head(path), ""), options.delimiter, options.quotes)


def _has_rows(cells: Cells) -> bool:
    """Whether more than a header is there."""
    return len(list(islice((row for _, row in cells.rows() if any(row)), 2))) > 1


def _head(path: Path) -> bytes:
    """Whole lines at the beginning of a text file, unpacked."""
    with unpacking(path) if is_packed(path) else open(path, "rb") as file:
        data = file.read(_HEAD)
    if len(data) < _HEAD:
        return unpacked(raw_bytes(str(path), 2 * _HEAD, repr(path.name)), 2 * _HEAD, repr(path.name))
    return data[: data.rfind(b"\n") + 1] or data


# Parquet files of any size as frames, some rows at a time.


#: Bytes of a file that are read at once.
_BUFFER = 1 << 20


class ChunkedParquet(Chunked):
    """A Parquet file, or those of a folder; columns are matched by their names."""

    def __init__(self, paths: list[Path], options: Options, shown: str) -> None:
        super().__init__(paths, options, shown)
        files = [self._opened(path) for path in paths]
        columns = []
        for file in files:
            names, said = without_index([str(name) for name in file.schema_arrow.names], file.schema_arrow)
            columns.append(names)
            self.notes += [note for note in said if note not in self.notes]
        for path, names in zip(paths[1:], columns[1:], strict=True):
            refuse_other_columns(repr(paths[0].name), columns[0], repr(path.name), names)
        self._columns = columns[0]
        filled = [file for file in files if file.metadata.num_rows] or files[:1]
        #: The types that a column has in the files.
        self.types = {name: {file.schema_arrow.field(name).type for file in filled} for name in self._columns}
        self._rows = sum(file.metadata.num_rows for file in files)
        for file in files:
            file.close()

    @property
    def columns(self) -> list[str]:
        return self._columns

    @cached_property
    def n_rows(self) -> int:
        return self._rows

    def group_sizes(self, path: Path) -> list[int]:
        """How many rows each group of a file has."""
        with self._opened(path) as file:
            return [file.metadata.row_group(number).num_rows for number in range(file.metadata.num_row_groups)]

    def _opened(self, path: Path) -> Any:
        try:
            import pyarrow as pa
            import pyarrow.parquet as pq
        except ImportError:
            raise DataError(
                f"{path.name!r} is a Parquet file; install pyarrow: pip install 'mercer[parquet]'."
            ) from None
        try:
            return pq.ParquetFile(path, buffer_size=_BUFFER, pre_buffer=False)
        except (pa.ArrowException, OSError) as error:
            raise DataError(f"{path.name!r} is a damaged Parquet file: {said_by(error)}.") from None

    def _frames_of(self, path: Path, columns: Sequence[str], size: int) -> Iterator[pd.DataFrame]:
        import pyarrow as pa

        file = self._opened(path)
        try:
            for batch in file.iter_batches(size, columns=list(columns), use_threads=False):
                yield frame_of_arrow(batch, columns)
        except (pa.ArrowException, OSError) as error:
            raise DataError(f"{path.name!r} is a damaged Parquet file: {said_by(error)}.") from None
        finally:
            file.close()


# Notes on columns of files that seem to say nothing: numbers of rows, and one value again and again.


#: Rows that are looked at, and columns that are named.
_ROWS, _NAMED = 1000, 5


def columns_in_doubt(file: Chunked, columns: list[str]) -> list[str]:
    """A note where the first rows would have :func:`mercer.read` leave a column out."""
    with closing(file.frames(columns)) as frames:  # type: ignore[type-var]
        head = next((frame[:_ROWS] for frame in frames if len(frame)), None)
    if head is None:
        return []
    numbers = {name: column.to_numpy(np.float64) for name, column in head.items() if column.dtype.kind in "fiub"}
    found = decide(numbers).left_out
    if not found:
        return []
    named = enumeration((f"{name!r} ({why})" for name, why in found.items()), _NAMED)
    return [
        f"In the first {len(head):,} rows, there is nothing to learn from {named}; where the others are like them, "
        f"leave it out (drop={list(found)[:_NAMED]!r})."
    ]
