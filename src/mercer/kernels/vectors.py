"""Kernels on rows of numbers."""

from __future__ import annotations

from collections import Counter
from math import factorial, prod
from typing import Any, ClassVar

import numpy as np
from numba import carray
from scipy import sparse, special

from ..checks.parameters import is_number, number, size
from ..runtime.compile import Array, jit
from ..runtime.loops import Blockwise
from ..runtime.numerics import WIDTH, exp_scaled, power_of_two
from .algebra import Normalised
from .base import Kernel, OfStatistic, Range, rate
from .engine.statistics import DISTANCE, DOT, MANHATTAN, SQUARED_DISTANCE, Statistic, in_directions, squared_norms
from .engine.tiles import Tile
from .text_form import InColumns, Text, call

__all__ = [
    "Cosine",
    "Gaussian",
    "Laplacian",
    "Linear",
    "Matern",
    "Periodic",
    "Polynomial",
    "Quadratic",
    "RationalQuadratic",
    "Sigmoid",
]


class Linear(OfStatistic):
    """⟨x, z⟩.

    Examples
    --------
    >>> from mercer.kernels import Linear
    >>> Linear()([[1.0, 2.0]], [[3.0, 4.0]])
    array([[11.]])
    """

    good_for = "many columns, or words counted: fast, and its weights can be read"
    statistic = DOT
    aliases = ("linear_kernel",)

    def __init__(self) -> None:
        pass

    def apply(self, values):
        return values

    @property
    def of_dots(self):
        return _the_dots, ()

    def features(self, A):
        return A

    def named_features(self, A):
        rows = sparse.csr_array(A)
        return [
            {InColumns.name([(int(k), "")]): float(value) for k, value in zip(row.indices, row.data, strict=True)}
            for row in (rows[[i]] for i in range(rows.shape[0]))
        ]

    def cheaper_in_primal(self, A, B):
        return np.full(A.shape[0], A.shape[1] == B.shape[1])


@Blockwise
def _the_dots(dots: Any, rows: int, left: Array, right: Array, parameters: Array) -> None:
    pass


class Polynomial(OfStatistic):
    """(gamma·⟨x, z⟩ + coef0)^degree: all monomials up to the degree, or of exactly the degree where ``coef0`` is 0.

    Parameters
    ----------
    degree : int, default=2
    coef0 : float, default=1
        How much the lower degrees count.
    gamma : float or {"scale", "auto", "median"}, default=1
        A number, or the rule by which the training rows decide, as in :class:`Gaussian`.

    Examples
    --------
    >>> from mercer.kernels import Polynomial
    >>> Polynomial(degree=2)([[1.0, 2.0]], [[3.0, 4.0]])
    array([[144.]])
    """

    good_for = "products of up to so many columns"
    statistic = DOT
    aliases = ("poly", "polynomial_kernel")
    rates = ("gamma",)
    smooth: ClassVar = {"gamma": Range.POSITIVE, "coef0": Range.POSITIVE}

    def __init__(self, degree: int = 2, coef0: float = 1.0, gamma: float | str = 1.0) -> None:
        self.degree = degree
        self.coef0 = coef0
        self.gamma = gamma

    def check(self):
        super().check()
        size(self, "degree", 1)
        number(self, "coef0", strict=False)

    def apply(self, values):
        if not isinstance(values, np.ndarray):  # a symbol of the formula
            return (self.gamma * values + self.coef0) ** int(self.degree)
        _polynomial(values.reshape(-1), values.dtype.type(self.gamma), values.dtype.type(self.coef0), int(self.degree))
        return values

    @property
    def of_dots(self):
        return _powers, (self.gamma, self.coef0, self.degree)

    def features(self, A):
        # By the multinomial theorem, (c + γ Σ xₖzₖ)^p = Σ over exponents e of p!/(e₀!·Πeₖ!) c^e₀ Π(γ xₖzₖ)^eₖ:
        # each monomial of degree q = p − e₀ appears with that coefficient, whose root goes to either side.
        from sklearn.preprocessing import PolynomialFeatures

        self.refuse_unresolved()
        p = int(self.degree)
        expansion = PolynomialFeatures(p, include_bias=True)
        values = expansion.fit_transform(A)
        exponents = expansion.powers_
        rest = p - exponents.sum(axis=1)
        scale = np.array(
            [
                factorial(p)
                / (factorial(r) * prod(map(factorial, row.tolist())))
                * float(self.coef0) ** r
                * float(self.gamma) ** (p - r)
                for r, row in zip(rest, exponents, strict=True)
            ]
        )
        if sparse.issparse(values):
            return sparse.csr_array(values @ sparse.diags_array(np.sqrt(scale)))
        return values * np.sqrt(scale).astype(values.dtype)


@jit
def _polynomial(values: Array, gamma: float, coef0: float, degree: int) -> None:
    for i in range(values.size):
        base = gamma * values[i] + coef0
        power = base
        for _ in range(degree - 1):
            power *= base
        values[i] = power


@Blockwise
def _powers(dots: Any, rows: int, left: Array, right: Array, parameters: Array) -> None:
    values = carray(dots, (rows, WIDTH))
    gamma, coef0 = values.dtype.type(parameters[0]), values.dtype.type(parameters[1])
    bases = np.empty(WIDTH, values.dtype)
    for i in range(rows):
        for j in range(WIDTH):
            bases[j] = gamma * values[i, j] + coef0
            values[i, j] = bases[j]
        for _ in range(int(parameters[2]) - 1):
            for j in range(WIDTH):
                values[i, j] *= bases[j]


class Gaussian(OfStatistic):
    """exp(−gamma·‖x − z‖²).

    ``gamma`` is a rate: the larger, the narrower. :meth:`from_sigma` takes the standard deviation instead.

    Parameters
    ----------
    gamma : float or {"scale", "auto", "median"}, default="scale"
        A number, or the rule by which the training rows decide: one over the number of columns times the variance of
        all numbers, one over the number of columns, or one over the median squared distance of two rows.

    Examples
    --------
    >>> from mercer.kernels import Gaussian
    >>> Gaussian.from_sigma(2.0)
    gaussian(gamma=0.125)
    >>> Gaussian().resolved([[1.0, 3.0], [3.0, 5.0]])  # two columns, a variance of two
    gaussian(gamma=0.25)
    """

    good_for = "smooth boundaries of any shape: the one to begin with"
    statistic = SQUARED_DISTANCE
    aliases = ("rbf", "rbf_kernel")
    rates = ("gamma",)
    smooth: ClassVar = {"gamma": Range.POSITIVE}

    def __init__(self, gamma: float | str = "scale") -> None:
        self.gamma = gamma

    @classmethod
    def from_text(cls, *args: Any, **named: Any) -> Gaussian:
        return cls.from_sigma(**named) if set(named) == {"sigma"} and not args else cls(*args, **named)

    @classmethod
    def from_sigma(cls, sigma: float) -> Gaussian:
        """exp(−‖x − z‖²/(2σ²))."""
        if not is_number(sigma) or not 1e-150 < sigma < 1e150:
            raise ValueError(f"Gaussian: sigma must be a number greater than 0 (and less than 1e150), got {sigma!r}.")
        return cls(gamma=1.0 / (2.0 * sigma * sigma))

    def apply(self, values):
        return exp_scaled(values, -self.gamma)

    @property
    def of_dots(self):
        return _gaussians, (-self.gamma / np.log(2),)


@Blockwise
def _gaussians(dots: Any, rows: int, left: Array, right: Array, parameters: Array) -> None:
    """From ‖x − z‖² = ‖x‖² + ‖z‖² − 2⟨x, z⟩, which rounding never makes negative, by exp(−γt) = 2^(−γt/ln 2)."""
    values = carray(dots, (rows, WIDTH))
    scale, nothing = values.dtype.type(parameters[0]), values.dtype.type(0)
    for i in range(rows):
        for j in range(WIDTH):
            squared = (left[i] - (values[i, j] + values[i, j])) + right[j]
            values[i, j] = power_of_two(scale * (nothing if squared < nothing else squared))


class Laplacian(OfStatistic):
    """exp(−gamma·Σₖ|xₖ − zₖ|).

    Parameters
    ----------
    gamma : float or {"scale", "auto", "median"}, default="scale"
        A number, or the rule by which the training rows decide: one over the number of columns times the standard
        deviation of all numbers, one over the number of columns, or one over the median Manhattan distance of two rows.

    Examples
    --------
    >>> from mercer.kernels import Laplacian
    >>> Laplacian(gamma=0.5)([[0.0, 0.0]], [[1.0, 1.0]]).round(4)
    array([[0.3679]])
    """

    good_for = "boundaries with corners; one column far off counts less"
    statistic = MANHATTAN
    aliases = ("laplacian_kernel",)
    rates = ("gamma",)
    smooth: ClassVar = {"gamma": Range.POSITIVE}

    def __init__(self, gamma: float | str = "scale") -> None:
        self.gamma = gamma

    def apply(self, values):
        return exp_scaled(values, -self.gamma)


class Matern(OfStatistic):
    """The Matérn kernel of the distance r = ‖x − z‖, with a smoothness and a length.

    ``nu`` = ½ gives exp(−r/length); as ``nu`` grows it becomes the Gaussian with σ = length. Half-integers up to 5/2
    have closed forms, other values go through the modified Bessel function.

    Parameters
    ----------
    nu : float, default=1.5
    length : float or {"scale", "auto", "median"}, default=1
        A number, or a rule of :class:`Gaussian` that gives the length of the Gaussian with the same rate: 1/√(2·gamma).

    Examples
    --------
    >>> from mercer.kernels import Matern
    >>> Matern(nu=0.5)([[0.0]], [[1.0]]).round(4)
    array([[0.3679]])
    """

    good_for = "functions as rough or smooth as nu says: 0.5 has corners"
    statistic = DISTANCE
    rates = ("length",)
    smooth: ClassVar = {"length": Range.POSITIVE}

    def __init__(self, nu: float = 1.5, length: float | str = 1.0) -> None:
        self.nu = nu
        self.length = length

    def check(self):
        super().check()
        number(self, "nu")
        if self.nu > 30:
            raise ValueError(f"Matern: nu={self.nu!r} is a Gaussian for all purposes; use Gaussian.from_sigma(length).")

    def _by_rule(self, rule, rows, weight):
        return float(1 / np.sqrt(2 * rate(rule, rows, SQUARED_DISTANCE, weight)))

    def apply(self, values):
        r = values
        r *= values.dtype.type(np.sqrt(2.0 * self.nu) / self.length)
        if self.nu == 0.5:
            return np.exp(-r)
        if self.nu == 1.5:
            return (1 + r) * np.exp(-r)
        if self.nu == 2.5:
            return (1 + r + r * r / 3) * np.exp(-r)
        away = np.maximum(r.astype(np.float64), 1e-8)  # the limit at r = 0 is 1, which the formula only approaches
        out = 2 ** (1 - self.nu) / special.gamma(self.nu) * away**self.nu * special.kv(self.nu, away)
        return np.where(r < 1e-8, 1.0, out).astype(values.dtype)


class RationalQuadratic(OfStatistic):
    """(1 + ‖x − z‖²/(2·alpha·length²))^(−alpha): Gaussians of many lengths at once.

    It is the mean of Gaussians whose gamma is drawn from a gamma distribution; as ``alpha`` grows it becomes the
    Gaussian with σ = length.

    Parameters
    ----------
    alpha : float, default=1
        How alike the lengths are.
    length : float or {"scale", "auto", "median"}, default=1
        A number, or a rule as in :class:`Matern`.

    Examples
    --------
    >>> from mercer.kernels import RationalQuadratic
    >>> RationalQuadratic(alpha=1.0)([[0.0]], [[2.0]]).round(4)
    array([[0.3333]])
    """

    good_for = "functions that vary on several lengths at once"
    statistic = SQUARED_DISTANCE
    aliases = ("rational_quadratic",)
    rates = ("length",)
    smooth: ClassVar = {"alpha": Range.POSITIVE, "length": Range.POSITIVE}

    def __init__(self, alpha: float = 1.0, length: float | str = 1.0) -> None:
        self.alpha = alpha
        self.length = length

    def check(self):
        super().check()
        number(self, "alpha")

    def _by_rule(self, rule, rows, weight):
        return float(1 / np.sqrt(2 * rate(rule, rows, SQUARED_DISTANCE, weight)))

    def apply(self, values):
        number = values.dtype.type
        return np.exp(number(-self.alpha) * np.log1p(number(0.5 / (self.alpha * self.length * self.length)) * values))


class Periodic(Kernel):
    """exp(−2·Σₖ sin²(π·(xₖ − zₖ)/period)/length²): what repeats itself after every period.

    It is the Gaussian with σ = length of the points that rows are on circles, one for each column.

    Parameters
    ----------
    period : float, default=1
    length : float, default=1

    Examples
    --------
    >>> from mercer.kernels import Periodic
    >>> Periodic(period=7.0)([[0.0]], [[3.5], [7.0], [70.0]]).round(4)
    array([[0.1353, 1.    , 1.    ]])
    """

    good_for = "seasons: what comes again after a fixed time"
    smooth: ClassVar = {"period": Range.POSITIVE, "length": Range.POSITIVE}

    def __init__(self, period: float = 1.0, length: float = 1.0) -> None:
        self.period = period
        self.length = length

    def check(self):
        super().check()
        number(self, "period")
        number(self, "length")

    @property
    def _gaussian(self) -> Gaussian:
        return Gaussian.from_sigma(float(self.length))

    @property
    def translation_invariant(self):
        return True

    def _circled(self, A: Any) -> Array:
        angles = (A.toarray() if sparse.issparse(A) else A) * A.dtype.type(2 * np.pi / self.period)
        return np.hstack([np.cos(angles), np.sin(angles)])

    def evaluate(self, tile: Tile) -> Array:
        gaussian = self._gaussian
        return gaussian.evaluate(tile.mapped(self, self._circled, gaussian))

    def diag(self, A):
        return np.ones(A.shape[0], A.dtype)


class Cosine(Normalised):
    """⟨x, z⟩/(‖x‖·‖z‖), and 0 where a row is all zeros: the linear kernel, normalised.

    Examples
    --------
    >>> from mercer.kernels import Cosine
    >>> Cosine()([[1.0, 0.0]], [[2.0, 2.0]]).round(4)
    array([[0.7071]])
    """

    good_for = "rows of different length, such as long and short texts"
    aliases = ("cosine_similarity",)
    kernel = Linear()

    def __init__(self) -> None:
        pass

    def statistics(self) -> Counter[Statistic]:
        return self.kernel.statistics()

    def text(self) -> Text:
        return call(self)


class Sigmoid(OfStatistic):
    """tanh(gamma·⟨x, z⟩ + coef0). **Not always positive semi-definite**: an exact solver may refuse its matrix.

    Parameters
    ----------
    gamma : float or {"scale", "auto", "median"}, default=1
        A number, or the rule by which the training rows decide, as in :class:`Gaussian`.
    coef0 : float, default=0

    Examples
    --------
    >>> from mercer.kernels import Sigmoid
    >>> Sigmoid().psd
    False
    """

    good_for = "comparison with old work; may be no kernel at all"
    psd = False
    statistic = DOT
    aliases = ("sigmoid_kernel",)
    rates = ("gamma",)
    smooth: ClassVar = {"gamma": Range.POSITIVE, "coef0": Range.REAL}

    def __init__(self, gamma: float | str = 1.0, coef0: float = 0.0) -> None:
        self.gamma = gamma
        self.coef0 = coef0

    def check(self):
        super().check()
        number(self, "coef0", -np.inf)

    def apply(self, values):
        values *= values.dtype.type(self.gamma)
        values += values.dtype.type(self.coef0)
        return np.tanh(values, out=values)


class Quadratic(Kernel):
    """xᵀBz with a symmetric positive semi-definite B.

    Parameters
    ----------
    B : array of shape (n_features, n_features)

    Examples
    --------
    >>> from mercer.kernels import Quadratic
    >>> Quadratic([[2.0, 0.0], [0.0, 1.0]])([[1.0, 1.0]], [[1.0, 3.0]])
    array([[5.]])
    """

    good_for = "a metric of your own, from Python"

    def __init__(self, B: Any) -> None:
        self.B = B

    def check(self):
        try:
            B = np.asarray(self.B, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            raise ValueError("Quadratic: B must be a square matrix of numbers.") from None
        if B.ndim != 2 or B.shape[0] != B.shape[1] or not np.isfinite(B).all():
            raise ValueError(f"Quadratic: B must be a square matrix of finite numbers, got shape {B.shape}.")
        scale = np.abs(B).max(initial=0.0)
        if np.abs(B - B.T).max(initial=0.0) > 1e-12 * scale:
            raise ValueError("Quadratic: B must be symmetric; (B + B.T)/2 is its symmetric part.")
        worst = np.linalg.eigvalsh(B).min(initial=0.0)
        if worst < -1e-10 * scale:
            raise ValueError(f"Quadratic: B must be positive semi-definite, its smallest eigenvalue is {worst:.3g}.")

    def features(self, A):
        # B = V diag(e) Vᵀ, so xᵀBz is the dot product of diag(√e)Vᵀx and diag(√e)Vᵀz.
        values, vectors = np.linalg.eigh(np.asarray(self.B, dtype=np.float64))
        if A.shape[1] != len(values):
            raise ValueError(f"Quadratic: B is {len(values)} × {len(values)}, the rows have {A.shape[1]} features.")
        return in_directions(A, (vectors * np.sqrt(np.maximum(values, 0.0))).T)

    def evaluate(self, tile: Tile) -> Array:
        return tile.mapped(self, self.features, Linear()).compute(DOT)

    def diag(self, A):
        return squared_norms(self.features(A))
