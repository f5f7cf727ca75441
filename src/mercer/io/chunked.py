"""Files of any size as frames, some rows at a time.

Each pass opens the files anew and reads the columns that it needs, one chunk ahead of whoever works on them. What a
machine learns in many passes makes sense only if all of them see the same rows: a file that has changed since it was
first looked at ends a pass.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._runtime.ahead import ahead
from .._runtime.compile import Array
from .options import Options
from .sources import Source, said_by
from .table import DataError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Chunked", "ChunkedCsv", "ChunkedParquet"]

#: Numbers of a chunk.
_CHUNK = 2_000_000
#: Bytes of a text file that tell how it is written, and of a Parquet file that are read at once.
_HEAD, _BUFFER = 1 << 20, 1 << 20


class Chunked:
    """Files with the same columns that are read chunk by chunk, one after another.

    Parameters
    ----------
    paths : list of Path
    options : Options
    """

    def __init__(self, paths: list[Path], options: Options) -> None:
        self.paths, self.options = paths, options
        self.notes: list[str] = []
        self._marks = [_mark(path) for path in paths]

    @property
    def shown(self) -> str:
        """The files as messages name them."""
        return repr(self.paths[0].name) if len(self.paths) == 1 else f"{self.paths[0].parent.name!r}"

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
        yield from ahead(read)

    def taken(self, columns: Sequence[str], index: Array) -> pd.DataFrame:
        """Some columns of the rows with these numbers, which rise."""
        import pandas as pd

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


class ChunkedParquet(Chunked):
    """A Parquet file, or those of a folder."""

    def __init__(self, paths: list[Path], options: Options) -> None:
        super().__init__(paths, options)
        files = [self._opened(path) for path in paths]
        self._columns = [str(name) for name in files[0].schema_arrow.names]
        for path, file in zip(paths, files, strict=True):
            if missing := [name for name in self._columns if name not in file.schema_arrow.names]:
                raise DataError(f"{path.name!r} has no column {missing[0]!r}, which {paths[0].name!r} has.")
        self.types = {str(field.name): field.type for field in files[0].schema_arrow}
        self._rows = sum(file.metadata.num_rows for file in files)

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
                yield batch.select(list(columns)).to_pandas()
        except (pa.ArrowException, OSError) as error:
            raise DataError(f"{path.name!r} is a damaged Parquet file: {said_by(error)}.") from None
        finally:
            file.close()


class ChunkedCsv(Chunked):
    """A text table, or those of a folder, plain or packed; the first one tells how they are written."""

    def __init__(self, paths: list[Path], options: Options) -> None:
        from .cells import open_cells
        from .csv import layout_of
        from .decimal_sign import with_decimal_sign

        super().__init__(paths, options)
        cells = open_cells(Source(str(paths[0]), _head(paths[0]), ""), options.delimiter, options.quotes)
        self.options, said = with_decimal_sign(cells, options)
        self.layout = layout_of(cells, self.options)
        self.notes = [*self.layout.notes, *said]

    @property
    def columns(self) -> list[str]:
        return self.layout.names

    def _frames_of(self, path: Path, columns: Sequence[str], size: int) -> Iterator[pd.DataFrame]:
        import csv

        import pandas as pd

        from .cells import missing_words

        cells, names = self.layout.cells, list(self.layout.names)
        padding = [f"__nothing {k}__" for k in range(self.layout.width - len(names))]
        words = missing_words(self.options)
        try:
            chunks = pd.read_csv(
                path,
                sep=r"\s+" if cells.delimiter == " " else cells.delimiter,
                decimal=self.options.decimal or ".",
                encoding=cells.encoding,
                quoting=csv.QUOTE_MINIMAL if cells.quotes else csv.QUOTE_NONE,
                skiprows=self.layout.above + self.layout.has_header,
                header=None,
                names=[*names, *padding],
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


def _head(path: Path) -> bytes:
    """Whole lines at the beginning of a text file, unpacked."""
    from .sources import raw_bytes, unpacked

    if path.suffix.lower() in (".gz", ".bz2", ".xz"):
        import pandas.io.common as opening

        with opening.get_handle(path, "rb", compression="infer", is_text=False) as opened:
            data = opened.handle.read(_HEAD)
    else:
        with open(path, "rb") as file:
            data = file.read(_HEAD)
    if len(data) < _HEAD:
        return unpacked(raw_bytes(str(path), 2 * _HEAD, repr(path.name)), 2 * _HEAD, repr(path.name))
    return data[: data.rfind(b"\n") + 1] or data
