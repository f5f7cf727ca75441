"""The answer to graphs in two classes: a machine with a graph kernel, and why it says what it says of one more."""

from __future__ import annotations

from typing import Any

from .._validation.parameters import shown
from ..kernels import Kernel
from ..kernels.graphs.graph_words import surroundings
from ..kernels.graphs.refinement import WeisfeilerLehman
from .asked import list_of, mapping
from .item_machine import ItemMachine, within_time
from .request_fields import cost, kernel_for, labels_of, leaves, plain_text, two_names

__all__ = ["graphs"]

_MOST_GRAPHS, _MOST_NODES, _LONGEST_LABEL = 60, 30, 12
_EXAMPLE = "weisfeilerlehman(h=2)"


def graphs(request: dict) -> dict:
    """What a support vector machine makes of graphs in two classes.

    Parameters
    ----------
    request : dict
        ``graphs``, each with the labels of its ``nodes`` and ``edges`` as pairs of node numbers; ``labels`` (0 or 1
        each), ``names`` of the classes, ``kernel`` as text, ``C`` and, where one more is asked about, ``asked``.

    Returns
    -------
    dict
        As :func:`mercer.play.words.words` does for words.

    Examples
    --------
    >>> ring = {"nodes": ["C", "C", "C"], "edges": [[0, 1], [1, 2], [2, 0]]}
    >>> chain = {"nodes": ["C", "C", "C"], "edges": [[0, 1], [1, 2]]}
    >>> answer = graphs({"graphs": [ring, chain], "labels": [0, 1], "kernel": "weisfeilerlehman(h=1)", "asked": chain})
    >>> answer["wrong"], answer["asked"]["label"], answer["asked"]["spectrum"][0]
    ([False, False], 1, {'feature': 'C', 'count': 3.0})
    """
    given = list_of(request.get("graphs"), "the graphs", _MOST_GRAPHS)
    items = [graph_of(graph, f"graph {place}") for place, graph in enumerate(given, 1)]
    labels = labels_of(request, "graphs", len(items))
    names = two_names(request)
    asked = None if request.get("asked") is None else graph_of(request["asked"], "the graph asked about")
    machine = ItemMachine(items, labels, kernel_for(request, "graphs", _EXAMPLE), cost(request))
    answer = within_time(machine, asked, f"{len(items)} graphs")
    if asked is not None:
        about = answer["asked"]
        about |= {"name": names[about["label"]], "nodes": node_pushes(asked, about["pushes"], machine.kernel)}
    return answer


def graph_of(graph: Any, what: str) -> tuple[int, list[list[int]], list[str]]:
    """A graph as the library takes it: the number of its nodes, its edges and the labels of its nodes.

    Examples
    --------
    >>> graph_of({"nodes": ["C", "O"], "edges": [[0, 1]]}, "graph 1")
    (2, [[0, 1]], ['C', 'O'])
    """
    parts = mapping(graph, what)
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


def node_pushes(
    graph: tuple[int, list[list[int]], list[str]], pushes: list[dict[str, Any]], kernel: Kernel
) -> list[float] | None:
    """What each node of a graph adds to its score: the push of its surroundings, shared by all nodes that have them.

    ``None`` where features are not the surroundings of nodes, so that they belong to no node.

    Examples
    --------
    >>> from mercer.kernels import WeisfeilerLehman
    >>> pushes = [{"feature": "C(O)", "push": 1.0}]
    >>> node_pushes((3, [[0, 1], [1, 2]], ["C", "O", "C"]), pushes, WeisfeilerLehman(h=1))
    [0.5, 0.0, 0.5]
    """
    rounds = [int(leaf.h) if isinstance(leaf, WeisfeilerLehman) else None for leaf in leaves(kernel)]
    known = [each for each in rounds if each is not None]
    if not pushes or len(known) < len(rounds):
        return None
    left = {each["feature"]: each["push"] for each in pushes}
    out = [0.0] * graph[0]
    for names in surroundings(graph, max(known)):
        for node, name in enumerate(names):
            if name in left:
                out[node] += left[name] / names.count(name)
        left = {name: push for name, push in left.items() if name not in names}
    return None if left else out
