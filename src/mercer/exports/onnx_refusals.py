"""Rows that a model refuses, in ONNX, which has no errors: they get no label and no number."""

from __future__ import annotations

from typing import Any

from .computation import Computation
from .onnx_graph import OnnxGraph
from .onnx_operators import DOUBLE

__all__ = ["sound_rows", "unanswered"]


def unanswered(computation: Computation) -> Any:
    """What stands in the place of a label where there is none: no label of a class.

    Examples
    --------
    >>> from mercer import SVC
    >>> from mercer.exports.computed import computed
    >>> [unanswered(computed(SVC("linear").fit([[0.0], [1.0]], labels))) for labels in (["", "a"], [0, 1], [-1, 1])]
    ['?', -1, -9223372036854775808]
    """
    classes = computation.classes
    if computation.answer.kind == "usual":
        return 0
    if computation.answer.kind == "labels" or not classes:
        return -1
    if isinstance(classes[0], str):
        return next(text for text in ("", "?", "no answer", "".join(classes)) if text not in classes)
    if isinstance(classes[0], float):
        return float("nan")
    return -1 if -1 not in classes else -(2**63)


def sound_rows(graph: OnnxGraph, computation: Computation) -> str:
    """The name of a column: whether all numbers of a row that go in are not infinite, and all that come out finite."""
    faults = [_any(graph, graph.add("IsInf", [name])) for name in _numbers_in(graph, computation)]
    for node in computation.outputs:
        name = graph.name(node)
        apart = graph.add("Sub", [name, name])  # NaN, unless the number is finite
        faults.append(_any(graph, graph.add("IsNaN", [apart])))
    count = graph.add("Sum", faults)
    return graph.add("Less", [count, graph.number(0.5)])


def _numbers_in(graph: OnnxGraph, computation: Computation) -> list[str]:
    """The tensors of numbers among the inputs."""
    pairs = zip(graph.columns, computation.columns, strict=True)
    return list(dict.fromkeys(name for (name, _), column in pairs if not column.words))


def _any(graph: OnnxGraph, flags: str) -> str:
    """How many of a row's flags are set."""
    return graph.summed(graph.add("Cast", [flags], to=DOUBLE))
