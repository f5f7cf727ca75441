"""What ``mercer explain`` says about a model as a whole."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .._runtime.terminal import printable
from .._validation.wording import enumeration
from .printing import Printer

if TYPE_CHECKING:
    from ..explain import ModelOverview
    from ..io import Table
    from ..model_files.models import ModelFile
    from ..report.error_measure import ErrorMeasure

__all__ = ["explain_model", "parts_in_words", "show_named", "shown_item"]

#: What the named features of the items are called.
_PARTS = {"strings": "parts of the strings", "sets": "items", "graphs": "parts of the graphs", "rows": "features"}
#: Letters of an item that are shown, and training rows.
_LETTERS, _SHOWN = 60, 5


def explain_model(
    loaded: ModelFile,
    table: Table,
    scoring: str | None,
    top: int,
    where: Callable[[int], str],
    printer: Printer,
    seed: int,
) -> None:
    """Print which columns, parts, kernels and training rows count."""
    import numpy as np
    from sklearn.base import is_regressor

    from ..explain import overview
    from .matching import task_of_model
    from .trained_rows import look_up

    labelled = np.flatnonzero(table.labelled)
    rows = table.take(labelled) if 0 < labelled.size < table.n_rows else table
    targets = _targets(loaded, rows)
    measure = _measure(scoring, targets, task_of_model(loaded))
    with printer.working(f"looking at {table.kind}"):
        found = overview(
            loaded.estimator,
            rows.X,
            targets,
            scoring=None if measure is None else measure.scorer or measure.scoring,
            top=top,
            names=table.columns if table.rows is not None else None,
            seed=seed,
        )
    seen = look_up(loaded.about, table, printer)
    facts = {**found.facts(), **({} if seen is None else {"trained_on": int(seen.trained.sum())})}
    for supporter in facts["supporters"]:
        supporter["where"] = where(supporter["place"])
    printer.json_result({"rows_given": table.n_rows, **facts, "scoring": None if measure is None else measure.scoring})
    about = loaded.about
    named = about.get("kernel") not in (None, "linear")
    kernel = f" with the kernel {printable(about['kernel'], _LETTERS)}" if named else ""
    drawn = f"{found.rows} of {rows.n_rows}" if found.rows < rows.n_rows else str(rows.n_rows)
    learner = about.get("learner", type(loaded.estimator).__name__)
    printer.line(f"{learner}{kernel}, on {drawn} {table.kind} of {table.name}")
    _show_columns(found.importances, measure, table, printer)
    _show_features(found, table, printer)
    if found.kernels:
        shares = [[each.kernel, f"{each.weight:.4f}", f"{100 * each.share:.1f} %"] for each in found.kernels]
        printer.table(["<kernel", "weight", "share of the model"], shares, "what each kernel does")
    _show_supporters(found, "prediction" if is_regressor(loaded.estimator) else "score", where, printer)
    for note in found.notes:
        printer.line(note)
    if seen is not None and seen.trained.any():
        printer.line("Other rows than those of its training tell better what it needs.")


def _targets(loaded: ModelFile, table: Table) -> Any:
    """The labels as the model writes them; ``None`` where there are none."""
    from .run_classes import same_kind

    if not table.labelled.any():
        return None
    return same_kind(table, loaded.estimator.classes_) if hasattr(loaded.estimator, "classes_") else table.y


def _measure(scoring: str | None, targets: Any, task: str) -> ErrorMeasure | None:
    """What gets worse where a column is shuffled: as asked for, or as in a comparison; none without labels."""
    import numpy as np

    from ..report.scorings import measure_named, positive_class
    from ..report.uneven import usual_measure

    if task == "detect" or targets is None:
        return None
    if task == "regress":
        return measure_named(scoring or "rmse", task)
    classes = np.unique(targets).tolist()
    positive = positive_class(targets) if len(classes) == 2 else None
    return measure_named(scoring or usual_measure(targets), task, classes, positive)


def _show_columns(
    importances: list[dict[str, Any]], measure: ErrorMeasure | None, table: Table, printer: Printer
) -> None:
    if table.kind != "rows":
        return
    if not importances:
        why = "there are too many" if table.labelled.any() else "the table has no labels to count errors with"
        printer.line(f"Which columns it needs cannot be told: {why}.")
        return
    share = measure is not None and measure.scoring in ("accuracy", "balanced_accuracy")
    needed = [each for each in importances if each["drop"] or each["sd"]]
    rows = [[each["column"], _amount(each["drop"], share), _amount(each["sd"], share)] for each in needed]
    printer.table(["<column", _worse(measure), "±"], rows, "columns that it needs most: what shuffling them does")
    if len(needed) < len(importances):
        rest = [each["column"] for each in importances if each not in needed]
        printer.line(f"Without any effect: {enumeration(rest, 8)}.")


def _amount(value: float, share: bool) -> str:
    return f"{100 * value:.2f} %" if share else f"{value:.4g}"


def _worse(measure: ErrorMeasure | None) -> str:
    """What a column of importances is headed by."""
    if measure is None:
        return "scores move by"
    if measure.is_usual:
        return "accuracy falls by" if measure.task == "classify" else f"{measure.name} rises by"
    return f"{measure.title} {'falls' if measure.perfect else 'rises'} by"


def parts_in_words(table: Table) -> str:
    """What the features of the kernel are called that have names."""
    return _PARTS[table.kind]


def _show_features(found: ModelOverview, table: Table, printer: Printer) -> None:
    if not found.features:
        if table.kind != "rows":
            printer.line(f"The kernel has no {parts_in_words(table)} that could be named.")
        return
    numbers = found.features[0].label is None
    speaks = [] if numbers else ["<speaks for"]
    rows = [
        [each.name, *([] if numbers else [each.label]), f"{each.value:{'+' if numbers else ''}.4g}", each.rows]
        for each in found.features
    ]
    moves = "changes the prediction by" if numbers else "moves a score by"
    printer.table(
        [f"<{parts_in_words(table)}", *speaks, moves, "in rows"], rows, f"{parts_in_words(table)} that count most"
    )


def _show_supporters(found: ModelOverview, what: str, where: Callable[[int], str], printer: Printer) -> None:
    if not found.supporters:
        return
    numbers = found.supporters[0].label is None
    rows = [
        [where(each.place), *([] if numbers else [each.label]), f"{each.value:.4g}", shown_item(each.item)]
        for each in found.supporters[:_SHOWN]
    ]
    heads = ["<where", *([] if numbers else ["<class"]), f"moves a {what} by", "<item"]
    show_named(heads, rows, "training rows that count most", printer)


def show_named(heads: list[str], rows: list[list[Any]], title: str, printer: Printer) -> None:
    """A table whose last column is left out where it is empty."""
    if not any(row[-1] for row in rows):
        heads, rows = heads[:-1], [row[:-1] for row in rows]
    printer.table(heads, rows, title)


def shown_item(item: Any) -> str:
    """A training row, string, set or graph in one line.

    Examples
    --------
    >>> shown_item({"milk": 1, "bread": 2}), shown_item({"age": 30.0, "job": "cook"}), shown_item((3, [[0, 1], [1, 2]]))
    ('milk, bread ×2', 'age=30, job=cook', '3 nodes, 2 edges')
    """
    if item is None or hasattr(item, "tolist"):  # numbers as they were prepared, which nobody would recognise
        return ""
    if isinstance(item, dict) and all(isinstance(count, int) for count in item.values()):
        text = ", ".join(f"{name} ×{count}" if count > 1 else str(name) for name, count in item.items())
    elif isinstance(item, dict):
        text = ", ".join(f"{name}={_short(value)}" for name, value in item.items())
    elif isinstance(item, tuple) and len(item) > 1 and isinstance(item[0], int):
        text = f"{item[0]} node{'s' * (item[0] != 1)}, {len(item[1])} edge{'s' * (len(item[1]) != 1)}"
    else:
        text = item if isinstance(item, str) else repr(item)
    return printable(text, _LETTERS)


def _short(value: Any) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
