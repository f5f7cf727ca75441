"""Tables of any size: labels in memory, features read from the files again in every pass."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from ..checks.parameters import shown
from ..checks.parameters import shown as as_shown
from ..messages import enumeration, nearest
from ..rows import Mapped, NumberRows, OnWorkers, Rows, dask_client
from ..runtime.arrays import Array
from .arrow import frame_of_arrow
from .assemble import refuse_duplicates, remaining, target_position
from .chunked import Chunked, ChunkedCsv, ChunkedParquet, columns_in_doubt
from .reading import named, together
from .sources import is_packed, said_by, suffix_of
from .svmlight import SvmlightRows
from .table import DataError, Options, as_labels

# Which files a table that is read in chunks consists of.


#: Suffixes of files that can be read in chunks.
PARQUET, CSV = (".parquet",), (".csv", ".tsv", ".tab")
SVMLIGHT, ARRAY = (".svm", ".svmlight", ".libsvm"), (".npy",)
_KNOWN = (*PARQUET, *CSV, *SVMLIGHT, *ARRAY)


class ScannedFiles(NamedTuple):
    """Files of one kind, in the order of their rows."""

    paths: list[Path]
    #: What tables and messages call all of them together.
    name: str
    shown: str

    @classmethod
    def of(cls, source: str | Path | Sequence[str | Path]) -> ScannedFiles:
        """The files that a path, a folder, a pattern or several of them stand for."""
        sources = [Path(source)] if isinstance(source, (str, Path)) else [Path(each) for each in source]
        if not sources:
            raise DataError("no file is named; give at least one.")
        paths = [path for each in sources for path in _paths(each)]
        if len({suffix_of(path) for path in paths}) != 1:
            kinds = enumeration(sorted({suffix_of(path) for path in paths}))
            raise DataError(f"files that are read together must be of one kind, and these are {kinds}; name one kind.")
        if len(sources) == 1 and sources[0].is_dir():
            folder = sources[0].resolve().name
            return cls(paths, folder, repr(folder))
        name = paths[0].name.partition(".")[0]
        return cls(paths, name, repr(paths[0].name) if len(paths) == 1 else together([str(path) for path in paths]))

    @property
    def suffix(self) -> str:
        """What tells the kind of the files."""
        return suffix_of(self.paths[0])

    def the_only_one(self, kind: str) -> Path:
        """The file, where a table of this kind is one."""
        if len(self.paths) != 1:
            raise DataError(f"{self.shown}: {len(self.paths)} {kind} are not read together; name one of them.")
        return self.paths[0]

    @property
    def divided_by(self) -> dict[str, str]:
        """The columns by which files are divided among folders such as ``year=2024``, each with one of the folders.

        Examples
        --------
        >>> ScannedFiles([Path("t/year=1/a.csv"), Path("t/year=2/a.csv")], "t", "'t'").divided_by
        {'year': 'year=1'}
        """
        folders: dict[str, dict[str, None]] = {}
        for path in self.paths:
            for part in path.parent.parts:
                column, mark, _ = part.partition("=")
                if column and mark:
                    folders.setdefault(column, {})[part] = None
        return {column: next(iter(parts)) for column, parts in folders.items() if len(parts) > 1}

    def refuse_divided(self, columns: Sequence[str], options: Options) -> None:
        """Raise where a column that is asked for is in the names of folders, and in no file."""
        for column, folder in self.divided_by.items():
            asked = options.columns is None or column in options.columns or column == options.target
            if column not in columns and column not in options.drop and asked:
                raise DataError(
                    f"{self.shown}: the column {column!r} is in the names of folders ({folder!r}) and in no file; "
                    f"store it in the files, or leave it out (drop={[column]!r})."
                )


def _paths(place: Path) -> list[Path]:
    if place.is_dir():
        return _inside(place)
    paths = [Path(path) for path, _ in named(str(place), None)]
    for path in paths:
        if not path.exists():
            raise DataError(f"there is no file {as_shown(str(path))}.")
        if suffix_of(path) not in _KNOWN:
            raise DataError(
                f"{path.name!r} cannot be read in chunks, which {enumeration(_KNOWN, last='or')} files can; use "
                "mercer.read, or store it as Parquet."
            )
    return paths


def _inside(folder: Path) -> list[Path]:
    """The files of a folder and of those in it, in the order of their names."""
    inside = sorted(each for each in folder.rglob("*") if each.is_file() and each.name[0] not in "._")
    found = [each for each in inside if suffix_of(each) in _KNOWN]
    if len({suffix_of(each) for each in found}) != 1:
        raise DataError(
            f"the folder {folder.name!r} should hold files of one kind that can be read in chunks "
            f"({enumeration(_KNOWN, last='or')}); it holds "
            f"{enumeration(sorted({each.suffix for each in inside}) or ['none'])}."
        )
    return found


# Rows of any table in files, each chunk prepared as a sample of the rows was.


class PreparedRows(NumberRows):
    """Columns of categories, dates and numbers with missing values, made into rows of numbers chunk by chunk.

    ``report`` is called with the number of the pass, from 1, and how far it is.
    """

    dtype = np.dtype(np.float64)

    def __init__(
        self,
        file: Chunked,
        columns: list[str],
        n_rows: int,
        prepare: Callable[[Any], Any],
        report: Callable[[int, float], None] = lambda number, share: None,
    ) -> None:
        self.file, self.columns, self.n_rows, self.prepare, self.report = file, columns, n_rows, prepare, report
        #: How often the file was read so far.
        self.passes = 0
        rows = prepare(file.taken(columns, np.arange(min(n_rows, 1))))
        self.n_columns = rows.shape[1]
        self.names = [str(name) for name in rows.columns] if hasattr(rows, "columns") else None

    def __len__(self) -> int:
        return self.n_rows

    def chunks(self) -> Iterator[Any]:
        self.passes += 1
        done = 0
        for frame in self.file.frames(self.columns):
            rows = self.prepare(frame)
            yield rows.to_numpy() if hasattr(rows, "to_numpy") else rows
            done += len(frame)
            self.report(self.passes, done / self.n_rows)


# Frames read from files as rows of numbers; a cell that holds none is named with its row.


def numbers_of_frame(frame: Any, dtype: Any, file: str, first: int) -> Array:
    """A frame as an array of finite numbers; so many rows of the file stand above it.

    Examples
    --------
    >>> import pandas as pd
    >>> numbers_of_frame(pd.DataFrame({"a": [1.0, None]}), float, "'t.csv'", 10)
    Traceback (most recent call last):
        ...
    mercer.io.table.DataError: 't.csv', row 12: the value of 'a' is missing; fill it or leave the row out first, or \
leave the column out (drop=['a']).
    """
    if not len(frame):
        return np.empty(frame.shape, dtype)
    frame = frame.assign(**{
        name: _without_words(name, column, file, first)
        for name, column in frame.items() if column.dtype.kind not in "fiub"
    })  # fmt: skip
    values: Array = frame.to_numpy(dtype=dtype)
    if not np.isfinite(values.sum(dtype=np.float64)):
        places = np.argwhere(~np.isfinite(values))
        if places.size:
            row, column = places[0]
            name = str(frame.columns[column])
            what = "is missing" if np.isnan(values[row, column]) else "is infinite"
            raise DataError(
                f"{file}, row {first + row + 1}: the value of {name!r} {what}; fill it or leave the row out first, or "
                f"leave the column out (drop={[name]!r})."
            )
    return values


def _without_words(name: str, column: Any, file: str, first: int) -> Any:
    """Numbers that came as something else; the first cell that is none is named."""
    numbers = pd.to_numeric(column, errors="coerce")
    strange = np.flatnonzero(numbers.isna())
    if not strange.size:
        return numbers.astype(np.float64)
    row = int(strange[0])
    cell = column.iloc[row]
    kind = "is missing" if pd.isna(cell) else f"is {shown(str(cell))}, not a number"
    raise DataError(
        f"{file}, row {first + row + 1}: the value of {name!r} {kind}; correct it, or leave the column out "
        f"(drop={[name]!r})."
    )


# Rows of numbers in files of any size, as machines with landmarks learn from them.


class FileRows(NumberRows):
    """Columns of numbers of a file, read chunk by chunk in every pass."""

    def __init__(self, file: Chunked, columns: list[str], dtype: Any, n_rows: int) -> None:
        self.file, self.names, self.n_columns = file, columns, len(columns)
        self.dtype, self.n_rows = np.dtype(dtype), n_rows

    def __len__(self) -> int:
        return self.n_rows

    def __repr__(self) -> str:
        return f"<{self.n_rows:,} rows of {self.n_columns} numbers in {self.file.shown}>"

    def chunks(self) -> Iterator[Any]:
        first = 0
        for frame in self.file.frames(self.names or []):
            yield numbers_of_frame(frame, self.dtype, self.file.shown, first)
            first += len(frame)
        if first != self.n_rows:
            self.file.refuse_changed()
            raise DataError(f"{self.file.shown} had {self.n_rows:,} rows, and now has {first:,}; begin once more.")


# Parquet files on a cluster: each worker reads its own groups of rows, and keeps them.


#: Rows that a chunk has at least, where a file has so many: smaller groups are read together.
_ROWS = 100_000


def rows_on_workers(
    client: Any,
    file: ChunkedParquet,
    columns: list[str],
    dtype: Any,
    prepare: Callable[[Any], Any] | None = None,
) -> OnWorkers:
    """Columns of Parquet files that all workers see under the same names, in the order of files and rows.

    ``prepare`` makes rows of numbers of a frame with these columns; it is sent to the workers.
    """
    from dask import delayed

    names: list[str] | None = columns
    n_columns = len(columns)
    make = partial(delayed(_numbers), np.dtype(dtype), file.shown)
    if prepare is not None:
        shown = prepare(_read(str(file.paths[0]), [0], columns)[:1])
        names, n_columns = list(map(str, shown.columns)) if hasattr(shown, "columns") else None, shown.shape[1]
        make = partial(delayed(_prepared), delayed(prepare, pure=False, traverse=False))

    chunks: list[Any] = []
    sizes: list[int] = []
    for path in file.paths:
        counts = file.group_sizes(path)
        groups: list[int] = []
        for number, _ in enumerate(counts):
            groups.append(number)
            rows = sum(counts[each] for each in groups)
            if rows >= _ROWS or number == len(counts) - 1:
                chunks.append(make(sum(sizes), str(path.resolve()), groups, columns))
                sizes.append(rows)
                groups = []
    return OnWorkers(client, names, n_columns, np.dtype(dtype), chunks, sizes)


def _prepared(prepare: Callable[[Any], Any], first: int, path: str, groups: list[int], columns: list[str]) -> Any:
    return prepare(_read(path, groups, columns))


def _numbers(dtype: Any, shown: str, first: int, path: str, groups: list[int], columns: list[str]) -> Any:
    return numbers_of_frame(_read(path, groups, columns), dtype, shown, first)


def _read(path: str, groups: list[int], columns: list[str]) -> Any:
    """Some groups of rows, on a worker."""
    import platform

    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file:
            return frame_of_arrow(file.read_row_groups(groups, columns=columns, use_threads=False), columns)
    except (pa.ArrowException, OSError) as error:
        raise DataError(
            f"the worker on {platform.node()} cannot read {path!r} ({said_by(error)}); put the file where all machines "
            "of the cluster see it under this name."
        ) from None


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
