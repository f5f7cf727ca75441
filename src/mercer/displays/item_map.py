"""Items on a plane: the two directions of feature space in which they differ most."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..checks.tables import chosen
from ..composition import machine_of, rows_at_machine
from ..estimators import KernelPCA
from ..kernels.engine.tiles import length
from ..presentation import Canvas, class_colours, shorten, show_legend
from ..runtime.arrays import Array


class ItemMap(Canvas):
    """A point for each item, in the colour of its cluster or class.

    Parameters
    ----------
    points : array of shape (n_items, 2)
    names : list, optional
        The cluster or class of each item; a number of each item where ``measured``.
    shares : pair of numbers
        The share of the variance in feature space along each direction.
    measured : bool, default=False

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from mercer import KernelKMeans
    >>> X, _ = make_blobs(100, random_state=0)
    >>> display = ItemMap.from_estimator(KernelKMeans("gaussian(gamma=0.1)", n_clusters=3).fit(X), X)
    >>> display.points.shape, sorted(set(display.names))
    ((100, 2), ['cluster 0', 'cluster 1', 'cluster 2'])
    """

    def __init__(
        self, *, points: Any, names: Any = None, shares: tuple[float, float] = (0.0, 0.0), measured: bool = False
    ) -> None:
        self.points = np.asarray(points)
        self.names = None if names is None else list(names)
        self.shares = shares
        self.measured = measured

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any = None, *, measured: bool = False, max_points: int = 2000
    ) -> ItemMap:
        """Place items by a fitted KernelPCA, or by one with the kernel of another machine.

        Parameters
        ----------
        estimator : fitted machine of mercer, or a pipeline that ends with one
        X : rows or items
        y : array, optional
            Classes, or numbers where ``measured``; by default what the estimator predicts, where it does.
        measured : bool, default=False
        max_points : int, default=2000
            Of more items so many are drawn.
        """
        n = length(X)
        some = (
            np.arange(n) if n <= max_points else np.sort(np.random.default_rng(0).choice(n, max_points, replace=False))
        )
        part = chosen(X, some)
        names: Any = None if y is None else [y[place] for place in some]
        machine, items = machine_of(estimator), rows_at_machine(estimator, part)
        if names is None and hasattr(machine, "predict"):
            names = [f"cluster {label}" for label in machine.predict(items)]
        if not isinstance(machine, KernelPCA):
            machine = KernelPCA(machine.kernel_, n_components=2).fit(items)
        components = machine.transform(items)[:, :2]
        points = np.zeros((some.size, 2))
        points[:, : components.shape[1]] = components
        first, second = [*machine.explained_variance_ratio_[:2].tolist(), 0.0, 0.0][:2]
        return cls(points=points, names=names, shares=(first, second), measured=measured)

    def plot(self, ax: Any = None) -> ItemMap:
        """Draw the points."""
        ax = self._open(ax)
        if self.names is None or self.measured:
            colours = None if self.names is None else np.asarray(self.names, dtype=np.float64)
            drawn = ax.scatter(*self.points.T, c=colours, s=14, linewidths=0)
            if colours is not None:
                self.figure_.colorbar(drawn, ax=ax)
        else:
            known = sorted(set(self.names), key=lambda name: (len(str(name)), str(name)))
            for name, colour in zip(known, class_colours(len(known)), strict=True):
                mine = self._of(name)
                ax.scatter(*self.points[mine].T, color=colour, s=14, linewidths=0, label=shorten(name))
            show_legend(ax)
        for axis, share, which in ((ax.xaxis, self.shares[0], "first"), (ax.yaxis, self.shares[1], "second")):
            axis.set_label_text(f"{which} component, {100 * share:.0f} % of the variance")
        return self

    def _of(self, name: Any) -> Array:
        assert self.names is not None
        return np.array([each == name for each in self.names], dtype=bool)
