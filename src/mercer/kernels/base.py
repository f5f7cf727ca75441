"""What a kernel is, and how kernels combine.

A kernel is an immutable description with scikit-learn's parameters; it stores no data. To add one, subclass
:class:`Kernel` and write ``evaluate`` and ``diag``, or subclass :class:`OfStatistic` and write ``apply`` alone. The
class is then known by its name in texts, model files, messages and searches; what else is to be known of it, such as
other names, the collection of its items or readable features, it says itself.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from enum import Enum
from operator import attrgetter
from types import MappingProxyType
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse, special
from sklearn.base import BaseEstimator

from ..checks.parameters import is_number, number, shown
from ..checks.tables import as_rows
from ..messages import enumeration
from ..runtime.compile import Array
from ..runtime.loops import Blockwise
from .engine.counts import Collection, of_columns
from .engine.statistics import DISTANCE, MANHATTAN, SQUARED_DISTANCE, Statistic
from .engine.tiles import Pairing, Parts, Tile, length, matrix_block, matrix_product, part_of
from .text_form import NamedFeatures, Text, call, html, is_ours, register

__all__ = ["Kernel", "OfStatistic"]

# scikit-learn's parameters for what is no estimator: it is cloned, searched over and nested, and prints itself.


class Parametrised:
    """``get_params`` and ``set_params`` as estimators have them.

    It does not derive from ``BaseEstimator``: scikit-learn prints whatever does as ``Class(parameter=value)``, wherever
    it stands, and would never ask it for its own text. Its own kernels (of Gaussian processes) are made the same way.

    Examples
    --------
    >>> from mercer import SVC
    >>> from mercer.kernels import Gaussian, Linear
    >>> SVC(2 * Gaussian() + Linear())
    SVC(kernel=2*gaussian + linear)
    """

    get_params = BaseEstimator.get_params
    set_params = BaseEstimator.set_params
    _get_param_names: Any = classmethod(BaseEstimator._get_param_names.__func__)


# How fast similarity falls with distance, where the data are to decide: rates such as ``gamma="scale"``.
#
# A rate multiplies a statistic, so that a typical value of the statistic should become a number of order one:
#
# - "auto": 1/d for rows of d numbers, which are taken to have been scaled.
# - "scale": 1/(d·v), v the variance of all numbers, as in scikit-learn: half the mean squared distance of two rows of
#   independent columns with one mean. A distance that is not squared has the unit of the numbers, not of their squares:
#   there it is 1/(d·√v) for sums of differences, 1/√(d·v) for straight lines.
# - "median": 1/(the median of the statistic between rows that differ), by at most a thousand rows.
#
# Where all rows are the same, no rate is better than another, and it is one.


class Range(Enum):
    """The numbers that a parameter may be, and the line without ends on which a descent moves among them."""

    REAL = (-np.inf, np.inf)
    POSITIVE = (0.0, np.inf)
    NEGATIVE = (-np.inf, 0.0)
    SHARE = (0.0, 1.0)

    def inside(self, values: Any) -> Any:
        """Whether numbers lie between both ends, and are neither."""
        low, high = self.value
        return (np.asarray(values) > low) & (np.asarray(values) < high)

    def to_line(self, values: Array) -> Array:
        """Where the numbers are on the line."""
        if self is Range.REAL:
            return values
        return special.logit(values) if self is Range.SHARE else np.log(np.abs(values))

    def from_line(self, places: Array) -> Array:
        """The numbers in these places."""
        if self is Range.REAL:
            return places
        if self is Range.SHARE:
            return special.expit(places)
        return np.exp(places) if self is Range.POSITIVE else -np.exp(places)

    def slope(self, places: Array) -> Array:
        """How fast the numbers change along the line."""
        if self is Range.REAL:
            return np.ones_like(places)
        values = self.from_line(places)
        return values * (1 - values) if self is Range.SHARE else values

    def around(self, value: float, step: float) -> tuple[float, float]:
        """Numbers a step below and above, or on one side alone where that is an end."""
        low, high = self.value
        return max(value - step, min(low, value)), min(value + step, max(high, value))


#: Rules by which data decide a rate.
RULES = ("scale", "auto", "median")
#: Rows that are compared for a median.
_SAMPLE = 1000
#: A rate beyond this is no number for the products that it is for.
_FASTEST = 1e290


def check_rate(owner: Any, name: str) -> None:
    """Check that a parameter is a number greater than 0, or a rule."""
    value = getattr(owner, name)
    if not isinstance(value, str):
        number(owner, name)
    elif value not in RULES:
        words = enumeration(map(repr, RULES), last="or")
        raise ValueError(
            f"{type(owner).__name__}: {name} must be a number greater than 0, {words}; got {shown(value)}."
        )


def rate(rule: str, rows: Any, statistic: Statistic, weight: Array | None = None) -> float:
    """The rate for a statistic of rows, by one of the :data:`RULES`; a row of weight two counts as two rows.

    Examples
    --------
    >>> from mercer.kernels.engine.statistics import SQUARED_DISTANCE
    >>> rate("scale", np.array([[1.0, 3.0], [3.0, 5.0]]), SQUARED_DISTANCE)  # a variance of two
    0.25
    >>> rate("median", np.array([[0.0, 0.0], [0.0, 2.0], [0.0, 2.0]]), SQUARED_DISTANCE)
    0.25
    """
    if statistic is DISTANCE:
        return float(np.sqrt(rate(rule, rows, SQUARED_DISTANCE, weight)))
    weight = np.ones(rows.shape[0]) if weight is None else weight
    rows, weight = (rows, weight) if weight.all() else (rows[weight > 0], weight[weight > 0])
    typical = _median(rows, weight, statistic) if rule == "median" else float(rows.shape[1])
    if rule == "scale":
        variance = _variance(rows, weight)
        typical *= np.sqrt(variance) if statistic is MANHATTAN else variance
    return min(max(1.0 / typical, 1 / _FASTEST), _FASTEST) if typical > 0 else 1.0


def _variance(rows: Any, weight: Array) -> float:
    """The variance of all numbers, zeros of sparse rows included."""
    if not min(rows.shape) or rows.min() == rows.max():  # exactly nothing, which rounding would make a little
        return 0.0
    width = rows.shape[1]
    mean = float(np.average(_row_sums(rows), weights=weight)) / width
    if sparse.issparse(rows):
        squares = sparse.csr_array((np.square(rows.data - mean), rows.indices, rows.indptr), shape=rows.shape)
        apart = _row_sums(squares) + (width - np.diff(rows.indptr)) * mean**2
    else:
        apart = np.square(rows - mean, dtype=np.float64).sum(axis=1)
    return float(np.average(apart, weights=weight)) / width


def _row_sums(rows: Any) -> Array:
    return np.asarray(rows.sum(axis=1, dtype=np.float64)).ravel()


def _median(rows: Any, weight: Array, statistic: Statistic) -> float:
    """The median of the statistic over pairs of rows that differ."""
    if rows.shape[0] > _SAMPLE:
        some = np.sort(np.random.default_rng(0).choice(rows.shape[0], _SAMPLE, replace=False))
        rows, weight = rows[some], weight[some]
    every = slice(0, rows.shape[0])
    distance = MANHATTAN if statistic is MANHATTAN else DISTANCE
    left, right = distance.prepare(rows, rows)
    values = distance.tile(left, right, every, every)
    i, j = np.triu_indices(rows.shape[0], 1)
    i, j = i[values[i, j] > 0], j[values[i, j] > 0]
    if not i.size:
        return 0.0
    apart = values[i, j].astype(np.float64)
    order = np.argsort(apart, kind="stable")
    # The value with half of the weight on either side, or the mean of the two beside that half.
    sums = np.cumsum((weight[i] * weight[j])[order])
    beside = [np.searchsorted(sums, sums[-1] / 2, side=side) for side in ("left", "right")]
    middle = apart[order[beside]]
    return float((middle if distance is MANHATTAN else np.square(middle)).mean())


class Kernel(Parametrised):
    """A similarity k(x, z) that is a dot product of some features: symmetric and positive semi-definite.

    Call a kernel on one or two collections of items for their matrix. ``+``, ``*`` and ``**`` make new kernels,
    and ``on`` binds one to columns of a table.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian, Linear
    >>> k = 2 * Gaussian(gamma=0.5) + Linear()
    >>> k
    2*gaussian(gamma=0.5) + linear
    >>> k(np.array([[0.0], [1.0]])).round(4)
    array([[2.    , 1.2131],
           [1.2131, 3.    ]])
    """

    #: What it is good for, in half a line: ``mercer help kernels``.
    good_for: ClassVar[str] = ""
    #: Whether every matrix of this kernel is positive semi-definite.
    psd: ClassVar[bool] = True
    #: What the items are collected in, where they are not rows of numbers: strings, sets, graphs, categories.
    collection: ClassVar[type[Collection] | None] = None
    #: Other names in texts than the class's own.
    aliases: ClassVar[tuple[str, ...]] = ()
    #: Parameters that the data may decide by a rule, such as ``gamma="scale"``.
    rates: ClassVar[tuple[str, ...]] = ()
    #: Whether its values are made of those of its parts, for the same items.
    of_parts: ClassVar[bool] = False
    #: Parameters that its values change smoothly with, by which it can be differentiated, and what they may be.
    smooth: ClassVar[Mapping[str, Range]] = MappingProxyType({})
    _names: ClassVar[list[str]]

    def __init_subclass__(cls, *, named: bool = True, **options: Any) -> None:
        """Enter the class under its names in texts, unless it has none."""
        super().__init_subclass__(**options)
        if named:
            register(cls, (cls.__name__, *cls.__dict__.get("aliases", ())))

    # -- to be written by subclasses ------------------------------------------------------------------------------

    def evaluate(self, tile: Tile) -> Array:
        """The kernel of a tile's pairs, in a new array."""
        raise NotImplementedError(f"{type(self).__name__} should say its similarities: write a method evaluate(tile).")

    def diag(self, A: Any) -> Array:
        """k(x, x) for every item, without the matrix."""
        raise NotImplementedError(f"{type(self).__name__} should say its self-similarities: write a method diag(A).")

    def features(self, A: Any) -> Any:
        """Φ with k(A, B) = Φ(A)·Φ(B)ᵀ where the kernel has a finite feature map, else ``None``.

        For items that have passed :meth:`items`.

        Examples
        --------
        >>> from mercer.kernels import Spectrum
        >>> kernel = Spectrum(p=2)
        >>> features = kernel.features(kernel.items(["abab", "ab"]))
        >>> (features @ features.T).toarray()
        array([[5., 2.],
               [2., 1.]])
        """
        return None

    def gram(self, A: Any) -> Any:
        """The matrix of training items as a :class:`mercer.grams.Gram` of the kernel's own, else ``None``.

        For a kernel that knows a quicker way to products with its matrix than through its numbers.
        """
        return None

    def keyed(self, A: Any) -> Any:
        """The feature map as :class:`Counts`, a key for each feature: exact also where :meth:`features` are hashed."""
        features = self.features(A)
        return None if features is None else of_columns(features)

    def cheaper_in_primal(self, A: Any, B: Any) -> Array:
        """For each item of A, whether listing its features is cheaper than comparing it with every item of B.

        The answer for an item does not depend on other items of A, except where A is B and is listed as a whole.
        """
        return np.zeros(length(A), bool)

    def named_features(self, A: Any) -> NamedFeatures:
        """The feature map in words: for each item a mapping from the names of its features to φ.

        ``None`` where the kernel has no such map, or none that anybody could read; a sum has the features of those of
        its parts that have some.

        Examples
        --------
        >>> from mercer.kernels import Spectrum
        >>> kernel = Spectrum(p=2)
        >>> [{name.text: value for name, value in each.items()} for each in kernel.named_features(["abab"])]
        [{"'ab'": 2.0, "'ba'": 1.0}]
        """
        return None

    @classmethod
    def suggestions(cls, items: Any) -> list[tuple[int, str]]:
        """Texts of kernels of this class that are worth trying on a collection, each with its rank among all."""
        return []

    @classmethod
    def from_text(cls, *args: Any, **named: Any) -> Kernel:
        """The kernel with these parameters, as texts give them."""
        return cls(*args, **named)

    def text(self) -> Text:
        """The kernel as it is written, and how tightly that binds."""
        return call(self)

    def check(self) -> None:
        """Raise ``ValueError`` where a parameter makes no kernel. Called before any work."""
        for name in self.rates:
            check_rate(self, name)
        for name, value in self.get_params(deep=False).items():
            if isinstance(value, str) and value in RULES and name not in self.rates:
                raise ValueError(
                    f"{type(self).__name__}: {name}={value!r} is for the data to decide; give a number, or let the "
                    f"class say rates = ({name!r},)."
                )
            if name in ("left", "right", "kernel") and not isinstance(value, Kernel):
                raise ValueError(f"{type(self).__name__}: {name} must be a kernel, got {value!r}.")
        for kernel in self.parts():
            if kernel.precomputed:
                raise ValueError(
                    "a precomputed matrix cannot be part of an expression; combine the matrices before fitting."
                )
            if kernel.learns:
                raise ValueError(
                    f"{kernel} is to learn its weights, which it can only as the whole kernel of a machine; put the "
                    "expression inside the mixture, or give the mixture weights."
                )
            kernel.check()

    def items(self, A: Any) -> Any:
        """The items in the form that :meth:`evaluate` works on, or an error that says what is wrong with them."""
        if self.collection is not None:
            return self.collection.of(A)
        parts = self.parts()
        if not parts:
            return as_rows(A)
        if len(parts) > 1 and not self.on_rows:
            return A if isinstance(A, Parts) else _joined([kernel.items(A) for kernel in parts])
        for kernel in parts:
            A = kernel.items(A)
        return A

    @classmethod
    def _get_param_names(cls) -> list[str]:
        """As scikit-learn's, looked up once for each class: expressions ask for their parts again and again."""
        if "_names" not in cls.__dict__:
            cls._names = super()._get_param_names()
        return cls._names

    # -- what expressions tell about themselves -------------------------------------------------------------------

    def parts(self) -> list[Kernel]:
        """The kernels that this one is made of."""
        names = type(self).__dict__.get("_names") or self._get_param_names()
        found = []
        for name in names:
            value = getattr(self, name)
            if isinstance(value, Kernel):
                found.append(value)
        return found

    def with_parts(self, parts: Sequence[Kernel]) -> Kernel:
        """This kernel made of others, in the order of :meth:`parts`."""
        own = self.get_params(deep=False)
        names = [name for name, value in own.items() if isinstance(value, Kernel)]
        return type(self)(**own | dict(zip(names, parts, strict=True))) if names else self

    def statistics(self) -> Counter[Statistic]:
        """How often each statistic is needed to evaluate one tile."""
        return sum((kernel.statistics() for kernel in self.parts()), Counter())

    @property
    def splits(self) -> bool:
        """Whether the matrix may be computed tile by tile and on several threads."""
        return all(map(attrgetter("splits"), self.parts()))

    @property
    def of_dots(self) -> tuple[Blockwise, Sequence[float]] | None:
        """The kernel as a compiled function of ⟨x, z⟩, ‖x‖² and ‖z‖² with its parameters, where it has one.

        Sums of kernel values are then made without writing these to memory. A kernel whose ``apply`` is a formula of a
        dot product or a squared distance needs none: its formula serves.
        """
        return None

    @property
    def function_of_dots(self) -> tuple[Blockwise, Sequence[float]] | None:
        """:attr:`of_dots`, or the formula of the kernel in its place, where there is one and it is the kernel's own."""
        from .formulas import function_of_dots

        return function_of_dots(self)

    @property
    def translation_invariant(self) -> bool:
        """Whether moving all items by the same amount changes nothing."""
        parts = self.parts()
        return bool(parts) and all(kernel.translation_invariant for kernel in parts)

    @property
    def always_psd(self) -> bool:
        """Whether this kernel and all of its parts are positive semi-definite for every data set."""
        return self.psd and all(map(attrgetter("always_psd"), self.parts()))

    @property
    def trusted(self) -> bool:
        """Whether positive semi-definiteness follows from the kernel itself, not from somebody's word.

        Kernels of the library are tested for it. Of others, fits look at the matrix of some of their items.
        """
        return is_ours(type(self)) and self.always_psd and all(map(attrgetter("trusted"), self.parts()))

    @property
    def on_rows(self) -> bool:
        """Whether this kernel and all of its parts work on rows of numbers."""
        return self.collection is None and all(map(attrgetter("on_rows"), self.parts()))

    @classmethod
    def kind(cls) -> str:
        """What the kernel compares: "rows", "strings", "sets", "graphs", …"""
        return "rows" if cls.collection is None else cls.collection.kind

    @property
    def precomputed(self) -> bool:
        """Whether rows of the kernel matrix stand in the place of items."""
        return False

    @property
    def learns(self) -> bool:
        """Whether the kernel has weights that a machine is to learn."""
        return False

    # -- use ------------------------------------------------------------------------------------------------------

    def __call__(self, A: Any, B: Any = None) -> Array:
        """The matrix k(x, z) for x in ``A`` and z in ``B`` (``B=None``: in ``A``)."""
        self.check()
        kernel = self.suited(A)
        if kernel is not self:
            return kernel(A, B)
        one, A = B is None or B is A, self.items(A)
        B = A if one else self.items(B)
        if getattr(A, "ndim", 1) == 2 and A.shape[1] != getattr(B, "shape", A.shape)[1] and not self.precomputed:
            raise ValueError(f"{self}: the left rows have {A.shape[1]} features, the right ones {B.shape[1]}.")
        return self.matrix(A, B)

    def matrix(self, A: Any, B: Any, out: Array | None = None) -> Array:
        """As a call, for items that have passed :meth:`items`; the result is exactly symmetric where A is B."""
        return matrix_block(Pairing(self, A, B), out=out)

    def product(self, A: Any, B: Any, V: Array) -> Array:
        """k(A, B)·V in float64 for items that have passed :meth:`items`; the matrix is never there as a whole."""
        return matrix_product(Pairing(self, A, B), None, V)

    # -- algebra --------------------------------------------------------------------------------------------------

    def __add__(self, other: Any) -> Kernel:
        from .algebra import Sum

        return Sum(self, other) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: Any) -> Kernel:
        from .algebra import Product, Scaled

        if isinstance(other, Kernel):
            return Product(self, other)
        return Scaled(other, self) if is_number(other) else NotImplemented

    def __rmul__(self, other: Any) -> Kernel:
        from .algebra import Scaled

        return Scaled(other, self) if is_number(other) else NotImplemented

    def __pow__(self, exponent: Any) -> Kernel:
        from .algebra import Power

        return Power(self, exponent) if is_number(exponent) else NotImplemented

    def on(self, *columns: str | int) -> Kernel:
        """This kernel on some columns of a frame (by name) or of an array (by position)."""
        from .columns import OnColumns

        return OnColumns(self, columns)

    def scaled(self, weights: Any) -> Kernel:
        """This kernel on rows whose columns are multiplied by weights, a number of at least 0 for each; or by a matrix.

        Of a matrix W, of shape (n_directions, n_columns), it is the kernel of Wx and Wz.
        """
        from .columns import ScaledColumns

        return ScaledColumns(self, weights)

    # -- parameters that the data decide --------------------------------------------------------------------------

    def suited(self, X: Any) -> Kernel:
        """This kernel for items like these, as the user gives them: a Python function may take rows, or any objects."""
        parts = self.parts()
        suited = [kernel.suited(X) for kernel in parts]
        same = all(new is old for new, old in zip(suited, parts, strict=True))
        return self if same else self.with_parts(suited)

    def part_items(self, A: Any) -> list[Any]:
        """The items as each of the parts sees them."""
        parts = self.parts()
        return [part_of(A, place) for place in range(len(parts))] if len(parts) > 1 else [A] * len(parts)

    def resolved(self, items: Any, weight: Array | None = None) -> Self:
        """This kernel with every parameter that the data decide, such as ``gamma="scale"``, as a number.

        Parameters
        ----------
        items : collection
            The training items, as they are or as :meth:`items` made them.
        weight : array, optional
            The weight of each item: one of weight two counts as two, one of weight zero not at all.

        Returns
        -------
        Kernel

        Examples
        --------
        >>> from mercer.kernels import Gaussian, Linear
        >>> (Gaussian(gamma="auto") + Linear()).resolved([[0.0, 1.0], [2.0, 3.0]])
        gaussian(gamma=0.5) + linear
        """
        if self.is_resolved:
            return self
        self.check()
        items = self.items(items)
        own = self.get_params(deep=False)
        for name in self.rates:
            if isinstance(own[name], str):
                own[name] = self._by_rule(own[name], items, weight)
        forms = iter(self.part_items(items))
        for name, value in own.items():
            if isinstance(value, Kernel):
                own[name] = value.resolved(next(forms), weight)
        return type(self)(**own)

    def _by_rule(self, rule: str, rows: Any, weight: Array | None) -> float:
        """What a rule makes of some rows, for one of the :attr:`rates`."""
        return rate(rule, rows, SQUARED_DISTANCE, weight)

    def refuse_unresolved(self) -> None:
        """Raise where a parameter is still to be decided, and there are not the training items alone to decide it."""
        if not self.is_resolved:
            raise ValueError(
                f"{self} takes a parameter from the data, and two collections would give two answers, k(x, z) and "
                "k(z, x); call .resolved(X) with the training items first, or give a number."
            )

    @property
    def is_resolved(self) -> bool:
        """Whether every parameter is a number already, so that the training items make no difference."""
        for name in self.rates:
            if isinstance(getattr(self, name), str):
                return False
        return all(map(attrgetter("is_resolved"), self.parts()))

    # -- text and equality ----------------------------------------------------------------------------------------

    def __repr__(self) -> str:
        return self.text().text

    def _repr_html_(self) -> str:
        return html(self)

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return False
        mine, theirs = self.get_params(deep=False), other.get_params(deep=False)
        return all(_same(mine[name], theirs[name]) for name in mine)

    def __hash__(self) -> int:
        return hash(repr(self))


def _joined(forms: list[Any]) -> Any:
    """Items in one form for each part of an expression; in one for all where they are the same kind of collection."""
    first = forms[0]
    shared = isinstance(first, Collection) and first.shared and all(type(form) is type(first) for form in forms)
    return first if shared else Parts(forms)


class OfStatistic(Kernel, named=False):
    """A kernel that is a function of one statistic, written as ``apply``."""

    statistic: ClassVar[Statistic]

    def __init_subclass__(cls, *, named: bool = True, **options: Any) -> None:
        if named and not hasattr(cls, "statistic"):
            raise TypeError(
                f"{cls.__name__} should say what it is a function of: write statistic = SQUARED_DISTANCE, or DISTANCE, "
                "DOT or MANHATTAN of mercer.kernels."
            )
        super().__init_subclass__(named=named, **options)

    def apply(self, values: Array) -> Array:
        """The kernel from its statistic, elementwise; may overwrite its argument."""
        raise NotImplementedError(f"{type(self).__name__} should be a function: write a method apply(values).")

    def statistics(self) -> Counter[Statistic]:
        return Counter([self.statistic])

    @property
    def translation_invariant(self) -> bool:
        return self.statistic.translation_invariant

    def _by_rule(self, rule: str, rows: Any, weight: Array | None) -> float:
        return rate(rule, rows, self.statistic, weight)

    def evaluate(self, tile: Tile) -> Array:
        return self.apply(tile.compute(self.statistic))

    def diag(self, A: Any) -> Array:
        return self.resolved(A).apply(self.statistic.diag(A))


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return np.array_equal(a, b)
    return bool(a == b)
