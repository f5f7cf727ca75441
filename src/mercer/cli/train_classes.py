"""What ``mercer train`` does for classes alone: probabilities, thresholds, weights and costs of mistakes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._validation.wording import enumeration, nearest
from ..io.table import DataError
from .printing import Printer

if TYPE_CHECKING:
    from ..io import Table
    from ..learners.learner import Learner
    from .recipe import Recipe

__all__ = ["about_mistakes", "answering", "refuse_for_others"]

#: Folds from which probabilities and thresholds are learned.
_FOLDS = 5
#: Scores that look at one of two classes.
_OF_ONE_CLASS = ("f1", "precision", "recall", "jaccard")


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
    if recipe.threshold and (recipe.calibrate or recipe.costs):
        other = "--calibrate" if recipe.calibrate else "--cost"
        raise DataError(f"--threshold and {other} both say which answer a score means; leave one of them out.")
    if recipe.threshold:
        _refuse_strange_score(recipe.threshold)


def _refuse_strange_score(name: str) -> None:
    from sklearn.metrics import get_scorer_names

    known = get_scorer_names()
    if name not in known:
        near = nearest(name, known)
        hint = f"did you mean {near!r}?" if near else "there are balanced_accuracy, f1_macro and others."
        raise DataError(f"--threshold: there is no score {name!r}; {hint}")


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
        costs = _priced(recipe.costs, table) if recipe.costs else None
        return Calibrated(model, method=recipe.calibrate, cv=folds, costs=costs)
    if recipe.threshold is not None:
        if len(table.class_counts) != 2:
            raise DataError(
                f"--threshold is for two classes, and {table.target!r} has {len(table.class_counts)}; leave it out, or "
                "weigh the classes with --class-weight balanced."
            )
        _refuse_score_of_one_class(recipe.threshold, list(table.class_counts))
        return TunedThreshold(model, scoring=recipe.threshold, cv=_folds(table, "The threshold is", printer))
    return model


def _refuse_score_of_one_class(name: str, classes: list[Any]) -> None:
    """Scores of one class are about the class 1, and words do not say which of them is meant."""
    if name in _OF_ONE_CLASS and classes[1] != 1:
        raise DataError(
            f"--threshold {name} is about the class 1, and the classes are {enumeration(map(repr, classes))}; use "
            "balanced_accuracy or f1_macro, or call the classes 0 and 1."
        )


def _folds(table: Table, what: str, printer: Printer) -> int:
    """As many folds as the smallest class allows."""
    fewest = min(table.class_counts.values())
    folds = max(2, min(_FOLDS, fewest))
    if folds < _FOLDS:
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
