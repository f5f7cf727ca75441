"""The columns of a file before anybody decides what they are for; what readers of rows hand on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from .._validation.wording import enumeration
from .assemble import Origin, assemble, origin_of, remaining
from .python_values import raw_column
from .row_places import RowPlaces
from .table import DataError, Table

if TYPE_CHECKING:
    from .options import Options
    from .sources import Source

__all__ = ["RawTable", "assembled", "of_values"]


@dataclass(frozen=True)
class RawTable:
    """Named columns, without those that were to be dropped.

    Parameters
    ----------
    columns : dict
        Arrays of float64 for numbers, pandas Categoricals for words, arrays of datetime64[ns] for dates; a column of
        labels may be a list of texts.
    origin : Origin
        Where they come from.
    notes : tuple of str
        What was assumed or noticed while reading.
    found : dict
        Arguments of :func:`mercer.read` that were found out.
    target : str, optional
        The column that is the target where nobody names one: by the file itself, or by its place in the whole file.
    mixed : tuple of str
        Columns of words some of which are numbers.
    left_out : dict
        Columns that were not read, and why.
    """

    columns: dict[str, Any]
    origin: Origin
    notes: tuple[str, ...] = ()
    found: Mapping[str, Any] = field(default_factory=dict)
    target: str | None = None
    mixed: tuple[str, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)


def assembled(raw: RawTable, options: Options) -> Table:
    """The table of these columns."""
    if raw.target in raw.columns and options.labelled and options.target not in raw.columns:
        options = replace(options, target=raw.target)
    if "decimal" in raw.found:
        options = replace(options, decimal=raw.found["decimal"])
    table = assemble(raw.columns, raw.origin, replace(options, drop=frozenset()), raw.notes)
    mixed = [name for name in raw.mixed if name in table.category_columns]
    if mixed:
        some = f"Some cells of {enumeration(map(repr, mixed), 5)} are numbers and others are not; read as categories."
        table = replace(table, notes=(*table.notes, some))
    left_out = {**raw.left_out, **table.left_out}
    return replace(table, found={**table.found, **raw.found}, left_out=left_out)


def of_values(columns: Mapping[str, Sequence[Any]], source: Source, options: Options) -> RawTable:
    """Columns of Python values or arrays as readers hand them on; what each of them holds is looked at.

    Parameters
    ----------
    columns : mapping
        Numbers, words or dates by the names of the columns; ``None`` or NaN where one is missing.
    source : Source
        The file that they come from.
    options : Options

    Returns
    -------
    RawTable
    """
    lengths = {len(values) for values in columns.values()}
    if len(lengths) > 1 or lengths <= {0}:
        raise DataError(f"{source.shown} has {'no rows' if lengths <= {0} else 'columns of different lengths'}.")
    where = RowPlaces(range(1, lengths.pop() + 1), ["record"])
    found, mixed = {}, []
    for name in remaining(list(columns), options, source.shown):
        values: Any = columns[name]
        values = values.tolist() if hasattr(values, "tolist") else values
        found[name], some = raw_column(name, values, lambda row: f"{source.shown}, {where[row]}", options)
        mixed += [name] * some
    return RawTable(found, origin_of(source, where), mixed=tuple(mixed))
