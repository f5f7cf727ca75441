"""Weights of several models side by side."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from sklearn.preprocessing import PolynomialFeatures

from .._presentation.canvas import Canvas, diverging, draw_cells, told_apart
from .._runtime.compile import Array
from .._validation.unwrapped import machine_of, steps_before
from .repeated_products import categories_of, repeats_a_column


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
        names = told_apart(shown.features), told_apart(shown.models)
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
