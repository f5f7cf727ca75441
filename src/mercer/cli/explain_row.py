"""What ``mercer explain --row`` says about one row."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .._validation.wording import enumeration
from ..io.table import DataError
from .explain_model import parts_in_words, show_named, shown_item
from .printing import Printer

if TYPE_CHECKING:
    from ..explain import Explanation, Supporter
    from ..io import Table
    from ..model_files.models import ModelFile

__all__ = ["explain_row"]

#: Training rows that are shown.
_SHOWN = 5
#: A part of a score that is so many times as large as the score says little by itself.
_DWARFED = 10


def explain_row(
    loaded: ModelFile,
    table: Table,
    place: int,
    label: str | None,
    top: int,
    where: Callable[[int], str],
    printer: Printer,
    seed: int,
) -> None:
    """Print the prediction of one row, and what it is made of."""
    from ..explain import explain
    from .trained_rows import look_up

    model = loaded.estimator
    one = table.take([place])
    item = one.X[0] if one.items is not None else one.X
    wanted = None if label is None else _class_of(label, model)
    with printer.working(f"explaining {table.where(place)}"):
        found = explain(
            model,
            item,
            label=wanted,
            top=top,
            among=None if one.items is not None else table.X,
            names=table.columns if table.rows is not None else None,
            random_state=seed,
        )
        likely = _probabilities(model, one.X)
    truth = one.y.tolist()[0] if one.y is not None else None
    seen = look_up(loaded.about, one, printer)
    facts = {"row": table.where(place), "true": truth, **found.facts(), "probabilities": likely}
    facts |= {} if seen is None else {"trained_on": seen.column[0]}
    for name in ("deciding", "similar"):
        for supporter in facts[name]:
            supporter["where"] = where(supporter["place"])
    printer.json_result(facts)
    _show_answer(found, table.where(place), truth, likely, loaded, printer)
    if len(found.columns) > 1 and not _are_columns(found):
        rows = [[found.named(push), f"{push.value:+.4g}"] for push in found.columns]
        printer.table(["<column", "adds"], rows, "columns: what this value adds, beside the values of other rows")
    if found.features:
        rows = [[found.named(push), f"{push.value:+.4g}"] for push in found.features]
        rest = [["all else", f"{found.rest:+.4g}"], ["to begin with", f"{found.intercept:+.4g}"]]
        title = f"{parts_in_words(table)}: what each adds to the score"
        printer.table([f"<{parts_in_words(table)}", "adds"], rows + rest, title)
    _show_training_rows(found.similar, where, "training rows that are most like it", printer)
    if {each.place for each in found.deciding[:_SHOWN]} != {each.place for each in found.similar[:_SHOWN]}:
        _show_training_rows(found.deciding, where, "training rows that decided most", printer)
    if any(abs(each.value) > _DWARFED * abs(found.score) for each in (*found.similar, *found.deciding)):
        printer.line("What these rows add is far more than the score, and cancels: which rows they are tells more.")
    for note in found.notes:
        printer.line(note)


def _are_columns(found: Explanation) -> bool:
    """Whether the features of the model are the columns themselves, so that what they add says all."""
    return bool(found.features) and all(push.name in found.cells for push in found.features)


def _class_of(label: str, model: Any) -> Any:
    """The class that is written like this."""
    if not hasattr(model, "classes_"):
        raise DataError("--label names a class, and this model has none; leave it out.")
    classes = {str(each): each for each in model.classes_.tolist()}
    if label not in classes:
        raise DataError(f"the model knows no class {label!r}; its classes are {enumeration(map(repr, classes), 8)}.")
    return classes[label]


def _probabilities(model: Any, X: Any) -> dict[str, float]:
    if not hasattr(model, "predict_proba"):
        return {}
    return dict(zip(map(str, model.classes_.tolist()), np.asarray(model.predict_proba(X))[0].tolist(), strict=True))


def _show_answer(
    found: Explanation, where: str, truth: Any, likely: dict[str, float], loaded: ModelFile, printer: Printer
) -> None:
    from ..report.number_errors import in_digits

    if not hasattr(loaded.estimator, "classes_"):
        detects = hasattr(loaded.estimator, "fit_predict")
        if detects:
            usual = "usual" if found.predicted > 0 else "unusual"
            printer.line(f"{where}: {usual}; score {found.score:+.4g}, which is negative for unusual rows")
            return
        known = "" if truth is None else f"; the true value is {in_digits(truth)}"
        printer.line(f"{where}: predicted {in_digits(found.predicted)}{known}")
        return
    verdict = (
        "" if truth is None else f" ({'right' if str(truth) == str(found.predicted) else f'wrong: it is {truth}'})"
    )
    printer.line(f"{where}: predicted {found.predicted}{verdict}")
    chance = f"; probability {likely[str(found.label)]:.3f}" if likely else ""
    printer.line(
        f"score {found.score:+.4g} for {found.label}{chance}. What follows adds to it (+) or takes from it (-)."
    )


def _show_training_rows(items: list[Supporter], where: Callable[[int], str], title: str, printer: Printer) -> None:
    if not items:
        return
    numbers = items[0].label is None
    rows = [
        [where(each.place), *([] if numbers else [each.label]), f"{each.similarity:.3f}", f"{each.value:+.4g}",
         shown_item(each.item)]
        for each in items[:_SHOWN]
    ]  # fmt: skip
    show_named(["<where", *([] if numbers else ["<class"]), "similarity", "adds", "<item"], rows, title, printer)
