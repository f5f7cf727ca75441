"""The tests of SpectralClustering."""

from __future__ import annotations

import warnings
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.metrics.pairwise import KERNEL_PARAMS, pairwise_kernels
from sklearn.neighbors import NearestNeighbors, kneighbors_graph
from sklearn.utils import check_array

import mercer

NAME = "spectral-clustering"
MODULE = "sklearn.cluster.tests.test_spectral"

_DISCRETIZE = "places become clusters by k-means or cluster_qr"
ABSENT = {
    "test_discretize": _DISCRETIZE,
    "test_spectral_clustering_not_infinite_loop": _DISCRETIZE,
    "test_spectral_clustering*discretize*": _DISCRETIZE,
    "test_cluster_qr*": "a function of scikit-learn's own; here it is a step of the machine",
    "test_verbose": "a fit prints nothing",
}
MEANT = {"test_spectral_clustering_with_arpack_amg_solvers": "eigen_solver is not looked at: all solvers are one"}


class SpectralClustering(ClusterMixin, BaseEstimator):
    """Affinities become matrices, with the degrees on the diagonal: no edge from a node to itself counts."""

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        eigen_solver: Any = None,
        n_components: int | None = None,
        random_state: Any = None,
        n_init: int = 10,
        gamma: float = 1.0,
        affinity: Any = "rbf",
        n_neighbors: int = 10,
        eigen_tol: Any = "auto",
        assign_labels: str = "kmeans",
        degree: float = 3,
        coef0: float = 1,
        kernel_params: Any = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.eigen_solver = eigen_solver
        self.n_components = n_components
        self.random_state = random_state
        self.n_init = n_init
        self.gamma = gamma
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.eigen_tol = eigen_tol
        self.assign_labels = assign_labels
        self.degree = degree
        self.coef0 = coef0
        self.kernel_params = kernel_params
        self.n_jobs = n_jobs
        self.verbose = verbose

    def fit(self, X: Any, y: Any = None) -> SpectralClustering:
        affinity = self.affinity
        if callable(affinity):  # a function of two rows
            affinity = partial(pairwise_kernels, metric=affinity, **(self.kernel_params or {}))
        given = {"gamma": self.gamma, "degree": self.degree, "coef0": self.coef0}
        affinities = affinities_of(X, affinity, self.n_neighbors, **given)
        self.labels_ = _labels(affinities, self.n_clusters, self.n_components, self.assign_labels)
        return self


def affinities_of(X: Any, affinity: Any, n_neighbors: int, **given: Any) -> Any:
    """The matrix of a graph, as scikit-learn makes it."""
    if affinity == "precomputed":
        return X
    if affinity == "nearest_neighbors":
        edges = kneighbors_graph(X, n_neighbors, include_self=True).toarray()
        return 0.5 * (edges + edges.T)
    if affinity == "precomputed_nearest_neighbors":
        known = NearestNeighbors(n_neighbors=n_neighbors, metric="precomputed").fit(X)
        edges = known.kneighbors_graph(X, mode="connectivity").toarray()
        return 0.5 * (edges + edges.T)
    if callable(affinity):
        return affinity(X)
    known = {name: value for name, value in given.items() if name in KERNEL_PARAMS[affinity]}
    return pairwise_kernels(X, metric=affinity, **known)


def _labels(affinities: Any, n_clusters: int, n_components: int | None, assign_labels: str) -> Any:
    """Clusters of a graph; that it is in several parts is said in scikit-learn's own words."""
    W = check_array(affinities, accept_sparse=True, dtype=np.float64, copy=True)
    W = W.toarray() if sparse.issparse(W) else W
    if connected_components(W, directed=False)[0] > 1:
        warnings.warn("Graph is not fully connected", UserWarning, stacklevel=2)
    np.fill_diagonal(W, 0.0)
    np.fill_diagonal(W, W.sum(axis=0))
    machine = mercer.SpectralClustering(
        "precomputed", n_clusters, n_components=n_components, assign_labels=assign_labels, tol=1e-10
    )
    return machine.fit(W).labels_


def spectral_clustering(
    affinity: Any,
    *,
    n_clusters: int = 8,
    n_components: int | None = None,
    eigen_solver: Any = None,
    random_state: Any = None,
    n_init: int = 10,
    eigen_tol: Any = "auto",
    assign_labels: str = "kmeans",
    verbose: bool = False,
) -> Any:
    return _labels(affinity, n_clusters, n_components, assign_labels)


def patches() -> dict[str, Any]:
    return {
        "sklearn.cluster.SpectralClustering": SpectralClustering,
        "sklearn.cluster.spectral_clustering": spectral_clustering,
    }
