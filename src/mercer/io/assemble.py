"""From named columns to a table: which column is the target, which are left out, which labels are missing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .._runtime.compile import Array
from .._validation.target_kind import task_of
from .._validation.wording import counted, enumeration, nearest
from ..columns import decide
from ..columns.label_notes import about_labels
from ..columns.signed_numbers import signed_either_way
from .cells import with_point
from .one_block import frame_in_one_block
from .record_names import record_names
from .row_places import RowPlaces
from .table import DataError, Table, as_labels, as_targets

if TYPE_CHECKING:
    from .options import Options
    from .sources import Source

__all__ = ["Origin", "assemble", "origin_of", "refuse_duplicates", "remaining", "target_position", "with_labels"]


@dataclass(frozen=True)
class Origin:
    """Where columns come from: what messages, tables and reports say about it."""

    shown: str
    name: str
    source: str
    digest: str
    lines: Array | RowPlaces | None = None


def origin_of(source: Source, lines: Array | RowPlaces | None = None) -> Origin:
    """The origin of what is read from a file; ``lines`` where the rows begin."""
    return Origin(source.shown, source.name, source.path, source.digest, lines)


def target_position(names: Sequence[str], options: Options, shown: str) -> tuple[int | None, list[str]]:
    """The position of the target among the columns, and a note where it was assumed."""
    target = options.target
    if target is None:
        if not options.labelled:
            return None, []
        return len(names) - 1, [f"The target is the last column, {names[-1]!r}."]
    if isinstance(target, str) and target in names:
        return list(names).index(target), []
    try:
        position = int(target)
    except ValueError:
        if not options.labelled:
            return None, []
        near = nearest(str(target), names)
        hint = f"the columns are {enumeration(map(repr, names))}." if near is None else f"did you mean {near!r}?"
        raise DataError(f"{shown} has no column {target!r} to be the target; {hint}") from None
    if not -len(names) <= position < len(names):
        raise DataError(f"{shown} has {len(names)} columns, so the target cannot be in position {position}.")
    return position % len(names), []


def remaining(names: Sequence[str], options: Options, shown: str) -> list[str]:
    """The names of the columns that are not to be left out."""
    for name in sorted(options.drop):
        if name not in names and options.labelled:
            raise DataError(
                f"{shown} has no column {name!r} to leave out; the columns are {enumeration(map(repr, names))}."
            )
    kept = [name for name in names if name not in options.drop]
    if not kept:
        raise DataError(f"{shown} has no column left.")
    return kept


def refuse_duplicates(names: Sequence[str], shown: str) -> None:
    """Two columns of one name cannot be told apart later."""
    seen: dict[str, int] = {}
    for position, name in enumerate(names):
        if name in seen:
            raise DataError(
                f"{shown}: columns {seen[name] + 1} and {position + 1} are both named {name!r}; rename one."
            )
        seen[name] = position


def assemble(columns: dict[str, Any], origin: Origin, options: Options, notes: Sequence[str] = ()) -> Table:
    """A table from columns.

    Parameters
    ----------
    columns : dict
        Arrays of float64 for numbers or of datetime64 for dates, pandas Categoricals for words; the target as a list of
        texts or an array, ``None`` or NaN where it is missing. See :func:`target_position`. What each of them holds is
        decided here, for all files alike (:func:`mercer.columns.decide`). It is empty afterwards.
    origin : Origin
    options : Options
    notes : sequence of str

    Returns
    -------
    Table
    """
    names = remaining(list(columns), options, origin.shown)
    position, said = target_position(names, options, origin.shown)
    features = [name for k, name in enumerate(names) if k != position]
    if not features:
        raise DataError(f"{origin.shown} has only the target column {names[0]!r}; learning needs others besides it.")
    _refuse_unknown(options, names, origin.shown)
    wanted = features if options.columns is None else [name for name in features if name in options.columns]
    try:
        decided = decide({name: columns[name] for name in wanted}, options.kinds, options.decimal or ".")
    except ValueError as error:
        raise DataError(f"{origin.shown}, {error}.") from None
    if not decided.columns and wanted:
        raise DataError(f"{origin.shown}: all columns besides the target are to be left out; keep one to learn from.")
    rows = len(columns[names[0]])
    labels = None if position is None else _label_list(columns[names[position]])
    named_by, called = record_names({name: columns[name] for name in features})
    columns.clear()  # nobody else holds them, so that each gives its memory back as the frame is made
    frame = frame_in_one_block(decided.columns, {name for name, kind in decided.kinds.items() if kind == "text"}, rows)
    not_asked = dict.fromkeys(set(features).difference(wanted), "not asked for")
    table = Table(
        origin.name,
        frame,
        notes=(*said, *notes, *decided.notes),
        source=origin.source,
        digest=origin.digest,
        lines=origin.lines,
        found={"kinds": decided.forms} if decided.forms else {},
        left_out={**not_asked, **decided.left_out},
        names=called,
        named_by=named_by,
    )
    if position is not None and labels is not None:
        table = with_labels(table, labels, names[position], origin, options)
    return _with_notes_on_missing(table)


def _refuse_unknown(options: Options, names: list[str], shown: str) -> None:
    """Kinds of columns that are not there are a slip of the pen, but where a file is read for a model."""
    if not options.labelled:
        return
    there = set(names)
    for name in options.kinds:
        if name not in there and name not in options.drop:
            near = nearest(name, names)
            hint = f"the columns are {enumeration(map(repr, names))}." if near is None else f"did you mean {near!r}?"
            raise DataError(f"{shown} has no column {name!r}; {hint}")


def _label_list(column: Any) -> list[Any] | Array:
    """Labels with ``None`` where they are missing; numbers stay an array, with NaN there."""
    if isinstance(column, np.ndarray) and column.dtype.kind == "f":
        return column
    return [None if value is None or value != value else value for value in column]


def with_labels(table: Table, labels: list[Any] | Array, target: str, origin: Origin, options: Options) -> Table:
    """A table with labels, ``None`` or NaN where they are missing: an error, left out or kept, as the options say."""
    values: list[Any] | Array = labels
    if isinstance(labels, np.ndarray):
        known = ~np.isnan(labels)
        values = labels if known.all() else labels[known]
    else:
        known = np.fromiter((label is not None for label in labels), bool, len(labels))
        values = labels if known.all() else [label for label in labels if label is not None]
    if not known.any() and options.labelled:
        raise DataError(f"{origin.shown}: the target column {target!r} has no values; name another with --target.")
    table = replace(table, asked=options.task)
    found = _found_labels(table, values, np.flatnonzero(known), target, origin, options)
    said = about_labels(target, values) if options.labelled else []
    table = replace(table, notes=(*table.notes, *said))
    if known.all():
        return replace(table, y=found, target=target)
    count, first = int((~known).sum()), table.where(int(np.flatnonzero(~known)[0]))
    most = options.unlabelled_rows is None and 2 * count >= len(labels)
    if options.unlabelled_rows == "error" or most:
        column = f" in column {target!r}" if table.kind == "rows" else ""
        have = "has" if count == 1 else "have"
        raise DataError(
            f"{origin.shown}: {count} of {len(labels)} {table.kind} {have} no label{column} (first: {first}); "
            f"label them, or leave them out with unlabelled_rows='drop' (--drop-unlabelled){_or_another(options)}."
        )
    if options.unlabelled_rows != "keep":
        was = "was" if count == 1 else "were"
        kept = replace(table.take(np.flatnonzero(known)), y=found, target=target)
        return replace(
            kept, notes=(*kept.notes, f"{counted(count, 'row')} without a label {was} left out (first: {first}).")
        )
    y = np.full(len(labels), None, dtype=object)
    y[known] = found.tolist()
    without = f"{counted(count, 'row has', 'rows have')} no label (first: {first})."
    return replace(table, y=y, target=target, notes=(*table.notes, without))


def _or_another(options: Options) -> str:
    return "; the target is the last column, --target names another" if options.target is None else ""


def _found_labels(
    table: Table, values: list[Any] | Array, places: Array, target: str, origin: Origin, options: Options
) -> Array:
    """The labels that are there, in these places, as classes or as numbers."""
    if options.decimal == ",":
        numbers, strange = as_targets([_number_with_comma(value) for value in values])
        if strange is None and options.task != "classify" and (options.task or task_of(numbers)) == "regress":
            return numbers
    signed = _signed(values, options)
    if signed is not None:
        return signed
    if options.task == "regress":
        numbers, strange = as_targets(values)
        if strange is not None:
            raise DataError(
                f"{origin.shown}: numbers are to be learned, and the target {target!r} holds "
                f"{str(values[strange])[:40]!r} ({table.where(int(places[strange]))}); correct it, name what means a "
                "missing value with --missing, or learn classes with --task classify."
            )
        return numbers
    return as_labels(values, options.kinds.get(target) == "category", options.task)


def _signed(values: list[Any] | Array, options: Options) -> Array | None:
    """Targets with a sign or a unit around them, such as $1,200.50, where they are numbers to be learned."""
    if options.task == "classify" or isinstance(values, np.ndarray) or not values:
        return None
    if not all(isinstance(value, str) for value in values):
        return None
    if as_targets(values)[1] is None:
        return None
    found = signed_either_way(values, options.decimal or ".")
    if found is None or (options.task or task_of(found.values)) != "regress":
        return None
    return found.values


def _number_with_comma(value: Any) -> str | None:
    try:
        return with_point(str(value)) if isinstance(value, str) else str(value)
    except ValueError:
        return None


def _with_notes_on_missing(table: Table) -> Table:
    empty = [name for name, count in table.missing.items() if count == table.n_rows]
    some = {name: count for name, count in table.missing.items() if count < table.n_rows}
    notes = list(table.notes)
    if empty:
        notes.append(f"{_named(empty)} no values at all.")
    if some:
        total = sum(some.values())
        worst = ", ".join(f"{name!r} {count}" for name, count in sorted(some.items(), key=lambda p: -p[1])[:5])
        missing = counted(total, "value is", "values are")
        notes.append(f"{missing} missing, in {len(some)} of {counted(table.n_columns, 'column')}: {worst}.")
    return replace(table, notes=tuple(notes))


def _named(names: list[str]) -> str:
    if len(names) == 1:
        return f"Column {names[0]!r} has"
    return f"{len(names)} columns ({enumeration(map(repr, names), 5)}) have"
