"""What ``mercer train`` does for classes alone: probabilities, thresholds, weights and costs of mistakes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .._validation.wording import enumeration
from ..io.table import DataError
from .printing import Printer

if TYPE_CHECKING:
    from ..io import Table
    from ..learners.learner import Learner
    from .recipe import Recipe

__all__ = ["about_mistakes", "answering", "refuse_for_others", "threshold_scorer"]

#: Folds from which probabilities and thresholds are learned.
_FOLDS = 5


def refuse_for_others(recipe: Recipe) -> None:
    """Refuse what is said about classes to learners that know none, and what excludes each other."""
    said = {
        "--calibrate": recipe.calibrate,
        "--cost": recipe.costs,
        "--class-weight": recipe.class_weight,
        "--threshold": recipe.threshold,
    }
    asked = [option for option, value in said.items() if value]
    if asked and recipe.learner.task != "classify":
        what = enumeration(asked)
        raise DataError(
            f"{what} {'is' if len(asked) == 1 else 'are'} for classes, which {recipe.learner.name} does not learn; "
            f"leave {'it' if len(asked) == 1 else 'them'} out."
        )
    if recipe.positive is not None and recipe.threshold is None:
        raise DataError("--positive says which class --threshold is of; add --threshold f1, or leave --positive out.")
    if recipe.threshold and (recipe.calibrate or recipe.costs):
        other = "--calibrate" if recipe.calibrate else "--cost"
        raise DataError(f"--threshold and {other} both say which answer a score means; leave one of them out.")


def about_mistakes(recipe: Recipe, table: Table) -> dict[str, Any]:
    """Parameters of the machine that say which mistakes matter more."""
    found: dict[str, Any] = {}
    if recipe.class_weight is not None:
        if "class_weight" not in _parameters(recipe.learner):
            raise DataError(f"{recipe.learner.name} does not weigh classes; leave --class-weight out, or use svc.")
        found["class_weight"] = recipe.class_weight
    if recipe.costs and recipe.calibrate is None:
        if "costs" not in _parameters(recipe.learner):
            raise DataError(
                f"{recipe.learner.name} does not weigh mistakes by itself; add --calibrate sigmoid, or use svc."
            )
        found["costs"] = _priced(recipe.costs, table)
    return found


def answering(model: Any, recipe: Recipe, table: Table, printer: Printer) -> Any:
    """The model with what turns its scores into answers: probabilities or a threshold, where asked for."""
    from ..calibration import Calibrated, TunedThreshold

    if recipe.calibrate is not None:
        folds = _folds(table, "Probabilities are", printer)
        costs = _priced(recipe.costs, table) if recipe.costs else {}
        if recipe.class_weight:
            costs = _balanced(costs, table.class_counts)
            printer.note(
                "Probabilities are those of the rows as they are, and answers let each class count as much as any "
                "other: the answer need not be the most probable class."
            )
        return Calibrated(model, method=recipe.calibrate, cv=folds, costs=costs or None)
    if recipe.threshold is not None:
        scorer = threshold_scorer(recipe.threshold, table, recipe.positive)
        return TunedThreshold(model, scoring=scorer, cv=_folds(table, "The threshold is", printer))
    return model


def threshold_scorer(name: str, table: Table, positive: str | None = None) -> Any:
    """What a threshold between two classes is chosen by.

    Parameters
    ----------
    name : str
        Of the measure, as people type it.
    table : Table
    positive : str, optional
        Of the two classes the one that the measure is of; the rarer one by itself.

    Returns
    -------
    str or callable
        As :class:`mercer.TunedThreshold` takes it.
    """
    from ..report.scorings import measure_named, positive_class

    if table.measured or len(table.class_counts) != 2:
        has = "is a measurement" if table.measured else f"has {len(table.class_counts)}"
        raise DataError(
            f"--threshold is for two classes, and {table.target!r} {has}; leave it out, or weigh the classes with "
            "--class-weight balanced."
        )
    assert table.y is not None
    try:
        found = measure_named(name, "classify", list(table.class_counts), positive_class(table.y, positive))
    except ValueError as error:
        raise DataError(f"--threshold: {error}") from error
    if found.needs != "labels":
        raise DataError(
            f"--threshold {name}: {found.title} is the same for every threshold; use balanced_accuracy, f1, mcc or "
            "accuracy."
        )
    return found.scorer or found.scoring


def _balanced(costs: Mapping[tuple[Any, Any], float], counts: Mapping[Any, int]) -> dict[tuple[Any, Any], float]:
    """What mistakes cost where all rows of a class together weigh as much as those of any other.

    Probabilities that are honest know how rare a class is, and undo the weights that its rows had in training. Mistakes
    on rows of a class with n of N rows, one of k, cost N/(k·n) instead, as such rows weigh.
    """
    rows = sum(counts.values())
    return {
        (true, answered): rows / (len(counts) * count) * costs.get((true, answered), 1.0)
        for true, count in counts.items()
        for answered in counts
        if answered != true
    }


def _folds(table: Table, what: str, printer: Printer) -> int:
    """As many folds as the classes allow: of two each fold is to hold both, of several a rare one is spread thinly."""
    counts = table.class_counts.values()
    fewest = min(counts) if len(counts) == 2 else max(counts)
    folds = max(2, min(_FOLDS, fewest))
    if folds < _FOLDS and min(counts) > 1:
        printer.note(f"{what} learned from {folds} folds instead of {_FOLDS}: a class has {fewest} rows.")
    return folds


def _parameters(learner: Learner) -> dict[str, Any]:
    from .._validation.unwrapped import machine_of

    return machine_of(learner.build()).get_params(deep=False)


def _priced(given: tuple[str, ...], table: Table) -> dict[tuple[Any, Any], float]:
    """What mistakes cost, by the true and the answered class."""
    classes = {str(label): label for label in table.class_counts}
    found = {}
    for text in given:
        pair, _, cost = text.rpartition("=")
        words = pair.split(",")
        halves = [(",".join(words[:k]).strip(), ",".join(words[k:]).strip()) for k in range(1, len(words))]
        known = [half for half in halves if half[0] in classes and half[1] in classes]
        try:
            price = float(cost)
        except ValueError:
            known = []
        if not known:
            raise DataError(
                f"--cost {text!r} should look like TRUE,ANSWERED=5 with two of the classes "
                f"{enumeration(map(repr, classes), 6)}."
            )
        found[classes[known[0][0]], classes[known[0][1]]] = price
    return found
