"""The boundary between classes, over two features or over the plane of two principal components."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.utils import _safe_indexing

from .._presentation.canvas import Canvas, class_colours, shorten, show_legend
from .._runtime.compile import Array

#: Rows of the grid that are scored at once.
_BLOCK = 512


class DecisionBoundary(Canvas):
    """What a classifier decides on a plane.

    With two features the plane is the data. With more it is spanned by the two principal components and goes through
    the mean of the rows: a slice. Rows are projected onto it, so one of them may lie on the other side here than in
    all dimensions.

    Parameters
    ----------
    horizontal, vertical : arrays
        The coordinates of the grid.
    response : array of shape (vertical, horizontal)
        For two classes the score; for more the number of the class decided for.
    points, codes : arrays
        Some rows on the plane, and the numbers of their classes.
    classes : list
    axis_names : tuple of two texts
    slice_of : int
        How many features the plane cuts through; 2 where it is the data itself.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from mercer import SVC
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> display = DecisionBoundary.from_estimator(SVC("gaussian(gamma=2)").fit(X, y), X, y, grid=30)
    >>> display.response.shape
    (30, 30)
    """

    def __init__(
        self,
        *,
        horizontal: Any,
        vertical: Any,
        response: Any,
        points: Any,
        codes: Any,
        classes: Any,
        axis_names: tuple[str, str] = ("first feature", "second feature"),
        slice_of: int = 2,
    ) -> None:
        self.horizontal, self.vertical = np.asarray(horizontal), np.asarray(vertical)
        self.response = np.asarray(response)
        self.points, self.codes = np.asarray(points), np.asarray(codes)
        self.classes = list(classes)
        self.axis_names = axis_names
        self.slice_of = slice_of

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, *, grid: int = 100, max_points: int = 400, random_state: Any = 0
    ) -> DecisionBoundary:
        """Compute the boundary of a fitted classifier.

        Parameters
        ----------
        estimator : fitted classifier
        X : array, sparse matrix or frame of numbers
            Columns of words, dates or texts have no place on a plane: prepare them first, and give the machine alone.
        y : array
        grid : int
            Points along each side.
        max_points : int
            Rows kept for drawing, drawn at random where there are more.
        random_state : int, RandomState or None
        """
        names = [str(name) for name in getattr(X, "columns", [])]
        rows = _numbers(X)
        features = rows.shape[1]
        if features < 2:
            raise ValueError(f"DecisionBoundary needs two features or more, got {features}.")
        plane = _Plane(rows)
        spots = plane.coordinates(rows)
        low, high = np.percentile(spots, 0.5, axis=0), np.percentile(spots, 99.5, axis=0)
        pad = 0.08 * np.where(high > low, high - low, 1.0)
        horizontal, vertical = (np.linspace(low[k] - pad[k], high[k] + pad[k], grid) for k in (0, 1))
        mesh = np.column_stack([axis.ravel() for axis in np.meshgrid(horizontal, vertical)])
        blocks = (plane.rows(mesh[begin : begin + _BLOCK]) for begin in range(0, len(mesh), _BLOCK))
        response = np.concatenate([_response(estimator, _like(X, block)) for block in blocks])
        kept = np.random.default_rng(random_state).permutation(len(spots))[:max_points]
        return cls(
            horizontal=horizontal,
            vertical=vertical,
            response=response.reshape(grid, grid),
            points=spots[kept],
            codes=np.searchsorted(estimator.classes_, np.asarray(_safe_indexing(y, kept))),
            classes=estimator.classes_.tolist(),
            axis_names=plane.names(names),
            slice_of=features,
        )

    def plot(self, ax: Any = None, *, legend: bool = True) -> DecisionBoundary:
        """Draw regions, boundary, margins (two classes) and rows."""
        ax = self._open(ax)
        number = len(self.classes)
        colours = class_colours(number)
        if number == 2:
            self._two_classes(ax, colours)
        else:
            self._several_classes(ax, colours)
        for code, (label, colour) in enumerate(zip(self.classes, colours)):
            mine = self.points[self.codes == code]
            if len(mine):
                ax.scatter(mine[:, 0], mine[:, 1], s=7, color=colour, linewidths=0, label=shorten(label))
        ax.set(
            xlim=(self.horizontal[0], self.horizontal[-1]),
            ylim=(self.vertical[0], self.vertical[-1]),
        )
        ax.set_xlabel(shorten(self.axis_names[0], 40), parse_math=False)
        ax.set_ylabel(shorten(self.axis_names[1], 40), parse_math=False)
        if legend and number <= 10:
            show_legend(ax, loc="best", markerscale=2)
        return self

    def _several_classes(self, ax: Any, colours: list[Any]) -> None:
        """Each class where its own indicator, 1 where it is decided for and 0 elsewhere, is above one half.

        Numbers of classes must not be interpolated: between 0 and 2 lies 1, of which there need be nothing. Two
        indicators that are neighbours sum to one, so that their regions meet without a gap.
        """
        for code, colour in enumerate(colours):
            mine = (self.response == code).astype(np.float64)
            if mine.any():
                levels = [0.5, 1.5]
                ax.contourf(self.horizontal, self.vertical, mine, levels=levels, colors=[colour], alpha=0.25)

    def _two_classes(self, ax: Any, colours: list[Any]) -> None:
        reach = float(np.abs(self.response).max()) + 1.0
        grid = (self.horizontal, self.vertical, self.response)
        ax.contourf(*grid, levels=[-reach, 0, reach], colors=colours, alpha=0.18)
        if self.response.min() < 0 <= self.response.max():
            ink = ax.xaxis.label.get_color()
            ax.contour(*grid, levels=[-1, 0, 1], colors=[ink], linestyles=["--", "-", "--"], linewidths=[0.6, 1.4, 0.6])


class _Plane:
    """The plane of two principal components of standardised rows, or the rows themselves where they have two columns.

    Columns are brought to one scale first, so that the units of a column do not decide what the picture shows.
    """

    def __init__(self, rows: Any) -> None:
        self.whole = rows.shape[1] == 2
        if self.whole:
            return
        if sparse.issparse(rows):  # centring would fill it; the unit lengths of its columns are left as they are
            self.mean, self.scale = np.zeros(rows.shape[1]), np.ones(rows.shape[1])
        else:
            spread = rows.std(axis=0)
            self.mean, self.scale = rows.mean(axis=0), np.where(spread > 0, spread, 1.0)
        solver = "arpack" if sparse.issparse(rows) else "auto"
        self.pca = PCA(2, svd_solver=solver, random_state=0).fit(self._scaled(rows))

    def _scaled(self, rows: Any) -> Any:
        return rows if sparse.issparse(rows) else (rows - self.mean) / self.scale

    def coordinates(self, rows: Any) -> Array:
        if self.whole:
            return np.asarray(rows.todense()) if sparse.issparse(rows) else rows
        return self.pca.transform(self._scaled(rows))

    def rows(self, spots: Array) -> Array:
        return spots if self.whole else self.pca.inverse_transform(spots) * self.scale + self.mean

    def names(self, columns: list[str]) -> tuple[str, str]:
        if self.whole:
            return (columns[0], columns[1]) if columns else ("first feature", "second feature")
        first, second = 100 * self.pca.explained_variance_ratio_
        return f"first component ({first:.0f} % of the spread)", f"second component ({second:.0f} %)"


def _numbers(X: Any) -> Any:
    """Rows as numbers, none of them missing, or a sentence."""
    if sparse.issparse(X):
        return X
    if hasattr(X, "columns"):
        for name in X.columns:
            if np.asarray(X[name]).dtype.kind not in "fiub":
                raise ValueError(
                    f"DecisionBoundary needs columns of numbers, and column {name!r} holds others; draw the boundary "
                    "in the prepared columns: from the last step of the pipeline, with the rows that reach it."
                )
    try:
        rows = np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            "DecisionBoundary needs rows of numbers; strings, sets, graphs and words have no place on a plane."
        ) from None
    if rows.ndim == 2 and not np.isfinite(rows).all():
        column = int(np.argmin(np.isfinite(rows).all(axis=0)))
        raise ValueError(
            f"DecisionBoundary needs a number in every cell, and column {column} lacks some; fill them in first."
        )
    return rows


def _like(X: Any, rows: Array) -> Any:
    """Rows with the names of columns that a model was fitted with."""
    if not hasattr(X, "columns"):
        return rows
    import pandas as pd

    return pd.DataFrame(rows, columns=list(X.columns))


def _response(estimator: Any, rows: Array) -> Array:
    """Scores for two classes, numbers of the classes decided for where there are more."""
    if len(estimator.classes_) > 2:
        return np.searchsorted(estimator.classes_, estimator.predict(rows)).astype(np.float64)
    if hasattr(estimator, "decision_function"):
        return np.asarray(estimator.decision_function(rows), dtype=np.float64)
    return np.where(estimator.predict(rows) == estimator.classes_[1], 1.0, -1.0)
