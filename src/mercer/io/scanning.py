"""Tables of any size: labels in memory, features read from the files again in every pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from .._runtime.compile import Array
from .._validation.parameters import shown
from .._validation.wording import enumeration
from ..rows import Mapped, Rows, dask_client
from .assemble import refuse_duplicates, remaining, target_position
from .chunked import Chunked, ChunkedCsv, ChunkedParquet
from .file_rows import FileRows
from .options import Options
from .row_groups import rows_on_workers
from .sources import suffix_of
from .svmlight_rows import SvmlightRows
from .table import DataError, as_labels

__all__ = ["Scan", "is_parquet", "open_chunked", "scan", "targets_of"]

#: Suffixes of files that can be read in chunks, and what reads them.
_PARQUET, _CSV = (".parquet",), (".csv", ".tsv", ".tab")
_SVMLIGHT, _ARRAY = (".svm", ".svmlight", ".libsvm"), (".npy",)


@dataclass(frozen=True, eq=False)
class Scan:
    """Rows that are in files, as :func:`mercer.scan` returns them.

    Parameters
    ----------
    name : str
        The name of the file without its suffix.
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
    source: str | Path,
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
    source : str or Path
        A Parquet file, a CSV file (or ``.tsv``, also packed), a folder of such files with the same columns, a svmlight
        file, or a two-dimensional array in a ``.npy`` file.
    target : str or int, optional
        The column of labels, by name or by position. By default the last one; in a svmlight file the first number of
        each line.
    labelled : bool, default=True
        ``False``: there may be no target column.
    columns : sequence of str, optional
        The only columns to read, besides the target.
    drop : sequence of str
        Columns to leave out.
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
    path = Path(source)
    options = Options(
        target=target, labelled=labelled, header=header, delimiter=delimiter, decimal=decimal, drop=frozenset(drop),
        columns=None if columns is None else frozenset(columns), features=features, zero_based=zero_based, task=task,
    )  # fmt: skip
    paths = _files(path)
    suffix = suffix_of(paths[0])
    if suffix in _ARRAY:
        return _of_array(paths, options)
    if suffix in _SVMLIGHT:
        return _of_svmlight(paths, options)
    file, names, target, notes = open_chunked(path, options)
    dtype = _common_type(file, [name for name in names if name != target])
    y = None if target is None else targets_of(file, target, options)
    n_rows = file.n_rows if y is None else y.size
    if n_rows == 0:
        raise DataError(f"{file.shown} has no rows.")
    name = paths[0].name.partition(".")[0] if len(paths) == 1 else paths[0].parent.name
    features_of = [each for each in names if each != target]
    return Scan(name, _rows(file, features_of, dtype, n_rows), y, target, (*notes,))


def _files(path: Path) -> list[Path]:
    """The file, or those of a folder, in the order of their names."""
    known = (*_PARQUET, *_CSV, *_SVMLIGHT, *_ARRAY)
    if path.is_dir():
        inside = sorted(each for each in path.rglob("*") if each.is_file() and each.name[0] not in "._")
        found = [each for each in inside if suffix_of(each) in known]
        if len({suffix_of(each) for each in found}) != 1:
            raise DataError(
                f"the folder {path.name!r} should hold files of one kind that can be read in chunks "
                f"({enumeration(known, last='or')}); it holds "
                f"{enumeration(sorted({each.suffix for each in inside}) or ['none'])}."
            )
        return found
    if not path.exists():
        raise DataError(f"there is no file {shown(str(path))}.")
    if suffix_of(path) not in known:
        raise DataError(
            f"{path.name!r} cannot be read in chunks, which {enumeration(known, last='or')} files can; use "
            "mercer.read, or store it as Parquet."
        )
    return [path]


def is_parquet(path: Path) -> bool:
    """Whether this is a Parquet file, or a folder of them."""
    return path.exists() and suffix_of(_files(path)[0]) in _PARQUET


def open_chunked(path: Path, options: Options) -> tuple[Chunked, list[str], str | None, list[str]]:
    """A table in files: how it is read, its columns with the target among them, the target, and notes."""
    paths = _files(path)
    file: Chunked = (ChunkedParquet if suffix_of(paths[0]) in _PARQUET else ChunkedCsv)(paths, options)
    refuse_duplicates(file.columns, file.shown)
    kept = remaining(file.columns, options, file.shown)
    place, notes = target_position(kept, options, file.shown)
    target = None if place is None else kept[place]
    names = [name for name in kept if name == target or options.columns is None or name in options.columns]
    if not [name for name in names if name != target]:
        raise DataError(f"{file.shown} has no columns to learn from.")
    return file, names, target, [*file.notes, *notes]


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

    for name in names:
        kind = file.types[name]
        if not (kinds.is_integer(kind) or kinds.is_floating(kind) or kinds.is_boolean(kind) or kinds.is_decimal(kind)):
            raise DataError(
                f"{file.shown}, column {name!r}: values of type {kind} are no numbers, and a file that is read in "
                f"chunks must hold numbers; leave the column out (drop={[name]!r}), or store it as numbers."
            )
    small = all(kinds.is_float32(file.types[name]) or kinds.is_float16(file.types[name]) for name in names)
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
        raise DataError(f"{file.shown}: the target {target!r} holds words such as {shown(labels[0])}, not numbers.")
    return labels[words.codes]


def _of_array(paths: list[Path], options: Options) -> Scan:
    if len(paths) != 1:
        raise DataError(f"the folder {paths[0].parent.name!r} holds {len(paths)} arrays; name one of them.")
    try:
        numbers = np.load(paths[0], mmap_mode="r", allow_pickle=False)
    except (ValueError, OSError) as error:
        raise DataError(f"{paths[0].name!r} is not an array of numbers: {error}.") from None
    if numbers.ndim != 2 or numbers.dtype.kind not in "fiub" or not len(numbers):
        raise DataError(f"{paths[0].name!r} should hold rows of numbers; it has the shape {numbers.shape}.")
    if options.target is None:
        return Scan(paths[0].stem, Mapped(numbers))
    names = [f"x{k + 1}" for k in range(numbers.shape[1])]
    place, _ = target_position(names, options, repr(paths[0].name))
    if place not in (0, len(names) - 1):
        raise DataError(f"{paths[0].name!r}: the target of an array must be its first or its last column.")
    y = np.array(numbers[:, place])
    rows = numbers[:, 1:] if place == 0 else numbers[:, :-1]
    distinct, codes = np.unique(y, return_inverse=True)
    y = y if options.task == "regress" or distinct.size > y.size / 2 else as_labels(distinct.tolist())[codes]
    return Scan(paths[0].stem, Mapped(rows), y, names[place])


def _of_svmlight(paths: list[Path], options: Options) -> Scan:
    if len(paths) != 1:
        raise DataError(f"the folder {paths[0].parent.name!r} holds {len(paths)} svmlight files; name one of them.")
    rows = SvmlightRows(Chunked(paths, options), options.features, options.zero_based)
    distinct, codes = np.unique(rows.labels, return_inverse=True)
    y = rows.labels if options.task == "regress" else as_labels(distinct.tolist(), asked=options.task)[codes]
    return Scan(paths[0].stem, rows, y, "label", (f"A svmlight file with {rows.n_columns} features.",))
