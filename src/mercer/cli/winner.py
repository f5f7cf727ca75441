"""What comes after a comparison: the chosen learner as a recipe, and as a model of all rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .printing import Printer

if TYPE_CHECKING:
    from ..io import Table
    from ..report.comparison import Comparison
    from .recipe import Recipe
    from .trained import Trained

__all__ = ["recipe_of_chosen", "saved_winner"]


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
    reading: dict[str, Any],
    printer: Printer,
) -> Trained:
    """Fit the chosen learner on all rows, the test rows too, and store it.

    The test error belongs to the model of the training rows: the stored one has seen more, and there is no row left to
    test it with. The file remembers that error as what it is.
    """
    from ..report.page import study_name
    from .model_paths import save
    from .trained import trained

    made = trained(recipe, table, printer, division=division)
    chosen = next(one for one in facts["learners"] if one["name"] == recipe.learner.name)
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
