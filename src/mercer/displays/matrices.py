"""The boundary between classes, over two features or over the plane of two principal components."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures
from sklearn.utils import _safe_indexing

from ..checks.labels import is_measurement
from ..checks.tables import chosen
from ..composition import machine_of, parts_of, rows_at_machine, steps_before
from ..kernels import as_kernel
from ..kernels.engine.tiles import length
from ..presentation import Canvas, class_colours, diverging, draw_cells, shorten, show_legend, unique_names
from ..runtime.arrays import Array

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
            Categories, dates and texts have no place on a plane: prepare them first, and give the machine alone.
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
    return pd.DataFrame(rows, columns=list(X.columns))


def _response(estimator: Any, rows: Array) -> Array:
    """Scores for two classes, numbers of the classes decided for where there are more."""
    if len(estimator.classes_) > 2:
        return np.searchsorted(estimator.classes_, estimator.predict(rows)).astype(np.float64)
    if hasattr(estimator, "decision_function"):
        return np.asarray(estimator.decision_function(rows), dtype=np.float64)
    return np.where(estimator.predict(rows) == estimator.classes_[1], 1.0, -1.0)


# The kernel matrix as a picture: blocks by class are good, a bright diagonal alone is bad.


class KernelHeatmap(Canvas):
    """The similarities of rows sorted by class.

    Parameters
    ----------
    matrix : array of shape (n, n)
        Rows and columns in the order drawn.
    index : array
        Which of the user's rows each of them is.
    classes, sizes : lists
        The classes in order, and how many rows of each are drawn; empty where there are none.

    Examples
    --------
    >>> display = KernelHeatmap.from_kernel("linear", [[1.0], [-1.0], [2.0]], ["b", "a", "b"])
    >>> display.index.tolist(), display.matrix[0].tolist()
    ([1, 0, 2], [1.0, -1.0, -2.0])
    """

    def __init__(self, *, matrix: Any, index: Any, classes: Any, sizes: Any) -> None:
        self.matrix = np.asarray(matrix)
        self.index = np.asarray(index)
        self.classes, self.sizes = list(classes), list(sizes)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, **options: Any) -> KernelHeatmap:
        """The matrix of a fitted machine's kernel, on the rows as they reach it. Options as in :meth:`from_kernel`."""
        learner = machine_of(estimator)
        kernel = getattr(learner, "kernel_", None)
        if kernel is None or kernel.precomputed:
            raise ValueError(
                f"KernelHeatmap needs a machine fitted with a kernel of rows; this {type(learner).__name__} has none. "
                "Use KernelHeatmap.from_kernel."
            )
        return cls.from_kernel(kernel, rows_at_machine(estimator, X), y, **options)

    @classmethod
    def from_kernel(
        cls, kernel: Any, X: Any, y: Any, *, order: str = "similarity", max_rows: int = 400, random_state: Any = 0
    ) -> KernelHeatmap:
        """Compute the matrix of some rows.

        Parameters
        ----------
        kernel : kernel, text or callable
        X : array, sparse matrix, frame, or list of whatever the kernel compares
        y : array
        order : {"similarity", "file"}
            Within a class: along the leading eigenvector of the class's own block, which puts like beside like, or as
            the rows come.
        max_rows : int
            Rows drawn at random where there are more.
        random_state : int, RandomState or None
        """
        kept = np.sort(np.random.default_rng(random_state).permutation(length(X))[:max_rows])
        return cls.from_matrix(as_kernel(kernel)(chosen(X, kept)), np.asarray(y)[kept], order=order, index=kept)

    @classmethod
    def from_matrix(cls, matrix: Any, y: Any = None, *, order: str = "similarity", index: Any = None) -> KernelHeatmap:
        """Sort a matrix that is known already.

        Parameters
        ----------
        matrix : array of shape (n, n)
        y : array of labels or real targets, optional
            Rows are sorted by class, or along the target. Without it they are all of one kind.
        order : {"similarity", "file"}
            As in :meth:`from_kernel`, for rows of one class or kind.
        index : array, optional
            Which of the user's rows those of the matrix are.

        Examples
        --------
        >>> KernelHeatmap.from_matrix([[1.0, 0.5], [0.5, 1.0]], [2.5, 0.5]).index.tolist()
        [1, 0]
        """
        if order not in ("similarity", "file"):
            raise ValueError(f"KernelHeatmap: order must be 'similarity' or 'file', got {order!r}.")
        matrix = np.asarray(matrix, dtype=np.float64)
        targets = np.zeros(len(matrix), dtype=bool) if y is None else np.asarray(y)
        classes, codes = np.unique(targets, return_inverse=True)
        blocks = [np.flatnonzero(codes == code) for code in range(classes.size)]
        along_target = targets.dtype.kind in "iuf" and is_measurement(targets)
        if order == "similarity" and not along_target:
            blocks = [mine[_along_eigenvector(matrix[np.ix_(mine, mine)])] for mine in blocks]
        place = np.concatenate(blocks)
        named = y is not None and not along_target
        return cls(
            matrix=matrix[np.ix_(place, place)],
            index=place if index is None else np.asarray(index)[place],
            classes=classes.tolist() if named else [],
            sizes=[len(mine) for mine in blocks] if named else [],
        )

    def plot(self, ax: Any = None) -> KernelHeatmap:
        """Draw the matrix, a line between classes, and a colour bar."""
        ax = self._open(ax)
        picture = ax.imshow(self.matrix, cmap="cividis", interpolation="nearest", aspect="equal")
        self.figure_.colorbar(picture, ax=ax, shrink=0.8, label="similarity")
        if not self.classes:
            return self
        ends = np.cumsum(self.sizes)
        for end in ends[:-1]:
            ax.axhline(end - 0.5, color="white", linewidth=0.8)
            ax.axvline(end - 0.5, color="white", linewidth=0.8)
        middles = ends - np.asarray(self.sizes) / 2 - 0.5
        ax.set_yticks(middles, [shorten(label, 12) for label in self.classes], parse_math=False)
        ax.set_xticks([])
        return self


def _along_eigenvector(block: Array) -> Array:
    """The order of rows along the leading eigenvector of their centred block."""
    centred = block - block.mean(axis=0)
    centred = centred - centred.mean(axis=1, keepdims=True)
    leading = np.linalg.eigh(0.5 * (centred + centred.T))[1][:, -1]
    return np.argsort(leading if leading.sum() >= 0 else -leading, kind="stable")


# Products of columns that say nothing new: squares of 0 and 1, and products of two words of one category.


def categories_of(steps: Iterable[Any]) -> dict[str, str]:
    """By the name of each column of 0 and 1 that fitted steps make of words, the column that it was made of.

    Examples
    --------
    >>> import pandas as pd
    >>> encoder = OneHotEncoder().fit(pd.DataFrame({"job": ["baker", "smith"]}))
    >>> categories_of([encoder])
    {'job_baker': 'job', 'job_smith': 'job'}
    """
    found = {}
    encoders = (part for step in steps for part, _ in parts_of(step) if isinstance(part, OneHotEncoder))
    for encoder in encoders:
        columns = [str(name) for name in getattr(encoder, "feature_names_in_", [])]
        for name in encoder.get_feature_names_out() if columns else []:
            made_of = [column for column in columns if str(name).startswith(f"{column}_")]
            found[str(name)] = max(made_of, key=len)
    return found


def repeats_a_column(expansion: PolynomialFeatures, names: Sequence[str], categories: dict[str, str]) -> Array:
    """Which products of an expansion are a column again, or zero in all rows.

    Parameters
    ----------
    expansion : PolynomialFeatures
        Fitted.
    names : sequence of str
        Of the columns that it multiplies.
    categories : dict
        See :func:`categories_of`.

    Examples
    --------
    >>> expansion = PolynomialFeatures(2, include_bias=False).fit([[0.5, 0.0, 1.0]])
    >>> names = ["age", "job_baker", "job_smith"]
    >>> repeated = repeats_a_column(expansion, names, {"job_baker": "job", "job_smith": "job"})
    >>> expansion.get_feature_names_out(names)[repeated].tolist()
    ['job_baker^2', 'job_baker job_smith', 'job_smith^2']
    """
    of = [categories.get(str(name)) for name in names]
    return np.array([_repeats(powers, of) for powers in expansion.powers_], dtype=bool)


def _repeats(powers: Array, of: Sequence[str | None]) -> bool:
    factors = [(of[place], power) for place, power in enumerate(powers.tolist()) if power]
    known = [category for category, _ in factors if category is not None]
    is_square = any(category is not None and power > 1 for category, power in factors)
    return is_square or len(set(known)) < len(known)


# Weights of several models side by side.


class WeightTable(Canvas):
    """What each feature weighs in each linear model.

    The length of w is arbitrary for some learners (a Perceptron's grows with its mistakes), so that each model's
    weights are shown as shares of its ‖w‖. For three classes or more a feature's weight is its length over the
    scores of all classes, without a sign.

    Parameters
    ----------
    features : list of str
        The names of the features: rows of the table.
    models : list of str
        The names of the models: columns of the table.
    weights : array of shape (features, models)
        NaN where a model has no such feature.
    products : set of str
        Those of the features that are products of two columns or more.

    Examples
    --------
    >>> from mercer import Perceptron
    >>> model = Perceptron(random_state=0).fit([[0.0, 1.0], [1.0, 1.0]], [0, 1])
    >>> table = WeightTable.from_estimator(model, feature_names=["size", "constant"])
    >>> table.features, table.top(1).features
    (['size', 'constant'], ['size'])
    """

    def __init__(self, *, features: list[str], models: list[str], weights: Any, products: Collection[str] = ()) -> None:
        self.features, self.models, self.products = list(features), list(models), set(products)
        self.weights = np.asarray(weights, dtype=np.float64).reshape(len(self.features), len(self.models))

    @classmethod
    def from_estimator(cls, estimator: Any, *, feature_names: Any = None, name: str | None = None) -> WeightTable:
        """The weights of one fitted model, or of a pipeline that ends in one."""
        named = {name or type(machine_of(estimator)).__name__: estimator}
        return cls.from_estimators(named, feature_names=feature_names)

    @classmethod
    def from_estimators(cls, estimators: Mapping[str, Any], *, feature_names: Any = None) -> WeightTable:
        """The weights of several fitted models with ``coef_``, by name.

        Squares of columns of 0 and 1, and products of two words of one category, say nothing new and are left out.

        Parameters
        ----------
        estimators : dict from name to fitted estimator
        feature_names : list of str, optional
            Names of the columns that the estimators were fitted on, where these are no frames.
        """
        columns, products = {}, set()
        for model, estimator in estimators.items():
            names, found, repeated = _names(estimator, feature_names)
            shares = dict(zip(names, _shares(estimator).tolist(), strict=True))
            columns[model] = {name: share for name, share in shares.items() if name not in repeated}
            products |= found - repeated
        return cls.from_weights(columns, products=products)

    @classmethod
    def from_weights(cls, columns: Mapping[str, Mapping[str, float]], *, products: Collection[str] = ()) -> WeightTable:
        """The weights of several models that are known already: for each of them, the weight of each feature.

        Examples
        --------
        >>> WeightTable.from_weights({"first": {"a": 1.0}, "second": {"a": 0.6, "b": 0.8}}).weights.tolist()
        [[1.0, 0.6], [nan, 0.8]]
        """
        features = list(dict.fromkeys(name for column in columns.values() for name in column))
        weights = [[column.get(name, np.nan) for column in columns.values()] for name in features]
        return cls(features=features, models=list(columns), weights=weights, products=products)

    def top(self, number: int) -> WeightTable:
        """The table of the features that weigh most in any model, the heaviest first."""
        heaviest = np.nanmax(np.abs(self.weights), axis=1, initial=0.0)
        return self._take(np.argsort(-heaviest, kind="stable")[:number])

    def interactions(self) -> WeightTable:
        """The table of the products of two features or more."""
        return self._take(np.flatnonzero([name in self.products for name in self.features]))

    def _take(self, index: Array) -> WeightTable:
        names = [self.features[k] for k in index]
        return WeightTable(
            features=names, models=self.models, weights=self.weights[index], products=self.products & set(names)
        )

    def plot(self, ax: Any = None, *, top: int = 20) -> WeightTable:
        """Draw the heaviest features as coloured cells with their numbers."""
        ax = self._open(ax)
        shown = self.top(top) if len(self.features) > top else self
        reach = float(np.nanmax(np.abs(shown.weights), initial=0.0)) or 1.0
        names = unique_names(shown.features), unique_names(shown.models)
        draw_cells(ax, shown.weights, *names, number=".2f", cmap=diverging(), vmin=-reach, vmax=reach)
        ax.tick_params(axis="x", rotation=20)
        for label in ax.get_xticklabels():
            label.set_horizontalalignment("right")
        ax.invert_yaxis()
        return self


def _shares(estimator: Any) -> Array:
    """Each feature's share of ‖w‖."""
    learner = machine_of(estimator)
    coef = getattr(learner, "coef_", None)
    if coef is None:
        raise ValueError(f"{type(learner).__name__} has no coef_: only models without a kernel have weights.")
    coef = np.asarray(coef, dtype=np.float64)
    length = float(np.linalg.norm(coef)) or 1.0
    return (coef[0] if coef.shape[0] == 1 else np.linalg.norm(coef, axis=0)) / length


def _names(estimator: Any, names: Any) -> tuple[list[str], set[str], set[str]]:
    """The names that features have when they reach the learner, those that are products, and those that say nothing
    new."""
    products: set[str] = set()
    repeated: set[str] = set()
    steps = steps_before(estimator)
    for step in steps:
        before, names = names, step.get_feature_names_out(names)
        if isinstance(step, PolynomialFeatures):
            products |= {str(name) for name, powers in zip(names, step.powers_) if np.count_nonzero(powers) > 1}
            if before is not None:
                repeated |= {str(name) for name in names[repeats_a_column(step, before, categories_of(steps))]}
    if names is None:
        learner = machine_of(estimator)
        names = getattr(learner, "feature_names_in_", [f"x{k}" for k in range(learner.n_features_in_)])
    return [str(name) for name in names], products, repeated
