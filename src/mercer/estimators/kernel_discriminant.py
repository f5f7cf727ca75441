"""Kernel discriminant analysis: the directions of feature space that tell classes apart."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin

from ..checks import schema
from ..checks.labels import combine_weights, encode, has_many_labels, refuse_bad_labels
from ..checks.parameters import number
from ..grams import Placement
from ..problems import Iterate
from ..runtime.compile import Array
from ..solvers import discriminant_directions
from .model import KernelModel, LinearModel, model_of
from .training import Training, warn
from .transformer import Transformer, refuse_large_matrix

__all__ = ["KernelDiscriminant"]


class KernelDiscriminant(ClassifierMixin, Transformer):
    """Components of items along the directions in which class means differ most for the spread within classes.

    These directions w have the largest ratios e of the scatter between classes to that within them,

        S_between·w = e·(S_within + λI)·w,

    where S_between = Σ pᶜ·(mᶜ − m)(mᶜ − m)ᵀ is of the means of classes with their shares p, and S_within is the mean
    of the covariances of classes, both in feature space. There are as many as classes but one. Components have the
    spread one within classes, so that a new item belongs to the class whose centre is nearest, with a handicap of
    −2·log pᶜ: linear discriminant analysis there. It is exact, by one Cholesky factor.

    Parameters
    ----------
    kernel : kernel, text, callable or None, default="gaussian"
        ``None`` or ``"linear"`` gives Fisher's linear discriminant analysis.
    n_components : int, optional
        How many; by default all, one fewer than there are classes.
    lam : float, default=1e-3
        λ, in the unit of the variance in feature space.
    rank : int, optional
        Let so many landmarks stand for all items. The model then keeps these alone.
    landmarks : {"pivoted", "uniform", "farthest"}, default="pivoted"
    memory : int or str, default="1GB"
        What a kernel matrix may take.

    Attributes
    ----------
    classes_ : array
    eigenvalues_ : array of shape (n_components,)
        The ratios e, in falling order.
    explained_variance_ratio_ : array of shape (n_components,)
        The share of each in the sum of all ratios.
    residuals_ : array of shape (n_components,)
        ‖S_between·w − e·(S_within + λI)·w‖, as a part of the larger side.
    means_ : array of shape (n_classes, n_components)
        The components of the class means.
    priors_ : array of shape (n_classes,)
        The shares p.
    support_, support_vectors_, dual_coef_, intercept_, coef_ (linear), kernel_
        Component k of x is Σⱼ dual_coef_[k, j]·k(xⱼ, x) + intercept_[k].

    Notes
    -----
    A direction's sign is such that the class whose mean is farthest out has a positive one.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelDiscriminant
    >>> angle = np.linspace(0, 6, 40)
    >>> rings = np.vstack([r * np.column_stack([np.cos(angle), np.sin(angle)]) for r in (1, 2, 3)])
    >>> y = np.repeat(["inner", "middle", "outer"], 40)
    >>> model = KernelDiscriminant("gaussian(gamma=1)").fit(rings, y)
    >>> model.transform(rings).shape, model.predict([[0.0, 1.1], [3.1, 0.0]]).tolist(), model.score(rings, y)
    ((120, 2), ['inner', 'outer'], 1.0)
    """

    target_kind = "labels"
    fields: ClassVar = {
        "classes_": schema.labels("classes"),
        "eigenvalues_": schema.numbers("scores", low=0),
        "explained_variance_ratio_": schema.numbers("scores", low=0, high=1),
        "residuals_": schema.numbers("scores", low=0),
        "means_": schema.numbers("classes", "scores"),
        "priors_": schema.numbers("classes", low=0, high=1),
    }

    def __init__(
        self,
        kernel: Any = "gaussian",
        n_components: int | None = None,
        *,
        lam: float = 1e-3,
        rank: int | None = None,
        landmarks: str = "pivoted",
        memory: int | str = "1GB",
    ) -> None:
        self.kernel = kernel
        self.n_components = n_components
        self.lam = lam
        self.rank = rank
        self.landmarks = landmarks
        self.memory = memory

    @property
    def placement(self) -> Placement:
        """All of the matrix is at hand: it is factorised."""
        return Placement(self.memory, centred=True, rank=self.rank, landmarks=self.landmarks, by_passes=False)

    def _check(self) -> None:
        if self.n_components is not None:
            number(self, "n_components", 1, whole=True, strict=False)
        number(self, "lam", 0)
        self._check_rank()

    def _refuse_bad_targets(self, y: Any) -> None:
        refuse_bad_labels(y)
        if has_many_labels(y):
            raise ValueError(
                f"y should be a 1d array for KernelDiscriminant, which knows one class for each row, but got an array "
                f"of shape {np.shape(y)}."
            )

    def encoded(self, y: Any, sample_weight: Any, items: Any) -> tuple[Array, Array | None]:
        """The number of each item's class, and the weight of each item where they differ."""
        self.classes_, codes = encode(y, type(self).__name__)
        return codes, combine_weights(sample_weight, None, items, y)

    def learn(self, data: Training) -> LinearModel | KernelModel:
        """Find the directions, and the centres of the classes along them."""
        exact = data.gram.exact()
        refuse_large_matrix(self, exact)
        weight = np.ones(len(exact)) if data.weight is None else data.weight
        share = weight / weight.sum()
        found = discriminant_directions(exact, data.targets, share, float(self.lam))
        most = len(self.classes_) - 1
        wanted = most if self.n_components is None else int(self.n_components)
        if not found.values.size:
            raise ValueError(
                f"KernelDiscriminant: the means of all classes are the same to {data.kernel}, so that no direction "
                "tells them apart; use another kernel."
            )
        if wanted > found.values.size:
            why = "there are no more between so many classes" if wanted > most else "class means differ in no more"
            warn(f"KernelDiscriminant finds {found.values.size} of the {wanted} components asked for: {why}.")
        count = min(wanted, found.values.size)
        # Components of the training items, and of their mean.
        features = exact.features() if found.w is not None else None
        scores = exact.matvec(found.z) if features is None else np.asarray(features @ found.w)
        centre = share @ scores
        self.priors_ = np.bincount(data.targets, share, minlength=len(self.classes_))
        means = np.zeros((self.priors_.size, found.values.size))
        np.add.at(means, data.targets, share[:, None] * (scores - centre))
        means /= self.priors_[:, None]
        farthest = np.abs(means).argmax(axis=0)
        signs = np.where(means[farthest, np.arange(farthest.size)] < 0, -1.0, 1.0)[:count]
        self.means_ = means[:, :count] * signs
        self.eigenvalues_, self.residuals_ = found.values[:count], found.residuals[:count]
        self.explained_variance_ratio_ = self.eigenvalues_ / found.values.sum()
        return model_of(
            data,
            [
                Iterate(
                    sign * found.z[:, k], -sign * float(centre[k]), w=None if found.w is None else sign * found.w[:, k]
                )
                for k, sign in enumerate(signs)
            ],
        )

    def predict(self, X: Any) -> Array:
        """The class of each item: the one whose centre is nearest, with a handicap for rare classes.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_rows, n_features), or a collection of the kernel's items

        Returns
        -------
        array of shape (n_rows,)
        """
        components = np.asarray(self.transform(X))
        apart = components @ self.means_.T - 0.5 * np.square(self.means_).sum(axis=1) + np.log(self.priors_)
        return self.classes_[apart.argmax(axis=1)]
