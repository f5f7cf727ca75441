"""Which settings of a search are tried."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.model_selection import ParameterGrid, ParameterSampler
from sklearn.utils import check_random_state

from .._runtime.compile import Array
from .content_keys import setting_key

if TYPE_CHECKING:
    from .search_cv import KernelSearchCV

#: A halving search goes on with one in so many settings, and as many times more rows.
_FACTOR = 3
#: Training rows of a fold that a halving search begins with, at least.
_FEWEST_ROWS = 200


@dataclass(frozen=True)
class Evaluate:
    """Evaluates settings, on the folds of the search or on parts of them."""

    #: settings, splits or ``None``, more columns of the results → the mean test score of each setting
    call: Callable[..., Array]
    search: KernelSearchCV
    splits: list[tuple[Array, Array]]

    def __call__(self, settings: list[dict[str, Any]], splits: Any = None, more: Any = None) -> Array:
        return self.call(settings, splits, more)

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
                new = [setting for setting in line if setting_key(setting) not in tried]
                if new:
                    tried.update(zip(map(setting_key, new), map(float, evaluate(new)), strict=True))
                keys = [setting_key(setting) for setting in line]
                scores = [tried[key] for key in keys]
                best = int(np.argmax(np.nan_to_num(scores, nan=-np.inf)))
                now = setting_key(here)
                if keys[best] != now and (new or scores[best] > tried.get(now, -np.inf)):
                    improved, here = True, line[best]


STRATEGIES: dict[str, Callable[[Evaluate], None]] = {
    "grid": _grid,
    "random": _random,
    "halving": _halving,
    "path": _path,
}
