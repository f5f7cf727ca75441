"""A model made by a recipe, with what is to be said and remembered about it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .printing import Printer

if TYPE_CHECKING:
    from ..io import Table
    from ..learners.learner import Learner
    from ..report.comparison import Comparison
    from .recipe import Recipe

__all__ = ["Trained", "as_tested", "error_on", "trained"]


@dataclass(frozen=True)
class Trained:
    """A fitted model.

    Parameters
    ----------
    model : estimator
    learner : Learner
        As it suits the table.
    kernel : str, optional
    facts : dict
        Rows, seconds, errors and status of the training.
    half_widths : list, optional
        How far errors of numbers reach; ``None`` for classes, and where measuring it was interrupted.
    learned : Table
        The rows that it was trained on.
    support_lines : list of str, optional
        Where the rows that the model keeps stood in their file.
    """

    model: Any
    learner: Learner
    kernel: str | None
    facts: dict[str, Any]
    half_widths: list[float | None] | None
    learned: Table
    support_lines: Any = None

    def about(self, table: Table, **more: Any) -> dict[str, Any]:
        """What a model file remembers."""
        from .building import about_model

        return about_model(
            table,
            self.learner,
            self.model,
            self.learned,
            training=self.facts,
            half_widths=self.half_widths,
            support_lines=self.support_lines,
            **more,
        )


def as_tested(recipe: Recipe, facts: Comparison, chosen: dict[str, Any], table: Table) -> Trained:
    """The model that a study has tested, as it is."""
    from .._validation.unwrapped import machine_of
    from ..explain import support_lines
    from .building import fitting, outliers_in_words

    model = facts.models[recipe.learner.name]
    learned = table.take(facts.rows[recipe.learner.name])
    learner = fitting(recipe.learner, learned, recipe.kernel, recipe.preparing.get("target_transform"))
    last = machine_of(model)
    about = {
        "rows": learned.n_rows,
        "seconds": chosen["fit_seconds"],
        "errors": {"train": error_on(model, learned, learner.task)},
        "status": getattr(last, "status_", None),
        "support": len(last.support_) if hasattr(last, "support_") else None,
        "seed": recipe.seed,
        "outliers": outliers_in_words(model),
        "calibrated": None,
        "threshold": None,
    }
    return Trained(model, learner, recipe.kernel, about, facts.half_widths, learned, support_lines(model, learned))


def trained(
    recipe: Recipe,
    table: Table,
    printer: Printer,
    testing: Table | None = None,
    division: Any = None,
    half_widths: list[float | None] | None = None,
    validating: bool = False,
) -> Trained:
    """Make a model of a table.

    Parameters
    ----------
    recipe : Recipe
        Its learner is the one of the catalogue.
    table : Table
        Rows to learn from.
    printer : Printer
    testing : Table, optional
        Rows to test on.
    division : Division, optional
        How rows are left out in turn to find how far errors reach, where not at random.
    half_widths : list, optional
        How far they reach, where that is known.
    validating : bool
        Whether mistakes on rows left out in turn are counted; of numbers that is always done.

    Returns
    -------
    Trained
    """
    from .._validation.unwrapped import machine_of
    from ..explain import support_lines
    from .building import cross_validated, fit, fitting, held_out, machine, outliers_in_words, usual_kernel
    from .train_classes import about_mistakes, answering

    kept = _few_enough(table, recipe, printer)
    learning = table if kept is None else table.take(kept)
    learner, kernel = (
        fitting(recipe.learner, learning, recipe.kernel, recipe.preparing.get("target_transform")),
        recipe.kernel,
    )
    if kernel is None and learner.takes_kernel:
        kernel = usual_kernel(learning, learner, dict(recipe.preparing), printer)
    params = {**recipe.params, **about_mistakes(recipe, learning)}
    model = machine(
        learning, learner, dict(recipe.preparing), kernel=kernel, degree=recipe.degree, seed=recipe.seed, params=params
    )
    model = answering(model, recipe, learning, printer)
    seconds = fit(model, learning, f"training {learner.title} on {learning.n_rows} rows", printer)
    errors = {"train": error_on(model, learning, learner.task)}
    if testing is not None:
        errors["holdout"] = error_on(model, testing, learner.task)
    last = machine_of(model)
    facts = {
        "rows": learning.n_rows,
        **held_out(model, learning, testing, printer),
        "seconds": seconds,
        "errors": errors,
        "status": getattr(last, "status_", None),
        "support": len(last.support_) if hasattr(last, "support_") else None,
        "seed": recipe.seed,
        "outliers": outliers_in_words(model),
        "calibrated": recipe.calibrate,
        "threshold": recipe.threshold,
    }
    widths = half_widths
    if widths is None and (learner.task == "regress" or validating):
        left_out = cross_validated(model, learning, recipe.seed, printer, division, kept)
        if left_out is not None:
            found, widths = left_out
            if "error" in found:
                errors["cross-validated"] = found.pop("error")
            facts["cross_validation"] = found
    return Trained(model, learner, kernel, facts, widths, learning, support_lines(model, learning))


def _few_enough(table: Table, recipe: Recipe, printer: Printer) -> Any:
    """The places of as many rows as the recipe allows, each class with its share; ``None`` where all are allowed."""
    from ..report.tuning import sample

    if recipe.max_rows is None or table.n_rows <= recipe.max_rows:
        return None
    assert table.y is not None
    even = not table.measured and min(table.class_counts.values()) > 1
    kept = sample(table.y, recipe.max_rows, recipe.seed, even)
    drawn = "drawn at random within each class" if even else "drawn at random"
    printer.note(f"Learning from {recipe.max_rows:,} of {table.n_rows:,} rows, {drawn}.")
    return kept


def error_on(model: Any, table: Table, task: str) -> Any:
    """The share of mistakes on the rows of a table, or the errors of numbers."""
    from .building import errors_of

    return errors_of(model.predict(table.X), table.y, task)
