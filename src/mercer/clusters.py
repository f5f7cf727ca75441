"""What clusters are worth: how apart they are, whether they come again, how many there are, and what they are made of.

Functions take a clustering of mercer, alone or at the end of a pipeline.

Examples
--------
>>> from sklearn.datasets import make_blobs
>>> from mercer import KernelKMeans
>>> from mercer.clusters import number_of_clusters, stability
>>> X, _ = make_blobs(200, centers=3, random_state=4)
>>> found = number_of_clusters(KernelKMeans("gaussian(gamma=0.1)"), X, most=6)
>>> found.best
3
>>> bool(stability(found.model.fit(X), X).min() > 0.95)
True
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score, silhouette_samples
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.neighbors import NearestNeighbors

from .checks.tables import chosen
from .composition import machine_of, parameter_prefix, rows_at_machine
from .estimators import Clustering, SpectralClustering
from .kernels import Gaussian
from .kernels.engine.tiles import length
from .presentation import axes
from .runtime.arrays import Array

__all__ = [
    "FAINT",
    "NumberOfClusters",
    "neighbour_kernel",
    "number_of_clusters",
    "shares_of_columns",
    "silhouettes",
    "stability",
]

#: Rows that are drawn of many, and the share of them that refits see.
_SAMPLE, _SHARE = 1000, 0.8
#: A walk that leaves clusters less often than that never does.
_CERTAIN = 1e-6
#: Silhouettes below which clusters do not stand out (Kaufman and Rousseeuw 1990).
FAINT = 0.25


def _drawn(n: int, count: int, rng: np.random.Generator) -> Array:
    return np.sort(rng.permutation(n)[:count])


def _machine(model: Any) -> Clustering:
    machine = machine_of(model)
    if not isinstance(machine, Clustering):
        raise TypeError(
            f"mercer.clusters takes a KernelKMeans or SpectralClustering, alone or in a pipeline; got "
            f"{type(machine).__name__}."
        )
    return machine


def silhouettes(model: Any, X: Any, *, sample: int = _SAMPLE, random_state: int = 0) -> tuple[Array, Array]:
    """How much nearer each row is to its own cluster than to the next one: (b − a)/max(a, b) for mean distances a, b.

    Distances are those of feature space, of spectral clustering those of places.

    Parameters
    ----------
    model : fitted KernelKMeans or SpectralClustering, or a pipeline that ends with one
    X : rows or items
    sample : int, default=1000
        Look at so many rows, drawn at random.
    random_state : int, default=0

    Returns
    -------
    values, rows : arrays
        From −1 to 1, and the numbers of the rows that they are of; zeros where all are in one cluster.

    Examples
    --------
    >>> from mercer import KernelKMeans
    >>> rows = [[0.0], [0.1], [5.0], [5.1]]
    >>> values, _ = silhouettes(KernelKMeans(None, n_clusters=2).fit(rows), rows)
    >>> values.round(2)
    array([0.98, 0.98, 0.98, 0.98])
    """
    machine = _machine(model)
    rows = _drawn(length(X), sample, np.random.default_rng(random_state))
    part = chosen(X, rows)
    labels = model.predict(part)
    if not 1 < np.unique(labels).size < rows.size:
        return np.zeros(rows.size), rows
    items = rows_at_machine(model, part)
    if isinstance(machine, SpectralClustering):
        distances = euclidean_distances(machine.transform(items))
    elif machine.kernel_.precomputed:
        raise ValueError("silhouettes need the kernel and the rows themselves, not a precomputed matrix.")
    else:
        K = machine.kernel_(items)
        own = K.diagonal()
        distances = np.sqrt(np.maximum(own[:, None] + own - 2 * K, 0.0))
    np.fill_diagonal(distances, 0.0)
    return silhouette_samples(distances, labels, metric="precomputed"), rows


def stability(
    model: Any, X: Any, *, repeats: int = 10, share: float = _SHARE, sample: int = 2500, random_state: int = 0
) -> Array:
    """Whether the same clusters are found again in some of the rows.

    Parameters
    ----------
    model : fitted KernelKMeans or SpectralClustering, or a pipeline that ends with one
    X : rows or items
        Those of its training.
    repeats : int, default=10
        Fits on rows drawn without replacement.
    share : float, default=0.8
        Which share of the rows each of them sees.
    sample : int, default=2500
        Of more rows so many are drawn to be looked at.
    random_state : int, default=0

    Returns
    -------
    array of shape (repeats,)
        The adjusted Rand index of both clusterings on all these rows: 1 where they are the same, about 0 where they
        agree by chance.
    """
    _machine(model)
    rng = np.random.default_rng(random_state)
    rows = chosen(X, _drawn(length(X), sample, rng))
    n, labels = length(rows), model.predict(rows)
    found = []
    for _ in range(repeats):
        some = chosen(rows, _drawn(n, max(1, round(share * n)), rng))
        found.append(adjusted_rand_score(labels, clone(model).fit(some).predict(rows)))
    return np.array(found)


@dataclass(frozen=True, eq=False)
class NumberOfClusters:
    """What speaks for each number of clusters."""

    #: The numbers; the mean silhouette and the mean stability of each.
    numbers: Array
    silhouettes: Array
    stabilities: Array
    #: Of spectral clustering how many times farther from 1 the next eigenvalue is, (1 − λ_(k+1))/(1 − λ_k).
    gaps: Array | None
    #: The estimator with the best number, not fitted.
    model: Any

    @property
    def best(self) -> int:
        """The number with the largest eigengap, or silhouettes."""
        return int(self.numbers[(self.silhouettes if self.gaps is None else self.gaps).argmax()])

    def __str__(self) -> str:
        lines = []
        for place, number in enumerate(self.numbers):
            gap = "" if self.gaps is None else f", eigengap {self.gaps[place]:.3g}"
            values = f"silhouette {self.silhouettes[place]:.3f}, stability {self.stabilities[place]:.2f}{gap}"
            lines.append(f"{number:2d} clusters: {values}{'  <- best' if number == self.best else ''}")
        return "\n".join(lines)

    def plot(self, ax: Any = None) -> NumberOfClusters:
        """Draw what speaks for each number."""
        ax = axes(ax)
        ax.plot(self.numbers, self.silhouettes, "o-", label="silhouette")
        ax.plot(self.numbers, self.stabilities, "s-", label="stability")
        if self.gaps is not None:
            ax.plot(self.numbers, self.gaps / self.gaps.max(), "^-", label="eigengap, as a part of the largest")
        ax.axvline(self.best, color="grey", linewidth=0.8, linestyle=":")
        ax.set_xlabel("clusters")
        ax.set_xticks(self.numbers)
        ax.legend()
        return self


def number_of_clusters(
    estimator: Any, X: Any, *, most: int = 10, sample: int = _SAMPLE, repeats: int = 5, random_state: int = 0
) -> NumberOfClusters:
    """Look at each number of clusters from 2 on.

    Parameters
    ----------
    estimator : KernelKMeans or SpectralClustering, or a pipeline that ends with one
        Its ``n_clusters`` does not count.
    X : rows or items
    most : int, default=10
        The largest number.
    sample : int, default=1000
        Look at so many rows, drawn at random.
    repeats : int, default=5
        Fits for the stability of each number.
    random_state : int, default=0

    Returns
    -------
    NumberOfClusters
        Of spectral clustering the number with the largest eigengap is best, of k-means that with the largest
        silhouettes.
    """
    machine, name = _machine(estimator), f"{parameter_prefix(estimator)}n_clusters"
    part = chosen(X, _drawn(length(X), sample, np.random.default_rng(random_state)))
    most = min(most, length(part) // 2)
    if most < 2:
        raise ValueError(f"{length(part)} rows have no two clusters of two rows; give more of them.")
    numbers = np.arange(2, most + 1)
    apart, again = np.zeros((2, numbers.size))
    for place, number in enumerate(numbers.tolist()):
        model = clone(estimator).set_params(**{name: number}).fit(part)
        apart[place] = silhouettes(model, part, sample=sample)[0].mean()
        again[place] = stability(model, part, repeats=repeats, random_state=random_state).mean()
    gaps = None
    if isinstance(machine, SpectralClustering):
        wide = machine_of(clone(estimator).set_params(**{name: most + 1}).fit(part))
        left = np.maximum(1 - wide.eigenvalues_, np.maximum(wide.eigenvalue_bounds_, _CERTAIN))
        gaps = np.ones(numbers.size)
        gaps[: left.size - 2] = left[2:] / left[1:-1]
    found = NumberOfClusters(numbers, apart, again, gaps, clone(estimator))
    return replace(found, model=found.model.set_params(**{name: found.best}))


def neighbour_kernel(X: Any, *, neighbours: int = 7, sample: int = 2000, random_state: int = 0) -> Gaussian:
    """A Gaussian for spectral clustering, narrow enough for gaps to be seen: exp(−‖x − z‖²/σ²), where σ is the median
    distance of a row from its seventh neighbour (Zelnik-Manor and Perona 2004).

    Parameters
    ----------
    X : array or sparse matrix of shape (n_rows, n_features)
    neighbours : int, default=7
    sample : int, default=2000
        The distances of so many rows, drawn at random, are looked at.
    random_state : int, default=0

    Returns
    -------
    Gaussian

    Examples
    --------
    >>> neighbour_kernel([[float(place)] for place in range(100)])
    gaussian(gamma=0.0625)
    """
    search = NearestNeighbors().fit(X)
    n = length(X)
    rows = chosen(X, _drawn(n, sample, np.random.default_rng(random_state)))
    distances = search.kneighbors(rows, min(neighbours + 1, n))[0][:, -1]
    near = distances[distances > 0]
    return Gaussian(gamma=float(f"{1 / np.median(near) ** 2:.3g}") if near.size else 1.0)


def shares_of_columns(frame: Any, labels: Array) -> dict[str, float]:
    """Which share of the differences in each column lies between clusters, the largest first.

    Of numbers and dates it is that of the variance, η²; of categories that of the chance that two rows differ, Goodman
    and Kruskal's τ. Missing values do not count.

    Examples
    --------
    >>> import pandas as pd
    >>> people = pd.DataFrame({"job": ["cook", "cook", "poet", "poet"], "age": [30, 50, 31, 49]})
    >>> shares_of_columns(people, np.array([0, 0, 1, 1]))
    {'job': 1.0, 'age': 0.0}
    """
    found = {}
    for name in frame.columns:
        there = frame[name].notna().to_numpy()
        values, own = frame[name][there], labels[there]
        if values.dtype.kind in "iufbM":
            numbers = values.astype("int64") if values.dtype.kind == "M" else values
            found[str(name)] = _between(numbers.to_numpy(dtype=np.float64)[:, None], own)
            continue
        levels, codes = np.unique(values.astype(str), return_inverse=True)
        if levels.size < codes.size or codes.size == 0:  # else all are different, like names
            found[str(name)] = _between(np.eye(levels.size)[codes], own)
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def _between(columns: Array, labels: Array) -> float:
    """The share of the variance of columns that lies between clusters."""
    centred = columns - columns.mean(axis=0)
    total = float(np.square(centred).sum())
    parts = [centred[labels == label] for label in np.unique(labels)]
    between = sum(len(part) * float(np.square(part.mean(axis=0)).sum()) for part in parts)
    return round(between / total, 12) if total > 0 else 0.0
