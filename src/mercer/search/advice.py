"""What a search has to say besides its winner, as facts that print themselves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .._presentation.html import Markup, table_html, tag
from .._runtime.compile import Array
from .._validation.parameters import is_number
from .._validation.unwrapped import machine_of
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


def advise(search: KernelSearchCV, splits: list[tuple[Array, Array]]) -> AdviceList:
    """All that is worth saying about a finished search."""
    if not hasattr(search, "best_index_"):
        return AdviceList()
    return AdviceList([*_edges(search), *_short(search, splits), *_ties(search), *_fit(search)])


def _grids(search: KernelSearchCV) -> list[dict[str, Any]]:
    return [search.param_grid] if isinstance(search.param_grid, dict) else list(search.param_grid)


def _edges(search: KernelSearchCV) -> list[Advice]:
    """Parameters whose best value is the least or the greatest tried."""
    found = []
    for name, best in search.best_params_.items():
        values = [g[name] for g in _grids(search) if name in g and not hasattr(g[name], "rvs")]
        numbers = sorted({v for grid in values for v in grid if is_number(v)})
        if not is_number(best) or len(numbers) < 2 or best not in (numbers[0], numbers[-1]) or not 0 < best < np.inf:
            continue
        low = best == numbers[0]
        step = numbers[1] / numbers[0] if low else numbers[-1] / numbers[-2] if numbers[-2] > 0 else 10.0
        further = best / step if low else best * step
        if name.rpartition("__")[2] == "nu":
            further = min(further, 1.0)  # a share of the rows
        if further == best:
            continue
        message = (
            f"The best {name} = {best:g} is the {'smallest' if low else 'largest'} value tried; try "
            f"{'smaller' if low else 'larger'} ones, such as {further:g}."
        )
        found.append(Advice("edge", message, {"parameter": name, "best": best, "direction": "down" if low else "up"}))
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
    results = search.cv_results_
    metric = search.refit if search.multimetric_ and isinstance(search.refit, str) else "score"
    mean, sd = results.get(f"mean_test_{metric}"), results.get(f"std_test_{metric}")
    if mean is None or sd is None or search.n_splits_ < 2:
        return []
    error = sd[search.best_index_] / np.sqrt(search.n_splits_ - 1)
    close = np.flatnonzero(mean >= mean[search.best_index_] - error)
    if close.size < 2:
        return []
    simplest = results["params"][min(close, key=lambda k: (_complexity(results["params"][k]), -mean[k]))]
    if setting_key(simplest) == setting_key(search.best_params_):
        detail = "the winner is the simplest of them"
    else:
        detail = "the simplest of them is " + ", ".join(f"{k} = {_shown(v)}" for k, v in simplest.items())
    message = f"{close.size} settings are within one standard error of the best ({_in_few(error)}); {detail}."
    return [Advice("tie", message, {"settings": int(close.size), "standard_error": float(error), "simplest": simplest})]


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
        return _overfit_errors(-train, -test)
    if not (0 <= test <= 1 and 0 <= train <= 1):
        return []
    if train - test > _OVERFIT:
        message = (
            f"The winner scores {train:.3f} on training rows and {test:.3f} on others: it overfits. More rows, a "
            "smaller C (larger λ) or a smoother kernel may help."
        )
        return [Advice("overfitting", message, facts)]
    if train < _UNDERFIT:
        message = (
            f"The winner scores only {train:.3f} on the rows it was trained on: it underfits. A larger C (smaller λ) "
            "or a richer kernel may help."
        )
        return [Advice("underfitting", message, facts)]
    return []


def _overfit_errors(train: float, test: float) -> list[Advice]:
    """Errors on other rows that are far larger than those on training rows."""
    if test <= _TIMES * train:
        return []
    message = (
        f"The winner errs by {_in_few(train)} on training rows and by {_in_few(test)} on others: it overfits. More "
        "rows, a smaller C (larger λ) or a smoother kernel may help."
    )
    return [Advice("overfitting", message, {"train": train, "validation": test})]
