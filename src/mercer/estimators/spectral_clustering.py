"""Spectral clustering: parts of a graph of similarities between which there is little."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy import linalg
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from ..checks import schema
from ..checks.parameters import choice, number
from ..grams import Features
from ..messages import guide
from ..problems import Iterate, Status
from ..rows.guests import lazily
from ..runtime.compile import Array
from ..solvers import Eigenpairs, kernel_kmeans, leading_eigenpairs
from .clustering import Clustering
from .model import KernelModel, LinearModel, model_of
from .training import Training, warn

#: An item whose similarities to others are less than this part of that to itself has no neighbours.
_ALONE = 1e-12
#: A component whose mean over neighbours is less than this part of itself is not known of new items.
_NOTHING = 1e-10
#: Places that differ by less than this part of themselves do not differ.
_CONSTANT = 1e-9


class SpectralClustering(Clustering):
    """Clusters as parts of a graph: many similarities within, few between.

    Items are nodes, their similarities k(xᵢ, xⱼ) ≥ 0 the weights of edges, and an item's degree dᵢ is the sum of its
    edges. Let D be the diagonal matrix of degrees, and K₀ the kernel matrix with zeros on its diagonal. Eigenvectors v
    of D^−½·K₀·D^−½ with the largest eigenvalues give each item its place uᵢ = vᵢ/√dᵢ, and places are clustered by
    k-means. A random walk on the graph goes from i to j with the chance k(xᵢ, xⱼ)/dᵢ, and seldom leaves such a cluster.

    A new item has the mean place of the training items, each counted by its similarity, and divided by what such means
    are of the places of training items.

    Parameters
    ----------
    kernel : kernel, text, callable or None, default="gaussian"
        One whose values are not negative.
    n_clusters : int, default=8
    n_components : int, optional
        How many eigenvectors; by default as many as clusters.
    assign_labels : {"kmeans", "cluster_qr"}, default="kmeans"
        How clusters are made of places; "cluster_qr" (Damle, Minden and Ying 2019) draws nothing, and looks at the
        directions of places alone.
    n_init : int, default=10
        Seedings of k-means.
    tol : float, default=1e-5
        The largest residual of an eigenpair, as a part of its eigenvalue.
    max_passes : int, default=100
        How often the whole kernel matrix may be asked for.
    rank, landmarks, time_limit, memory, random_state
        As in :class:`KernelKMeans`.

    Attributes
    ----------
    labels_ : array of shape (n_rows,)
        The cluster of each training item.
    eigenvalues_ : array of shape (n_components,)
        In falling order; a walk leaves clusters seldom where as many are nearly 1, and the next is not.
    eigenvalue_bounds_ : array of shape (n_components,)
        There is an eigenvalue of the matrix within so much of each, one for each of them.
    residuals_ : array of shape (n_components,)
    support_, support_vectors_, dual_coef_, intercept_, kernel_
        The last score of an item is its degree, and the others, over the degree, are its place.
    readout_ : array of shape (n_clusters, n_components + 1)
        Decision values of clusters are these sums of the scores.
    missing_trace_ : float, with ``rank``
    status_, converged_

    Notes
    -----
    A graph whose matrix is not positive semi-definite, such as that of nearest neighbours, becomes so by adding the
    degrees to its diagonal, which changes no cluster: ``SpectralClustering("precomputed").fit(A + np.diag(A.sum(0)))``.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SpectralClustering
    >>> angle = np.linspace(0, 6, 40)
    >>> rings = np.vstack([r * np.column_stack([np.cos(angle), np.sin(angle)]) for r in (0.5, 3)])
    >>> model = SpectralClustering("gaussian(gamma=2)", n_clusters=2).fit(rings)
    >>> np.bincount(model.labels_[:40]), np.bincount(model.labels_[40:])
    (array([40]), array([ 0, 40]))
    >>> model.predict([[0.0, 0.6], [-2.9, 0.1]])
    array([0, 1])
    """

    centred = False
    fields: ClassVar = {
        "eigenvalues_": schema.numbers("components"),
        "eigenvalue_bounds_": schema.numbers("components", low=0),
        "residuals_": schema.numbers("components", low=0),
        "readout_": schema.numbers("clusters", "scores"),
    }

    def __init__(
        self,
        kernel: Any = "gaussian",
        n_clusters: int = 8,
        *,
        n_components: int | None = None,
        assign_labels: str = "kmeans",
        n_init: int = 10,
        tol: float = 1e-5,
        max_passes: int = 100,
        rank: int | None = None,
        landmarks: str = "pivoted",
        time_limit: float | None = None,
        memory: int | str = "1GB",
        random_state: Any = 0,
    ) -> None:
        self.kernel = kernel
        self.n_clusters = n_clusters
        self.n_components = n_components
        self.assign_labels = assign_labels
        self.n_init = n_init
        self.tol = tol
        self.max_passes = max_passes
        self.rank = rank
        self.landmarks = landmarks
        self.time_limit = time_limit
        self.memory = memory
        self.random_state = random_state

    def _check(self) -> None:
        if self.n_components is not None:
            number(self, "n_components", 1, whole=True, strict=False)
        number(self, "max_passes", 1, whole=True, strict=False)
        number(self, "tol", 0)
        choice(self, "assign_labels", ("kmeans", "cluster_qr"))
        super()._check()

    def learn(self, data: Training) -> LinearModel | KernelModel:
        """Find the places of the items, and clusters of these."""
        self._refuse_too_many(data)
        exact, rng = self._exact(data), self._rng()
        weight = np.ones(len(exact)) if data.weight is None else data.weight
        own = np.asarray(exact.diag(), dtype=np.float64)
        # Of w equal rows each has the others as neighbours, and not itself.
        loops = own * np.minimum(weight, 1.0)
        whole = np.asarray(exact.matvec(weight), dtype=np.float64)
        degrees = self._degrees(whole - loops, own, weight, data)
        pairs = leading_eigenpairs(
            data.gram,
            int(self.n_components or self.n_clusters),
            scale=np.sqrt(weight / degrees),
            less=own / np.maximum(weight, 1.0),
            tol=float(self.tol),
            max_passes=int(self.max_passes),
            seconds=data.run.seconds_left(),
            rng=rng,
            exact=exact,
        )
        places, means = self._places(pairs, weight, degrees, loops)
        # The mean place of neighbours of an item, itself among them: K·W·u over K·w
        coefficients = weight[:, None] * places / means
        if not weight.all():
            gone = weight == 0
            beside = whole[gone, None]  # 0 where no counted item is near
            found = exact.matvec(coefficients)[gone]
            places[gone] = np.divide(found, beside, out=np.zeros_like(found), where=beside > 0)
        self.labels_, readout = self._clusters(places, weight, rng, data.run.seconds_left())
        self.readout_ = readout
        model = model_of(data, [Iterate(z) for z in np.column_stack([coefficients, weight]).T])
        return model

    def _degrees(self, degrees: Array, own: Array, weight: Array, data: Training) -> Array:
        """The degrees of items, refused where they are of no graph; an item without neighbours has itself."""
        alone = degrees <= _ALONE * np.abs(own)
        bad = np.flatnonzero((degrees < -_ALONE * len(own) * np.abs(own).max()) & (weight > 0))
        if bad.size:
            landmarks = data.gram.landmarks is not None
            remedy = "raise rank, or leave it out" if landmarks else "use one whose values are not, such as 'gaussian'"
            raise ValueError(
                f"SpectralClustering takes similarities for the weights of edges, and {data.kernel} is negative: the "
                f"similarities of item {bad[0]} to the others sum up to {degrees[bad[0]]:.3g}; {remedy}."
            )
        lonely = alone & (weight > 0)
        if lonely.any() and not alone.all():
            warn(
                f"SpectralClustering: {np.count_nonzero(lonely)} of {len(own)} items are similar to no other, so that "
                f"nothing tells their cluster; use a wider kernel {guide('clusters')}."
            )
        return np.where(alone, np.where(own > 0, own, 1.0), degrees)

    def _places(self, pairs: Eigenpairs, weight: Array, degrees: Array, loops: Array) -> tuple[Array, Array]:
        """u = v/√(w·d), and what means over all neighbours are of it, the item itself being one of them."""
        counted = weight > 0
        places = np.zeros(pairs.vectors.shape)
        places[counted] = pairs.vectors[counted] / np.sqrt(weight * degrees)[counted, None]
        # vᵀ(D^−½KD^−½)v is λ, for K without loops.
        looped = (weight * loops) @ places**2
        means = (pairs.values + looped) / (1.0 + looped)
        there = means > _NOTHING
        tallest = np.abs(places).argmax(axis=0)
        places *= np.where(places[tallest, np.arange(len(means))] < 0, -1.0, 1.0)
        self.eigenvalues_, self.residuals_ = pairs.values[there], pairs.residuals[there]
        self.eigenvalue_bounds_ = pairs.bounds[there]
        self._publish_status([pairs.status])
        if pairs.status is not Status.CONVERGED:
            warn(
                f"SpectralClustering stopped before tol={self.tol:g} was reached: the largest residual of an "
                f"eigenvector is {pairs.residuals.max():.3g}; raise max_passes or time_limit {guide('certificates')}.",
                ConvergenceWarning,
            )
        return places[:, there], means[there]

    def _clusters(self, places: Array, weight: Array, rng: np.random.Generator, seconds: float) -> tuple[Array, Array]:
        """The clusters of places, and the sums of scores that decide between them."""
        k = int(self.n_clusters)
        if self.assign_labels == "kmeans":
            apart = places - weight @ places / weight.sum()
            apart[:, np.abs(apart).max(axis=0) <= _CONSTANT * np.abs(places).max(axis=0)] = 0.0
            found = kernel_kmeans(Features(apart), k, weight, starts=int(self.n_init), seconds=seconds, rng=rng)
            self._warn_if_fewer(found.weights.size)
            # ‖u − c‖² for u = s/d: −d·(‖u‖² − ‖u − c‖²) = ‖c‖²·d − 2⟨c, s⟩
            centres = (places.T @ found.memberships(weight)).T
            return found.labels, np.column_stack([2 * centres, -np.square(centres).sum(axis=1)])
        _, _, pivots = linalg.qr(places.T, pivoting=True, mode="economic")
        left, _, right = linalg.svd(places[pivots[:k]].T, full_matrices=False)
        turn = left @ right
        labels = (places @ turn).argmax(axis=1)
        order = np.argsort(-np.bincount(labels, weight, turn.shape[1]), kind="stable")
        order = order[np.isin(order, labels)]
        self._warn_if_fewer(order.size)
        numbers = np.zeros(turn.shape[1], dtype=np.int64)
        numbers[order] = np.arange(order.size)
        return numbers[labels], np.column_stack([turn[:, order].T, np.zeros(order.size)])

    @lazily
    def transform(self, X: Any) -> Array:
        """The places of items; zeros for one that is similar to no training item.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_rows, n_features), or a collection of the kernel's items

        Returns
        -------
        array of shape (n_rows, n_components)
        """
        scores = super().decision_function(X)
        sums, degrees = scores[:, :-1], scores[:, -1:]
        return np.divide(sums, degrees, out=np.zeros_like(sums), where=degrees > 0)

    @lazily
    def decision_function(self, X: Any) -> Array:
        check_is_fitted(self, "_model")
        return super().decision_function(X) @ self.readout_.T

    @property
    def _n_features_out(self) -> int:
        return len(self.intercept_) - 1
