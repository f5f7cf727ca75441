"""From named columns to a table: which column is the target, which are left out, which labels are missing."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from pandas.api.types import union_categoricals

from ..checks.labels import task_of
from ..checks.parameters import bytes_of
from ..columns import decide
from ..columns.kinds import about_labels
from ..columns.values import signed_either_way
from ..messages import counted, enumeration, nearest
from ..runtime.arrays import Array
from .cells import open_cells, record_names, with_point
from .sources import open_source
from .table import DataError, RowPlaces, Table, as_labels, as_targets
from .values import raw_column

if TYPE_CHECKING:
    import pandas as pd

    from .sources import Source
    from .table import Options

# Columns put together into a frame whose numbers lie in one block, without holding all of them twice.


def frame_in_one_block(columns: dict[str, Any], texts: set[str], n_rows: int) -> pd.DataFrame:
    """The frame of these columns, which are taken out of the dict one by one; texts stay Python's own.

    Examples
    --------
    >>> frame_in_one_block({"a": np.array([1.0, 2.0]), "b": np.array(["x", None], object)}, {"b"}, 2)
         a     b
    0  1.0     x
    1  2.0  None
    """
    order = list(columns)
    numbers = [name for name, column in columns.items() if getattr(column, "dtype", None) == np.float64]
    block = np.empty((len(numbers), n_rows))  # takes memory as it is filled, while the columns give theirs back
    for row, name in enumerate(numbers):
        block[row] = columns.pop(name)
    rows = pd.RangeIndex(n_rows)
    others = {name: pd.Series(columns[name], dtype=object) if name in texts else columns[name] for name in columns}
    columns.clear()
    frame = pd.DataFrame(block.T, index=rows, columns=pd.Index(numbers, dtype=object), copy=False)
    if others:
        frame = pd.concat([frame, pd.DataFrame(others, index=rows)], axis=1)[order]
    frame.columns = pd.Index(order)
    return frame


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
    """A table from columns; what each holds is decided here, for all files alike (:func:`mercer.columns.decide`).

    Columns are arrays of float64 for numbers or of datetime64 for dates, or pandas Categoricals for words; the target
    is a list of texts or an array, ``None`` or NaN where it is missing. The dictionary is empty afterwards.
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


# The columns of a file before anybody decides what they are for; what readers of rows hand on.


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
        Columns of categories some of which are numbers.
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
    """Columns of Python values or arrays as readers hand them on; what each of them holds is looked at."""
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


# Tables of strings, sets and graphs: the items stand where other tables have columns.


def item_table(
    items: Any,
    kind: str,
    labels: Sequence[Any] | None,
    target: str,
    origin: Origin,
    options: Options,
    remedy: str,
    notes: Sequence[str] = (),
    names: Array | None = None,
) -> Table:
    """Items with their labels, or without any where the options allow that; ``remedy`` says how to get some."""
    if options.drop:
        raise DataError(f"{origin.shown} holds {kind} and has no columns to leave out (--drop).")
    if labels is not None and len(labels) != len(items):
        raise DataError(f"{origin.shown} has {len(items)} {kind}, but there are {len(labels)} labels.")
    table = Table(
        origin.name, None, notes=tuple(notes), source=origin.source, digest=origin.digest, lines=origin.lines,
        items=items, kind=kind, names=names,
    )  # fmt: skip
    if labels is not None:
        return with_labels(table, list(labels), target, origin, options)
    if options.labelled and options.unlabelled_rows != "keep":
        raise DataError(f"{origin.shown} has no labels; {remedy}.")
    return table


def labels_from_file(names: list[str], options: Options) -> list[str | None]:
    """The labels in a file of their own: one a line, or a name and a label."""
    source = open_source(str(options.labels), options.max_bytes)
    rows = [row for _, row in open_cells(source, quotes=options.quotes).rows() if any(row)]
    if all(len(row) == 1 for row in rows):
        if len(rows) != len(names):
            raise DataError(f"{source.shown} has {len(rows)} labels for {len(names)} items; write one a line.")
        return [row[0] or None for row in rows]
    if any(len(row) != 2 for row in rows):
        raise DataError(f"{source.shown}: a file of labels has one label a line, or a name and a label.")
    known: dict[str, str] = {}
    for name, label in rows:
        if known.setdefault(name, label) != label:
            raise DataError(f"{source.shown} has two labels for {name!r}, {known[name]!r} and {label!r}; keep one.")
    if not any(name in known for name in names):
        raise DataError(f"{source.shown} has no label for any item: no line begins with a name such as {names[0]!r}.")
    return [known.get(name) or None for name in names]


# Several files with the same columns, whose rows come one after the other.


Reader = Callable[["Options"], RawTable]


def joined(readers: Sequence[Reader], options: Options, shown: str, name: str, source: str) -> RawTable:
    """The columns of several files as those of one; each reader gives those of a file, read as the options say.

    The last texts are what messages, reports and tables call all of them together.
    """
    first = readers[0](options)
    if options.target is not None or options.labelled:
        # A position is one in the first file: the others may have their columns in another order.
        position, _ = target_position(list(first.columns), _with_target(options, first), first.origin.shown)
        if position is not None:
            options = replace(options, target=list(first.columns)[position])
    options = replace(options, decimal=options.decimal or first.found.get("decimal"))
    # What lacks the target lacks a column, which is said below.
    raws = [first]
    for read in readers[1:]:
        raws.append(read(_within_what_is_left(replace(options, labelled=False), raws)))
    for raw in raws[1:]:
        refuse_other_columns(first.origin.shown, first.columns, raw.origin.shown, raw.columns)
    kinds = {column: {_kind(raw.columns[column]) for raw in raws} - {None, "labels"} for column in first.columns}
    mixed = [column for column, different in kinds.items() if len(different) > 1]
    if mixed:  # words in one file, numbers in another: words in all
        options = replace(options, kinds={**dict.fromkeys(mixed, "category"), **options.kinds})
        raws = []
        for read in readers:
            raws.append(read(_within_what_is_left(options, raws)))
    columns = {column: _stacked([raw.columns[column] for raw in raws]) for column in first.columns}
    counts = [_length(raw) for raw in raws]
    digest = hashlib.sha256(" ".join(raw.origin.digest for raw in raws).encode()).hexdigest()
    origin = Origin(shown, name, source, digest, _places(raws, counts))
    found = {key: value for raw in raws for key, value in raw.found.items()}
    partly = tuple(dict.fromkeys(column for raw in raws for column in raw.mixed))
    return RawTable(columns, origin, tuple(_notes(raws, counts, mixed)), found, first.target, partly)


def _within_what_is_left(options: Options, raws: list[RawTable]) -> Options:
    """The options for the next file: columns of the earlier ones are in memory, and will be once more when joined."""
    held = sum(2 * _held(column) for raw in raws for column in raw.columns.values())
    return replace(options, max_bytes=max(1, bytes_of(options.max_bytes) - held))


def _held(column: Any) -> int:
    """What a column takes in memory, roughly."""
    if isinstance(column, np.ndarray):
        return int(column.nbytes)
    return 8 * len(column) if isinstance(column, list) else int(column.codes.nbytes + 100 * len(column.categories))


def _with_target(options: Options, first: RawTable) -> Options:
    return replace(options, target=first.target) if options.target is None and first.target else options


def refuse_other_columns(first: str, names: Iterable[str], other: str, others: Iterable[str]) -> None:
    """Raise where a file has not the columns that the first one has; their order may be another.

    Examples
    --------
    >>> refuse_other_columns("'a.csv'", ["x", "y"], "'b.csv'", ["y", "z"])
    Traceback (most recent call last):
        ...
    mercer.io.table.DataError: 'b.csv' has other columns than 'a.csv': it lacks 'x' and also has 'z'; files that are \
read together need the same names.
    """
    names, others = list(names), list(others)
    lacks = [name for name in names if name not in others]
    more = [name for name in others if name not in names]
    if lacks or more:
        what = [
            *([f"lacks {enumeration(map(repr, lacks), 5)}"] if lacks else []),
            *([f"also has {enumeration(map(repr, more), 5)}"] if more else []),
        ]
        raise DataError(
            f"{other} has other columns than {first}: it {' and '.join(what)}; files that are read together need the "
            "same names."
        )


def _length(raw: RawTable) -> int:
    return len(next(iter(raw.columns.values())))


def _kind(column: Any) -> str | None:
    """What a column holds; ``None`` where it is empty, and fits every other."""
    if isinstance(column, list):
        return "labels"
    if isinstance(column, np.ndarray):
        return "dates" if column.dtype.kind == "M" else None if np.isnan(column).all() else "numbers"
    return "words" if (column.codes >= 0).any() else None


def _stacked(parts: list[Any]) -> Any:
    kinds = {_kind(part) for part in parts} - {None}
    if "labels" in kinds or len({type(part) for part in parts} - {np.ndarray}) > 1:
        return [label for part in parts for label in part]
    if "dates" in kinds:
        empty = [part if part.dtype.kind == "M" else np.full(len(part), "NaT", "datetime64[ns]") for part in parts]
        return np.concatenate(empty)
    if all(isinstance(part, np.ndarray) for part in parts):
        return np.concatenate(parts)
    words = [pd.Categorical([None] * len(p), categories=[]) if isinstance(p, np.ndarray) else p for p in parts]
    words = [part.set_categories(part.categories.astype(object)) for part in words]
    same = all(list(part.categories) == list(words[0].categories) for part in words)
    return union_categoricals(words, sort_categories=not same)


def _places(raws: list[RawTable], counts: list[int]) -> RowPlaces:
    numbers, words = [], []
    for raw, count in zip(raws, counts, strict=True):
        lines = raw.origin.lines
        if isinstance(lines, RowPlaces):
            numbers.append(lines.numbers)
            words.append(lines.words[0])
        else:
            numbers.append(np.arange(1, count + 1) if lines is None else lines)
            words.append("row" if lines is None else "line")
    files = [raw.origin.shown for raw in raws]
    return RowPlaces(np.concatenate(numbers), words, files, np.repeat(np.arange(len(raws)), counts))


def _notes(raws: list[RawTable], counts: list[int], mixed: list[str]) -> list[str]:
    files = (f"{raw.origin.shown} ({count} row{'s' if count != 1 else ''})" for raw, count in zip(raws, counts))
    notes = [f"{len(raws)} files were read one after the other: {enumeration(files, 5)}."]
    if mixed:
        notes.append(
            f"The values of {enumeration(map(repr, mixed), 5)} are not of one kind in all files; read as categories."
        )
    common = [note for note in raws[0].notes if all(note in raw.notes for raw in raws)]
    own = [f"{raw.origin.shown}: {note}" for raw in raws for note in raw.notes if note not in common]
    return [*notes, *common, *own[:5]]
