"""What a search has to say besides its winner, as facts that print themselves."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_classifier

from ..checks.parameters import is_number
from ..composition import machine_of
from ..messages import enumeration, guide
from ..presentation import Markup, short, table_html, tag
from ..runtime.compile import Array
from .keys import setting_key

if TYPE_CHECKING:
    from .search_cv import KernelSearchCV

__all__ = ["SIMPLER_LARGE", "SIMPLER_SMALL", "Advice", "advise", "beyond", "is_simpler", "largest_nu", "simplest_of"]

# Which value to try beyond the edge of a grid: one that the parameter can have.


#: Parameters that count something, with the least that can be counted.
_COUNTS = {"degree": 1, "epochs": 1, "steps": 1, "batch": 1, "max_iter": 1, "p": 1, "h": 0, "d": 1, "k": 1, "m": 0}
#: Parameters that are shares of the rows, above 0 and at most 1.
_SHARES = ("nu",)
#: Parameters whose values may reach zero or below: the next one is as far away as the last.
_DIFFERENCES = ("coef0", "shift")


def beyond(name: str, edge: float, beside: float, most: float = 1.0) -> float | None:
    """The next value after an edge, in steps like the last one; ``None`` where the parameter ends there.

    Parameters
    ----------
    name : str
        Of the parameter in its machine or kernel.
    edge, beside : float
        The value at the edge, and the one before it.
    most : float, default=1
        The largest share that the rows allow.

    Examples
    --------
    >>> beyond("C", 0.1, 1.0), beyond("degree", 2, 3), beyond("degree", 3, 2), beyond("degree", 1, 2)
    (0.01, 1, 4, None)
    >>> beyond("nu", 0.6, 0.3), beyond("nu", 0.6, 0.3, most=0.7), beyond("nu", 1.0, 0.3), beyond("coef0", 0, 1)
    (1.0, 0.7, None, -1)
    """
    up = edge > beside
    if name in _COUNTS and float(edge).is_integer() and float(beside).is_integer():
        return _next_count(int(edge), int(beside), up, _COUNTS[name])
    if name in _DIFFERENCES:
        return edge + (edge - beside)
    if edge <= 0:
        return None
    further = edge * edge / beside if beside > 0 else 10 * edge
    if name in _SHARES:
        further = min(further, most)
    further = float(f"{further:.6g}")  # digits enough to try it
    return further if (further > edge) == up and further != edge else None


def _next_count(edge: int, beside: int, up: bool, least: int) -> int | None:
    """A whole number at least one away, in the ratio of the last two where that is more."""
    if up:
        return max(edge + 1, edge * edge // max(1, beside))
    further = max(least, min(edge - 1, round(edge * edge / beside)))
    return further if further < edge else None


def largest_nu(y: Any) -> float:
    """The largest nu that classes of these sizes allow: twice the share of the smaller in its pair with the largest.

    Coefficients of both classes of a machine sum to the same, and no class has more of them than rows.

    Examples
    --------
    >>> largest_nu(["a", "a", "a", "b"])
    0.5
    """
    sizes = np.unique(np.asarray(y), return_counts=True)[1]
    return float(np.floor(2000 * sizes.min() / (sizes.min() + sizes.max())) / 1000)


# Which of two settings makes the simpler model, as far as their parameters tell.


Params = dict[str, Any]

#: Parameters of which a smaller value makes a simpler model, and those of which a larger one does.
SIMPLER_SMALL = ("C", "gamma", "degree", "epochs", "steps")
SIMPLER_LARGE = ("lam", "length", "tol", "nu", "epsilon")


def is_simpler(one: Params, other: Params) -> bool:
    """Whether a setting makes a simpler model than another: simpler in some parameter, and richer in none.

    Examples
    --------
    >>> is_simpler({"C": 1, "gamma": 0.5}, {"C": 10, "gamma": 0.5}), is_simpler({"lam": 0.1}, {"lam": 0.01})
    (True, True)
    >>> is_simpler({"degree": 3, "C": 0.1}, {"degree": 2, "C": 1}), is_simpler({"kernel": "rbf"}, {"kernel": "linear"})
    (False, False)
    """
    if one.keys() != other.keys():
        return False
    differing = [name for name in one if setting_key({name: one[name]}) != setting_key({name: other[name]})]
    return bool(differing) and all(_is_simpler_in(name, one[name], other[name]) for name in differing)


def simplest_of(settings: Sequence[Params]) -> Params | None:
    """The setting that is simpler than all others; ``None`` where there is none such.

    Examples
    --------
    >>> simplest_of([{"C": 10}, {"C": 1}, {"C": 100}])
    {'C': 1}
    >>> simplest_of([{"C": 1, "degree": 3}, {"C": 10, "degree": 2}]) is None
    True
    """
    return next((one for one in settings if all(one is other or is_simpler(one, other) for other in settings)), None)


def _is_simpler_in(name: str, value: Any, other: Any) -> bool:
    last = name.rpartition("__")[2]
    if not (is_number(value) and is_number(other)):
        return False
    return (last in SIMPLER_SMALL and value < other) or (last in SIMPLER_LARGE and value > other)


#: Parameters that are advised where they were not searched.
_ADVISED = ("C", "gamma", "degree", "epochs", "steps", "lam")
#: Parameters that count something, of which there are more or fewer.
_COUNTED = ("epochs", "steps")
#: Differences between training and validation score, and training scores, that are worth a word.
_OVERFIT, _UNDERFIT = 0.1, 0.75
#: How many times the training error an error on other rows is worth a word.
_TIMES = 2.0
#: Scores nearer than this to each other, or to their size, are the same.
_SAME = 1e-9


@dataclass(frozen=True)
class Advice:
    """One thing to know about a search.

    Attributes
    ----------
    kind : {"edge", "short", "tie", "overfitting", "underfitting"}
    message : str
        A plain sentence.
    facts : dict
        The numbers in it.
    """

    kind: str
    message: str
    facts: dict[str, Any]

    def __str__(self) -> str:
        return self.message

    def _repr_html_(self) -> Markup:
        return tag("p", self.message)


class AdviceList(list[Advice]):
    """All that there is to know about a search, a sentence each; a notebook shows it as a table."""

    def __str__(self) -> str:
        return "\n".join(map(str, self))

    def _repr_html_(self) -> Markup:
        return table_html("advice", [[one.kind, one.message] for one in self])


def advise(search: KernelSearchCV, splits: list[tuple[Array, Array]], y: Any = None) -> AdviceList:
    """All that is worth saying about a finished search."""
    if not hasattr(search, "best_index_"):
        return AdviceList()
    edges = _edges(search, y)
    return AdviceList([*edges, *_short(search, splits), *_ties(search), *([] if edges else _fit(search))])


def _scores(search: KernelSearchCV, part: str = "mean_test") -> Array | None:
    """A score of each setting; of several metrics, the one that decided."""
    metric = search.refit if search.multimetric_ and isinstance(search.refit, str) else "score"
    return search.cv_results_.get(f"{part}_{metric}")


def _edges(search: KernelSearchCV, y: Any) -> list[Advice]:
    """Parameters whose best value is the least or the greatest tried, where values beyond it may be better."""
    found = []
    most = largest_nu(y) if y is not None and is_classifier(search) and np.ndim(y) == 1 else 1.0
    for name, best in search.best_params_.items():
        scored = _best_by_value(search, name)
        numbers = sorted(scored)
        if not is_number(best) or len(numbers) < 2 or best not in (numbers[0], numbers[-1]):
            continue
        low = best == numbers[0]
        beside = numbers[1] if low else numbers[-2]
        if scored[best] - scored[beside] <= _SAME * max(1.0, abs(scored[best])):
            continue  # the scores do not rise towards this edge
        further = beyond(name.rpartition("__")[2], best, beside, most)
        if further is None:
            continue
        message = (
            f"The best {name} = {short(best)} is the {'smallest' if low else 'largest'} value tried; try "
            f"{'smaller' if low else 'larger'} ones, such as {short(further)} {guide('tuning')}."
        )
        found.append(
            Advice(
                "edge",
                message,
                {"parameter": name, "best": best, "direction": "down" if low else "up", "next": further},
            )
        )
    return found


def _best_by_value(search: KernelSearchCV, name: str) -> dict[float, float]:
    """For each number that a parameter took, the best score among the settings with it."""
    scores = _scores(search)
    found: dict[float, float] = {}
    if scores is not None:
        for params, score in zip(search.cv_results_["params"], np.nan_to_num(scores, nan=-np.inf), strict=True):
            value = params.get(name)
            if is_number(value) and np.isfinite(value):
                found[value] = max(float(score), found.get(value, -np.inf))
    return found


def _short(search: KernelSearchCV, splits: list[tuple[Array, Array]]) -> list[Advice]:
    """Runs of fewer steps than there are rows have not seen all of them."""
    machine = machine_of(search) if hasattr(search, "best_estimator_") else None
    steps: Any = getattr(machine, "steps", None)
    rows = int(max(train.size for train, _ in splits))
    if not is_number(steps) or steps * getattr(machine, "batch", 1) >= rows:
        return []
    message = (
        f"The best run makes {steps:g} steps, fewer than the {rows} training rows of a fold: it has not seen all of "
        "them. Allow more steps."
    )
    return [Advice("short", message, {"steps": int(steps), "rows": rows})]


def _ties(search: KernelSearchCV) -> list[Advice]:
    """Settings within one standard error of the best, and which of them is simpler."""
    mean, sd = _scores(search), _scores(search, "std_test")
    if mean is None or sd is None or search.n_splits_ < 2:
        return []
    settings, best = search.cv_results_["params"], float(mean[search.best_index_])
    error = sd[search.best_index_] / np.sqrt(search.n_splits_ - 1)
    close = np.flatnonzero(mean >= best - error)
    if close.size < 2:
        return []
    ranked = [settings[k] for k in sorted(close, key=lambda k: -mean[k])]
    simplest = simplest_of(ranked)
    if _all_tie(mean):
        said = f"{_all(len(settings))} score the same ({_in_few(abs(best))}), so that the choice says little"
    else:
        said = f"{close.size} settings are within one standard error of the best ({_in_few(error)})"
    message = f"{said}{_which_is_simpler(search.best_params_, ranked, simplest)}."
    return [Advice("tie", message, {"settings": int(close.size), "standard_error": float(error), "simplest": simplest})]


def _which_is_simpler(best: dict[str, Any], close: list[dict[str, Any]], simplest: dict[str, Any] | None) -> str:
    """The end of a sentence: the simplest setting or, where settings cannot all be compared, one simpler than the best.

    It is empty where there is none such.
    """
    if simplest is not None and setting_key(simplest) == setting_key(best):
        return "; the winner is the simplest of them"
    if simplest is not None:
        return f"; the simplest of them is {_in_words(simplest)}"
    simpler = next((each for each in close if is_simpler(each, best)), None)
    return "" if simpler is None else f"; a simpler one is {_in_words(simpler)}"


def _in_words(params: dict[str, Any]) -> str:
    return ", ".join(f"{name} = {short(value)}" for name, value in params.items())


def _all_tie(mean: Array) -> bool:
    """Whether no setting is better than another."""
    return bool(np.ptp(mean) <= _SAME * max(1.0, float(np.abs(mean).max())))


def _all(number: int) -> str:
    return "Both settings" if number == 2 else f"All {number} settings"


def _in_few(value: float) -> str:
    return f"{value:.2g}" if abs(value) < 100 else f"{value:.0f}"


def _fit(search: KernelSearchCV) -> list[Advice]:
    """What training and validation scores say together, for scores between 0 and 1 and for errors."""
    results, best = search.cv_results_, search.best_index_
    if "mean_train_score" not in results:
        return []
    train, test = float(results["mean_train_score"][best]), float(results["mean_test_score"][best])
    facts = {"train": train, "validation": test}
    if test < 0 and train <= 0 and str(search.scoring).startswith("neg_"):
        return _overfit_errors(search, -train, -test)
    if not (0 <= test <= 1 and 0 <= train <= 1):
        return []
    if train - test > _OVERFIT:
        message = (
            f"The winner scores {train:.3f} on training rows and {test:.3f} on others: it overfits"
            f"{_remedies(search, simpler=True)} may help."
        )
        return [Advice("overfitting", message, facts)]
    if train < _UNDERFIT:
        message = (
            f"The winner scores only {train:.3f} on the rows it was trained on: it underfits"
            f"{_remedies(search, simpler=False)} may help."
        )
        return [Advice("underfitting", message, facts)]
    return []


def _overfit_errors(search: KernelSearchCV, train: float, test: float) -> list[Advice]:
    """Errors on other rows that are far larger than those on training rows."""
    if test <= _TIMES * train:
        return []
    message = (
        f"The winner errs by {_in_few(train)} on training rows and by {_in_few(test)} on others: it overfits"
        f"{_remedies(search, simpler=True)} may help."
    )
    return [Advice("overfitting", message, {"train": train, "validation": test})]


def _remedies(search: KernelSearchCV, simpler: bool) -> str:
    """What may help, after a full stop: more rows or other columns, and what makes a simpler or a richer model.

    Where such models were tried, cross-validation has said that they do no better, and they are not advised.
    """
    if _was_tried(search, simpler):
        how, rather = ("simpler", "more rows") if simpler else ("richer", "other columns")
        return f", but {how} settings do no better on other rows. {rather.capitalize()}"
    params = search.estimator.get_params()
    names = {name.rpartition("__")[2] for name, value in params.items() if not isinstance(value, list)}
    searched = {name.rpartition("__")[2] for name in search.best_params_ if len(_best_by_value(search, name)) > 1}
    said = ["more rows"] if simpler else []
    said += [
        _less_or_more(name, less=simpler == (name in SIMPLER_SMALL)) for name in _ADVISED if name in names - searched
    ]
    said.append(f"a {'smoother' if simpler else 'richer'} kernel" if "kernel" in names else "other columns")
    words = enumeration(said, last="or")
    return f". {words[0].upper()}{words[1:]}"


def _was_tried(search: KernelSearchCV, simpler: bool) -> bool:
    """Whether the search tried a setting that is simpler than its best one, or richer."""
    best, settings = search.best_params_, search.cv_results_["params"]
    return any(is_simpler(each, best) if simpler else is_simpler(best, each) for each in settings)


def _less_or_more(name: str, less: bool) -> str:
    if name in _COUNTED:
        return f"{'fewer' if less else 'more'} {name}"
    return f"a {'smaller' if less else 'larger'} {name}"
