"""What comes after a comparison: the chosen learner as a recipe, and as a model of all rows."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from .printing import Printer

if TYPE_CHECKING:
    from ..io import Table
    from ..report.comparison import Comparison
    from .recipe import Recipe
    from .trained import Trained

__all__ = ["recipe_of_chosen", "saved_winner"]

#: How much longer than expected a fit may take.
_LONGER = 1.5


def recipe_of_chosen(facts: Comparison, table: Table, preparing: dict[str, Any], seed: int) -> Recipe:
    """The learner that a study has chosen, with its kernel and parameters."""
    from ..learners.catalogue import named
    from .recipe import recipe_of

    name = facts["answer"]["chosen"]
    learner = named(name)
    return recipe_of(learner, facts.models[name], table, preparing, seed, learner.most_rows)


def saved_winner(
    facts: Comparison,
    recipe: Recipe,
    table: Table,
    division: Any,
    output: str,
    printer: Printer,
    seconds: float = math.inf,
) -> Trained:
    """Store the chosen learner: fitted on all rows, the test rows too, or as it was tested.

    Where so many seconds are too short for another fit, the model of the training rows is stored. The test error
    belongs to that one; the other has the same settings and has seen more, and there is no row left to test it with.
    The file remembers the error as what it is.
    """
    from ..report.page import study_name
    from .model_paths import save
    from .trained import as_tested, trained

    chosen = next(one for one in facts["learners"] if one["name"] == recipe.learner.name)
    growth = table.n_rows / max(1, chosen["fitted_rows"])
    if seconds < _LONGER * chosen["fit_seconds"] * growth**2:
        made = as_tested(recipe, facts, chosen, table)
        printer.note("There was no time for a fit of all rows: the model is the one that was tested.")
    else:
        made = trained(recipe, table, printer, division=division, half_widths=facts.half_widths)
    tested = {
        "test": chosen["test"],
        "scores": chosen.get("scores"),
        "train_rows": facts["split"]["train"],
        "test_rows": facts["split"]["test"],
        "command": facts["repeat"]["command"],
        "study": study_name(facts),
    }
    save(made.model, output, made.about(table, command=facts["answer"]["train_command"], comparison=tested))
    return made
