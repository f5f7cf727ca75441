"""What ``mercer run`` does with a model of what is usual."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .delivery import Delivery
from .printing import Printer, show_most_unusual
from .trained_rows import by_origin, groups_to_show, show_record

if TYPE_CHECKING:
    from ..io import Table
    from ..model_files.models import ModelFile
    from .trained_rows import Seen

__all__ = ["run_detector", "show_unusual"]

#: More labels than this are no classes to count by.
_SHOWN = 40


def run_detector(
    loaded: ModelFile, table: Table, seen: Seen | None, delivery: Delivery, facts: dict[str, Any]
) -> dict[str, Any]:
    """Say which rows are usual: 1 or −1 and the score of each."""
    printer = delivery.aside
    with printer.working(f"looking at {table.n_rows} rows"):
        predicted = loaded.estimator.predict(table.X)
        scores = loaded.estimator.decision_function(table.X)
    columns: dict[str, Any] = {"prediction": predicted.tolist(), "score": scores}
    if table.y is not None:
        columns["label"] = table.y.tolist()
    facts = {**facts, **delivery.give(table, columns, columns, seen), "unusual": int((predicted < 0).sum()),
             **by_origin(seen, None, lambda rows: {"unusual": int((predicted[rows] < 0).sum())})}  # fmt: skip
    show_unusual({**facts, "rows": table.n_rows}, loaded.about, table.kind, printer)
    if table.labelled.any() and not table.measured:
        facts["by_label"] = _by_label(table, predicted, printer)
    show_most_unusual(table, scores, printer)
    return facts


def show_unusual(facts: dict[str, Any], about: dict[str, Any], kind: str, printer: Printer) -> None:
    """How many rows are unusual, of training rows apart from others."""
    apart = groups_to_show(facts)
    for name, found in apart.items():
        unusual, rows = found["unusual"], found["rows"]
        printer.line(f"{unusual} of {rows} {name}{kind} ({100 * unusual / rows:.2f} %) are unusual")
    show_record(apart, about, printer)


def _by_label(table: Table, predicted: Any, printer: Printer) -> dict[str, dict[str, int]]:
    """How many rows of each label are unusual: what the labels, which nobody has learned from, say to it."""
    assert table.y is not None
    found = {}
    for label, count in table.class_counts.items():
        found[str(label)] = {"rows": count, "unusual": int((predicted[table.y == label] < 0).sum())}
    rows = [[name, one["rows"], one["unusual"], f"{100 * one['unusual'] / one['rows']:.1f} %"]
            for name, one in found.items()]  # fmt: skip
    if len(rows) <= _SHOWN:
        printer.table(["<label", "rows", "unusual", "share"], rows, f"by {table.target!r}")
    return found
