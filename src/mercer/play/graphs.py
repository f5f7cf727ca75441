"""The answer to graphs in two classes: a machine with a graph kernel, and why it says what it says of one more."""

from __future__ import annotations

from typing import Any

from ..kernels import Kernel
from ..kernels.graphs.graph_words import surroundings
from ..kernels.graphs.refinement import WeisfeilerLehman
from .item_machine import ItemMachine, within_time
from .item_scene import Graph, graph_scene
from .request_fields import leaves

__all__ = ["graphs"]


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
    scene = graph_scene(request)
    machine = ItemMachine.of(scene)
    answer = within_time(machine, scene)
    if scene.asked is not None:
        about = answer["asked"]
        about |= {"name": scene.names[about["label"]]}
        about |= {"nodes": node_pushes(scene.asked, about["pushes"], machine.kernel)}
    return answer


def node_pushes(graph: Graph, pushes: list[dict[str, Any]], kernel: Kernel) -> list[float] | None:
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
