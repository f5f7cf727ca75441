"""What is on the pages of words and of graphs: items in two classes, a kernel, C, and one more to ask about."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .._validation.parameters import shown
from ..kernels import Kernel
from .asked import list_of, mapping
from .request_fields import cost, kernel_for, labels_of, plain_text, two_names

__all__ = ["ItemScene", "graph_scene", "word_scene"]

_MOST_WORDS, _MOST_LETTERS = 200, 200
_MOST_GRAPHS, _MOST_NODES, _LONGEST_LABEL = 60, 30, 12

#: A graph as :class:`mercer.kernels.Graphs` takes it: the number of its nodes, its edges and the labels of its nodes.
Graph = tuple[int, list[list[int]], list[str]]


@dataclass(frozen=True)
class ItemScene:
    """Items in two classes, checked.

    Parameters
    ----------
    many : str
        What the items are called: words or graphs.
    items : list
    labels : list of int
        0 or 1 each.
    names : list of str
        What the two classes are called.
    kernel : Kernel
    C : float
    asked : object
        The item that is asked about, or ``None``.
    """

    many: str
    items: list[Any]
    labels: list[int]
    names: list[str]
    kernel: Kernel
    C: float
    asked: Any


def word_scene(request: dict[str, Any]) -> ItemScene:
    """The scene of a request with ``words``.

    Examples
    --------
    >>> word_scene({"words": ["abab", "cdcd"], "labels": [0, 1], "asked": "ab"}).kernel
    spectrum(p=2)
    """

    def word(given: Any, what: str) -> str:
        value = plain_text(given, what, _MOST_LETTERS)
        if not value:
            raise ValueError(f"{what} is empty; remove it.")
        return value

    asked = plain_text(request.get("asked") or "", "the word asked about", _MOST_LETTERS) or None
    kernel = kernel_for(request, "strings", "spectrum(p=2)")
    return _scene(request, "word", _MOST_WORDS, word, kernel, asked)


def graph_scene(request: dict[str, Any]) -> ItemScene:
    """The scene of a request with ``graphs``.

    Examples
    --------
    >>> chain = {"nodes": ["C", "O"], "edges": [[0, 1]]}
    >>> graph_scene({"graphs": [chain, chain], "labels": [0, 1]}).items[0]
    (2, [[0, 1]], ['C', 'O'])
    """
    asked = None if request.get("asked") is None else _graph(request["asked"], "the graph asked about")
    kernel = kernel_for(request, "graphs", "weisfeilerlehman(h=2)")
    return _scene(request, "graph", _MOST_GRAPHS, _graph, kernel, asked)


def _scene(
    request: dict[str, Any], one: str, most: int, item: Callable[[Any, str], Any], kernel: Kernel, asked: Any
) -> ItemScene:
    many = f"{one}s"
    given = list_of(request.get(many), f"the {many}", most)
    items = [item(each, f"{one} {place}") for place, each in enumerate(given, 1)]
    labels = labels_of(request, many, len(items))
    return ItemScene(many, items, labels, two_names(request), kernel, cost(request), asked)


def _graph(given: Any, what: str) -> Graph:
    parts = mapping(given, what)
    nodes = list_of(parts.get("nodes"), f"the nodes of {what}", _MOST_NODES)
    edges = list_of(parts.get("edges"), f"the edges of {what}", _MOST_NODES**2)
    if not nodes:
        raise ValueError(f"{what} has no nodes; give it one or more.")
    labels = [plain_text(label, f"label {place} of {what}", _LONGEST_LABEL) for place, label in enumerate(nodes, 1)]
    for edge in edges:
        whole = isinstance(edge, list) and len(edge) == 2 and all(type(end) is int for end in edge)
        if not whole or not all(0 <= end < len(nodes) for end in edge) or edge[0] == edge[1]:
            raise ValueError(
                f"an edge of {what} should be two different node numbers from 0 to {len(nodes) - 1}, got {shown(edge)}."
            )
    return len(nodes), edges, labels
