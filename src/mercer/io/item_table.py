"""Tables of strings, sets and graphs: the items stand where other tables have columns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .._runtime.compile import Array
from .assemble import Origin, with_labels
from .cells import open_cells
from .sources import open_source
from .table import DataError, Table

if TYPE_CHECKING:
    from .options import Options

__all__ = ["item_table", "labels_from_file"]


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
