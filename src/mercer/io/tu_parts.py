"""Which files belong to a collection of graphs in the TU format: ``NAME_A.txt``, ``NAME_graph_indicator.txt``, …"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path, PurePath

from .sources import Source

__all__ = ["in_folder", "is_collection", "looks_like", "one_collection", "part_of"]

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


def looks_like(source: Source) -> bool:
    """Whether a file is a tar archive."""
    return source.data[257:262] == b"ustar"


def one_collection(files: Iterable[str | PurePath], remedy: str) -> None:
    """Refuse parts of two collections, which would be mixed."""
    found = {str(PurePath(file).with_name(known[0])) for file in files if (known := part_of(PurePath(file).name))}
    if len(found) > 1:
        names = sorted(found)
        others = f" and {len(names) - 2} more" if len(names) > 2 else ""
        raise ValueError(f"there are two collections of graphs, {names[0]!r} and {names[1]!r}{others}; {remedy}.")
