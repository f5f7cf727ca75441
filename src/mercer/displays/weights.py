"""Weights of several models side by side."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from sklearn.pipeline import Pipeline

from .._runtime.compile import Array
from ._canvas import Canvas, diverging, shorten
from ._fitted import inner, last_step

#: What scikit-learn's PolynomialFeatures puts between the factors of a product.
TIMES = " "


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

    Examples
    --------
    >>> from mercer import Perceptron
    >>> model = Perceptron(random_state=0).fit([[0.0, 1.0], [1.0, 1.0]], [0, 1])
    >>> table = WeightTable.from_estimator(model, feature_names=["size", "constant"])
    >>> table.features, table.top(1).features
    (['size', 'constant'], ['size'])
    """

    def __init__(self, *, features: list[str], models: list[str], weights: Any) -> None:
        self.features, self.models = list(features), list(models)
        self.weights = np.asarray(weights, dtype=np.float64).reshape(len(self.features), len(self.models))

    @classmethod
    def from_estimator(cls, estimator: Any, *, feature_names: Any = None, name: str | None = None) -> WeightTable:
        """The weights of one fitted model, or of a pipeline that ends in one."""
        named = {name or type(last_step(estimator)).__name__: estimator}
        return cls.from_estimators(named, feature_names=feature_names)

    @classmethod
    def from_estimators(cls, estimators: Mapping[str, Any], *, feature_names: Any = None) -> WeightTable:
        """The weights of several fitted models with ``coef_``, by name.

        Parameters
        ----------
        estimators : dict from name to fitted estimator
        feature_names : list of str, optional
            Names of the columns that the estimators were fitted on, where these are no frames.
        """
        columns = {model: weights_by_name(estimator, feature_names) for model, estimator in estimators.items()}
        features = list(dict.fromkeys(name for column in columns.values() for name in column))
        weights = [[column.get(name, np.nan) for column in columns.values()] for name in features]
        return cls(features=features, models=list(columns), weights=np.array(weights))

    def top(self, number: int) -> WeightTable:
        """The table of the features that weigh most in any model, the heaviest first."""
        heaviest = np.nanmax(np.abs(self.weights), axis=1)
        return self._take(np.argsort(-heaviest, kind="stable")[:number])

    def interactions(self) -> WeightTable:
        """The table of the products of two features or more."""
        return self._take(np.flatnonzero([TIMES in name for name in self.features]))

    def _take(self, index: Array) -> WeightTable:
        names = [self.features[k] for k in index]
        return WeightTable(features=names, models=self.models, weights=self.weights[index])

    def plot(self, ax: Any = None, *, top: int = 20) -> WeightTable:
        """Draw the heaviest features as coloured cells with their numbers."""
        ax = self._open(ax)
        shown = self.top(top) if len(self.features) > top else self
        reach = float(np.nanmax(np.abs(shown.weights), initial=0.0)) or 1.0
        ax.imshow(shown.weights, cmap=diverging(), vmin=-reach, vmax=reach, aspect="auto", interpolation="nearest")
        for (row, column), value in np.ndenumerate(shown.weights):
            if np.isfinite(value):
                ax.text(column, row, _shown(value), ha="center", va="center", fontsize="small")
        names = [shorten(name) for name in shown.models]
        ax.set_xticks(range(len(names)), names, rotation=20, ha="right", parse_math=False)
        names = [shorten(name) for name in shown.features]
        ax.set_yticks(range(len(names)), names, parse_math=False)
        ax.tick_params(length=0)
        return self


def _shown(value: float) -> str:
    """Two digits, with a true minus sign and none before a zero."""
    text = f"{value:.2f}"
    return "0.00" if text == "-0.00" else text.replace("-", "\u2212")


def weights_by_name(estimator: Any, feature_names: Any = None) -> dict[str, float]:
    """Each feature's share of ‖w‖, under the name it has when it reaches the learner."""
    learner = last_step(estimator)
    coef = getattr(learner, "coef_", None)
    if coef is None:
        raise ValueError(f"{type(learner).__name__} has no coef_: only models without a kernel have weights.")
    coef = np.asarray(coef, dtype=np.float64)
    length = float(np.linalg.norm(coef)) or 1.0
    weights = (coef[0] if coef.shape[0] == 1 else np.linalg.norm(coef, axis=0)) / length
    names = _names(estimator, feature_names, weights.size)
    return dict(zip(names, weights.tolist(), strict=True))


def _names(estimator: Any, given: Any, number: int) -> list[str]:
    learner = last_step(estimator)
    while estimator is not learner:
        if isinstance(estimator, Pipeline) and len(estimator.steps) > 1:
            given = estimator[:-1].get_feature_names_out(given)
        estimator = inner(estimator)
    if given is None:
        given = getattr(learner, "feature_names_in_", [f"x{k}" for k in range(number)])
    return [str(name) for name in given]
