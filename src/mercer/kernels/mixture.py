"""A mixture of kernels whose weights a machine learns together with its coefficients.

Kernels on different scales cannot be compared by their weights: 100·k with a tenth of the weight has ten times the say.
Each kernel is therefore divided by the variance of its features first,

    scale = (1/n) Σᵢ k(xᵢ, xᵢ) − (1/n²) Σᵢⱼ k(xᵢ, xⱼ) = (1/n) Σᵢ ‖φ(xᵢ) − mean of φ‖²,

of the training items (Kloft, Brefeld, Sonnenburg and Zien, 2011). A kernel that takes all items for the same has none;
its scale is written 0, and it takes no part.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
from scipy import sparse

from ..checks.parameters import is_number, number
from ..runtime.compile import Array
from .base import Kernel, Range
from .engine.counts import beside, marked
from .engine.tiles import Tile, length, part_of
from .text_form import Name, Precedence, Text, is_written, literal, renamed, rescaled, shortest, table, within

__all__ = ["Mixture"]

#: Items by which a variance is measured: of more, so many are drawn.
_SAMPLE = 1000
#: A variance below this part of the mean self-similarity is rounding.
_ROUNDING = 1e-13


class Mixture(Kernel):
    """Σ βₘ·kₘ/scaleₘ with weights β ≥ 0 of length ‖β‖ₚ = 1 that a machine learns: multiple kernel learning.

    ``SVC``, ``KernelClassifier`` and ``KernelRegressor`` find the weights that make their objective least; the fitted
    ``kernel_`` has them, and kernels of weight 0 cost nothing in predictions. Where no machine has learned them, all
    weights are the same, M^(−1/p) each of M kernels.

    Parameters
    ----------
    kernels : list of Kernel
        What is mixed: kernels on rows, strings, sets or graphs, or each on columns of its own. A precomputed matrix, or
        a mixture that is still to learn, cannot be among them.
    p : float, default=1
        1 for few kernels with a weight, more for weights that are more alike; of p = 2 none is 0, and a large p gives
        all the same.
    weights : list of float, optional
        Weights that are given, and not to be learned.
    scales : list of float, optional
        What each kernel is divided by; measured on the training items by default.

    Attributes
    ----------
    weights_, scales_ : arrays
        With one number for each kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVC
    >>> from mercer.kernels import Gaussian, Linear, Mixture
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> model = SVC(Mixture([Linear().on(0), Linear().on(1), Gaussian(gamma=1.0).on(1)])).fit(X, X[:, 0] > 0)
    >>> model.kernel_.weights_.round(1)
    array([1., 0., 0.])
    """

    good_for = "finding out which kernels matter: their weights are learned"
    of_parts = True
    smooth: ClassVar = {"weights": Range.POSITIVE}

    def __init__(
        self,
        kernels: Sequence[Kernel],
        p: float = 1,
        weights: Sequence[float] | None = None,
        scales: Sequence[float] | None = None,
    ) -> None:
        self.kernels = kernels
        self.p = p
        self.weights = weights
        self.scales = scales

    @classmethod
    def from_text(cls, *args: Any, **named: Any) -> Kernel:
        return cls(list(args), **named)

    def text(self) -> Text:
        arguments = [within(kernel, Precedence.SUM) for kernel in self.kernels]
        arguments += [f"p={shortest(self.p)}"] if is_written(self.p, 1) else []
        for name in ("weights", "scales"):
            if getattr(self, name) is not None:
                arguments.append(f"{name}={literal([float(value) for value in getattr(self, name)])}")
        return Text(f"mixture({', '.join(arguments)})")

    def check(self):
        number(self, "p", 1, strict=False)
        if isinstance(self.kernels, (Kernel, str)) or not len(self.kernels):
            raise ValueError("Mixture: kernels must be a list of kernels, for example [Linear(), Gaussian()].")
        for kernel in self.kernels:
            if not isinstance(kernel, Kernel):
                raise ValueError(
                    f"Mixture: {kernel!r} is not a kernel; give kernels, or the whole as text, "
                    "for example 'mixture(linear, gaussian)'."
                )
        for name in ("weights", "scales"):
            self._check_numbers(name)
        super().check()

    def _check_numbers(self, name: str) -> None:
        values = getattr(self, name)
        if values is None:
            return
        fine = all(is_number(value) and 0 <= value < np.inf for value in values)
        if not fine or len(values) != len(self.kernels):
            raise ValueError(
                f"Mixture: {name} must be {len(self.kernels)} numbers of at least 0, one for each kernel, or None; "
                f"got {values!r}."
            )

    def get_params(self, deep=True):
        """The parameters; those of the kernels by their position, as in ``kernel__0__gamma``."""
        out = super().get_params(deep=False)
        if deep:
            for place, kernel in enumerate(self.parts()):
                out[str(place)] = kernel
                out |= {f"{place}__{name}": value for name, value in kernel.get_params().items()}
        return out

    def set_params(self, **params):
        kernels = {int(name): params.pop(name) for name in list(params) if name.isdigit()}
        if kernels:
            known = enumerate(self.parts())
            self.kernels = [kernels.get(place, kernel) for place, kernel in known]
        return super().set_params(**params)

    # -- weights and scales ---------------------------------------------------------------------------------------

    @property
    def learns(self) -> bool:
        return self.weights is None

    @property
    def weights_(self) -> Array:
        """The weight of each kernel; all the same where they are not known."""
        count = len(self.kernels)
        return np.full(count, count ** (-1 / self.p)) if self.weights is None else np.array(self.weights, float)

    @property
    def scales_(self) -> Array:
        """What each kernel is divided by; 0 where it takes all items for the same."""
        if self.scales is None:
            raise AttributeError("the scales of a Mixture are not known yet; call .resolved(X) with training items.")
        return np.array(self.scales, float)

    @property
    def factors(self) -> Array:
        """βₘ/scaleₘ."""
        return self.weights_ * self.inverse_scales

    @property
    def inverse_scales(self) -> Array:
        """1/scaleₘ, and 0 for a kernel that takes no part."""
        return np.divide(1.0, self.scales_, out=np.zeros(len(self.kernels)), where=self.scales_ > 0)

    def weighted(self, weights: Array) -> Mixture:
        """The same mixture with these weights."""
        return type(self)(self.kernels, self.p, [float(weight) for weight in weights], self.scales)

    def resolved(self, items: Any, weight: Array | None = None) -> Self:
        if self.is_resolved:
            return self
        self.check()
        forms = self.part_items(self.items(items))
        kernels = [kernel.resolved(form, weight) for kernel, form in zip(self.kernels, forms, strict=True)]
        scales = self.scales
        if scales is None:
            scales = [_variance(kernel, form, weight) for kernel, form in zip(kernels, forms, strict=True)]
        return type(self)(kernels, self.p, self.weights, scales)

    @property
    def is_resolved(self) -> bool:
        return self.scales is not None and super().is_resolved

    # -- the sum --------------------------------------------------------------------------------------------------

    def parts(self):
        return list(self.kernels)

    def with_parts(self, parts):
        return type(self)(list(parts), self.p, self.weights, self.scales)

    def _active(self) -> list[tuple[int, Kernel, float]]:
        """Position, kernel and factor of those that count."""
        factors = enumerate(zip(self.kernels, self.factors.tolist(), strict=True))
        return [(place, kernel, factor) for place, (kernel, factor) in factors if factor > 0]

    def _part(self, A: Any, place: int) -> Any:
        """The items as one of the kernels sees them; a kernel alone has no parts."""
        return part_of(A, place) if len(self.kernels) > 1 else A

    def statistics(self):
        kernels = self.kernels if self.scales is None else [kernel for _, kernel, _ in self._active()]
        return sum((kernel.statistics() for kernel in kernels), Counter())

    def evaluate(self, tile: Tile) -> Array:
        out = None
        for place, kernel, factor in self._active():
            values = kernel.evaluate(tile.part(place, kernel) if len(self.kernels) > 1 else tile)
            values *= values.dtype.type(factor)
            if out is None:
                out = values
            else:
                out += values
        return np.zeros(tile.shape, tile.pairing.dtype) if out is None else out

    def diag(self, A):
        resolved = self.resolved(A)
        terms = [kernel.diag(resolved._part(A, place)) * factor for place, kernel, factor in resolved._active()]
        if not terms:
            return np.zeros(length(A), getattr(A, "dtype", np.float64))
        return sum(terms[1:], terms[0]).astype(terms[0].dtype, copy=False)

    def features(self, A):
        resolved, found = self.resolved(A), []
        for place, kernel, factor in resolved._active():
            features = kernel.features(resolved._part(A, place))
            if features is None:
                return None
            found.append(features * features.dtype.type(np.sqrt(factor)))
        if any(sparse.issparse(features) for features in found):
            return sparse.hstack(found, format="csr")
        return np.hstack(found) if found else np.zeros((length(A), 1))

    def keyed(self, A):
        out = None
        for place, kernel, factor in self._active():
            counts = kernel.keyed(self._part(A, place))
            if counts is None:
                return None
            mine = marked(counts.scaled(np.sqrt(factor)), place)
            out = mine if out is None else beside(out, mine)
        return out

    def named_features(self, A):
        found: list[dict[Name, float]] | None = None
        for place, kernel, factor in self._active():
            features = rescaled(kernel.named_features(self._part(A, place)), [np.sqrt(factor)] * length(A))
            mine = renamed(features, lambda name, place=place: Name(name.text, (place, name.mark)))
            if mine is not None:
                pairs = zip(found or [{}] * len(mine), mine, strict=True)
                found = [{**one, **other} for one, other in pairs]
        return found

    def cheaper_in_primal(self, A, B):
        fine = np.full(length(A), bool(self._active()))
        for place, kernel, _ in self._active():
            fine &= kernel.cheaper_in_primal(self._part(A, place), self._part(B, place))
        return fine

    def _repr_html_(self) -> str:
        scales = ["" if self.scales is None else f"{scale:.4g}" for scale in self.scales or self.kernels]
        weights = [f"{weight:.4g}" for weight in self.weights_]
        rows = zip(map(str, self.kernels), weights, scales, strict=True)
        return table(f"mixture, p={shortest(self.p)}", ("kernel", "weight", "scale"), rows)


def _variance(kernel: Kernel, items: Any, weight: Array | None) -> float:
    """The variance of the features of items, by at most a thousand of them; 0 where it is rounding."""
    places = np.arange(length(items)) if weight is None else np.flatnonzero(weight)
    if places.size > _SAMPLE:
        places = np.sort(np.random.default_rng(0).choice(places, _SAMPLE, replace=False))
    some = items[places]
    shares = np.ones(places.size) if weight is None else weight[places].astype(np.float64)
    shares = shares / shares.sum()
    K = kernel.matrix(some, some).astype(np.float64, copy=False)
    own = float(shares @ K.diagonal())
    variance = own - float(shares @ K @ shares)
    return variance if variance > _ROUNDING * own else 0.0
