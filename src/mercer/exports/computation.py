"""What a fitted model computes, as a small tree that every target writes out in its own language.

A :class:`Node` stands for some numbers of each row. The tree begins with the columns of the input and ends with the
decision values, the probabilities where the model has them, and what is answered. Kernels are formulas inside
(:mod:`.computed`), with these beginnings: a statistic of a row and a support row, ⟨x, x⟩ of the row itself, or a
number of the support row.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from ..io import DataError
from ..kernels import Symbol
from ..runtime import Array

#: More numbers than this are not written out: a file of code would have gigabytes.
MOST = 20_000_000


@dataclass(frozen=True)
class Column:
    """A column of the input: numbers, or words."""

    name: str
    words: bool = False


@dataclass(frozen=True, eq=False)
class Node:
    """Some numbers of each row.

    A field with a comment is written as a constant in files of code, under that comment.
    """

    @property
    def width(self) -> int:
        """How many numbers of a row these are; as many as of the source, unless a node says otherwise."""
        return self.source.width  # type: ignore[attr-defined]

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
    support: Array = field(
        metadata={"comment": "Support rows: training rows, as the steps before the machine have prepared them."}
    )


@dataclass(frozen=True, eq=False)
class Own:
    """⟨x, x⟩ of a row."""

    rows: Node


@dataclass(frozen=True, eq=False)
class OfSupport:
    """A number of each support row."""

    values: Array = field(metadata={"comment": "A number of each support row that its similarities are multiplied by."})


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

    kind : {"class", "labels", "outliers", "numbers"}
        The number of a class, 0 or 1 for each label, 1 or −1, or numbers.
    node : Node
        A class is that of the largest; of one number, ``places[1]`` where it is not negative, else ``places[0]``.
        Labels and inliers are where a number is not negative.
    """

    kind: str
    node: Node
    places: tuple[int, int] = (0, 1)


@dataclass(frozen=True, eq=False)
class Computation:
    """All that a model computes of the columns of a row.

    ``scores`` are decision values, or predicted numbers. ``classes`` are labels in the order of probabilities; empty
    where there are none. ``flat``: an answer of numbers is one number.
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


# Every kind of node: from columns to rows of numbers, from these to scores, and from scores to probabilities.


@dataclass(frozen=True, eq=False)
class _Same(Node):
    """Numbers that are as many as those that they come from."""

    source: Node


@dataclass(frozen=True, eq=False)
class _OfClasses(Node):
    """A number for each class, of numbers for each pair of classes."""

    source: Node
    classes: int

    @property
    def width(self) -> int:
        return self.classes


@dataclass(frozen=True, eq=False)
class _AtPlaces(Node):
    """Some of the numbers of a row, by their places."""

    source: Node
    places: tuple[int, ...] = field(metadata={"comment": "Places of the columns that are used."})

    @property
    def width(self) -> int:
        return len(self.places)


# -- from columns to rows of numbers ------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Numbers(Node):
    """Columns of numbers, by their places among all columns."""

    places: tuple[int, ...] = field(metadata={"comment": "Places of the columns that are used."})

    @property
    def width(self) -> int:
        return len(self.places)


@dataclass(frozen=True, eq=False)
class Level(Node):
    """The number of a word (or of a number that stands for one) among those that are known; −1 if it is not.

    ``missing`` is the number of what stands for a missing one.
    """

    place: int
    levels: tuple[Any, ...] = field(
        metadata={"comment": "Values of a column that are known, in the order of their numbers."}
    )
    missing: int = -1
    width = 1


@dataclass(frozen=True, eq=False)
class TextCounts(Node):
    """How often terms stand in a text: (1 + log count)·importance, brought to one length.

    Terms are words and neighbours in small letters (``tokens`` is "words"), or so many letters in a row ("characters")
    with one space around the text; ``case``: capitals are other letters.
    """

    place: int
    tokens: str
    sizes: tuple[int, ...]
    terms: tuple[str, ...] = field(metadata={"comment": "Words, neighbours or substrings that are counted in a text."})
    importance: Array = field(
        metadata={"comment": "How much each of them counts: the less the more training texts have it."}
    )
    length: float
    case: bool

    @property
    def width(self) -> int:
        return len(self.terms)


@dataclass(frozen=True, eq=False)
class OneHot(Node):
    """Zeros, and 1 at ``hot[level]``, unless that is −1; what is not known has ``unknown``, −2 for no numbers."""

    source: Node
    hot: Array = field(metadata={"comment": "Where each known value has its 1; -1 for those that have none."})
    unknown: int
    count: int

    @property
    def width(self) -> int:
        return self.count


@dataclass(frozen=True, eq=False)
class Filled(_Same):
    """The numbers, and ``values`` where they are missing: NaN, or another ``marker``."""

    values: Array = field(
        metadata={"comment": "What replaces missing values in each column, such as its median; NaN where nothing does."}
    )
    marker: float


@dataclass(frozen=True, eq=False)
class Gaps(_AtPlaces):
    """1 where a number is missing, of some places, else 0."""

    marker: float


@dataclass(frozen=True, eq=False)
class Scaled(_Same):
    """(x − minus)·times + plus, each with a number for each of x."""

    minus: Array = field(metadata={"comment": "Subtracted from each column: means, where columns are standardised."})
    times: Array = field(
        metadata={"comment": "What each column is multiplied by then: 1 / standard deviation, or 1 / range."}
    )
    plus: Array = field(metadata={"comment": "Added to each column at last."})


@dataclass(frozen=True, eq=False)
class Clipped(_Same):
    """Not below ``low`` nor above ``high``."""

    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Monomials(Node):
    """Products of the numbers at some places; an empty product is 1."""

    source: Node
    factors: tuple[tuple[int, ...], ...] = field(
        metadata={"comment": "Products of columns: the places of the factors of each."}
    )

    @property
    def width(self) -> int:
        return len(self.factors)


@dataclass(frozen=True, eq=False)
class Picked(_AtPlaces):
    """The numbers at some places."""


@dataclass(frozen=True, eq=False)
class Beside(Node):
    """Numbers one after the other."""

    parts: tuple[Node, ...]

    @property
    def width(self) -> int:
        return sum(part.width for part in self.parts)


@dataclass(frozen=True, eq=False)
class Ones(Node):
    """The number 1."""

    width = 1


# -- scores -------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Linear(Node):
    """x·matrix + plus."""

    source: Node
    matrix: Array = field(metadata={"comment": "Weights: a line for each number of a row, a number for each score."})
    plus: Array = field(metadata={"comment": "Intercepts: what each score begins with."})

    @property
    def width(self) -> int:
        return self.matrix.shape[1]


@dataclass(frozen=True, eq=False)
class KernelSum(Node):
    """Σⱼ k(x, xⱼ)·coef[j] + plus, where the formula is k."""

    formula: Symbol
    coef: Array = field(metadata={"comment": "Coefficients: a line for each support row, a number for each score."})
    plus: Array = field(metadata={"comment": "Intercepts: what each score begins with."})

    @property
    def width(self) -> int:
        return self.coef.shape[1]


@dataclass(frozen=True, eq=False)
class OwnSimilarity(Node):
    """k(x, x), by a formula that begins with :class:`Own` alone."""

    formula: Symbol
    width = 1


@dataclass(frozen=True, eq=False)
class PathVote(Node):
    """The vote of all models along a path: update u adds ``coefficient[u]·k(x, x[column[u]])``, with ``bias[u]`` then.

    Each votes 1 where its score is not negative, else −1, with the share ``weight[u]``.
    """

    formula: Symbol
    column: Array = field(metadata={"comment": "Updates of the perceptron: the support row of each."})
    coefficient: Array = field(metadata={"comment": "Updates of the perceptron: what each adds."})
    bias: Array = field(metadata={"comment": "Updates of the perceptron: the bias after each."})
    weight: Array = field(metadata={"comment": "Updates of the perceptron: the share of votes of each."})
    width = 1


@dataclass(frozen=True, eq=False)
class PairVotes(_OfClasses):
    """Of the scores of pairs of classes: the pairs that each class wins, and a fraction that says by how much."""


@dataclass(frozen=True, eq=False)
class Sorted(_Same):
    """In increasing order."""


# -- probabilities ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Logistic(_Same):
    """1/(1 + exp(−(slope·x + level))), not nearer to 0 and 1 than ``bound``."""

    slope: Array = field(metadata={"comment": "Slopes of the sigmoid that makes a probability of each score."})
    level: Array = field(metadata={"comment": "Levels of the sigmoid that makes a probability of each score."})
    bound: float


@dataclass(frozen=True, eq=False)
class Logarithms(_Same):
    """log(x)."""


@dataclass(frozen=True, eq=False)
class Exponentials(_Same):
    """exp(x)."""


@dataclass(frozen=True, eq=False)
class Softmax(_Same):
    """exp(x) in shares of their sum."""


@dataclass(frozen=True, eq=False)
class Interpolated(_Same):
    """Straight lines through points, level beyond them; of one number."""

    points: Array = field(metadata={"comment": "Scores at which the probability is known."})
    values: Array = field(metadata={"comment": "Probabilities at these scores, and between them."})


@dataclass(frozen=True, eq=False)
class Staircase(Interpolated):
    """A value in each gap between points and on each of them: gap, point, gap, …, gap; of one number."""


@dataclass(frozen=True, eq=False)
class Coupled(_OfClasses):
    """Probabilities of classes that come nearest to those of pairs, which are of the second class each."""


@dataclass(frozen=True, eq=False)
class ToOne(_Same):
    """Positive numbers in shares of their sum; none of them counts as less than the least difference from 1."""
