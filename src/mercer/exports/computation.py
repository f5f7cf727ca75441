"""What a fitted model computes, as a small tree that every target writes out in its own language.

A :class:`Node` stands for some numbers of each row. The tree begins with the columns of the input and ends with the
decision values, the probabilities where the model has them, and what is answered. Kernels are formulas inside
(:mod:`.similarities`), with these beginnings: a statistic of a row and a support row, ⟨x, x⟩ of the row itself, or a
number of the support row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import Any

import numpy as np

from ..checks import is_missing
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


# Columns of the input that are not numbers yet: each is taken for numbers or for words when a step uses it.


@dataclass(frozen=True)
class Cell:
    """A column of the input as it is, but for what stands where it is missing, if anything does."""

    name: str
    instead: Any = None


@dataclass(frozen=True)
class Cells:
    """Some columns of the input, in an order."""

    cells: tuple[Cell, ...]
    #: Whether the columns of the input have no names of their own, so that all of them are counted.
    counted: bool = False

    @property
    def names(self) -> list[str]:
        return [cell.name for cell in self.cells]

    def picked(self, places: Sequence[int]) -> Cells:
        """The columns at some places."""
        return Cells(tuple(self.cells[place] for place in places))

    def filled(self, values: Sequence[Any]) -> Cells:
        """The same columns, with a value for each that stands where it is missing; ``None``: nothing does."""
        pairs = zip(self.cells, values, strict=True)
        return Cells(tuple(replace(cell, instead=cell.instead if value is None else value) for cell, value in pairs))


@dataclass
class Inputs:
    """The columns that a model looks at, and whether as numbers or as words."""

    columns: list[Column] = field(default_factory=list)
    _beginning: Cells = Cells(())
    _made: dict[Any, Any] = field(default_factory=dict)

    def once(self, key: Any, make: Callable[[], Any]) -> Any:
        """The value of ``make()``, made at the first request for ``key``, so that nothing is computed twice."""
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]

    def begin(self, cells: Cells | None) -> Cells:
        """Remember what the input looks like."""
        if cells is None:
            raise DataError("the first step of the pipeline does not say which columns it takes; fit it to a frame.")
        self._beginning = cells
        return cells

    def in_order(self) -> list[Column]:
        """The columns that were used, as the input has them; where they are counted, those between them too."""
        known = {column.name: column for column in self.columns}
        names = [name for name in self._beginning.names if name in known or self._beginning.counted]
        return [known.get(name, Column(name)) for name in names]

    def _place(self, name: str, words: bool) -> int:
        for place, column in enumerate(self.columns):
            if column.name == name:
                if column.words is not words:
                    raise DataError(f"the model takes column {name!r} for numbers and for words, which no file can.")
                return place
        self.columns.append(Column(name, words))
        return len(self.columns) - 1

    def rows(self, given: Node | Cells) -> Node:
        """Rows of numbers."""
        return given if isinstance(given, Node) else self.once(given, lambda: self._numbers(given))

    def _numbers(self, given: Cells) -> Node:
        node: Node = Numbers(tuple(self._place(name, words=False) for name in given.names))
        values = [np.nan if cell.instead is None else cell.instead for cell in given.cells]
        if any(isinstance(value, str) for value in values):
            raise DataError(f"the words that fill gaps of {given.names} are no numbers for the steps behind them.")
        return Filled(node, np.array(values, float), np.nan) if not np.isnan(values).all() else node

    def level(self, cell: Cell, levels: Sequence[Any]) -> Level:
        """The number of a column's word, or of its number, among those that are known."""
        plain = [None if is_missing(level) else _plain(level) for level in levels]
        words = {isinstance(level, str) for level in plain if level is not None}
        strange = next((level for level in plain if not isinstance(level, (str, bool, int, float, type(None)))), None)
        if strange is not None or len(words) > 1:
            raise DataError(
                f"column {cell.name!r} holds words and numbers, or neither; an exported model takes one kind."
            )
        instead = None if is_missing(cell.instead) else _plain(cell.instead)
        missing = plain.index(instead) if instead in plain else -1
        if words != {True}:
            plain = [None if level is None else float(level) for level in plain]
        return Level(self._place(cell.name, words == {True}), tuple(plain), missing)

    def text(self, given: Node | Cells) -> int:
        """The place of a column of texts."""
        assert isinstance(given, Cells)
        return self._place(given.names[0], words=True)

    def chosen(self, given: Node | Cells, columns: Sequence[str | int]) -> Node | Cells:
        """Some columns by name, or by position."""
        if isinstance(given, Node):
            return Picked(given, tuple(int(column) for column in columns))
        known = given.names
        return given.picked([known.index(c) if isinstance(c, str) else int(c) for c in columns])


def numbered(count: int) -> Cells:
    """Columns that go by their position: x0, x1, …

    Examples
    --------
    >>> numbered(2).names
    ['x0', 'x1']
    """
    return Cells(tuple(Cell(f"x{place}") for place in range(count)), counted=True)


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


# What the numbers in exported files are, in words that stand above them.


SUPPORT_ROWS = "Support rows: training rows, as the steps before the machine have prepared them."
NUMBERS_OF_SUPPORT = "A number of each support row that its similarities are multiplied by."
COEFFICIENTS = "Coefficients: a line for each support row, a number for each score."
WEIGHTS = "Weights: a line for each number of a row, a number for each score."
INTERCEPTS = "Intercepts: what each score begins with."
SCALING = (
    "Subtracted from each column: means, where columns are standardised.",
    "What each column is multiplied by then: 1 / standard deviation, or 1 / range.",
    "Added to each column at last.",
)
FILLED = "What stands in for gaps in each column, such as its median; NaN where nothing does."
KNOWN = "Values of a column that are known, in the order of their numbers."
PLACES_OF_ONES = "Where each known value has its 1; -1 for those that have none."
TERMS = "Words, neighbours or substrings that are counted in a text."
IMPORTANCE = "How much each of them counts: the less the more training texts have it."
EXPONENTS = "The exponent of each column."
FACTORS = "Products of columns: the places of the factors of each."
ENDS = "Where the factors of each product begin."
PLACES = "Places of the columns that are used."
SLOPES = "Slopes of the sigmoid that makes a probability of each score."
LEVELS = "Levels of the sigmoid that makes a probability of each score."
POINTS = "Scores at which the probability is known."
VALUES = "Probabilities at these scores, and between them."
#: Numerators and denominators of the quantiles of the normal distribution, the highest power first: in the middle, and
#: beyond (M. J. Wichura, Algorithm AS 241, Applied Statistics 37, 1988, 477-484).
NORMAL_ABOVE = [
    [2509.0809287301227, 33430.57558358813, 67265.7709270087, 45921.95393154987, 13731.69376550946, 1971.5909503065513,
     133.14166789178438, 3.3871328727963665],
    [7.745450142783414e-4, 0.022723844989269184, 0.2417807251774506, 1.2704582524523684, 3.6478483247632045,
     5.769497221460691, 4.630337846156546, 1.4234371107496835],
]  # fmt: skip
NORMAL_BELOW = [
    [5226.495278852854, 28729.085735721943, 39307.89580009271, 21213.794301586596, 5394.196021424751, 687.1870074920579,
     42.31333070160091, 1.0],
    [1.0507500716444169e-9, 5.475938084995345e-4, 0.015198666563616457, 0.14810397642748008, 0.6897673349851,
     1.6763848301838038, 2.053191626637759, 1.0],
]  # fmt: skip
NORMAL = "Polynomials of the quantiles of the normal distribution, the highest power first."
PATH = (
    "Updates of the perceptron: the support row of each.",
    "Updates of the perceptron: what each adds.",
    "Updates of the perceptron: the bias after each.",
    "Updates of the perceptron: the share of votes of each.",
)


# Names and labels of the user's as literals of other languages: nothing in them can end a literal or a comment.


#: What stands in comments as it is.
_PLAIN = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _.,()=+-'|<>:;")


def refuse_strange_labels(labels: list[Any]) -> None:
    """Labels are texts, numbers or truth values."""
    strange = next((label for label in labels if not isinstance(label, (str, bool, int, float))), None)
    if strange is not None:
        raise DataError(f"labels of the type {type(strange).__name__} cannot be exported; texts and numbers can.")


def python_literal(value: Any) -> str:
    """A text, a number, or a tuple of such, in ASCII.

    Examples
    --------
    >>> print(python_literal('"; import os\\n'), python_literal((None, "é", 1.5)))
    '"; import os\\n' (None, '\\xe9', 1.5)
    """
    if isinstance(value, (tuple, list)):
        inside = ", ".join(map(python_literal, value))
        return f"({inside},)" if len(value) == 1 else f"({inside})"
    if isinstance(value, float) and not isinstance(value, bool):
        return repr(float(value)) if value - value == 0 else f'float("{value}")'
    return ascii(value)


def c_string(text: str) -> str:
    r"""A text as a literal of C, in ASCII: other bytes of its UTF-8 form, and what could end it, by octal numbers.

    An octal number has three digits always, so that a digit behind it is not taken for one of its own; question marks
    are among them, as two would begin a trigraph.

    Examples
    --------
    >>> print(c_string('a"*/??/\né'))
    "a\042*/\077\077/\012\303\251"
    """
    plain = set(range(32, 127)) - set(b'"\\?')
    coded = text.encode("utf-8", "surrogatepass")
    if b"\0" in coded:
        raise DataError(f"{text!r} holds the character NUL, which ends a text in C; rename it.")
    inside = "".join(chr(byte) if byte in plain else f"\\{byte:03o}" for byte in coded)
    # The standard promises 4095 characters in a literal; neighbours are joined.
    return " ".join(f'"{piece}"' for piece in _pieces(inside)) or '""'


def _pieces(text: str, size: int = 1000) -> list[str]:
    """Pieces of escaped text, cut where no escape is cut."""
    pieces = []
    while len(text) > size:
        end = next(end for end in range(size, size - 4, -1) if "\\" not in text[end - 3 : end])
        pieces.append(text[:end])
        text = text[end:]
    return [*pieces, text]


def c_comment(text: str) -> str:
    """A text for comments: letters that could end one, or that are not in ASCII, become dots.

    Examples
    --------
    >>> c_comment("gaussian(gamma=1).on('a*/ int x;')")
    "gaussian(gamma=1).on('a.. int x;')"
    """
    return "".join(letter if letter in _PLAIN else "." for letter in text)[:200]


def c_number(value: float) -> str:
    """A number as C writes it, to the last bit.

    Examples
    --------
    >>> c_number(0.1), c_number(-2), c_number(float("nan")), c_number(float("-inf"))
    ('0.1', '-2.0', 'NAN', '-INFINITY')
    """
    value = float(value)
    if value != value:
        return "NAN"
    if value - value != 0:
        return "INFINITY" if value > 0 else "-INFINITY"
    return repr(value)
