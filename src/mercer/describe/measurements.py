"""Strings, sets and graphs in numbers: how long, how large, made of what."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from .._runtime.compile import Array

if TYPE_CHECKING:
    from ..io import Table

__all__ = ["in_words", "measurements"]

#: Letters, items or labels that are named.
_NAMED = 8


def measurements(table: Table) -> Any:
    """A frame with what can be counted of each item.

    Examples
    --------
    >>> from mercer.io.table import Table
    >>> from mercer.kernels import Graphs
    >>> triangle = Table("toy", None, items=Graphs.of([(3, [[0, 1], [1, 2], [2, 0]])]), kind="graphs")
    >>> measurements(triangle).to_dict("records")
    [{'nodes': 3.0, 'edges': 3.0, 'neighbours of a node': 2.0, 'node labels': 1.0}]
    """
    import pandas as pd

    return pd.DataFrame(_MEASURES[table.kind](table.items), dtype=np.float64)


def _of_strings(strings: Any) -> dict[str, Array]:
    return {"length": np.diff(strings.starts), "different letters": _distinct(strings.codes, strings.starts)}


def _of_sets(bags: Any) -> dict[str, Array]:
    found = {"different items": np.diff(bags.counts.starts)}
    if (bags.counts.values != 1).any():
        found["items with repeats"] = bags.counts.totals()
    return found


def _of_graphs(graphs: Any) -> dict[str, Array]:
    ends = graphs.starts[graphs.node_starts]
    edges = np.diff(ends) / 2
    return {
        "nodes": graphs.sizes,
        "edges": edges,
        "neighbours of a node": 2 * edges / np.maximum(1, graphs.sizes),
        "node labels": _distinct(graphs.node_labels, graphs.node_starts),
    }


def _distinct(values: Array, starts: Array) -> Array:
    """How many different values each piece has."""
    return np.array([np.unique(values[begin:end]).size for begin, end in pairwise(starts)])


def in_words(table: Table) -> list[str]:
    """What the items are made of, and what is odd about them."""
    return [sentence for sentence in _WORDS[table.kind](table.items) if sentence]


def _about_strings(strings: Any) -> list[str]:
    codes, counts = np.unique(strings.codes, return_counts=True)
    shares = dict(zip(map(chr, codes.tolist()), (counts / max(1, counts.sum())).tolist(), strict=True))
    sizes = np.diff(strings.starts)
    aligned = sizes.size and sizes.min() == sizes.max()
    return [
        f"{codes.size} different letters; the commonest are {_listed(shares)}.",
        f"All strings have the length {sizes[0]}, so kernels may compare them place by place." if aligned else "",
        _empty(int((sizes == 0).sum()), "strings"),
    ]


def _about_sets(bags: Any) -> list[str]:
    held = Counter({bags.names[key]: number for key, number in zip(*_counted(bags.counts.keys), strict=True)})
    shares = {str(name): number / max(1, len(bags)) for name, number in held.most_common(_NAMED)}
    return [
        f"{len(held)} different items; the commonest are {_listed(shares)} of the sets.",
        _empty(int((np.diff(bags.counts.starts) == 0).sum()), "sets"),
    ]


def _about_graphs(graphs: Any) -> list[str]:
    found = []
    for what, keys in (("Nodes", graphs.node_labels), ("Edges", graphs.edge_labels)):
        known, counts = _counted(keys)
        if known and known[0] in graphs.names:
            order = sorted(zip(counts, known, strict=True), reverse=True)[:_NAMED]
            shares = {str(graphs.names[key]): number / keys.size for number, key in order}
            found.append(f"{what} have {len(known)} different labels; the commonest are {_listed(shares)}.")
        else:
            found.append(f"{what} have no labels.")
    return [*found, _empty(int((graphs.sizes == 0).sum()), "graphs")]


def _counted(keys: Array) -> tuple[list[int], list[int]]:
    found, counts = np.unique(keys, return_counts=True)
    return found.tolist(), counts.tolist()


def _listed(shares: dict[str, float]) -> str:
    most = sorted(shares.items(), key=lambda pair: -pair[1])[:_NAMED]
    return ", ".join(f"{name!r} ({'<1' if share < 0.01 else f'{100 * share:.0f}'} %)" for name, share in most)


def _empty(number: int, kind: str) -> str:
    return f"{number} of the {kind} are empty." if number else ""


_MEASURES = {"strings": _of_strings, "sets": _of_sets, "graphs": _of_graphs}
_WORDS = {"strings": _about_strings, "sets": _about_sets, "graphs": _about_graphs}
