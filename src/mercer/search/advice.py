"""What a search has to say besides its winner, as facts that print themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import is_classifier

from .._presentation.html import Markup, table_html, tag
from .._runtime.compile import Array
from .._validation.parameters import is_number
from .._validation.unwrapped import machine_of
from .._validation.wording import enumeration
from .beyond import beyond, largest_nu
from .outcome import setting_key

if TYPE_CHECKING:
    from .search_cv import KernelSearchCV

__all__ = ["Advice", "advise"]

#: Parameters of which a smaller value makes a simpler model, and those of which a larger one does.
_SIMPLER_SMALL = ("C", "gamma", "degree", "epochs", "steps")
_SIMPLER_LARGE = ("lam", "length", "tol")
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
    return AdviceList([*_edges(search, y), *_short(search, splits), *_ties(search), *_fit(search)])


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
            f"The best {name} = {best:g} is the {'smallest' if low else 'largest'} value tried; try "
            f"{'smaller' if low else 'larger'} ones, such as {further:g}."
        )
        found.append(Advice("edge", message, {"parameter": name, "best": best, "direction": "down" if low else "up"}))
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
    """Settings within one standard error of the best, and the simplest of them."""
    mean, sd = _scores(search), _scores(search, "std_test")
    if mean is None or sd is None or search.n_splits_ < 2:
        return []
    settings, best = search.cv_results_["params"], float(mean[search.best_index_])
    error = sd[search.best_index_] / np.sqrt(search.n_splits_ - 1)
    close = np.flatnonzero(mean >= best - error)
    if close.size < 2:
        return []
    simplest = settings[min(close, key=lambda k: (_complexity(settings[k]), -mean[k]))]
    if setting_key(simplest) == setting_key(search.best_params_):
        detail = "the winner is the simplest of them"
    else:
        detail = "the simplest of them is " + ", ".join(f"{k} = {_shown(v)}" for k, v in simplest.items())
    if _all_tie(mean):
        message = (
            f"{_all(len(settings))} score the same ({_in_few(abs(best))}), so that the choice says little; {detail}."
        )
    else:
        message = f"{close.size} settings are within one standard error of the best ({_in_few(error)}); {detail}."
    return [Advice("tie", message, {"settings": int(close.size), "standard_error": float(error), "simplest": simplest})]


def _all_tie(mean: Array) -> bool:
    """Whether no setting is better than another."""
    return bool(np.ptp(mean) <= _SAME * max(1.0, float(np.abs(mean).max())))


def _all(number: int) -> str:
    return "Both settings" if number == 2 else f"All {number} settings"


def _complexity(params: dict[str, Any]) -> float:
    total = 0.0
    for name, value in params.items():
        last = name.rpartition("__")[2]
        if is_number(value) and value > 0:
            total += np.log(value) * ((last in _SIMPLER_SMALL) - (last in _SIMPLER_LARGE))
    return total


def _shown(value: Any) -> str:
    return f"{value:g}" if is_number(value) else str(value)


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
            f"The winner scores {train:.3f} on training rows and {test:.3f} on others: it overfits. "
            f"{_remedies(search, simpler=True)} may help."
        )
        return [Advice("overfitting", message, facts)]
    if train < _UNDERFIT:
        message = (
            f"The winner scores only {train:.3f} on the rows it was trained on: it underfits. "
            f"{_remedies(search, simpler=False)} may help."
        )
        return [Advice("underfitting", message, facts)]
    return []


def _overfit_errors(search: KernelSearchCV, train: float, test: float) -> list[Advice]:
    """Errors on other rows that are far larger than those on training rows."""
    if test <= _TIMES * train:
        return []
    message = (
        f"The winner errs by {_in_few(train)} on training rows and by {_in_few(test)} on others: it overfits. "
        f"{_remedies(search, simpler=True)} may help."
    )
    return [Advice("overfitting", message, {"train": train, "validation": test})]


def _remedies(search: KernelSearchCV, simpler: bool) -> str:
    """What makes a simpler or a richer model: parameters that this estimator has, unless the search showed that they
    make no difference; and more rows, or another kernel."""
    tried = {name.rpartition("__")[2]: name for params in search.cv_results_["params"] for name in params}
    names = {name.rpartition("__")[2] for name in search.estimator.get_params()}
    said = ["more rows"] if simpler else []
    for name in (*_SIMPLER_SMALL, *_SIMPLER_LARGE[:1]):
        scored = list(_best_by_value(search, tried[name]).values()) if name in tried else []
        if name in names and not (len(scored) > 1 and _all_tie(np.array(scored))):
            said.append(f"a {'smaller' if simpler == (name in _SIMPLER_SMALL) else 'larger'} {name}")
    said.append(f"a {'smoother' if simpler else 'richer'} kernel" if "kernel" in names else "other columns")
    words = enumeration(said, last="or")
    return words[0].upper() + words[1:]
