"""Kernel principal components: the directions of feature space in which items differ most."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples, check_is_fitted

from ..checks import schema
from ..checks.parameters import number
from ..checks.tables import chosen
from ..grams import Placement
from ..kernels.engine.tiles import length
from ..messages import guide
from ..problems import Iterate, Status
from ..rows import is_dask
from ..runtime.compile import Array
from ..solvers import Eigenpairs, leading_eigenpairs
from .kernel_regressor import KernelRegressor
from .model import KernelModel, LinearModel, model_of
from .training import Training, warn
from .transformer import Transformer, refuse_large_matrix

#: An eigenvalue below this part of the largest, for each item, is a rounding error.
_NOTHING = 4 * np.finfo(np.float64).eps
#: Items that pre-images are learned from, at most.
_LEARNED = 2000


class KernelPCA(Transformer):
    """Components of items: their places along the directions in which they differ most in feature space.

    With items centred there, φ̃(x) = φ(x) − mean φ, the directions are the eigenvectors of the covariance Σ φ̃φ̃ᵀ. They
    are w = Σᵢ αᵢφ̃(xᵢ) with α = v/√λ for the eigenpairs (λ, v) of the centred kernel matrix, and an item's component is
    ⟨w, φ̃(x)⟩. The matrix is asked for products alone, so that it need not be in memory; each eigenvalue comes with a
    bound of its error.

    Parameters
    ----------
    kernel : kernel, text, callable or None, default="gaussian"
        ``None`` or ``"linear"`` gives the principal components of the columns.
    n_components : int or None, default=2
        How many; ``None`` for all in which items differ.
    tol : float, default=1e-5
        The largest residual ‖A·v − λ·v‖ of an eigenpair, as a part of its eigenvalue, up to 0.001.
    max_passes : int, default=100
        How often the whole kernel matrix may be asked for.
    rank : int, optional
        Let so many landmarks stand for all items. The model then keeps these alone.
    landmarks : {"pivoted", "uniform", "farthest"}, default="pivoted"
    time_limit : float, optional
        Seconds after which the best components so far are returned, with a warning.
    memory : int or str, default="1GB"
        What a kernel matrix may take.
    device : {"cuda"}, optional
        Compute products with the kernel matrix on a graphics card.
    random_state : int, RandomState or None, default=0
        Where the search for directions begins.

    Attributes
    ----------
    eigenvalues_ : array of shape (n_components,)
        λ, in falling order: Σ over training items of the squared component, times the item's weight.
    eigenvalue_bounds_ : array of shape (n_components,)
        There is an eigenvalue of the matrix within so much of each, one for each of them. The largest k eigenvalues are
        at least those found; what may have been passed over is no more than the variance that is left unexplained.
    residuals_ : array of shape (n_components,)
        ‖A·v − λ·v‖ for the unit vectors v that were found.
    angle_bounds_ : array of shape (n_components,)
        The sine of the angle between each direction and the true one is at most this; 1 where eigenvalues are so close
        to each other that nothing can be said.
    explained_variance_ratio_ : array of shape (n_components,)
        The share of the variance in feature space along each direction.
    support_, support_vectors_, dual_coef_, intercept_, coef_ (linear), kernel_
        Component k of x is Σⱼ dual_coef_[k, j]·k(xⱼ, x) + intercept_[k].
    missing_trace_ : float, with ``rank``
    status_, converged_

    Notes
    -----
    A direction's sign is such that the training item with the largest component has a positive one.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelPCA
    >>> angle = np.linspace(0, 6, 40)
    >>> rings = np.vstack([r * np.column_stack([np.cos(angle), np.sin(angle)]) for r in (0.5, 3)])
    >>> model = KernelPCA("gaussian(gamma=0.5)", n_components=2).fit(rings)
    >>> inner, outer = model.transform(rings)[:, 0].reshape(2, 40)
    >>> bool(outer.max() < inner.min()), model.eigenvalues_.round(2)
    (True, array([17.88,  5.31]))
    """

    fields: ClassVar = {
        "eigenvalues_": schema.numbers("scores", low=0),
        "eigenvalue_bounds_": schema.numbers("scores", low=0),
        "residuals_": schema.numbers("scores", low=0),
        "angle_bounds_": schema.numbers("scores", low=0, high=1),
        "explained_variance_ratio_": schema.numbers("scores", low=0, high=1),
        "mean_": schema.optional(schema.numbers("columns")),
        "mean_coef_": schema.optional(schema.numbers("support")),
        "mean_square_": schema.optional(schema.number()),
    }

    def __init__(
        self,
        kernel: Any = "gaussian",
        n_components: int | None = 2,
        *,
        tol: float = 1e-5,
        max_passes: int = 100,
        rank: int | None = None,
        landmarks: str = "pivoted",
        time_limit: float | None = None,
        memory: int | str = "1GB",
        device: str | None = None,
        random_state: Any = 0,
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.tol = tol
        self.max_passes = max_passes
        self.rank = rank
        self.landmarks = landmarks
        self.time_limit = time_limit
        self.memory = memory
        self.device = device
        self.random_state = random_state

    @property
    def placement(self) -> Placement:
        """Single precision finds the way where products are computed anew each time; results are in double."""
        kernel = self.read_kernel()
        precision = np.float32 if kernel.on_rows and kernel.splits and not kernel.precomputed else np.float64
        return Placement(
            self.memory, precision, centred=True, rank=self.rank, landmarks=self.landmarks, device=self.device
        )

    def _check(self) -> None:
        if self.n_components is not None:
            number(self, "n_components", 1, whole=True, strict=False)
        number(self, "max_passes", 1, whole=True, strict=False)
        number(self, "tol", 0)
        if self.time_limit is not None:
            number(self, "time_limit", 0)
        self._check_rank()

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        """Find the directions, and the components of the training items.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_rows, n_features), or a collection of the kernel's items
        y : ignored
        sample_weight : array of shape (n_rows,), optional

        Returns
        -------
        array of shape (n_rows, n_components)
        """
        self.fit(X, y, sample_weight)
        every = isinstance(self._model, KernelModel) and self.rank is None and sample_weight is None
        if not every or is_dask(X):
            return self.transform(X)
        # A·v = λ·v says what the components of training items are: √λ·v = λ·α.
        components = np.zeros((_num_samples(X), self.eigenvalues_.size))
        components[self.support_] = self.dual_coef_.T * self.eigenvalues_
        return components

    def learn(self, data: Training) -> LinearModel | KernelModel:
        """Find the eigenpairs, and the directions that they are."""
        exact = data.exact_gram() if self.placement.single else data.gram.exact()
        pairs = self._pairs(data, exact)
        weight = np.ones(len(exact)) if data.weight is None else data.weight
        # ⟨w, φ(x) − mean φ⟩ = Σ αᵢ·k(xᵢ, x) − αᵀ·mean k, as Σ αᵢ = 0.
        means = exact.matvec(weight / weight.sum())
        alpha = np.sqrt(weight)[:, None] * pairs.vectors / np.sqrt(pairs.values)
        share = weight / weight.sum()
        model = model_of(data, [*(Iterate(a, -float(a @ means)) for a in alpha.T), Iterate(share)])
        for name in ("mean_", "mean_coef_", "mean_square_", "_pre_images"):
            self.__dict__.pop(name, None)
        if isinstance(model, LinearModel):
            self.mean_ = np.asarray(data.items.T @ share, dtype=np.float64)
        else:  # the mean of feature space beside the directions
            self.mean_coef_, self.mean_square_ = model.coef[-1], float(share @ means)
        model = replace(model, coef=model.coef[:-1], intercept=model.intercept[:-1])
        self.eigenvalues_ = pairs.values
        self.eigenvalue_bounds_, self.residuals_ = pairs.bounds, pairs.residuals
        self.angle_bounds_ = pairs.angles
        variance = float(weight @ np.asarray(exact.diag(), dtype=np.float64)) - float(weight @ means)
        self.explained_variance_ratio_ = np.minimum(pairs.values / variance, 1.0)
        self._publish_status([pairs.status])
        self._warn_if_short(pairs)
        return model

    def _pairs(self, data: Training, exact: Any) -> Eigenpairs:
        """The eigenpairs that are not zero, with signs that do not depend on the way to them."""
        n = len(exact) if data.weight is None else int(np.count_nonzero(data.weight))
        if n < 2:
            raise ValueError("KernelPCA cannot learn from 1 sample: directions in which items differ take two of them.")
        most = n - 1  # centring takes one
        count = most if self.n_components is None else min(int(self.n_components), most)
        if count > most // 5 and data.gram.features() is None:
            refuse_large_matrix(self, data.gram, count)
        pairs = leading_eigenpairs(
            data.gram,
            count,
            centred=True,
            scale=None if data.weight is None else np.sqrt(data.weight),
            tol=float(self.tol),
            max_passes=int(self.max_passes),
            seconds=data.run.seconds_left(),
            rng=np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1)),
            exact=exact,
        )
        largest = float(np.max(exact.diag(), initial=0.0))
        there = int(np.count_nonzero(pairs.values > _NOTHING * n * max(float(pairs.values[0]), largest)))
        if not there:
            raise ValueError(
                f"KernelPCA: all {n} items are the same to {data.kernel}, so that there is no direction in which they "
                "differ; use another kernel, or other rows."
            )
        if self.n_components is not None and there < self.n_components:
            warn(
                f"KernelPCA finds {there} of the {self.n_components} components asked for: the items differ in no more "
                "directions.",
            )
        vectors = pairs.vectors[:, :there]
        tallest = np.abs(vectors).argmax(axis=0)
        vectors = vectors * np.where(vectors[tallest, np.arange(there)] < 0, -1.0, 1.0)
        return replace(
            pairs, values=pairs.values[:there], vectors=vectors, residuals=pairs.residuals[:there],
            bounds=pairs.bounds[:there], angles=pairs.angles[:there],
        )  # fmt: skip

    def _warn_if_short(self, pairs: Eigenpairs) -> None:
        if pairs.status is not Status.CONVERGED:
            worst = float((pairs.residuals / pairs.values).max())
            warn(
                f"KernelPCA stopped before tol={self.tol:g} was reached: the largest residual is {worst:.3g} of its "
                f"eigenvalue; eigenvalue_bounds_ are true all the same. Raise max_passes or time_limit "
                f"{guide('certificates')}.",
                ConvergenceWarning,
            )

    def reconstruction_error(self, X: Any) -> Array:
        """How far items are from the space of the components: ‖φ̃(x)‖² less the squares of the components of x.

        An item like the training items is near that space, an outlier is not (Hoffmann 2007).

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_rows, n_features), or a collection of the kernel's items

        Returns
        -------
        array of shape (n_rows,)

        Examples
        --------
        >>> import numpy as np
        >>> from mercer import KernelPCA
        >>> angle = np.linspace(0, 6, 40)
        >>> ring = np.column_stack([np.cos(angle), np.sin(angle)])
        >>> model = KernelPCA("gaussian(gamma=1)", 6).fit(ring)
        >>> model.reconstruction_error([[1.0, 0.0], [0.0, 0.0]]).round(2)  # on the ring, and in its middle
        array([0.02, 0.57])
        """
        check_is_fitted(self, "_model")
        items, model = self._items_to_score(X), self._model
        left = -np.square(np.asarray(self.transform(X))).sum(axis=1)
        if isinstance(model, LinearModel):
            own = items - self.mean_
            return np.maximum(left + np.square(own).sum(axis=1), 0.0)
        if model.items is None:
            raise ValueError(
                "reconstruction_error: the columns of a precomputed matrix do not tell how similar a new item is to "
                "itself; give KernelPCA the kernel and the items."
            )
        mean = KernelModel(model.kernel, model.support, model.items, self.mean_coef_[None], np.zeros(1))
        left += model.kernel.diag(items) - 2 * mean.scores(items, self.memory)[:, 0] + self.mean_square_
        return np.maximum(left, 0.0)

    def inverse_transform(self, Z: Any) -> Any:
        """Items with such components, or nearly such.

        Few points of feature space are the image of an item. Of a linear machine they are, and the item is exact. Of
        other machines on rows of numbers, what is between components and rows is learned from the rows that the model
        keeps, by ridge regression whose λ has the least leave-one-out error. Of strings, sets and graphs the answer is
        the kept item whose components are nearest.

        Parameters
        ----------
        Z : array of shape (n_rows, n_components)

        Returns
        -------
        array of shape (n_rows, n_features), or a list of items

        Examples
        --------
        >>> import numpy as np
        >>> from mercer import KernelPCA
        >>> X = np.random.default_rng(0).normal(size=(60, 2))
        >>> model = KernelPCA("gaussian(gamma=0.1)", n_components=6).fit(X)
        >>> back = model.inverse_transform(model.transform(X))
        >>> bool(np.abs(back - X).mean() < 0.05)
        True
        """
        check_is_fitted(self, "_model")
        Z = np.asarray(Z, dtype=np.float64)
        if Z.ndim != 2 or Z.shape[1] != self.eigenvalues_.size:
            raise ValueError(
                f"inverse_transform takes rows of {self.eigenvalues_.size} components, as transform gives them; got an "
                f"array of shape {Z.shape}."
            )
        if not np.isfinite(Z).all():
            raise ValueError("inverse_transform: a component is not a finite number.")
        if isinstance(self._model, LinearModel):
            return self.mean_ + Z @ self._model.coef
        if self._model.items is None:
            raise ValueError(
                "inverse_transform: a precomputed matrix tells of no rows to go back to; give KernelPCA the kernel and "
                "the rows themselves."
            )
        return self._learned_rows(Z) if self._model.kernel.on_rows else self._nearest_items(Z)

    def _learned_rows(self, Z: Array) -> Array:
        if not hasattr(self, "_pre_images"):
            n = length(self._model.items)
            some = np.unique(np.linspace(0, n - 1, min(n, _LEARNED)).astype(np.int64))
            rows = self._model.items[some]
            rows = rows.toarray() if hasattr(rows, "toarray") else rows
            known = self._model.scores(self._model.items[some], self.memory)
            self._pre_images = KernelRegressor("gaussian", lam="loo", memory=self.memory).fit(known, rows)
        return self._pre_images.predict(Z)

    def _nearest_items(self, Z: Array) -> list[Any]:
        known = self._model.scores(self._model.items, self.memory)
        squares = np.square(known).sum(axis=1)
        places = np.array([int(np.argmin(squares - 2 * known @ z)) for z in Z], dtype=np.int64)
        return list(chosen(self.support_vectors_, places))
