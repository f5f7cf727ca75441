"""What a search found: scores along one parameter, or over two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..checks.parameters import is_number
from ..composition import machine_of, rows_at_machine
from ..estimators.classifier import decision_margins
from ..messages import counted
from ..presentation import Canvas, draw_cells, short, shorten, show_legend
from ..runtime.arrays import Array

#: Lines of one picture that are told apart, and letters of their names.
_LINES, _LETTERS = 6, 38
#: An axis whose values reach farther than this factor is logarithmic.
_WIDE = 8
#: So many values each have a tick.
_TICKS = 12


@dataclass(frozen=True, eq=False)
class ScoreLine:
    """Scores of settings that differ in one parameter only.

    Attributes
    ----------
    others : str
        The values of the other parameters, in words; empty where the best of them were taken.
    values : list
        Of the parameter, in order.
    validation, sd : arrays
        The mean over the folds and its standard deviation.
    train : array or None
    """

    others: str
    values: list[Any]
    validation: Array
    sd: Array
    train: Array | None

    @classmethod
    def of(cls, results: Any, settings: Sequence[int], parameter: str, others: str = "") -> ScoreLine:
        """The line through some settings of a search, sorted along the parameter."""
        rows = sorted(settings, key=lambda k: _order(results["params"][k].get(parameter)))
        train = results.get("mean_train_score")
        return cls(
            others,
            [_plain(results["params"][k].get(parameter)) for k in rows],
            np.asarray(results["mean_test_score"])[rows],
            np.asarray(results["std_test_score"])[rows],
            None if train is None else np.asarray(train)[rows],
        )

    def as_errors(self) -> ScoreLine:
        """The same for the share of mistakes in percent, where the score is the accuracy."""
        train = None if self.train is None else 100 * (1 - self.train)
        return ScoreLine(self.others, self.values, 100 * (1 - self.validation), 100 * self.sd, train)

    def as_losses(self) -> ScoreLine:
        """The same for what the score is the negative of, such as an error in the unit of the target."""
        train = None if self.train is None else -self.train
        return ScoreLine(self.others, self.values, -self.validation, self.sd, train)


class SearchCurve(Canvas):
    """Validation scores along one parameter of a search, with the best values of the others or with each of them.

    Parameters
    ----------
    parameter : str
    lines : list of ScoreLine
        The best first.
    measure : str
        What is measured.

    Attributes
    ----------
    values : list
    validation, sd : arrays
    train : array or None
        Those of the best line.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from mercer import SVC
    >>> from mercer.search import KernelSearchCV
    >>> X, y = make_moons(100, noise=0.2, random_state=0)
    >>> search = KernelSearchCV(SVC("gaussian"), {"C": [0.1, 1, 10], "kernel__gamma": [1, 2]}, cv=3).fit(X, y)
    >>> SearchCurve.from_search(search, "C").values
    [0.1, 1, 10]
    >>> sorted(line.others for line in SearchCurve.from_search(search, "C", others="each").lines)
    ['gamma = 1', 'gamma = 2']
    """

    def __init__(self, *, parameter: str, lines: Sequence[ScoreLine], measure: str = "score") -> None:
        self.parameter = parameter
        self.lines = list(lines)
        self.measure = measure
        best = self.lines[0]
        self.values, self.validation, self.sd, self.train = best.values, best.validation, best.sd, best.train

    @classmethod
    def from_search(cls, search: Any, parameter: str, *, others: str = "best") -> SearchCurve:
        """Take the scores of a fitted search.

        Parameters
        ----------
        search : fitted KernelSearchCV, GridSearchCV or the like
        parameter : str
        others : {"best", "each"}
            One line through the best settings with each value of the parameter, or a line for each setting of the
            other parameters.
        """
        return cls.from_results(search.cv_results_, parameter, others=others)

    @classmethod
    def from_results(cls, results: Any, parameter: str, *, others: str = "best") -> SearchCurve:
        """Take the scores of a table like ``cv_results_``."""
        if others not in ("best", "each"):
            raise ValueError(f"SearchCurve: others must be 'best' or 'each', got {others!r}.")
        if others == "best":
            best = _best_over_the_rest(results, [parameter])
            return cls(parameter=parameter, lines=[ScoreLine.of(results, list(best.values()), parameter)])
        groups: dict[str, list[int]] = {}
        for k, params in enumerate(results["params"]):
            words = ", ".join(f"{_last(name)} = {short(v)}" for name, v in params.items() if name != parameter)
            groups.setdefault(words, []).append(k)
        lines = [ScoreLine.of(results, settings, parameter, words) for words, settings in groups.items()]
        return cls(parameter=parameter, lines=sorted(lines, key=lambda line: -_worth(line.validation).max()))

    def as_errors(self) -> SearchCurve:
        """The same for the share of mistakes in percent, where the score is the accuracy."""
        lines = [line.as_errors() for line in self.lines]
        return SearchCurve(parameter=self.parameter, lines=lines, measure="error, %")

    def as_losses(self, measure: str) -> SearchCurve:
        """The same for what the score is the negative of, as in "neg_root_mean_squared_error"; and what that is."""
        return SearchCurve(parameter=self.parameter, lines=[line.as_losses() for line in self.lines], measure=measure)

    def plot(self, ax: Any = None) -> SearchCurve:
        """Draw the validation scores with a band of one standard deviation, training scores as dotted lines.

        Of many lines the best six are drawn, each with its name, and the legend counts the others.
        """
        ax = self._open(ax)
        values = sorted({value for line in self.lines for value in line.values}, key=_order)
        numeric = all(is_number(value) for value in values)
        for line in self.lines[:_LINES]:
            x = line.values if numeric else [values.index(value) for value in line.values]
            name = shorten(line.others or "validation", _LETTERS)
            (drawn,) = ax.plot(x, line.validation, marker="o", markersize=3, label=name)
            band = line.validation - line.sd, line.validation + line.sd
            ax.fill_between(x, *band, color=drawn.get_color(), alpha=0.14, linewidth=0)
            if line.train is not None:
                label = "training" if len(self.lines) == 1 else None
                ax.plot(x, line.train, color=drawn.get_color(), linewidth=0.9, linestyle=":", label=label)
        if len(self.lines) > _LINES:
            ax.plot([], [], " ", label=f"({counted(len(self.lines) - _LINES, 'worse line')} not shown)")
        _parameter_axis(ax, values, numeric)
        ax.set(xlabel=_last(self.parameter), ylabel=self.measure)
        show_legend(ax, loc="best")
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
        x_values, y_values = (sorted({key[k] for key in best}, key=_order) for k in (0, 1))
        scores = np.full((len(y_values), len(x_values)), np.nan)
        for (a, b), row in best.items():
            scores[y_values.index(b), x_values.index(a)] = search.cv_results_["mean_test_score"][row]
        return cls(x=x, y=y, x_values=x_values, y_values=y_values, scores=scores)

    def plot(self, ax: Any = None) -> SearchHeatmap:
        """Draw the table, the best cell in bold."""
        ax = self._open(ax)
        rows, columns = ([shorten(short(value)) for value in values] for values in (self.y_values, self.x_values))
        picture = draw_cells(ax, self.scores, rows, columns, number=".3f", cmap="viridis")
        best, middle = np.nanmax(self.scores), 0.5 * (np.nanmin(self.scores) + np.nanmax(self.scores))
        for shown, score in zip(ax.texts, self.scores[np.isfinite(self.scores)], strict=True):
            shown.set(color="black" if score > middle else "white", fontweight="bold" if score == best else "normal")
        ax.set(xlabel=_last(self.x), ylabel=_last(self.y))
        self.figure_.colorbar(picture, ax=ax, label="score")
        return self


def _parameter_axis(ax: Any, values: list[Any], numeric: bool) -> None:
    """Logarithmic where the values grow by factors, with a tick at each of them while they are few."""
    if not numeric:
        ax.set_xticks(range(len(values)), [shorten(value) for value in values], rotation=30, ha="right")
        return
    finite = [value for value in values if np.isfinite(value)]
    if min(finite) > 0 and max(finite) / min(finite) > _WIDE:
        ax.set_xscale("log")
    if len(finite) <= _TICKS:
        ax.minorticks_off()
        ax.set_xticks(finite, [short(value) for value in finite])


def _best_over_the_rest(results: Any, names: list[str]) -> dict[tuple, int]:
    """For each combination of values of some parameters, the setting with the best score among those that have it."""
    scores = _worth(results["mean_test_score"])
    best: dict[tuple, int] = {}
    for k, params in enumerate(results["params"]):
        key = tuple(_plain(params.get(name)) for name in names)
        if key not in best or scores[k] > scores[best[key]]:
            best[key] = k
    return best


def _worth(scores: Any) -> Array:
    """Scores to be compared: a setting without one is worse than any other."""
    return np.nan_to_num(np.asarray(scores, dtype=np.float64), nan=-np.inf)


def _plain(value: Any) -> Any:
    return value if is_number(value) else str(value)


def _order(value: Any) -> tuple:
    """Numbers by size, then all else by its text."""
    return (not is_number(value), _plain(value))


def _last(name: str) -> str:
    """A parameter under the name it has in the learner."""
    return name.rpartition("__")[2]


# How the error falls while a learner learns.


class LearningCurve(Canvas):
    """Errors after each checkpoint of one run: epochs of the Perceptron, steps T of Pegasos.

    Parameters
    ----------
    steps : array
    train_errors, test_errors : arrays, the second may be ``None``
    unit : str
        What is counted, "epochs" or "steps".

    Examples
    --------
    >>> from mercer import Perceptron
    >>> from mercer.datasets import make_margins
    >>> X, y = make_margins(300, random_state=0)
    >>> model = Perceptron(epochs=20, checkpoints=[1, 5, 20], random_state=0).fit(X, y)
    >>> LearningCurve.from_estimator(model, X, y).steps.tolist()
    [1, 5, 20]
    """

    def __init__(self, *, steps: Any, train_errors: Any, test_errors: Any = None, unit: str = "steps") -> None:
        self.steps = np.asarray(steps)
        self.train_errors = np.asarray(train_errors)
        self.test_errors = None if test_errors is None else np.asarray(test_errors)
        self.unit = unit

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, X_test: Any = None, y_test: Any = None) -> LearningCurve:
        """Compute the errors of a learner that was fitted with ``checkpoints``, alone or at the end of a pipeline."""
        learner = machine_of(estimator)
        checkpoints = getattr(learner, "checkpoints", None)
        if checkpoints is None or not hasattr(learner, "staged_predict"):
            raise ValueError(
                f"LearningCurve needs a Perceptron or Pegasos fitted with checkpoints=[...]; "
                f"this {type(learner).__name__} keeps no stages."
            )
        return cls(
            steps=sorted({int(point) for point in np.atleast_1d(checkpoints)}),
            train_errors=_staged_errors(estimator, X, y),
            test_errors=None if X_test is None else _staged_errors(estimator, X_test, y_test),
            unit="epochs" if hasattr(learner, "epochs") else "steps",
        )

    def plot(self, ax: Any = None) -> LearningCurve:
        """Draw the errors over a logarithmic axis of steps."""
        from matplotlib.ticker import FuncFormatter, NullLocator

        ax = self._open(ax)
        ax.plot(self.steps, 100 * self.train_errors, marker="o", markersize=3, color="C0", label="training rows")
        if self.test_errors is not None:
            ax.plot(self.steps, 100 * self.test_errors, marker="o", markersize=3, color="C1", label="test rows")
        if len(self.steps) > 1 and self.steps.min() > 0:
            ax.set_xscale("log")
            ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}".replace(",", " ")))
            ax.xaxis.set_minor_locator(NullLocator())
        ax.set(xlabel=self.unit, ylabel="error, %")
        ax.set_ylim(bottom=0)
        ax.legend(loc="best")
        return self


def _staged_errors(estimator: Any, X: Any, y: Any) -> list[float]:
    y, rows = np.asarray(y), rows_at_machine(estimator, X)
    return [float(np.mean(labels != y)) for labels in machine_of(estimator).staged_predict(rows)]


# How clearly rows are decided: a histogram of margins.


class MarginHistogram(Canvas):
    """Margins of training and test rows, as shares of each set.

    Parameters
    ----------
    edges : array
        Ends of the bins; the first and last bin also hold what lies beyond them.
    train_counts, test_counts : arrays, the second may be ``None``
    support_share : float or None
        The share of training rows that the model is made of.

    Examples
    --------
    >>> display = MarginHistogram.from_predictions([2.0, 0.5, -1.0, 1.5], bins=3)
    >>> display.edges.tolist(), display.train_counts.tolist()
    ([-1.0, 0.0, 1.0, 2.0], [1, 1, 2])
    """

    def __init__(
        self, *, edges: Any, train_counts: Any, test_counts: Any = None, support_share: float | None = None
    ) -> None:
        self.edges = np.asarray(edges, dtype=np.float64)
        self.train_counts = np.asarray(train_counts)
        self.test_counts = None if test_counts is None else np.asarray(test_counts)
        self.support_share = support_share

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, X_test: Any = None, y_test: Any = None, *, bins: int = 40
    ) -> MarginHistogram:
        """Compute the margins of a fitted classifier on its training rows and, if given, on test rows."""
        train = _of_rows(estimator, X, y)
        test = None if X_test is None else _of_rows(estimator, X_test, y_test)
        support = getattr(machine_of(estimator), "support_", None)
        share = None if support is None else len(support) / len(train)
        return cls.from_predictions(train, test, bins=bins, support_share=share)

    @classmethod
    def from_predictions(
        cls, train: Any, test: Any = None, *, bins: int = 40, support_share: float | None = None
    ) -> MarginHistogram:
        """Count margins that are known already.

        The bins span the middle 99 % of the rows, and zero is an edge: no bin mixes right and wrong.
        """
        train = np.asarray(train, dtype=np.float64)
        test = None if test is None else np.asarray(test, dtype=np.float64)
        seen = train if test is None else np.concatenate([train, test])
        edges = _edges(seen, bins)
        count = lambda values: np.histogram(np.clip(values, edges[0], edges[-1]), edges)[0]  # noqa: E731
        return cls(
            edges=edges,
            train_counts=count(train),
            test_counts=None if test is None else count(test),
            support_share=support_share,
        )

    def plot(self, ax: Any = None) -> MarginHistogram:
        """Draw training margins filled, test margins as a line, and the boundary at zero."""
        ax = self._open(ax)
        share = lambda counts: 100 * counts / max(1, counts.sum())  # noqa: E731
        ax.stairs(share(self.train_counts), self.edges, fill=True, alpha=0.35, color="C0", label="training rows")
        if self.test_counts is not None:
            ax.stairs(share(self.test_counts), self.edges, color="C1", linewidth=1.4, label="test rows")
        ax.axvline(0.0, color=ax.xaxis.label.get_color(), linewidth=0.9)
        ax.set(xlabel="margin (wrong side below 0)", ylabel="% of rows")
        if self.support_share is not None:
            ax.set_title(f"{100 * self.support_share:.0f} % of the training rows are support vectors")
        ax.legend(loc="best")
        return self


def _of_rows(estimator: Any, X: Any, y: Any) -> Array:
    return decision_margins(estimator.decision_function(X), np.searchsorted(estimator.classes_, np.asarray(y)))


def _edges(values: Array, bins: int) -> Array:
    low, high = np.percentile(values, [0.5, 99.5]) if values.size > 200 else (values.min(), values.max())
    low, high = min(low, 0.0), max(high, 0.0)
    width = (high - low) / bins or 1.0
    below, above = int(np.ceil(-low / width - 1e-9)), int(np.ceil(high / width - 1e-9))
    return width * np.arange(-below, max(above, 1 - below) + 1)
