"""What a search found: scores along one parameter, or over two."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._validation.parameters import is_number
from ._canvas import Canvas, shorten


def _best_over_the_rest(results: Any, names: list[str]) -> dict[tuple, int]:
    """For each combination of values of some parameters, the setting with the best score among those that have it."""
    scores = np.nan_to_num(results["mean_test_score"], nan=-np.inf)
    best: dict[tuple, int] = {}
    for k, params in enumerate(results["params"]):
        key = tuple(_plain(params.get(name)) for name in names)
        if key not in best or scores[k] > scores[best[key]]:
            best[key] = k
    return best


def _plain(value: Any) -> Any:
    return value if is_number(value) else str(value)


def _ordered(values: Any) -> list:
    return sorted(set(values), key=lambda value: (not is_number(value), value if is_number(value) else str(value)))


class SearchCurve(Canvas):
    """Validation scores along one parameter of a search, each with the best values of the others.

    Parameters
    ----------
    parameter : str
    values : list
    validation, sd : arrays
        The mean over the folds and its standard deviation.
    train : array, optional

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from mercer import SVC
    >>> from mercer.search import KernelSearchCV
    >>> X, y = make_moons(100, noise=0.2, random_state=0)
    >>> search = KernelSearchCV(SVC("gaussian(gamma=1)"), {"C": [0.1, 1, 10]}, cv=3).fit(X, y)
    >>> SearchCurve.from_search(search, "C").values
    [0.1, 1, 10]
    """

    def __init__(self, *, parameter: str, values: Any, validation: Any, sd: Any, train: Any = None) -> None:
        self.parameter = parameter
        self.values = list(values)
        self.validation = np.asarray(validation)
        self.sd = np.asarray(sd)
        self.train = None if train is None else np.asarray(train)

    @classmethod
    def from_search(cls, search: Any, parameter: str) -> SearchCurve:
        """Take the scores of a fitted search."""
        results = search.cv_results_
        best = _best_over_the_rest(results, [parameter])
        values = _ordered(key[0] for key in best)
        rows = [best[value,] for value in values]
        train = results.get("mean_train_score")
        return cls(
            parameter=parameter,
            values=values,
            validation=results["mean_test_score"][rows],
            sd=results["std_test_score"][rows],
            train=None if train is None else train[rows],
        )

    def plot(self, ax: Any = None) -> SearchCurve:
        """Draw the scores, with a band of one standard deviation."""
        ax = self._open(ax)
        numeric = all(is_number(value) for value in self.values)
        x = np.asarray(self.values, dtype=float) if numeric else np.arange(len(self.values))
        ax.plot(x, self.validation, marker="o", markersize=3, color="C1", label="validation")
        ax.fill_between(x, self.validation - self.sd, self.validation + self.sd, color="C1", alpha=0.2, linewidth=0)
        if self.train is not None:
            ax.plot(x, self.train, marker="o", markersize=3, color="C0", label="training")
        if numeric and len(x) > 2 and x.min() > 0 and x.max() / x.min() > 20:
            ax.set_xscale("log")
        if not numeric:
            ax.set_xticks(x, [shorten(value) for value in self.values], rotation=30, ha="right")
        ax.set(xlabel=self.parameter.rpartition("__")[2], ylabel="score")
        ax.legend(loc="best")
        return self


class SearchHeatmap(Canvas):
    """Validation scores over two parameters of a search, each with the best values of the others.

    Parameters
    ----------
    x, y : str
        The parameters.
    x_values, y_values : lists
    scores : array of shape (len(y_values), len(x_values))

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from mercer import SVC
    >>> from mercer.search import KernelSearchCV
    >>> X, y = make_moons(100, noise=0.2, random_state=0)
    >>> search = KernelSearchCV(SVC("gaussian"), {"C": [1, 10], "kernel__gamma": [0.5, 1, 2]}, cv=3).fit(X, y)
    >>> SearchHeatmap.from_search(search, "kernel__gamma", "C").scores.shape
    (2, 3)
    """

    def __init__(self, *, x: str, y: str, x_values: Any, y_values: Any, scores: Any) -> None:
        self.x, self.y = x, y
        self.x_values, self.y_values = list(x_values), list(y_values)
        self.scores = np.asarray(scores)

    @classmethod
    def from_search(cls, search: Any, x: str, y: str) -> SearchHeatmap:
        """Take the scores of a fitted search."""
        best = _best_over_the_rest(search.cv_results_, [x, y])
        x_values, y_values = _ordered(key[0] for key in best), _ordered(key[1] for key in best)
        scores = np.full((len(y_values), len(x_values)), np.nan)
        for (a, b), row in best.items():
            scores[y_values.index(b), x_values.index(a)] = search.cv_results_["mean_test_score"][row]
        return cls(x=x, y=y, x_values=x_values, y_values=y_values, scores=scores)

    def plot(self, ax: Any = None) -> SearchHeatmap:
        """Draw the table, the best cell in bold."""
        ax = self._open(ax)
        image = ax.imshow(self.scores, origin="lower", aspect="auto", cmap="viridis")
        for axis, values, name in ((ax.xaxis, self.x_values, self.x), (ax.yaxis, self.y_values, self.y)):
            axis.set_ticks(range(len(values)), [f"{v:g}" if is_number(v) else shorten(v) for v in values])
            axis.set_label_text(name.rpartition("__")[2])
        middle = 0.5 * (np.nanmin(self.scores) + np.nanmax(self.scores))
        for (row, column), score in np.ndenumerate(self.scores):
            if np.isfinite(score):
                weight = "bold" if score == np.nanmax(self.scores) else "normal"
                colour = "black" if score > middle else "white"
                ax.text(column, row, f"{score:.3f}", ha="center", va="center", color=colour, fontweight=weight)
        self.figure_.colorbar(image, ax=ax, label="score")
        return self
