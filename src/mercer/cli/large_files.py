"""Tables in files that may take more than the memory allowed, and that can be read in chunks then."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from ..checks import bytes_of
from ..io import DataError, data_files, is_parquet, suffix_of
from .options import Places
from .recipe import Recipe

#: Suffixes of tables that can be read in chunks, which all files of a folder must share.
_KINDS: list[set[str]] = [{".parquet"}, {".csv"}, {".tsv"}, {".tab"}]
#: What a number takes in memory, in bytes; a cell of text takes about as much on disk.
_NUMBER = 8
#: Text that is packed is about so many times larger unpacked; gzip's own record of its size is lost beyond 4 GB.
_UNPACKED = 4


def in_chunks(data: Places, allowed: int) -> bool:
    """Whether a table can be read in chunks and would take more than so many bytes.

    A Parquet file tells how many numbers it holds; of a text file the size on disk is taken for that in memory, and
    four times that of a packed one.
    """
    path = only_path(data)
    if path is None or not path.exists():
        return False
    files = _data_files(path)
    if {suffix_of(each) for each in files} not in _KINDS:
        return False
    return sum(map(_size, files)) > allowed


def only_path(data: Places) -> Path | None:
    """The one place that is named; ``None`` where there are several."""
    return Path(data if isinstance(data, str) else data[0]) if isinstance(data, str) or len(data) == 1 else None


def _data_files(path: Path) -> list[Path]:
    """The file, or those of a folder, where other programs leave marks such as ``_SUCCESS`` as well."""
    if not path.is_dir():
        return [path]
    inside = [each.as_posix() for each in path.rglob("*") if each.is_file() and each.name[0] not in "._"]
    return [Path(name) for name in data_files(inside, packed=False)]


def _size(path: Path) -> int:
    """About what the table of a file takes in memory."""
    suffix = suffix_of(path)
    if suffix == ".parquet":
        return _size_of_parquet(path)
    packed = path.suffix.lower() != suffix
    return os.path.getsize(path) * (_UNPACKED if packed else 1)


def _size_of_parquet(path: Path) -> int:
    """As the file tells; nothing where it is damaged, or there is nobody to ask: whoever reads it will say so."""
    try:
        import pyarrow.parquet as pq

        facts = pq.read_metadata(path)
    except (ImportError, OSError, ValueError):
        return 0
    return _NUMBER * facts.num_rows * facts.num_columns


def streams(data: Places, recipe: Recipe, reading: dict[str, Any]) -> bool:
    """Whether the rows are read in chunks: landmarks are asked for, and the table would take more than the memory.

    With --cluster they are read by its workers, or not at all.
    """
    from ..rows import dask_client

    if dask_client() is not None:
        return _on_cluster(data, recipe)
    if recipe.params.get("rank") is None:
        return False
    return in_chunks(data, min(bytes_of(recipe.params.get("memory", "1GB")), bytes_of(reading["max_bytes"])))


def _on_cluster(data: Places, recipe: Recipe) -> bool:
    """Refuse what the workers of a cluster cannot do."""
    path = only_path(data)
    if recipe.params.get("rank") is None:
        raise DataError(
            f"{recipe.learner.name} compares all pairs of rows, which it needs in memory; on a cluster add --rank 1000 "
            "to learn from so many landmarks (kernel-logistic, kernel-squared-hinge, kernel-ridge), or leave --cluster "
            "out."
        )
    if path is None or not is_parquet(path):
        raise DataError(
            "the workers of a cluster read one Parquet file, or a folder of them; store the table as Parquet, or leave "
            "--cluster out."
        )
    return True
