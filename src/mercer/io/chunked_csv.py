"""Text tables of any size as frames, some rows at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from .cells import Cells, missing_words, open_cells
from .chunked import Chunked
from .csv import layout_of
from .decimal_sign import with_decimal_sign
from .options import Options
from .repeated_names import told_apart
from .several import refuse_other_columns
from .sources import Source, raw_bytes, said_by, unpacked
from .table import DataError
from .unpacking import is_packed, unpacking

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ChunkedCsv"]

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
        names, _ = told_apart([cell or f"column {k + 1}" for k, cell in enumerate(named)])
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
        import csv

        import pandas as pd

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
