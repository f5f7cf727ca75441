"""Columns of the input that go through to the predictions as they are written in the file."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from .._validation.wording import enumeration, nearest
from ..io.table import DataError
from .arguments import Places

if TYPE_CHECKING:
    from ..io import Table

__all__ = ["ALL", "carried", "read_twice"]

#: The word for all columns.
ALL = "all"


def carried(data: Places, table: Table, keep: tuple[str, ...], reading: dict[str, Any]) -> dict[str, list[Any]]:
    """Columns as texts, also those that a model does not use.

    The file is read once more, all of these columns as words, so that ``007`` stays ``007``.

    Parameters
    ----------
    data : str or list of str
    table : Table
        What was read for the model, with all rows.
    keep : tuple of str
        Names of columns, or ``"all"``.
    reading : dict
        Arguments of :func:`mercer.read`, as the table was read.

    Returns
    -------
    dict of lists
    """
    if not keep:
        return {}
    if table.frame is None:
        raise DataError(f"--keep carries columns of a table through, and {table.name} has none; leave it out.")
    names = {*table.columns, *keep}
    if ALL in keep:
        found = _whole(data, reading, {})
        names |= {*found.columns, *found.left_out}
    whole = _whole(data, reading, dict.fromkeys(names - {ALL}, "category"))
    wanted = whole.columns if ALL in keep else list(dict.fromkeys(keep))
    for name in wanted:
        if name not in whole.columns:
            there = [*whole.columns, *whole.left_out]
            near = nearest(name, there)
            hint = f"the columns are {enumeration(map(repr, there))}." if near is None else f"did you mean {near!r}?"
            raise DataError(f"{table.name} has no column {name!r} to keep; {hint}")
    return {name: ["" if cell != cell else cell for cell in whole.X[name].tolist()] for name in wanted}


def _whole(data: Places, reading: dict[str, Any], kinds: dict[str, str]) -> Table:
    """The whole table, its target as a column like the others."""
    from ..io import read

    if "-" in ([data] if isinstance(data, str) else data):
        sys.stdin.buffer.seek(0)
    as_it_is = {"target": None, "labelled": False, "unlabelled_rows": "keep", "drop": (), "task": None, "kinds": kinds}
    return read(data, **{**reading, **as_it_is})


@contextmanager
def read_twice(data: Places, keep: tuple[str, ...], max_bytes: int | str) -> Iterator[None]:
    """Hold what stands on the standard input, where it is read and columns of it are kept."""
    if not keep or "-" not in ([data] if isinstance(data, str) else data):
        yield
        return
    from .._validation.memory import bytes_of

    given = sys.stdin
    sys.stdin = io.TextIOWrapper(io.BytesIO(given.buffer.read(bytes_of(max_bytes) + 1)))
    try:
        yield
    finally:
        sys.stdin = given
