"""What ``mercer run`` does with a model of what is usual."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .delivery import Delivery
from .printing import Printer, show_most_unusual

if TYPE_CHECKING:
    from ..io import Table
    from ..model_files.models import ModelFile

__all__ = ["run_detector"]

#: More labels than this are no classes to count by.
_SHOWN = 40


def run_detector(loaded: ModelFile, table: Table, delivery: Delivery, facts: dict[str, Any]) -> dict[str, Any]:
    """Say which rows are usual: 1 or −1 and the score of each."""
    printer = delivery.aside
    with printer.working(f"looking at {table.n_rows} rows"):
        predicted = loaded.estimator.predict(table.X)
        scores = loaded.estimator.decision_function(table.X)
    unusual = int((predicted < 0).sum())
    columns: dict[str, Any] = {"prediction": predicted.tolist(), "score": scores}
    if table.y is not None:
        columns["label"] = table.y.tolist()
    facts = {**facts, "unusual": unusual, **delivery.give(table, columns, columns)}
    printer.line(f"{unusual} of {table.n_rows} {table.kind} ({100 * unusual / table.n_rows:.2f} %) are unusual")
    if table.labelled.any() and not table.measured:
        facts["by_label"] = _by_label(table, predicted, printer)
    show_most_unusual(table, scores, printer)
    return facts


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
