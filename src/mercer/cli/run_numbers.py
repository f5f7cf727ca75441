"""What ``mercer run`` does with a model of numbers."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..io.table import DataError
from .delivery import Delivery
from .outside_training import far_predictions
from .printing import Printer, error_in_words
from .trained_rows import by_origin, groups_to_show, show_record

if TYPE_CHECKING:
    from ..io import Table
    from ..model_files.models import ModelFile
    from .trained_rows import Seen

__all__ = ["run_numbers", "show_number_errors"]

#: Rows with the largest errors that are shown.
_SHOWN = 5


def run_numbers(
    loaded: ModelFile,
    table: Table,
    seen: Seen | None,
    delivery: Delivery,
    coverage: float | None,
    facts: dict[str, Any],
) -> dict[str, Any]:
    """Predict numbers, and say how wrong they are where that can be known."""
    from ..report.number_errors import in_digits

    printer = delivery.aside
    reach = None if coverage is None else _reach(loaded.about, coverage)
    with printer.working(f"predicting {table.n_rows} rows"):
        predicted = loaded.estimator.predict(table.X)
    known = table.labelled
    facts = {**facts, "labelled": int(known.sum())}
    if reach is not None:
        facts["intervals"] = {"coverage": coverage, "half_width": reach}
    facts["far_predictions"] = far_predictions(table, predicted, loaded.about)
    columns = _columns(table, predicted, reach)
    facts.update(delivery.give(table, columns, columns, seen))
    if known.any():
        errors = partial(_errors, table, predicted, reach)
        facts.update(errors(known), **by_origin(seen, known, errors))
        show_number_errors(facts, loaded.about, printer)
        _show_largest(table, predicted, printer)
    else:
        low, middle, high = np.quantile(predicted, [0, 0.5, 1])
        facts["predicted"] = {"min": low, "median": middle, "max": high}
        printer.line("The table has no values of the target to compute errors with.")
        printer.line(f"predictions from {in_digits(low)} to {in_digits(high)}, median {in_digits(middle)}")
    if reach is not None:
        printer.line(
            f"intervals: each prediction ± {in_digits(reach)}, to hold {100 * float(coverage or 0):g} % of new values"
        )
    return facts


def _reach(about: dict[str, Any], coverage: float) -> float:
    from ..report.number_errors import COVERAGES, half_width

    widths = about.get("half_widths")
    if not isinstance(widths, list) or len(widths) != len(COVERAGES):
        raise DataError("the model does not know how far its errors reach; train it with 'mercer train'.")
    found = half_width(widths, coverage)
    if found is None:
        raise DataError(
            f"the model was trained on too few rows for intervals that hold {100 * coverage:g} % of new values; ask "
            "for a smaller share."
        )
    return found


def _errors(table: Table, predicted: Any, reach: float | None, rows: Any) -> dict[str, Any]:
    """The errors on some rows, all of them with targets."""
    from ..report.number_errors import error_of_numbers

    assert table.y is not None
    truth = table.y[rows].astype(np.float64)
    facts = {name: value for name, value in error_of_numbers(truth, predicted[rows]).items() if name != "rows"}
    if reach is not None:
        facts["inside"] = float(np.mean(np.abs(truth - predicted[rows]) <= reach))
    return facts


def show_number_errors(facts: dict[str, Any], about: dict[str, Any], printer: Printer) -> None:
    """The errors, on training rows apart from those on others."""
    apart = groups_to_show(facts)
    for name, found in apart.items():
        rows = f"{found['labelled']} {name}rows"
        if found["r2"] is not None and found["r2"] < 0:  # not so where it is unknown
            printer.line(f"The predictions are worse than the mean of these {rows} would be.")
        printer.line(f"{error_in_words(found)}  ({rows})")
        if "inside" in found:
            printer.line(f"{100 * found['inside']:.1f} % of the values lie inside their interval")
    show_record(apart, about, printer)


def _show_largest(table: Table, predicted: Any, printer: Printer) -> None:
    from ..report.number_errors import in_digits

    assert table.y is not None
    known = np.flatnonzero(table.labelled)
    truth = table.y[known].astype(np.float64)
    residuals = truth - predicted[known]
    worst = np.argsort(-np.abs(residuals), kind="stable")[:_SHOWN]
    rows = [[table.where(int(known[k])), *map(in_digits, (truth[k], predicted[known[k]], residuals[k]))] for k in worst]
    printer.table(["<where", "true", "predicted", "difference"], rows, "largest errors")


def _columns(table: Table, predicted: Any, reach: float | None) -> dict[str, Any]:
    """For each row its prediction, its interval where asked for, and its true value and what is left of it."""
    columns: dict[str, Any] = {"prediction": predicted}
    if reach is not None:
        columns |= {"low": predicted - reach, "high": predicted + reach}
    if table.y is not None:
        truth = np.array([np.nan if value is None else float(value) for value in table.y.tolist()])
        columns |= {"target": truth, "residual": truth - predicted}
    return columns
