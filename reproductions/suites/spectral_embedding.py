"""The tests of spectral embedding, which examine the eigenvectors behind SpectralClustering."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_array

from mercer.grams import Dense
from mercer.solvers import leading_eigenpairs

from .spectral_clustering import affinities_of

NAME = "spectral-embedding"
MODULE = "sklearn.manifold.tests.test_spectral_embedding"

_SOLVERS = "eigen_solver and eigen_tol are not looked at: all solvers are one"
ABSENT = {
    "test_sparse_graph_connected_component*": "a function of scikit-learn's own",
    "test_connectivity": "a function of scikit-learn's own",
}
MEANT = {"test_error_pyamg_not_available": _SOLVERS, "test_spectral_eigen_tol_auto*": _SOLVERS}


def spectral_embedding(
    adjacency: Any,
    *,
    n_components: int = 8,
    eigen_solver: Any = None,
    random_state: Any = None,
    eigen_tol: Any = "auto",
    norm_laplacian: bool = True,
    drop_first: bool = True,
) -> Any:
    """The eigenvectors of D^−½·W·D^−½ over √d or, without norm, of W − D; the largest entry of each is positive."""
    W = check_array(adjacency, accept_sparse=True, dtype=np.float64)
    W = W.toarray() if sparse.issparse(W) else W
    degrees = W.sum(axis=0) - W.diagonal()
    count = n_components + drop_first
    scale, less = np.ones(len(W)), W.diagonal()
    if norm_laplacian:
        scale = 1 / np.sqrt(np.where(degrees > 0, degrees, 1.0))
    else:
        less = less + degrees
    vectors = leading_eigenpairs(Dense(W), count, scale=scale, less=less, tol=1e-10).vectors * scale[:, None]
    tallest = np.abs(vectors).argmax(axis=0)
    return (vectors * np.sign(vectors[tallest, np.arange(count)]))[:, int(drop_first) :]


class SpectralEmbedding(BaseEstimator):
    def __init__(
        self,
        n_components: int = 2,
        *,
        affinity: Any = "nearest_neighbors",
        gamma: float | None = None,
        random_state: Any = None,
        eigen_solver: Any = None,
        eigen_tol: Any = "auto",
        n_neighbors: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.affinity = affinity
        self.gamma = gamma
        self.random_state = random_state
        self.eigen_solver = eigen_solver
        self.eigen_tol = eigen_tol
        self.n_neighbors = n_neighbors
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> SpectralEmbedding:
        n, columns = X.shape
        neighbours = max(n // 10, 1) if self.n_neighbors is None else self.n_neighbors
        gamma = 1.0 / columns if self.gamma is None else self.gamma
        self.affinity_matrix_ = affinities_of(X, self.affinity, neighbours, gamma=gamma)
        self.embedding_ = spectral_embedding(self.affinity_matrix_, n_components=self.n_components).astype(X.dtype)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        return self.fit(X).embedding_


def patches() -> dict[str, Any]:
    return {
        "sklearn.manifold.SpectralEmbedding": SpectralEmbedding,
        "sklearn.manifold.spectral_embedding": spectral_embedding,
    }
