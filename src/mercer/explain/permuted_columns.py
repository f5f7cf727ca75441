"""How much a model needs each column: how much worse it predicts once the column is shuffled."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier, is_outlier_detector
from sklearn.inspection import permutation_importance
from sklearn.model_selection import train_test_split

from .._runtime.compile import Array
from .._validation.objects import chosen
from .._validation.rare_classes import drawn_evenly
from .._validation.unwrapped import machine_of
from .column_effects import as_frame

__all__ = ["permutation_importance_of", "some_rows"]

#: Rows that are looked at, and how often each column is shuffled.
ROWS, REPEATS = 500, 5
#: Comparisons of a row with a support item, in all; fewer repeats and then fewer rows keep to it, down to a few.
_COMPARISONS, _FEWEST = 2e8, 100
#: Predictions that are made in all, about, and the widest rows whose columns are shuffled.
_PREDICTIONS, _WIDEST = 1000, 1000


def permutation_importance_of(
    model: Any,
    X: Any,
    y: Any = None,
    scoring: Any = None,
    seed: int = 0,
    *,
    repeats: int = REPEATS,
    max_rows: int = ROWS,
) -> list[dict[str, Any]]:
    """The columns of a table by how much a fitted model needs them.

    Columns are shuffled as they are given, before anything is prepared: the 0 and 1 that a column of words becomes
    stay together, and a column of texts is shuffled like any other. Some rows are drawn where there are many, and
    columns are shuffled fewer times where they are many.

    Parameters
    ----------
    model : fitted estimator
    X : frame, array or sparse matrix
        Best rows that the model was not fitted on: of others it may know by heart what it does not need.
    y : array, optional
        Their targets; not needed for a model of what is usual.
    scoring : str or callable, optional
        A scorer of scikit-learn. By default accuracy for classes and the root mean squared error for numbers; of a
        model of what is usual, how far the scores of rows move.
    seed : int, default=0
    repeats : int, default=5
    max_rows : int, default=500

    Returns
    -------
    list of dict
        ``"column"``, ``"drop"``: by how much the score falls where the column is shuffled, ``"sd"``: its standard
        deviation over the repeats; the largest drop first. Empty for strings, sets and graphs, which have no columns,
        for a precomputed kernel, and for rows of more than 1000 columns.

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer import SVC
    >>> from mercer.explain import permutation_importance_of
    >>> frame = pd.DataFrame({"noise": [3.0, 1, 2, 1, 3, 2], "signal": [0.0, 0, 0, 9, 9, 9]})
    >>> model = SVC("gaussian(gamma=0.1)").fit(frame, list("aaabbb"))
    >>> [each["column"] for each in permutation_importance_of(model, frame, list("aaabbb"))]
    ['signal', 'noise']
    """
    names = column_names(model, X)
    if not names:
        return []
    targets = None if y is None or is_outlier_detector(model) else np.asarray(y)
    rows = as_frame(X) if hasattr(X, "columns") else X
    repeats, count = affordable(model, len(names), repeats, min(max_rows, X.shape[0]))
    rows, targets = some_rows(rows, targets, count, seed, even=is_classifier(model))
    if sparse.issparse(rows):
        rows = rows.toarray()
    found = permutation_importance(
        model, rows, targets, scoring=_scorer(model, rows, scoring), n_repeats=repeats, random_state=seed
    )
    drops = zip(names, found.importances_mean.tolist(), found.importances_std.tolist(), strict=True)
    return sorted(
        ({"column": name, "drop": drop, "sd": sd} for name, drop, sd in drops),
        key=lambda each: -float(f"{each['drop']:.9g}"),
    )


def column_names(model: Any, X: Any) -> list[str]:
    """The names of the columns that can be shuffled; none where there are no columns, or too many."""
    kernel = getattr(machine_of(model), "kernel_", None)
    if getattr(kernel, "precomputed", False) or len(getattr(X, "shape", ())) != 2 or X.shape[1] > _WIDEST:
        return []
    return [str(name) for name in X.columns] if hasattr(X, "columns") else [f"x{k}" for k in range(X.shape[1])]


def affordable(model: Any, columns: int, repeats: int, rows: int) -> tuple[int, int]:
    """How often columns are shuffled, and on how many rows, within a bounded number of comparisons."""
    machine = machine_of(model)
    machine = getattr(machine, "machine_", machine)  # that of an estimator of tables
    inside = max(1, len(getattr(machine, "support_", ())))
    each = columns * inside
    repeats = max(1, min(repeats, _PREDICTIONS // columns))
    while repeats > 1 and each * rows * repeats > _COMPARISONS:
        repeats -= 1
    return repeats, min(rows, max(_FEWEST, int(_COMPARISONS / (each * repeats))))


def some_rows(X: Any, y: Array | None, count: int, seed: int, *, even: bool) -> tuple[Any, Array | None]:
    """So many of the rows, drawn at random in their order; ``even``: each class with its share where it has several."""
    number = X.shape[0] if hasattr(X, "shape") else len(X)
    if number <= count:
        return X, y
    if y is None or not even:
        kept = np.sort(train_test_split(np.arange(number), train_size=count, random_state=seed)[0])
    else:
        kept = np.sort(drawn_evenly(y, seed, train_size=count)[0])
    return chosen(X, kept), None if y is None else y[kept]


def _scorer(model: Any, rows: Any, scoring: Any) -> str | Callable[..., float]:
    if scoring is not None:
        return scoring
    if is_outlier_detector(model):
        before = model.decision_function(rows)
        return lambda fitted, changed, _: -float(np.mean(np.abs(fitted.decision_function(changed) - before)))
    return "accuracy" if is_classifier(model) else "neg_root_mean_squared_error"
