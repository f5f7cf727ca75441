"""What the chosen learner looks at, and where it goes wrong, on the test rows."""

from __future__ import annotations

from typing import Any

from ..explain import permutation_importance_of, wrong_rows
from .error_measure import ErrorMeasure
from .plain import text
from .study import Run, Tested


def about_chosen(run: Run, table: Any, tested: Tested, measure: ErrorMeasure, seed: int) -> dict[str, Any]:
    """The columns that it needs, by shuffling each, and the rows that it is most wrong about.

    Parameters
    ----------
    run : Run
        The chosen learner.
    table : Table
        All rows.
    tested : Tested
    measure : ErrorMeasure
        What falls where a column is shuffled.
    seed : int

    Returns
    -------
    dict
        ``"importances"`` and ``"wrong_rows"``.
    """
    held_out, y = table.take(tested.test), tested.targets
    scoring = measure.scorer or measure.scoring
    return {
        "importances": permutation_importance_of(run.model, held_out.X, y, scoring=scoring, seed=seed),
        "wrong_rows": wrong_rows(
            run.model,
            held_out.X,
            y,
            lambda row: _called(table, int(tested.test[row])),
            where_trained=lambda row: _called(table, int(run.places[row])),
            trained_labels=tested.y[run.places],
        ),
    }


def _called(table: Any, row: int) -> str:
    """The name of a row, where it has one, and its place in the file."""
    place = table.where(row)
    return place if table.names is None else f"{text(table.names[row])} ({place})"
