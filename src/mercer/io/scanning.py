"""Tables of any size: labels in memory, features read from the files again in every pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from .._runtime.compile import Array
from .._validation.parameters import shown
from .._validation.wording import enumeration, nearest
from ..rows import Mapped, Rows, dask_client
from .assemble import refuse_duplicates, remaining, target_position
from .chunked import Chunked
from .chunked_csv import ChunkedCsv
from .chunked_parquet import ChunkedParquet
from .columns_in_doubt import columns_in_doubt
from .file_rows import FileRows
from .options import Options
from .row_groups import rows_on_workers
from .scanned_files import ARRAY, PARQUET, SVMLIGHT, ScannedFiles
from .sources import said_by
from .svmlight_rows import SvmlightRows
from .table import DataError, as_labels
from .unpacking import is_packed

__all__ = ["Scan", "is_parquet", "open_chunked", "scan", "targets_of"]


@dataclass(frozen=True, eq=False)
class Scan:
    """Rows that are in files, as :func:`mercer.scan` returns them.

    Parameters
    ----------
    name : str
        The name of the file without its suffix, or of the folder.
    X : Rows
        The features, for ``fit`` and ``predict`` of a machine with ``rank=``.
    y : array, optional
        A label or number for each row; ``None`` where there is no target column.
    target : str, optional
        The name of the target column.
    notes : tuple of str
        What was assumed while reading.
    """

    name: str
    X: Rows
    y: Array | None = None
    target: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def n_rows(self) -> int:
        """How many rows there are."""
        return len(self.X)

    @property
    def names(self) -> list[str]:
        """The names of the features."""
        return self.X.names or [f"x{k + 1}" for k in range(int(self.X.n_columns or 0))]

    def __repr__(self) -> str:
        target = "no labels" if self.y is None else f"target {self.target!r}"
        return f"<Scan {self.name!r}: {self.n_rows:,} rows, {self.X.n_columns} columns; {target}>"


def scan(
    source: str | Path | Sequence[str | Path],
    target: str | int | None = None,
    *,
    labelled: bool = True,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    header: bool | None = None,
    delimiter: str | None = None,
    decimal: str | None = None,
    features: int | None = None,
    zero_based: bool | None = None,
    task: str | None = None,
) -> Scan:
    """Look into a table that may be larger than memory.

    Features are read from the file in every pass that a machine makes over them, a chunk at a time and one chunk ahead;
    only targets are in memory. The features must be numbers, none of them missing. Where a client of a dask cluster is
    at work, its workers read Parquet files and keep the rows; they must see the files under the same names.

    Parameters
    ----------
    source : str, Path or list
        A Parquet file, a CSV file (or ``.tsv``, also packed), several such files with the same columns (a folder, a
        pattern such as ``"parts/*.parquet"``, a list), a svmlight file (also packed), or a two-dimensional array in a
        ``.npy`` file.
    target : str or int, optional
        The column of labels, by name or by position. By default the last one; in a svmlight file it is the first number
        of each line. The columns of an array are called ``x1``, ``x2`` and so on.
    labelled : bool, default=True
        ``False``: there may be no target column, and the last one is a feature like the others.
    columns : sequence of str, optional
        The only columns to read, besides the target; not of arrays and svmlight files.
    drop : sequence of str
        Columns to leave out; not of arrays and svmlight files.
    header, delimiter, decimal, features, zero_based, task
        As in :func:`mercer.read`.

    Returns
    -------
    Scan

    Raises
    ------
    DataError
        One sentence that names the file, the row and the column.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import mercer
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "moons.csv"
    >>> mercer.read("moons:500").frame.assign(y=mercer.read("moons:500").y).to_csv(path, index=False)
    >>> table = mercer.scan(path, target="y")
    >>> table
    <Scan 'moons': 500 rows, 2 columns; target 'y'>
    >>> model = mercer.KernelClassifier(rank=50, memory="300kB").fit(table.X, table.y)
    >>> model.support_.size, model.score(table.X, table.y) > 0.8
    (50, True)
    """
    options = Options(
        target=target, labelled=labelled, header=header, delimiter=delimiter, decimal=decimal, drop=frozenset(drop),
        columns=None if columns is None else frozenset(columns), features=features, zero_based=zero_based, task=task,
    )  # fmt: skip
    files = ScannedFiles.of(source)
    if files.suffix in ARRAY:
        return _of_array(files, options)
    if files.suffix in SVMLIGHT:
        return _of_svmlight(files, options)
    file, names, target, notes = open_chunked(source, options)
    features_of = [each for each in names if each != target]
    dtype = _common_type(file, features_of)
    y = None if target is None else targets_of(file, target, options)
    n_rows = file.n_rows if y is None else y.size
    if n_rows == 0:
        raise DataError(f"{file.shown} has no rows.")
    said = (*notes, *columns_in_doubt(file, features_of))
    return Scan(files.name, _rows(file, features_of, dtype, n_rows), y, target, said)


def is_parquet(path: Path) -> bool:
    """Whether this is a Parquet file, or a folder of them."""
    return path.exists() and ScannedFiles.of(path).suffix in PARQUET


def open_chunked(
    source: str | Path | Sequence[str | Path], options: Options
) -> tuple[Chunked, list[str], str | None, list[str]]:
    """A table in files: how it is read, its columns with the target among them, the target, and notes."""
    files = ScannedFiles.of(source)
    file: Chunked = (ChunkedParquet if files.suffix in PARQUET else ChunkedCsv)(files.paths, options, files.shown)
    refuse_duplicates(file.columns, file.shown)
    files.refuse_divided(file.columns, options)
    in_folders = set(files.divided_by).difference(file.columns)
    kept = remaining(file.columns, replace(options, drop=options.drop - in_folders), file.shown)
    _refuse_unknown(file, options)
    place, notes = target_position(kept, options, file.shown)
    target = None if place is None else kept[place]
    names = [name for name in kept if name == target or options.columns is None or name in options.columns]
    if not [name for name in names if name != target]:
        raise DataError(f"{file.shown} has no columns to learn from.")
    return file, names, target, [*file.notes, *notes]


def _refuse_unknown(file: Chunked, options: Options) -> None:
    """Columns to read that are not there are a slip of the pen, but where a file is read for a model."""
    unknown = sorted((options.columns or frozenset()).difference(file.columns))
    if unknown and options.labelled:
        near = nearest(unknown[0], file.columns)
        hint = f"the columns are {enumeration(map(repr, file.columns))}." if near is None else f"did you mean {near!r}?"
        raise DataError(f"{file.shown} has no column {unknown[0]!r} to read; {hint}")


def _rows(file: Chunked, names: list[str], dtype: Any, n_rows: int) -> Rows:
    """Read in every pass or, where dask has a cluster at work, by its workers once."""
    client = dask_client() if isinstance(file, ChunkedParquet) else None
    if client is None or not isinstance(file, ChunkedParquet):
        return FileRows(file, names, dtype, n_rows)
    return rows_on_workers(client, file, names, dtype)


def _common_type(file: Chunked, names: list[str]) -> Any:
    """float32 where all columns of a Parquet file have it, else float64; refuses columns of something else."""
    if not isinstance(file, ChunkedParquet):
        return np.float64
    import pyarrow.types as kinds

    for name, kind in ((each, kind) for each in names for kind in file.types[each]):
        if not (kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_boolean(kind) or kinds.is_decimal(kind)):
            raise DataError(
                f"{file.shown}, column {name!r}: values of type {kind} are no numbers, and a file that is read in "
                f"chunks must hold numbers; leave the column out (drop={[name]!r}), or store it as numbers."
            )
    small = all(kinds.is_float32(kind) or kinds.is_float16(kind) for name in names for kind in file.types[name])
    return np.float32 if small else np.float64


def targets_of(file: Chunked, target: str, options: Options) -> Array:
    """The target column, in memory; a row without a label is named."""
    import pandas as pd

    parts, first = [], 0
    for frame in file.frames([target]):
        column = frame[target]
        if column.isna().any():
            row = first + int(np.argmax(column.isna().to_numpy())) + 1
            raise DataError(
                f"{file.shown}, row {row}: the label ({target!r}) is missing; leave the row out or label it."
            )
        parts.append(column.astype("category") if column.dtype.kind not in "fiub" else column.to_numpy())
        first += len(frame)
    if not parts:
        return np.empty(0)
    if all(isinstance(part, np.ndarray) for part in parts):
        values: Array = np.concatenate(parts)
        if options.task == "regress":
            return values.astype(np.float64)
        distinct, codes = np.unique(values, return_inverse=True)
        labels = as_labels(distinct.tolist(), asked=options.task) if distinct.size < values.size / 2 else distinct
        return labels[codes]
    words = pd.api.types.union_categoricals([pd.Series(part).astype(str).astype("category") for part in parts])
    labels = as_labels(words.categories.tolist(), asked=options.task)
    if options.task == "regress" and labels.dtype.kind not in "if":
        raise DataError(
            f"{file.shown}: the target {target!r} holds words such as {shown(str(labels[0]))}, not numbers."
        )
    return labels[words.codes]


def _of_array(files: ScannedFiles, options: Options) -> Scan:
    path = files.the_only_one("arrays")
    _refuse_unused(files, options, ("columns", "drop", "header", "delimiter", "decimal", "features", "zero_based"))
    if is_packed(path):
        raise DataError(f"{files.shown} is a packed array, which cannot be mapped into memory; unpack it first.")
    try:
        numbers = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError) as error:
        raise DataError(f"{files.shown} is not an array of numbers: {said_by(error)}.") from None
    if numbers.ndim != 2 or numbers.dtype.kind not in "fiub" or not len(numbers):
        raise DataError(f"{files.shown} should hold rows of numbers; it has the shape {numbers.shape}.")
    names = [f"x{k + 1}" for k in range(numbers.shape[1])]
    place, notes = target_position(names, options, files.shown)
    if place is None:
        return Scan(files.name, Mapped(numbers))
    if len(names) == 1:
        raise DataError(f"{files.shown} has no columns to learn from; read it with labelled=False if it has no target.")
    if place not in (0, len(names) - 1):
        raise DataError(f"{files.shown}: the target of an array must be its first or its last column.")
    y = np.array(numbers[:, place])
    if np.isnan(y).any():
        raise DataError(
            f"{files.shown}, row {int(np.argmax(np.isnan(y))) + 1}: the label ({names[place]!r}) is missing."
        )
    rows = numbers[:, 1:] if place == 0 else numbers[:, :-1]
    distinct, codes = np.unique(y, return_inverse=True)
    plain = options.task == "regress" or distinct.size > y.size / 2
    y = y if plain else as_labels(distinct.tolist(), asked=options.task)[codes]
    return Scan(files.name, Mapped(rows), y, names[place], tuple(notes))


def _of_svmlight(files: ScannedFiles, options: Options) -> Scan:
    path = files.the_only_one("svmlight files")
    _refuse_unused(files, options, ("target", "columns", "drop", "header", "delimiter", "decimal"))
    rows = SvmlightRows(Chunked([path], options, files.shown), options.features, options.zero_based)
    distinct, codes = np.unique(rows.labels, return_inverse=True)
    y = rows.labels if options.task == "regress" else as_labels(distinct.tolist(), asked=options.task)[codes]
    return Scan(files.name, rows, y, "label", (f"A svmlight file with {rows.n_columns} features.",))


def _refuse_unused(files: ScannedFiles, options: Options, arguments: tuple[str, ...]) -> None:
    """Raise where something is asked for that means nothing for files of this kind."""
    for name in arguments:
        if getattr(options, name) not in (None, frozenset()):
            raise DataError(f"{files.shown}: {name}= means nothing for {files.suffix} files; leave it out.")
