"""What a fitted model computes, as a small tree that every target writes out in its own language.

A :class:`Node` stands for some numbers of each row. The tree begins with the columns of the input and ends with the
decision values, the probabilities where the model has them, and what is answered. Kernels are formulas inside
(:mod:`.similarities`), with these beginnings: a statistic of a row and a support row, ⟨x, x⟩ of the row itself, or a
number of the support row.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from .._runtime.compile import Array
from ..io.table import DataError
from ..kernels.symbols import Symbol

#: More numbers than this are not written out: a file of code would have gigabytes.
MOST = 20_000_000

__all__ = [
    "Answer",
    "Column",
    "Computation",
    "Node",
    "OfSupport",
    "Own",
    "Pair",
    "nodes_of",
]


@dataclass(frozen=True)
class Column:
    """A column of the input: numbers, or words."""

    name: str
    words: bool = False


@dataclass(frozen=True, eq=False)
class Node:
    """Some numbers of each row."""

    @property
    def width(self) -> int:
        """How many numbers of a row these are."""
        raise NotImplementedError

    def sources(self) -> list[Node]:
        """The nodes that this one is computed from."""
        found: list[Node] = []
        for each in fields(self):
            value = getattr(self, each.name)
            if isinstance(value, Node):
                found.append(value)
            elif isinstance(value, tuple):
                found += [part for part in value if isinstance(part, Node)]
            elif isinstance(value, Symbol):
                found += [leaf.rows for leaf in leaves_of(value) if not isinstance(leaf, OfSupport)]
        return found


# -- kernels ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Pair:
    """A statistic of a row x and a support row z.

    "dot" is ⟨x, z⟩, "squared_distance" ‖x − z‖², "distance" ‖x − z‖, "manhattan" Σ|xₖ − zₖ|; of levels, "agreement" is
    the share of equal ones, and "equal" 1 where all are.
    """

    statistic: str
    rows: Node
    support: Array


@dataclass(frozen=True, eq=False)
class Own:
    """⟨x, x⟩ of a row."""

    rows: Node


@dataclass(frozen=True, eq=False)
class OfSupport:
    """A number of each support row."""

    values: Array


def leaves_of(root: Symbol) -> list[Pair | Own | OfSupport]:
    """What a formula begins with, each once."""
    return [symbol.arguments[0] for symbol in symbols_of(root) if symbol.operation == "leaf"]


def symbols_of(root: Symbol) -> list[Symbol]:
    """All parts of a formula, each once and after its own parts."""
    found: dict[int, Symbol] = {}

    def go(symbol: Any) -> None:
        if isinstance(symbol, Symbol) and id(symbol) not in found:
            if symbol.operation != "leaf":
                for argument in symbol.arguments:
                    go(argument)
            found[id(symbol)] = symbol

    go(root)
    return list(found.values())


# -- the whole ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Answer:
    """What is answered of a row.

    kind : {"class", "labels", "usual", "numbers"}
        The number of a class, 0 or 1 for each label, 1 or −1, or numbers.
    node : Node
        A class is that of the largest; of one number, ``places[1]`` where it is not negative, else ``places[0]``.
        Labels, and what is usual, are where a number is not negative.
    """

    kind: str
    node: Node
    places: tuple[int, int] = (0, 1)


@dataclass(frozen=True, eq=False)
class Computation:
    """All that a model computes.

    Parameters
    ----------
    columns : list of Column
        What a row of the input has, in this order.
    scores : Node
        Decision values, or predicted numbers.
    probabilities : Node, optional
    answer : Answer
    classes : list
        Labels of classes, in the order of probabilities; empty where there are none.
    flat : bool
        Whether an answer of numbers is one number.
    title : str
        The model in a few words.
    """

    columns: list[Column]
    scores: Node
    probabilities: Node | None
    answer: Answer
    classes: list[Any]
    flat: bool
    title: str

    @property
    def outputs(self) -> list[Node]:
        """The nodes that are asked for."""
        return [node for node in (self.scores, self.probabilities, self.answer.node) if node is not None]


def nodes_of(outputs: list[Node]) -> Iterator[Node]:
    """All nodes that some are computed from, each once and after its own sources."""
    seen: set[int] = set()

    def go(node: Node) -> Iterator[Node]:
        if id(node) not in seen:
            seen.add(id(node))
            for source in node.sources():
                yield from go(source)
            yield node

    for output in outputs:
        yield from go(output)


def numbers_of(values: Any) -> Array:
    """Numbers in double precision, dense, in the order of rows."""
    if np.prod(np.shape(values), dtype=float) > MOST:
        raise DataError(
            f"the model holds {' × '.join(map(str, np.shape(values)))} numbers, more than a file of code has room for; "
            "export to libsvm, or keep it as a model file (mercer.save)."
        )
    dense = values.toarray() if hasattr(values, "toarray") else values
    return np.ascontiguousarray(dense, dtype=np.float64)
