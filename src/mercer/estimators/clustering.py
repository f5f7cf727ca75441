"""Clusters of items: what all clusterings share, and k-means in feature space."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy.sparse import issparse
from scipy.spatial.distance import cdist
from sklearn.base import ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.utils import check_random_state

from ..checks import schema
from ..checks.parameters import bytes_of, memory_in_words, number, size_in_words
from ..grams import Gram, Placement
from ..problems import Iterate, Status
from ..rows import Rows
from ..rows.guests import lazily
from ..runtime.compile import Array
from ..solvers import Partition, kernel_kmeans, least_cost
from .model import KernelModel, LinearModel, model_of
from .training import Training, warn
from .transformer import Transformer

#: Matrices of all items by all clusters that there are at once.
_MATRICES = 5


class Clustering(ClusterMixin, Transformer, named=False):
    """Each item belongs to the cluster whose decision value is the largest; the heaviest cluster has the number 0."""

    answers = "clusters"
    fields: ClassVar = {"labels_": schema.wholes("")}
    precisions = (np.float64,)  # rows between two clusters are on the border to the last digit

    #: Whether clusters stay as they are where the origin of feature space is moved.
    centred: ClassVar[bool] = True

    n_clusters: int
    n_init: int
    random_state: Any

    @property
    def placement(self) -> Placement:
        """Single precision finds the way where products are computed anew each time; results are in double."""
        kernel = self.read_kernel()
        anew = self.rank is None and kernel.on_rows and kernel.splits and not kernel.precomputed
        return Placement(self.memory, np.float32 if anew else np.float64, self.centred, self.rank, self.landmarks)

    def _check(self) -> None:
        number(self, "n_clusters", 1, whole=True, strict=False)
        number(self, "n_init", 1, whole=True, strict=False)
        if self.time_limit is not None:
            number(self, "time_limit", 0)
        self._check_rank()

    def _exact(self, data: Training) -> Gram:
        return data.exact_gram() if self.placement.single else data.gram.exact()

    def _rng(self) -> np.random.Generator:
        return np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))

    def _refuse_too_many(self, data: Training) -> None:
        """Clusters without items, and more of them than there is room for."""
        n = len(data.gram) if data.weight is None else int(np.count_nonzero(data.weight))
        if n < self.n_clusters:
            raise ValueError(
                f"{type(self).__name__} cannot make {self.n_clusters} clusters of n_samples={n}; ask for at most {n}."
            )
        needed = _MATRICES * 8 * len(data.gram) * self.n_clusters
        if needed > bytes_of(self.memory):
            raise ValueError(
                f"{self.n_clusters} clusters of {len(data.gram)} items take {size_in_words(needed)}, more than "
                f"{memory_in_words(self.memory)}; ask for fewer clusters, or raise memory."
            )

    def _warn_if_fewer(self, found: int) -> None:
        if found < self.n_clusters:
            warn(
                f"{type(self).__name__} finds {found} of the {self.n_clusters} clusters asked for: the items differ in "
                f"no more than {found} ways.",
                ConvergenceWarning,
            )

    @lazily
    def predict(self, X: Any) -> Array:
        """The number of the cluster of each item.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_rows, n_features), or a collection of the kernel's items

        Returns
        -------
        array of shape (n_rows,)
        """
        return self.predictions_of(self.decision_function(X))

    @lazily
    def decision_function(self, X: Any) -> Array:
        """A number for each cluster, the largest that of the cluster of the item.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_rows, n_features), or a collection of the kernel's items

        Returns
        -------
        array of shape (n_rows, n_clusters)
        """
        return self.decisions_of(self._scores(X))

    def predictions_of(self, decisions: Array) -> Array:
        """The cluster with the largest decision value."""
        return decisions.argmax(axis=1)


class KernelKMeans(Clustering):
    """k-means in feature space: clusters whose items are near to their mean there.

    The cost is Σ wᵢ‖φ(xᵢ) − μ‖², the squared distance of each item from the mean of its cluster. Several k-means++
    seedings are led down by Lloyd's steps, and the best clustering is kept. A spectral bound tells what any clustering
    costs at least, and so how far from the best one this can be.

    Parameters
    ----------
    kernel : kernel, text, callable or None, default="gaussian"
        ``None`` or ``"linear"`` is ordinary k-means.
    n_clusters : int, default=8
    n_init : int, default=5
        How many seedings.
    max_iter : int, default=300
        The most steps from each.
    rank : int, optional
        Let so many landmarks stand for all items. The model then keeps these alone.
    landmarks : {"pivoted", "uniform", "farthest"}, default="pivoted"
    time_limit : float, optional
        Seconds after which the best clustering so far is returned, with a warning.
    memory : int or str, default="1GB"
        What a kernel matrix may take.
    random_state : int, RandomState or None, default=0
        Where seedings begin.

    Attributes
    ----------
    labels_ : array of shape (n_rows,)
        The cluster of each training item.
    cost_ : float
        Σ wᵢ‖φ(xᵢ) − μ‖², in scikit-learn the inertia; with ``rank``, of what the landmarks tell of φ(xᵢ).
    cost_bound_ : float
        No clustering into as many clusters costs less, with all items or with landmarks in their place.
    cluster_centers_ : array of shape (n_clusters, n_features), of a linear machine
    support_, support_vectors_, dual_coef_, intercept_, coef_ (linear), kernel_
        The decision value of cluster c is Σⱼ dual_coef_[c, j]·k(xⱼ, x) + intercept_[c] = 2⟨μ, φ(x)⟩ − ‖μ‖².
    missing_trace_ : float, with ``rank``
    n_iter_, status_, converged_

    Notes
    -----
    The bound is by the leading eigenvalues of the kernel matrix, each with the bound of its error. Of more than 400
    items these are found from random directions, and none is overlooked but with probability zero.

    Examples
    --------
    >>> from mercer import KernelKMeans
    >>> words = ["banana", "bananas", "cherry", "ananas", "cherries", "sherry"]
    >>> model = KernelKMeans("normalised(spectrum(p=2))", n_clusters=2).fit(words)
    >>> model.labels_, model.predict(["a banana", "a cherry"])
    (array([0, 0, 1, 0, 1, 1]), array([0, 1]))
    >>> round(model.cost_, 3), round(model.cost_bound_, 3)
    (0.82, 0.817)
    """

    fields: ClassVar = {
        "cost_": schema.number(0),
        "cost_bound_": schema.number(0),
        "cluster_centers_": schema.optional(schema.numbers("scores", "columns")),
    }

    def __init__(
        self,
        kernel: Any = "gaussian",
        n_clusters: int = 8,
        *,
        n_init: int = 5,
        max_iter: int = 300,
        rank: int | None = None,
        landmarks: str = "pivoted",
        time_limit: float | None = None,
        memory: int | str = "1GB",
        random_state: Any = 0,
    ) -> None:
        self.kernel = kernel
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.max_iter = max_iter
        self.rank = rank
        self.landmarks = landmarks
        self.time_limit = time_limit
        self.memory = memory
        self.random_state = random_state

    def _check(self) -> None:
        number(self, "max_iter", 1, whole=True, strict=False)
        super()._check()

    def learn(self, data: Training) -> LinearModel | KernelModel:
        """Find the clusters, their means, and what they cost at least."""
        self._refuse_too_many(data)
        exact, rng = self._exact(data), self._rng()
        weight = np.ones(len(exact)) if data.weight is None else data.weight
        found = kernel_kmeans(
            data.gram,
            int(self.n_clusters),
            weight,
            starts=int(self.n_init),
            max_iter=int(self.max_iter),
            seconds=data.run.seconds_left(),
            rng=rng,
            exact=exact,
        )
        self._warn_if_fewer(found.weights.size)
        least = least_cost(
            data.gram, int(self.n_clusters), weight, seconds=data.run.seconds_left(), rng=rng, exact=exact
        )
        self._publish_costs(data, found, least)
        # ‖φ(x) − μ‖² = k(x, x) − (2⟨μ, φ(x)⟩ − ‖μ‖²)
        coefficients = 2 * found.memberships(weight)
        columns = zip(coefficients.T, found.squares, strict=True)
        model = model_of(data, [Iterate(z, -float(square)) for z, square in columns])
        self.__dict__.pop("cluster_centers_", None)
        if isinstance(model, LinearModel):
            self.cluster_centers_ = np.asarray((data.items.T @ (0.5 * coefficients)).T, dtype=np.float64)
        return model

    def _publish_costs(self, data: Training, found: Partition, least: float) -> None:
        self.labels_, self.n_iter_ = found.labels, found.n_iter
        self.cost_ = found.cost
        self.cost_bound_ = min(least, found.cost)
        self._publish_status([found.status])
        if found.status is not Status.CONVERGED:
            warn(
                f"KernelKMeans stopped after {found.n_iter} steps with clusters that still change; raise max_iter or "
                "time_limit.",
                ConvergenceWarning,
            )

    @lazily
    def transform(self, X: Any) -> Array:
        """The distance of each item from the mean of each cluster, in feature space.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_rows, n_features), or a collection of the kernel's items

        Returns
        -------
        array of shape (n_rows, n_clusters)
        """
        items = self._items_to_score(X)
        if self.kernel_.precomputed:
            raise ValueError(
                "transform: the columns of a precomputed kernel matrix do not tell the similarity of new items with "
                "themselves, which distances need; predict needs none."
            )
        if not isinstance(items, Rows):
            return self._distances(items)
        out = np.empty((len(items), len(self.intercept_)))
        for place, distances in items.each(self._distances):
            out[place] = distances
        return out

    def _distances(self, items: Any) -> Array:
        items = items.astype(np.float64, copy=False) if self.kernel_.on_rows else items
        if isinstance(self._model, LinearModel):
            return (euclidean_distances if issparse(items) else cdist)(items, self.cluster_centers_)
        scores = self.decisions_of(self._model.scores(items, self.memory))
        own = np.asarray(self.kernel_.diag(items), dtype=np.float64)
        return np.sqrt(np.maximum(own[:, None] - scores, 0.0))
