"""Every kind of node: from columns to rows of numbers, from these to scores, and from scores to probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .._runtime.compile import Array
from ..kernels.symbols import Symbol
from .computation import Node

__all__ = [
    "Beside",
    "Clipped",
    "Coupled",
    "Exponentials",
    "Filled",
    "Gaps",
    "Interpolated",
    "KernelSum",
    "Level",
    "Linear",
    "Logarithms",
    "Logistic",
    "Monomials",
    "NormalQuantile",
    "Numbers",
    "OneHot",
    "Ones",
    "OwnSimilarity",
    "PairVotes",
    "PathVote",
    "Picked",
    "Powered",
    "Scaled",
    "Softmax",
    "Sorted",
    "Staircase",
    "TextCounts",
    "ToOne",
    "UnitLength",
]


@dataclass(frozen=True, eq=False)
class _Same(Node):
    """Numbers that are as many as those that they come from."""

    source: Node

    @property
    def width(self) -> int:
        return self.source.width


# -- from columns to rows of numbers ------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Numbers(Node):
    """Columns of numbers, by their places among all columns."""

    places: tuple[int, ...]

    @property
    def width(self) -> int:
        return len(self.places)


@dataclass(frozen=True, eq=False)
class Level(Node):
    """The number of a word (or of a number that stands for one) among those that are known; −1 if it is not.

    ``missing`` is the number of what stands for a missing one.
    """

    place: int
    levels: tuple[Any, ...]
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
    terms: tuple[str, ...]
    importance: Array
    length: float
    case: bool

    @property
    def width(self) -> int:
        return len(self.terms)


@dataclass(frozen=True, eq=False)
class OneHot(Node):
    """Zeros, and 1 at ``hot[level]``, unless that is −1; what is not known has ``unknown``, −2 for no numbers."""

    source: Node
    hot: Array
    unknown: int
    count: int

    @property
    def width(self) -> int:
        return self.count


@dataclass(frozen=True, eq=False)
class Filled(_Same):
    """The numbers, and ``values`` where they are missing: NaN, or another ``marker``."""

    values: Array
    marker: float


@dataclass(frozen=True, eq=False)
class Gaps(Node):
    """1 where a number is missing, of some places, else 0."""

    source: Node
    places: tuple[int, ...]
    marker: float

    @property
    def width(self) -> int:
        return len(self.places)


@dataclass(frozen=True, eq=False)
class Scaled(_Same):
    """(x − minus)·times + plus, each with a number for each of x."""

    minus: Array
    times: Array
    plus: Array


@dataclass(frozen=True, eq=False)
class Clipped(_Same):
    """Not below ``low`` nor above ``high``."""

    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Powered(_Same):
    """Powers with an exponent for each number, brought to one slope at a point, and the logarithm where it is 0.

    Of Box and Cox (``both`` is false): (x^λ − 1)/λ of positive numbers, for others NaN. Of Yeo and Johnson: the same of
    x + 1, and of negative numbers −((1 − x)^(2 − λ) − 1)/(2 − λ).
    """

    exponents: Array
    both: bool


@dataclass(frozen=True, eq=False)
class UnitLength(_Same):
    """The numbers of a row by its length, which ``norm`` says: l1, l2 or max; zeros stay zeros."""

    norm: str


@dataclass(frozen=True, eq=False)
class NormalQuantile(_Same):
    """The number below which a normal one lies with a probability between 10⁻¹¹ and 1 − 10⁻¹¹."""


@dataclass(frozen=True, eq=False)
class Monomials(Node):
    """Products of the numbers at some places; an empty product is 1."""

    source: Node
    factors: tuple[tuple[int, ...], ...]

    @property
    def width(self) -> int:
        return len(self.factors)


@dataclass(frozen=True, eq=False)
class Picked(Node):
    """The numbers at some places."""

    source: Node
    places: tuple[int, ...]

    @property
    def width(self) -> int:
        return len(self.places)


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
    matrix: Array
    plus: Array

    @property
    def width(self) -> int:
        return self.matrix.shape[1]


@dataclass(frozen=True, eq=False)
class KernelSum(Node):
    """Σⱼ k(x, xⱼ)·coef[j] + plus, where the formula is k."""

    formula: Symbol
    coef: Array
    plus: Array

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
    column: Array
    coefficient: Array
    bias: Array
    weight: Array
    width = 1


@dataclass(frozen=True, eq=False)
class PairVotes(Node):
    """Of the scores of pairs of classes: the pairs that each class wins, and a fraction that says by how much."""

    source: Node
    classes: int

    @property
    def width(self) -> int:
        return self.classes


@dataclass(frozen=True, eq=False)
class Sorted(_Same):
    """In increasing order."""


# -- probabilities ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Logistic(_Same):
    """1/(1 + exp(−(slope·x + level))), not nearer to 0 and 1 than ``bound``."""

    slope: Array
    level: Array
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

    points: Array
    values: Array


@dataclass(frozen=True, eq=False)
class Staircase(_Same):
    """A value in each gap between points and on each of them: gap, point, gap, …, gap; of one number."""

    points: Array
    values: Array


@dataclass(frozen=True, eq=False)
class Coupled(Node):
    """Probabilities of classes that come nearest to those of pairs, which are of the second class each."""

    source: Node
    classes: int

    @property
    def width(self) -> int:
        return self.classes


@dataclass(frozen=True, eq=False)
class ToOne(_Same):
    """Positive numbers in shares of their sum; none of them counts as less than the least difference from 1."""
