"""Files of strings, sets and graphs as tables: the items stand where other tables have columns."""

from __future__ import annotations

import glob
import hashlib
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from .._runtime.compile import Array
from .assemble import Origin, with_labels
from .baskets import read_baskets
from .fasta import read_fasta
from .sources import Source, open_source
from .table import DataError, Table
from .text import open_cells

if TYPE_CHECKING:
    from .graphs import TUGraphs
    from .reading import Options

__all__ = ["basket_table", "fasta_table", "folder_table", "graph_table"]

#: Which item of a basket is its label, by what a user may call it.
_PLACES = {"first": "first", "0": "first", "last": "last", "-1": "last"}


def fasta_table(source: Source, options: Options) -> Table:
    """Sequences of a FASTA file, labelled by ``label=`` (or ``target=``) in their headers or by a file of labels."""
    from ..kernels.strings import Strings

    target = "label" if options.target is None else str(options.target)
    try:
        found = read_fasta(source.data, source.shown, target)
    except ValueError as error:
        raise DataError(str(error)) from None
    if not any(found.sequences):
        raise DataError(f"{source.shown} has headers and no letter under any of them; write the sequences below them.")
    lines = source.data.removeprefix(b"\xef\xbb\xbf").splitlines()
    begins = np.array([number for number, line in enumerate(lines, 1) if line.startswith(b">")])
    labels: Sequence[Any] | None = found.labels
    if options.labels is not None:
        labels = _labels_beside([header.partition(" ")[0] for header in found.headers], options)
    remedy = f"write {target}=... into each header, or name a file of labels with labels=... (--labels FILE)"
    items = Strings.of(found.sequences)
    return _table(items, "strings", labels, target, _origin(source, begins), options, remedy)


def basket_table(source: Source, options: Options) -> Table:
    """Sets, one a line. The label is the first item of a line, or the last (``target="last"``), or in another file."""
    from ..kernels.bag_collection import Bags

    given = "first" if options.target is None and options.labelled and options.labels is None else str(options.target)
    place = None if options.labels is not None else _PLACES.get(given)
    try:
        found = read_baskets(source.data, place, options.delimiter, source.shown, options.quotes)
    except ValueError as error:
        raise DataError(str(error)) from None
    labels: Sequence[Any] | None = found.labels
    if options.labels is not None:
        labels = _labels_beside([str(number) for number in range(1, len(found.baskets) + 1)], options)
    assumed = place is not None and options.target is None
    notes = [f"The label is the {place} item of each line; --target last or --labels FILE say otherwise."]
    remedy = "say which item is the label with target='first' or 'last', or name a file of labels (--labels FILE)"
    origin = _origin(source, np.arange(1, len(found.baskets) + 1))
    items = Bags.of(found.baskets)
    table = _table(items, "sets", labels, place or "label", origin, options, remedy, notes if assumed else [])
    return replace(table, found={} if found.delimiter is None else {"delimiter": found.delimiter})


def graph_table(source: Source, options: Options) -> Table:
    """Graphs of an archive in the TU format."""
    return _graphs(source.data, _origin(source), options)


def folder_table(folder: str | Path, options: Options) -> Table:
    """Graphs of a folder in the TU format, or of one collection in it."""
    folder = Path(folder)
    digest = hashlib.sha256()
    inside = folder.is_dir()
    for path in sorted(folder.glob("*.txt") if inside else folder.parent.glob(f"{glob.escape(folder.name)}_*.txt")):
        digest.update(path.read_bytes())
    shown = f"the folder {folder.name!r}" if inside else f"the collection {folder.name!r}"
    return _graphs(folder, Origin(shown, folder.name, str(folder), digest.hexdigest()), options)


def _graphs(source: Path | bytes, origin: Origin, options: Options) -> Table:
    from .graphs import read_tu

    try:
        found: TUGraphs = read_tu(source, options.max_bytes)
    except ValueError as error:
        raise DataError(f"{origin.shown}: {error}") from None
    labels = None if found.labels is None else found.labels.tolist()
    if options.labels is not None:
        labels = _labels_beside([str(number) for number in range(1, len(found.graphs) + 1)], options)
    remedy = f"add the file {found.name}_graph_labels.txt, or name a file of labels with labels=... (--labels FILE)"
    return _table(found.graphs, "graphs", labels, "label", origin, options, remedy)


def _origin(source: Source, lines: Array | None = None) -> Origin:
    return Origin(source.shown, source.name, source.path, source.digest, lines)


def _table(
    items: Any,
    kind: str,
    labels: Sequence[Any] | None,
    target: str,
    origin: Origin,
    options: Options,
    remedy: str,
    notes: Sequence[str] = (),
) -> Table:
    if options.drop:
        raise DataError(f"{origin.shown} holds {kind} and has no columns to leave out (--drop).")
    if labels is not None and len(labels) != len(items):
        raise DataError(f"{origin.shown} has {len(items)} {kind}, but there are {len(labels)} labels.")
    table = Table(
        origin.name, None, notes=tuple(notes), source=origin.source, digest=origin.digest, lines=origin.lines,
        items=items, kind=kind,
    )  # fmt: skip
    if labels is not None:
        return with_labels(table, list(labels), target, origin, options)
    if options.labelled and options.unlabelled_rows != "keep":
        raise DataError(f"{origin.shown} has no labels; {remedy}.")
    return table


def _labels_beside(names: list[str], options: Options) -> list[str | None]:
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
