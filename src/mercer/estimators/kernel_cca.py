"""Kernel canonical correlation analysis: what two views of the same items have in common."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from ..checks import schema
from ..checks.parameters import number
from ..grams import Placement
from ..kernels.engine.tiles import length
from ..problems import Iterate
from ..runtime.compile import Array
from ..solvers import Directions, canonical_directions
from .base import KernelMachine
from .model import KernelModel, LinearModel, model_of
from .training import Training, warn
from .transformer import Transformer, refuse_large_matrix

__all__ = ["KernelCCA"]


class KernelCCA(Transformer):
    """Components of two views of the same items that are most alike: pictures and captions, genes and symptoms.

    Each view has a kernel of its own, and may be rows of numbers, strings, sets, graphs or anything else. Directions w
    and v of the two feature spaces are those of the largest covariance of their components

        ρ = wᵀ·S₁₂·v      where      wᵀ·(S₁ + λI)·w = vᵀ·(S₂ + λI)·v = 1,

    the second pair with components uncorrelated to the first, and so on. Without λ a kernel that tells all items apart
    would find correlations of one in anything. It is exact, by an eigendecomposition of each view.

    Parameters
    ----------
    kernel : kernel, text, callable or None, default="gaussian"
        Of the first view.
    kernel_y : kernel, text, callable or None, default="gaussian"
        Of the second view. ``None`` or ``"linear"`` for both gives canonical correlation analysis of the columns.
    n_components : int, default=2
        How many pairs of directions.
    lam : float, default=0.01
        λ, in the unit of the variances in feature space.
    rank : int, optional
        Let so many landmarks stand for all items, in each view. The model then keeps these alone.
    landmarks : {"pivoted", "uniform", "farthest"}, default="pivoted"
    memory : int or str, default="1GB"
        What the kernel matrix of one view may take.

    Attributes
    ----------
    correlations_ : array of shape (n_components,)
        ρ, in falling order: correlations of the training items' components, less what λ takes off.
    residuals_ : array of shape (n_components,)
        ‖S₁₂·v − ρ·(S₁ + λI)·w‖ as a part of the larger side, or that of the second view where it is more.
    y_view_ : KernelCCA
        The same as the second view sees it: its ``transform`` takes items of the second view.
    support_, support_vectors_, dual_coef_, intercept_, coef_ (linear), kernel_
        Component k of x is Σⱼ dual_coef_[k, j]·k(xⱼ, x) + intercept_[k].

    Notes
    -----
    A pair's sign is such that the training item with the largest component in the first view has a positive one. How
    alike the components of new items are says :meth:`score`; it is what λ and the kernels are to be chosen by.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelCCA
    >>> angle = np.random.default_rng(0).uniform(0, 6.28, 200)
    >>> circle = np.column_stack([np.cos(angle), np.sin(angle)])
    >>> model = KernelCCA(n_components=2, lam=1e-3).fit(circle[:150], angle[:150, None])
    >>> model.score(circle[150:], angle[150:, None]) > 0.95
    True
    """

    fields: ClassVar = {
        "correlations_": schema.numbers("scores", low=0, high=1),
        "residuals_": schema.numbers("scores", low=0),
        "y_view_": schema.optional(schema.instance(KernelMachine)),
    }

    def __init__(
        self,
        kernel: Any = "gaussian",
        kernel_y: Any = "gaussian",
        n_components: int = 2,
        *,
        lam: float = 0.01,
        rank: int | None = None,
        landmarks: str = "pivoted",
        memory: int | str = "1GB",
    ) -> None:
        self.kernel = kernel
        self.kernel_y = kernel_y
        self.n_components = n_components
        self.lam = lam
        self.rank = rank
        self.landmarks = landmarks
        self.memory = memory

    @property
    def placement(self) -> Placement:
        """All of the matrix is at hand: it is decomposed."""
        return Placement(self.memory, centred=True, rank=self.rank, landmarks=self.landmarks, by_passes=False)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags

    def _check(self) -> None:
        number(self, "n_components", 1, whole=True, strict=False)
        number(self, "lam", 0)
        self._check_rank()

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Learn from two views of the same items.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_rows, n_features), or a collection of the kernel's items
            The first view.
        y : the same
            The second view: item i of it belongs to item i of the first.
        sample_weight : array of shape (n_rows,), optional
            What each pair counts.

        Returns
        -------
        self
        """
        return super().fit(X, y, sample_weight)

    def learn(self, data: Training) -> LinearModel | KernelModel:
        """Find the directions of both views."""
        if data.run.y is None:
            raise ValueError(
                "KernelCCA requires y to be passed, but the target y is None; it compares two views of the same items, "
                "fit(X, Y)."
            )
        n = length(data.items) if data.weight is None else int(np.count_nonzero(data.weight))
        if n < 2:
            raise ValueError("KernelCCA cannot learn from 1 sample: what two views have in common takes several.")
        other = type(self)(**self.get_params(deep=False) | {"kernel": self.kernel_y, "kernel_y": self.kernel})
        theirs = other._training(other._as_items(data.run.y), None, data.run.sample_weight, data.run)
        if length(theirs.items) != length(data.items):
            raise ValueError(
                f"KernelCCA: the first view has {length(data.items)} items and the second one {length(theirs.items)}; "
                "each item is to be seen in both."
            )
        grams = data.gram.exact(), theirs.gram.exact()
        for gram in grams:
            refuse_large_matrix(self, gram)
        weight = np.ones(len(grams[0])) if data.weight is None else data.weight
        share = weight / weight.sum()
        mine, its = canonical_directions(grams, share, float(self.lam), int(self.n_components))
        if not mine.values.size:
            raise ValueError(
                "KernelCCA: no direction of one view has anything to do with one of the other; all items of a view may "
                "be the same to its kernel."
            )
        if mine.values.size < self.n_components:
            warn(
                f"KernelCCA finds {mine.values.size} of the {self.n_components} components asked for: the views have "
                "no more in common."
            )
        scores = grams[0].matvec(mine.z)
        scores -= share @ scores
        tallest = np.abs(scores).argmax(axis=0)
        signs = np.where(scores[tallest, np.arange(tallest.size)] < 0, -1.0, 1.0)
        for machine in (self, other):
            machine.correlations_ = mine.values
            machine.residuals_ = np.maximum(mine.residuals, its.residuals)
        other._publish(_model(theirs, its, signs, share), theirs.given)
        other._publish_approximation(theirs)
        self.y_view_ = other
        return _model(data, mine, signs, share)

    def _as_items(self, view: Any) -> Any:
        """Items of a view; a single number for each is a column of a table."""
        if not self.read_kernel().suited(view).on_rows or len(getattr(view, "shape", (0,))) > 1:
            return view
        try:
            numbers = np.asarray(view, dtype=np.float64)
        except (TypeError, ValueError):
            return view
        return numbers.reshape(-1, 1) if numbers.ndim == 1 else view

    def transform(self, X: Any, y: Any = None) -> Any:
        """The components of items of the first view; with ``y`` also of items of the second one.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_rows, n_features), or a collection of the kernel's items
        y : the same, optional
            Items of the second view.

        Returns
        -------
        array of shape (n_rows, n_components), or two of them
        """
        components = super().transform(X)
        return components if y is None else (components, self.y_view_.transform(self.y_view_._as_items(y)))

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Learn from two views, and the components of the first."""
        return self.fit(X, y, sample_weight).transform(X)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The mean correlation of the components of two views of new items.

        Parameters
        ----------
        X, y : the two views, as in ``fit``
        sample_weight : array of shape (n_rows,), optional

        Returns
        -------
        float
        """
        check_is_fitted(self, "_model")
        weight = np.ones(np.shape(X)[0] if hasattr(X, "shape") else len(X)) if sample_weight is None else sample_weight
        pair = [np.asarray(each) for each in self.transform(X, y)]
        first, second = (each - np.average(each, axis=0, weights=weight) for each in pair)
        both = [
            np.average(a * b, axis=0, weights=weight) for a, b in ((first, second), (first, first), (second, second))
        ]
        spread = np.sqrt(both[1] * both[2])
        return float(np.mean(both[0] / np.where(spread > 0, spread, 1.0)))


def _model(data: Training, found: Directions, signs: Array, share: Array) -> LinearModel | KernelModel:
    """The components of one view, with mean zero."""
    z = (found.z * signs).T
    return model_of(data, [Iterate(each, -float(each @ data.gram.exact().matvec(share))) for each in z])
