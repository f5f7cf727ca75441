"""Parquet files of any size as frames, some rows at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .arrow_columns import frame_of_arrow, without_index
from .chunked import Chunked
from .options import Options
from .several import refuse_other_columns
from .sources import said_by
from .table import DataError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ChunkedParquet"]

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
