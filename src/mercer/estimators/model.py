"""A fitted model: what is needed to score new rows, and no more."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from scipy import sparse

from ..checks.parameters import bytes_of
from ..grams import Features
from ..kernels import Kernel, Linear
from ..kernels.engine.counts import LISTED_AT_ONCE, FeatureWeights
from ..kernels.engine.tiles import accumulate, length
from ..kernels.engine.weighted import WeightedItems, weighted_items
from ..problems import Iterate
from ..runtime.compile import Array
from ..runtime.threads import for_each
from .training import Training

if TYPE_CHECKING:
    from ..solvers.online import Path

__all__ = ["Voter", "voter_along"]

#: Numbers of the rows that one thread scores at a time by a linear model.
_NUMBERS = 200_000
#: Rows that show how exact scores in float32 are, how near to support items in powers of two, how much of the range of
#: their scores may be wrong, and how many times as wrong the scores of other rows are taken to be.
_TRIED, _SCALES, _ROUNDED, _WORSE = 64, 12, 1e-4, 5.0
#: The largest self-similarity that float32 is used for.
_LARGEST_SINGLE = 1e30


@dataclass(frozen=True)
class LinearModel:
    """f(x) = ⟨w, x⟩ + b, one row of ``coef`` for each class score."""

    kernel: ClassVar[Kernel] = Linear()
    coef: Array
    intercept: Array

    def scores(self, X: Any, memory: int | str, device: str | None = None) -> Array:
        if sparse.issparse(X):
            return X @ self.coef.T + self.intercept
        out = np.zeros((X.shape[0], self.coef.shape[0]))
        size = max(1, _NUMBERS // max(1, X.shape[1]))
        pieces = [slice(begin, begin + size) for begin in range(0, X.shape[0], size)]
        for_each(lambda rows: accumulate(X[rows], self.coef.T, out[rows]), pieces)
        return out + self.intercept


@dataclass(frozen=True)
class KernelModel:
    """f(x) = Σⱼ zⱼ·k(xⱼ, x) + b over the support items, one row of ``coef`` for each class score.

    ``support`` numbers the support items among the training rows; ``items`` holds them (``None`` for a precomputed
    kernel, where new rows come with a column for every training item).
    """

    kernel: Kernel
    support: Array
    items: Any
    coef: Array
    intercept: Array

    def similarities(self, X: Any, rows: slice) -> Array:
        """k(x, support item) for some of the rows."""
        if self.items is None:
            return X[rows][:, self.support]
        if self.kernel.on_rows:
            return self.kernel.matrix(_double(X[rows]), _double(self.items))
        return self.kernel.matrix(X[rows], self.items)

    def blocks(self, X: Any, memory: int | str, row_numbers: int) -> list[slice]:
        """Slices of rows for which ``row_numbers`` float64 numbers a row stay within ``memory``."""
        size = max(1, bytes_of(memory) // (8 * max(1, row_numbers)))
        n = length(X)
        return [slice(begin, min(begin + size, n)) for begin in range(0, n, size)]

    @cached_property
    def _weights(self) -> FeatureWeights | None:
        """w = Σⱼ zⱼφ(xⱼ), where listing the features of the support items costs less than comparing them in pairs."""
        if self.items is None or self.kernel.on_rows or not self.support.size:
            return None
        if not self.kernel.cheaper_in_primal(self.items, self.items).all():
            return None
        return FeatureWeights(self.kernel.keyed(self.items), self.coef)

    def scores(self, X: Any, memory: int | str, device: str | None = None) -> Array:
        """The scores of all items; those of an item do not depend, to the last digit, on the items beside it.

        From a graphics card, where ``device`` asks for it and there is one.
        """
        if device is not None and self.items is not None:
            from ..cuda import available, scores_on_card

            if available():
                return scores_on_card(self.kernel, X, self.items, self.coef.T) + self.intercept
        weights = self._weights
        listed = np.zeros(length(X), bool)
        if weights is not None and weights.nbytes <= bytes_of(memory):
            listed = self.kernel.cheaper_in_primal(X, self.items)
        out = np.zeros((length(X), self.coef.shape[0]))
        if not listed.any():
            self._compare(X, memory, out)
        elif weights is not None:
            places = np.flatnonzero(listed)
            for begin in range(0, places.size, LISTED_AT_ONCE):
                some = places[begin : begin + LISTED_AT_ONCE]
                out[some] = weights.scores(self.kernel.keyed(X if some.size == length(X) else X[some]))
            if not listed.all():
                others = np.zeros((np.count_nonzero(~listed), out.shape[1]))
                self._compare(X[np.flatnonzero(~listed)], memory, others)
                out[~listed] = others
        return out + self.intercept

    @cached_property
    def _laid_out(self) -> dict[bool, WeightedItems | None]:
        """The support items and their coefficients, laid out for dense and for sparse rows, where such were scored."""
        return {}

    def _sums(self, X: Any) -> Array:
        """The scores of rows without the intercept, in the precision of the support items."""
        kind = sparse.issparse(X)
        if kind not in self._laid_out:
            self._laid_out[kind] = weighted_items(self.kernel, X, self.items, self.coef.T)
        weighted = self._laid_out[kind]
        if weighted is None:
            return self.kernel.product(X.astype(self.items.dtype, copy=False), self.items, self.coef.T)
        return weighted.product(X)

    @cached_property
    def _in_double(self) -> KernelModel:
        """The same model with support items in float64."""
        return self if self.items.dtype == np.float64 else replace(self, items=_double(self.items))

    @cached_property
    def _in_single(self) -> tuple[KernelModel, Array] | None:
        """The same model with support items in float32, where that is exact enough for rows in float32, and how wrong
        its scores are at most.

        How wrong a sum of rounded values is depends on where the rows are, on the kernel, and on how large coefficients
        are beside the scores that they add up to. Rows on the way from one support item to another show it, near the
        first and far from it; half of the items are those of largest self-similarity.
        """
        items = _double(self.items)
        sizes = self.kernel.diag(items)
        if not items.size or max(sizes.max(), abs(items).max() ** 2) > _LARGEST_SINGLE:
            return None
        longest = np.argsort(sizes, kind="stable")[-_TRIED // 2 :]
        spread = np.linspace(0, sizes.size - 1, min(sizes.size, _TRIED // 2)).astype(np.int64)
        places = np.union1d(longest, spread)
        part = sparse.diags_array(0.5 ** (np.arange(places.size) % _SCALES))
        rows = (items[places] + part @ (items[np.roll(places, 1)] - items[places])).astype(np.float32)
        single = replace(self, items=items.astype(np.float32))
        exact, rounded = self._in_double._sums(_double(rows)), single._sums(rows)
        # Values that are rounded leave sums of them wrong by about ½·eps·√Σz², times the largest value.
        least = 0.5 * np.finfo(np.float32).eps * np.linalg.norm(self.coef, axis=1) * float(sizes.max())
        errors = np.maximum(np.abs(rounded - exact).max(axis=0), least)
        return (single, _WORSE * errors) if (errors <= _ROUNDED * np.ptp(exact, axis=0)).all() else None

    def _sums_of_rows(self, X: Any) -> Array:
        """The scores of rows without the intercept, in float32 where that changes little and no sign."""
        if X.dtype != np.float32 or self._in_single is None:
            return self._in_double._sums(X)
        single, errors = self._in_single
        out = single._sums(X)
        close = np.flatnonzero((np.abs(out + self.intercept) <= errors).any(axis=1))
        if close.size:
            out[close] = self._in_double._sums(X[close])
        return out

    def __getstate__(self) -> dict[str, Any]:
        """The fields alone: what was made of them is made again."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def _compare(self, X: Any, memory: int | str, out: Array) -> None:
        """Add the scores of items by their similarities to the support items."""
        if self.items is None or not self.kernel.splits:
            for rows in self.blocks(X, memory, self.support.size):
                accumulate(self.similarities(X, rows), self.coef.T, out[rows])
        elif not self.kernel.on_rows:
            out += self.kernel.product(X, self.items, self.coef.T)
        else:
            out += self._sums_of_rows(X)


def _double(rows: Any) -> Any:
    """Rows of numbers in float64."""
    return rows.astype(np.float64, copy=False)


def scores_of_chunk(
    items: Any, model: LinearModel | KernelModel, memory: int | str, device: str | None, precisions: tuple[type, ...]
) -> Array:
    """The scores of a chunk of rows, wherever it is; numbers that the machine does not work in become the first."""
    if not any(items.dtype == each for each in precisions):
        items = items.astype(precisions[0])
    return model.scores(items, memory, device)


def model_of(data: Training, solutions: Sequence[Iterate], support: Array | None = None) -> LinearModel | KernelModel:
    """The model of solutions, one for each score: weights where the kernel is linear, else the items that count.

    Those are the landmarks, where these stand for all items.

    Coefficients belong to all training items, or to those in ``support`` where it is given.
    """
    items = len(data.gram) if support is None else len(support)
    for solution in [solutions] if isinstance(solutions, Iterate) else solutions:
        if isinstance(solutions, Iterate) or (solution.w is None and len(solution.z) != items):
            got = "a single Iterate" if isinstance(solutions, Iterate) else f"{len(solution.z)} coefficients"
            raise ValueError(
                f"model_of takes a list of Iterate, one for each score, with a coefficient for each of the {items} "
                f"items; got {got}."
            )
    intercept = np.array([solution.b for solution in solutions])
    if data.by_weights:
        weights = np.stack([_weights(data, each.z, support) if each.w is None else each.w for each in solutions])
        landmarks = data.gram.landmarks
        if landmarks is not None:
            coef = data.gram.coefficients(weights)
            kept = data.gram.landmark_items
            kept = _items(data, landmarks) if kept is None else kept
            return KernelModel(data.kernel, landmarks, kept, coef, intercept)
        assert isinstance(data.gram, Features)
        return LinearModel(weights, intercept + data.gram.shift(weights))
    coef = np.stack([solution.z for solution in solutions])
    if support is None:
        support = np.flatnonzero((coef != 0).any(axis=0))
        coef = np.ascontiguousarray(coef[:, support])
    return kernel_model(data, support, coef, intercept)


def _weights(data: Training, z: Array, support: Array | None) -> Array:
    """The weights of features in a model of coefficients; no feature is copied for that."""
    if support is not None:
        z, given = np.zeros(len(data.gram)), z
        z[support] = given
    return data.gram.model(z)


def kernel_model(data: Training, support: Array, coef: Array, intercept: Array) -> KernelModel:
    """The model of coefficients of some training items, a row for each score."""
    return KernelModel(data.kernel, support, _items(data, support), coef, intercept)


def _items(data: Training, support: Array) -> Any:
    return None if data.kernel.precomputed else data.items[support]


# The vote of all models that a Perceptron went through.


@dataclass(frozen=True)
class Voter:
    """All models of a run, voting each for as many steps as it survived.

    Update k adds ``coefficient[k]`` times the support item ``column[k]`` to the model; the intercept is then
    ``bias[k]``, and the model survives ``survival[k]`` steps.
    """

    model: KernelModel
    column: Array
    coefficient: Array
    bias: Array
    survival: Array

    def scores(self, X: Any, memory: int | str) -> Array:
        out = np.zeros(length(X))
        if self.survival.sum() == 0:
            return out
        for rows in self.model.blocks(X, memory, self.model.support.size + 2 * self.column.size):
            similar = self.model.similarities(X, rows)[:, self.column]
            f = np.cumsum(similar * self.coefficient, axis=1) + self.bias
            out[rows] = np.where(f >= 0, 1.0, -1.0) @ self.survival / self.survival.sum()
        return out


def voter_along(data: Training, intercept: Array, path: Path, fit_intercept: bool) -> Voter:
    """The vote of the models along a path of updates."""
    used, column = np.unique(path.item, return_inverse=True)
    items = None if data.kernel.precomputed else data.items[used]
    support = KernelModel(data.kernel, used, items, np.zeros((1, used.size)), intercept)
    bias = np.cumsum(path.coefficient) if fit_intercept else np.zeros(len(path.coefficient))
    survival = np.diff(np.append(path.step, path.steps)).astype(np.float64)
    return Voter(support, column, path.coefficient, bias, survival)
