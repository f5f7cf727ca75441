"""Which settings of a search are tried."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.model_selection import ParameterGrid, ParameterSampler
from sklearn.utils import check_random_state

from .._compile import Array

if TYPE_CHECKING:
    from .search_cv import KernelSearchCV

#: A halving search goes on with one in so many settings, and as many times more rows.
_FACTOR = 3
#: Training rows of a fold that a halving search begins with, at least.
_FEWEST_ROWS = 200


@dataclass(frozen=True)
class Evaluate:
    """Evaluates settings, on the folds of the search or on parts of them."""

    call: Callable[..., dict[str, Any]]
    search: KernelSearchCV
    splits: list[tuple[Array, Array]]
    y: Any

    def __call__(self, settings: list[dict[str, Any]], splits: Any = None, more: Any = None) -> Array:
        """The mean test score of each of the settings."""
        metric = self.search.refit if isinstance(self.search.refit, str) else "score"
        results = self.call(settings, splits, more)
        name = f"mean_test_{metric}"
        if name not in results:
            name = next(name for name in results if name.startswith("mean_test_"))
        return np.asarray(results[name])[-len(settings) :]

    def grid(self) -> list[dict[str, Any]]:
        return list(ParameterGrid(self.search.param_grid))


def _grid(evaluate: Evaluate) -> None:
    evaluate(evaluate.grid())


def _random(evaluate: Evaluate) -> None:
    search = evaluate.search
    evaluate(list(ParameterSampler(search.param_grid, search.n_iter, random_state=search.random_state)))


def _halving(evaluate: Evaluate) -> None:
    """All settings on few training rows of each fold, the best third on three times as many, until all rows are in."""
    rng = check_random_state(evaluate.search.random_state)
    orders = [rng.permutation(train) for train, _ in evaluate.splits]
    whole = min(order.size for order in orders)
    settings = evaluate.grid()
    rounds = int(np.ceil(np.log(max(len(settings), 2)) / np.log(_FACTOR)))
    rows, turn = max(min(_FEWEST_ROWS, whole), whole // _FACTOR**rounds), 0
    while True:
        last = len(settings) == 1 or rows >= whole
        rows = whole if last else rows
        splits = [
            (train if last else np.sort(order[:rows]), test)
            for order, (train, test) in zip(orders, evaluate.splits, strict=True)
        ]
        more = {"iter": [turn] * len(settings), "n_resources": [rows] * len(settings)}
        scores = evaluate(settings, splits, more)
        if last:
            return
        keep = max(1, int(np.ceil(len(settings) / _FACTOR)))
        best = np.argsort(-np.nan_to_num(scores, nan=-np.inf), kind="stable")[:keep]
        settings = [settings[k] for k in sorted(best)]
        rows, turn = min(whole, rows * _FACTOR), turn + 1


def _path(evaluate: Evaluate) -> None:
    """The best value along one parameter after the other, from the middle of the grid, until nothing improves."""
    grids = evaluate.search.param_grid
    tried: dict[str, float] = {}
    for grid in [grids] if isinstance(grids, dict) else grids:
        if not grid:  # one setting: the estimator as it is
            evaluate([{}])
            continue
        names = [name for name in grid if len(grid[name]) > 1]
        here = {name: list(values)[len(values) // 2] for name, values in grid.items()}
        improved = True
        while improved:
            improved = False
            for name in names or list(grid)[:1]:
                line = [{**here, name: value} for value in grid[name]]
                new = [setting for setting in line if repr(setting) not in tried]
                if new:
                    scores = evaluate(new)
                    tried.update((repr(setting), float(score)) for setting, score in zip(new, scores, strict=True))
                best = max(line, key=lambda setting: np.nan_to_num(tried[repr(setting)], nan=-np.inf))
                if tried[repr(best)] > tried.get(repr(here), -np.inf) or (new and repr(best) != repr(here)):
                    improved |= repr(best) != repr(here)
                    here = best


STRATEGIES: dict[str, Callable[[Evaluate], None]] = {
    "grid": _grid,
    "random": _random,
    "halving": _halving,
    "path": _path,
}
