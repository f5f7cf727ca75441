"""FASTA: sequences, each under a line that starts with ``>``."""

from __future__ import annotations

import csv
import glob
import hashlib
import io
import lzma
import re
import tarfile
import zlib
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any, NamedTuple

import numpy as np

from ..checks.parameters import bytes_of
from ..kernels import Graphs, Strings
from ..kernels.engine.tiles import starts_of
from ..kernels.sets import Bags
from ..runtime.arrays import Array
from .assemble import Origin, item_table, labels_from_file, origin_of
from .sources import Source, as_text, line_of, refuse_beyond, said_by
from .table import DataError, Options, Table

#: What a record takes in memory beside its letters, which are kept as numbers of four bytes too.
_RECORD, _LETTER, _WIDE_LETTER = 250, 12, 18


def looks_like_fasta(source: Source) -> bool:
    """Whether a file begins with the header of a record."""
    return source.data.startswith((b">", b"\xef\xbb\xbf>"))


def fasta_table(source: Source, options: Options) -> Table:
    """Sequences of a FASTA file, labelled by ``label=`` (or ``target=``) in their headers or by a file of labels."""
    target = "label" if options.target is None else str(options.target)
    refuse_beyond(_fasta_bytes(source.data), source.shown, options)
    found = read_fasta(source.data, source.shown, target)
    if not any(found.sequences):
        raise DataError(f"{source.shown} has headers and no letter under any of them; write the sequences below them.")
    begins = np.fromiter((number for number, line in _lines(source.data) if line.startswith(">")), np.int64)
    labels: Sequence[Any] | None = found.labels
    words = [header.partition(" ")[0] for header in found.headers]
    if options.labels is not None:
        labels = labels_from_file(words, options)
    remedy = f"write {target}=... into each header, or name a file of labels with labels=... (--labels FILE)"
    items = Strings.of(found.sequences)
    names = np.array(words if len(set(words)) == len(words) else found.headers, dtype=object)
    return item_table(items, "strings", labels, target, origin_of(source, begins), options, remedy, names=names)


class Fasta(NamedTuple):
    """Sequences, what stands above each of them, and the value of ``label=`` there.

    ``labels`` is ``None`` where no record has one, and has ``None`` for each record without one where others do.
    """

    headers: list[str]
    sequences: list[str]
    labels: list[str | None] | None


def read_fasta(data: bytes, name: str = "the FASTA file", label: str = "label") -> Fasta:
    """The records of a FASTA file.

    Parameters
    ----------
    data : bytes
        The file, unpacked.
    name : str
        What messages call the file.
    label : str, default="label"
        The word before ``=`` in a header that stands before the label.

    Returns
    -------
    Fasta

    Examples
    --------
    >>> read_fasta(b">one label=+1\\nGATT\\nACA\\n>two label=-1\\n")
    Fasta(headers=['one label=+1', 'two label=-1'], sequences=['GATTACA', ''], labels=['+1', '-1'])
    """
    nul = data.find(b"\0")
    if nul >= 0:
        raise DataError(
            f"{name}, line {line_of(data, nul)}: there is a NUL byte; this is no FASTA file, or a damaged one."
        )
    headers: list[str] = []
    sequences: list[str] = []
    letters = io.StringIO()
    try:
        for _, line in _lines(data):
            if line.startswith(">"):
                if headers:
                    sequences.append(letters.getvalue())
                headers.append(line[1:].strip())
                letters = io.StringIO()
            elif headers:
                letters.write("".join(line.split()))
            elif line.strip():
                raise DataError(f"{name} has text before the first record; a FASTA file starts with a line '>name'.")
    except UnicodeDecodeError:
        as_text(data, name)  # which says in which line
    if not headers:
        raise DataError(f"{name} has no records; a FASTA file starts with a line '>name'.")
    return Fasta(headers, [*sequences, letters.getvalue()], _fasta_labels(headers, label))


def _lines(data: bytes) -> Iterator[tuple[int, str]]:
    """The lines of a file, from 1; whatever ends them."""
    return enumerate(io.TextIOWrapper(io.BytesIO(data), encoding="utf-8-sig", newline=None), 1)


def _fasta_bytes(data: bytes) -> int:
    """What the records of a file take in memory."""
    return len(data) * (_LETTER if data.isascii() else _WIDE_LETTER) + _RECORD * data.count(b">")


def _fasta_labels(headers: list[str], label: str) -> list[str | None] | None:
    pattern = re.compile(rf"\b{re.escape(label)}\s*=\s*([^\s,;|]+)", re.IGNORECASE)
    found = [match[1] if (match := pattern.search(header)) else None for header in headers]
    return found if any(label is not None for label in found) else None


# Basket files: one set a line, its items with something between them.


#: Which item of a basket is its label, by what a user may call it.
_PLACES = {"first": "first", "0": "first", "last": "last", "-1": "last"}
#: What a basket, an item of one, and a byte of the file take in memory.
_BASKET, _ITEM, _BYTE = 300, 100, 12


def basket_table(source: Source, options: Options) -> Table:
    """Sets, one a line. The label is the first item of a line, or the last (``target="last"``), or in another file."""
    given = "first" if options.target is None and options.labelled and options.labels is None else str(options.target)
    place = None if options.labels is not None else _PLACES.get(given)
    refuse_beyond(_basket_bytes(source.data), source.shown, options)
    found = read_baskets(source.data, place, options.delimiter, source.shown, options.quotes)
    labels: Sequence[Any] | None = found.labels
    if options.labels is not None:
        labels = labels_from_file([str(number) for number in range(1, len(found.baskets) + 1)], options)
    assumed = place is not None and options.target is None
    notes = [f"The label is the {place} item of each line; --target last or --labels FILE say otherwise."]
    remedy = "say which item is the label with target='first' or 'last', or name a file of labels (--labels FILE)"
    origin = origin_of(source, np.arange(1, len(found.baskets) + 1))
    items = Bags.of(found.baskets)
    table = item_table(items, "sets", labels, place or "label", origin, options, remedy, notes if assumed else [])
    return replace(table, found={} if found.delimiter is None else {"delimiter": found.delimiter})


class Baskets(NamedTuple):
    """Lists of items, a label for each (``None`` where the file has none), and what stands between items, if seen."""

    baskets: list[list[str]]
    labels: list[str] | None
    delimiter: str | None = None


def read_baskets(
    data: bytes,
    label: str | None = None,
    delimiter: str | None = None,
    name: str = "the basket file",
    quotes: bool = True,
) -> Baskets:
    """The baskets of a file, one a line. An empty line is an empty basket.

    Parameters
    ----------
    data : bytes
        The file, unpacked.
    label : {"first", "last"}, optional
        Which item of a line is not an item but the label of its basket.
    delimiter : str, optional
        What stands between items. By default a tab, semicolon or comma, whichever occurs, else white space.
    name : str
        What messages call the file.
    quotes : bool, default=True
        Whether ``"`` around an item protects what stands inside; if not, it is an ordinary character.

    Returns
    -------
    Baskets

    Examples
    --------
    >>> read_baskets(b"yes,milk,bread\\nno,egg\\n", label="first")
    Baskets(baskets=[['milk', 'bread'], ['egg']], labels=['yes', 'no'], delimiter=',')
    """
    if label not in (None, "first", "last"):
        raise DataError(f"read_baskets: label must be 'first', 'last' or None; got {label!r}.")
    text = as_text(data, name)
    text = text.replace("\r\n", "\n").rstrip("\n")
    if delimiter is None:
        delimiter = next((mark for mark in "\t;, " if mark in text), None)
    same: dict[str, str] = {}  # one text object for each item, however often it comes
    baskets: list[list[str]] = []
    labels: list[str] = []
    for number, line in enumerate(text.split("\n"), 1):
        place = f"{name}, line {number}"
        cells = line.split() if delimiter in (None, " ") else _cells(line, delimiter, quotes, place)
        basket = [same.setdefault(item, item) for item in map(str.strip, cells) if item]
        if label is not None:
            if not basket:
                raise DataError(f"{place}: the line is empty, so its basket has no label.")
            labels.append(basket.pop(0 if label == "first" else -1))
        baskets.append(basket)
    return Baskets(baskets, labels if label is not None else None, delimiter)


def _basket_bytes(data: bytes) -> int:
    """What baskets take in memory: by lines, and by the marks that may stand between items."""
    lines = data.count(b"\n") + 1
    items = lines + max(data.count(mark) for mark in (b"\t", b";", b",", b" "))
    return _BYTE * len(data) + _BASKET * lines + _ITEM * items


def _cells(line: str, delimiter: str, quotes: bool, place: str) -> list[str]:
    """The items of one line. A basket is a line: no quote reaches into the next."""
    if not quotes or '"' not in line:
        return line.split(delimiter)
    try:
        return next(csv.reader([line], delimiter=delimiter, strict=True), [])
    except csv.Error as error:
        raise DataError(
            f"{place}: the quotes do not match ({error}); close the quote, or read quotes as ordinary characters with "
            "quotes=False (--no-quotes)."
        ) from None


# Which files belong to a collection of graphs in the TU format: ``NAME_A.txt``, ``NAME_graph_indicator.txt``, …


_PARTS = ("A", "graph_indicator", "graph_labels", "node_labels", "edge_labels")


def part_of(filename: str) -> tuple[str, str] | None:
    """The name of the collection and the part that a file holds, where it is one of those needed.

    Examples
    --------
    >>> part_of("MUTAG_graph_labels.txt"), part_of("README.txt")
    (('MUTAG', 'graph_labels'), None)
    """
    for part in _PARTS:
        if filename.endswith(f"_{part}.txt"):
            return filename.removesuffix(f"_{part}.txt"), part
    return None


def is_collection(path: str | Path) -> bool:
    """Whether a path is a folder and the name of a collection in it."""
    place = Path(path)
    return bool(place.name) and place.with_name(f"{place.name}_A.txt").is_file()


def in_folder(path: Path) -> bool:
    """Whether a path is a folder of graphs, or one collection in a folder."""
    if path.is_dir():
        return any(part_of(file.name) is not None for file in path.iterdir())
    return is_collection(path)


def looks_like_tar(source: Source) -> bool:
    """Whether a file is a tar archive."""
    return source.data[257:262] == b"ustar"


def one_collection(files: Iterable[str | PurePath], remedy: str) -> None:
    """Refuse parts of two collections, which would be mixed."""
    found = {str(PurePath(file).with_name(known[0])) for file in files if (known := part_of(PurePath(file).name))}
    if len(found) > 1:
        names = sorted(found)
        others = f" and {len(names) - 2} more" if len(names) > 2 else ""
        raise ValueError(f"there are two collections of graphs, {names[0]!r} and {names[1]!r}{others}; {remedy}.")


# Graphs in the TU format: a folder or archive of text files, one for all edges, one for all labels, and so on.


#: The name of a collection, and its files by what they hold.
Parts = tuple[str, dict[str, bytes]]
#: What an edge, a node and a line of labels take in memory while graphs are put together.
_EDGE, _NODE, _LABEL = 220, 140, 120
#: Bytes that are read at a time.
_PIECE = 1 << 20


def graph_table(source: Source, options: Options) -> Table:
    """Graphs of an archive in the TU format."""
    return _table(source.data, origin_of(source), options)


def graph_folder_table(folder: Path, options: Options) -> Table:
    """Graphs of a folder in the TU format, or of one collection in it."""
    digest = hashlib.sha256()
    inside = folder.is_dir()
    for path in sorted(folder.glob("*.txt") if inside else folder.parent.glob(f"{glob.escape(folder.name)}_*.txt")):
        digest.update(path.read_bytes())
    shown = f"the folder {folder.name!r}" if inside else f"the collection {folder.name!r}"
    return _table(folder, Origin(shown, folder.name, str(folder), digest.hexdigest()), options)


def read_parts(sources: Sequence[Source], options: Options) -> Table:
    """Graphs of files in the TU format that came together in an archive."""
    parts = {}
    names = [each.member for each in sources]
    try:
        one_collection(names, "unpack it and name one of them")
    except ValueError as error:
        raise DataError(f"{Path(sources[0].path).name!r}: {error}") from None
    for each in sources:
        known = part_of(Path(each.member).name)
        if known is not None:
            name, parts[known[1]] = known[0], each.data
    origin = replace(origin_of(sources[0]), shown=repr(Path(sources[0].path).name), name=name)
    return _table((name, parts), origin, options)


def _table(source: Path | bytes | Parts, origin: Origin, options: Options) -> Table:
    try:
        name, parts = source if isinstance(source, tuple) else _parts(source, bytes_of(options.max_bytes))
        packed = len(source) if isinstance(source, bytes) else 0
        refuse_beyond(packed + _graph_bytes(parts), origin.shown, options)
        found = _graphs(name, parts)
    except DataError:
        raise
    except ValueError as error:
        raise DataError(f"{origin.shown}: {error}") from None
    labels = None if found.labels is None else found.labels.tolist()
    if options.labels is not None:
        labels = labels_from_file([str(number) for number in range(1, len(found.graphs) + 1)], options)
    remedy = f"add the file {found.name}_graph_labels.txt, or name a file of labels with labels=... (--labels FILE)"
    return item_table(found.graphs, "graphs", labels, "label", origin, options, remedy)


class TUGraphs(NamedTuple):
    """Graphs, the label of each (``None`` where the data has none), and the name of the collection."""

    graphs: Graphs
    labels: Array | None
    name: str


def read_tu(source: str | Path | bytes, max_bytes: int | str = "1GB") -> TUGraphs:
    """Graphs in the TU format.

    Parameters
    ----------
    source : path or bytes
        A folder, a tar archive (packed or not), or the bytes of one. An archive is read, never extracted. Where a
        folder holds several collections, the folder and the name of one: ``"folder/NAME"``.
    max_bytes : int or str, default="1GB"
        What its files may take together, unpacked.

    Returns
    -------
    TUGraphs

    Examples
    --------
    >>> import pathlib, tempfile
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "TOY_A.txt").write_text("1, 2\\n2, 1\\n")
    >>> _ = (folder / "TOY_graph_indicator.txt").write_text("1\\n1\\n2\\n")
    >>> _ = (folder / "TOY_graph_labels.txt").write_text("1\\n-1\\n")
    >>> toy = read_tu(folder)
    >>> toy.name, list(toy.graphs), toy.labels.tolist()
    ('TOY', [(2, [[0, 1]]), (1, [])], [1, -1])
    """
    return _graphs(*_parts(source, bytes_of(max_bytes)))


def _parts(source: str | Path | bytes, limit: int) -> Parts:
    if not isinstance(source, bytes) and Path(source).is_dir():
        return _folder(Path(source), limit)
    if not isinstance(source, bytes) and is_collection(source):
        return _folder(Path(source).parent, limit, Path(source).name)
    return _archive(source if isinstance(source, bytes) else Path(source).read_bytes(), limit)


def _graph_bytes(parts: dict[str, bytes]) -> int:
    """What graphs take in memory: edges and nodes by the lines that name them."""
    lines = {part: data.count(b"\n") + data.count(b"\r") + 1 for part, data in parts.items()}
    labels = sum(count for part, count in lines.items() if part.endswith("_labels"))
    size = sum(map(len, parts.values()))
    numbers = max(lines.get("A", 0), parts.get("A", b"").count(b",")) * _EDGE + lines.get("graph_indicator", 0) * _NODE
    return size + numbers + labels * _LABEL + max((len(parts[part]) for part in parts), default=0)


def _graphs(name: str, parts: dict[str, bytes]) -> TUGraphs:
    for needed in ("A", "graph_indicator"):
        if needed not in parts:
            raise ValueError(f"the file {name}_{needed}.txt is missing, which the TU format needs; add it.")
    return TUGraphs(*_assemble(parts, name), name)


def _folder(folder: Path, limit: int, only: str | None = None) -> tuple[str, dict[str, bytes]]:
    """The parts of a folder; of one collection in it, where it is named."""
    name, parts = folder.name, {}
    files = sorted(folder.glob("*.txt"))
    if only is None:
        one_collection([path.name for path in files], "name one of them: the folder, a slash and the name")
    for path in files:
        known = part_of(path.name)
        if known is not None and only in (None, known[0]):
            limit -= path.stat().st_size
            _refuse_size(limit)
            name, parts[known[1]] = known[0], path.read_bytes()
    return name, parts


def _archive(data: bytes, limit: int) -> tuple[str, dict[str, bytes]]:
    name, parts = "graphs", {}
    try:
        with tarfile.open(fileobj=io.BytesIO(data), mode="r:*") as archive:
            one_collection([member.name for member in archive if member.isfile()], "unpack it and name one of them")
            for member in archive:
                known = part_of(Path(member.name).name)
                file = archive.extractfile(member) if known is not None and member.isfile() else None
                if known is None or file is None:
                    continue
                limit -= member.size
                _refuse_size(limit)
                content = file.read(member.size)
                name, parts[known[1]] = known[0], content
    except ValueError:
        raise
    except (tarfile.TarError, EOFError, OSError, zlib.error, lzma.LZMAError) as error:
        raise ValueError(f"the graphs are no folder and no readable tar archive: {said_by(error)}.") from None
    return name, parts


def _refuse_size(left: int) -> None:
    if left < 0:
        raise ValueError(
            "the files of these graphs take more bytes than are allowed; allow more with max_bytes (--max-bytes)."
        )


def _assemble(parts: dict[str, bytes], name: str) -> tuple[Graphs, Array | None]:
    from ..kernels import Graphs

    indicator = _numbers(parts["graph_indicator"], f"{name}_graph_indicator.txt")
    edges = _numbers(parts["A"], f"{name}_A.txt")
    if edges.size % 2:
        raise ValueError(f"{name}_A.txt has {edges.size} numbers, which are no pairs of nodes.")
    edges = edges.reshape(-1, 2) - 1
    strange = ((edges < 0) | (edges >= indicator.size)).any(axis=1)
    if strange.any():
        row = int(np.argmax(strange))
        ends = " to ".join(str(node + 1) for node in edges[row])
        raise ValueError(
            f"{name}_A.txt, line {row + 1}: the edge {ends} names a node that does not exist; "
            f"{name}_graph_indicator.txt has {indicator.size} nodes, numbered from 1."
        )
    labels = _graph_labels(parts.get("graph_labels"))
    graphs = int(indicator.max(initial=0)) if labels is None else labels.size
    if indicator.size and (indicator.min() < 1 or indicator.max() > graphs):
        raise ValueError(f"{name}_graph_indicator.txt names graph {indicator.max()}, but there are {graphs} from 1 on.")
    if (indicator[edges[:, 0]] != indicator[edges[:, 1]]).any():
        row = int(np.argmax(indicator[edges[:, 0]] != indicator[edges[:, 1]]))
        raise ValueError(f"{name}_A.txt, line {row + 1}: the edge joins nodes of two different graphs.")
    node_labels, edge_labels = _graph_labels(parts.get("node_labels")), _graph_labels(parts.get("edge_labels"))
    for own, size, what in ((node_labels, indicator.size, "node"), (edge_labels, len(edges), "edge")):
        if own is not None and own.size != size:
            raise ValueError(f"{name}_{what}_labels.txt has {own.size} lines for {size} {what}s.")
    order = np.argsort(indicator, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    node_starts = starts_of(np.bincount(indicator - 1, minlength=graphs))
    sorted_labels = None if node_labels is None else node_labels[order]
    return Graphs.from_edges(node_starts, place[edges], sorted_labels, edge_labels), labels


def _numbers(data: bytes, name: str) -> Array:
    numbers, lines = array("q"), io.BytesIO(data)
    try:
        while some := lines.readlines(_PIECE):
            numbers.extend(map(int, b"".join(some).replace(b",", b" ").split()))
    except (ValueError, OverflowError):
        raise ValueError(f"{name} has something else than whole numbers.") from None
    return np.frombuffer(numbers, np.int64) if numbers else np.empty(0, np.int64)


def _graph_labels(data: bytes | None) -> Array | None:
    """The lines of a file: as whole numbers where all are, else as text."""
    if data is None:
        return None
    lines = [line.strip() for line in data.decode("utf-8", "replace").splitlines()]
    try:
        return np.array([int(line) for line in lines])
    except ValueError:
        return np.array(lines)
