"""Graphs in the TU format: a folder or archive of text files, one for all edges, one for all labels, and so on."""

from __future__ import annotations

import glob
import hashlib
import io
import lzma
import tarfile
import zlib
from array import array
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .._runtime.compile import Array
from .._validation.memory import bytes_of
from ..kernels.engine.flat import starts_of
from ..kernels.graphs import Graphs
from .allowance import refuse_beyond
from .assemble import Origin, origin_of
from .item_table import item_table, labels_from_file
from .sources import Source, said_by
from .table import DataError, Table
from .tu_parts import is_collection, one_collection, part_of

if TYPE_CHECKING:
    from .options import Options

__all__ = ["TUGraphs", "read", "read_folder", "read_parts", "read_tu"]

#: The name of a collection, and its files by what they hold.
Parts = tuple[str, dict[str, bytes]]
#: What an edge, a node and a line of labels take in memory while graphs are put together.
_EDGE, _NODE, _LABEL = 220, 140, 120
#: Bytes that are read at a time.
_PIECE = 1 << 20


def read(source: Source, options: Options) -> Table:
    """Graphs of an archive in the TU format."""
    return _table(source.data, origin_of(source), options)


def read_folder(folder: Path, options: Options) -> Table:
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
        refuse_beyond(packed + _foretold(parts), origin.shown, options)
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


def _foretold(parts: dict[str, bytes]) -> int:
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
    labels = _labels(parts.get("graph_labels"))
    graphs = int(indicator.max(initial=0)) if labels is None else labels.size
    if indicator.size and (indicator.min() < 1 or indicator.max() > graphs):
        raise ValueError(f"{name}_graph_indicator.txt names graph {indicator.max()}, but there are {graphs} from 1 on.")
    if (indicator[edges[:, 0]] != indicator[edges[:, 1]]).any():
        row = int(np.argmax(indicator[edges[:, 0]] != indicator[edges[:, 1]]))
        raise ValueError(f"{name}_A.txt, line {row + 1}: the edge joins nodes of two different graphs.")
    node_labels, edge_labels = _labels(parts.get("node_labels")), _labels(parts.get("edge_labels"))
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


def _labels(data: bytes | None) -> Array | None:
    """The lines of a file: as whole numbers where all are, else as text."""
    if data is None:
        return None
    lines = [line.strip() for line in data.decode("utf-8", "replace").splitlines()]
    try:
        return np.array([int(line) for line in lines])
    except ValueError:
        return np.array(lines)
