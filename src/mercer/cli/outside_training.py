"""What lies outside of all that a model was trained on: values of new rows, and predictions of numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._validation.wording import counted
from .printing import Printer

if TYPE_CHECKING:
    from ..io import Table

__all__ = ["SHOWN", "far_predictions", "far_rows", "show_far"]

#: Values and predictions that are named.
SHOWN = 5
#: A prediction is far outside where it is beyond the targets of training by more than this share of their range.
_BEYOND = 0.1


def far_rows(model: Any, table: Table) -> dict[str, Any]:
    """How many rows hold values far outside the training range of their column, and some of these values."""
    from ..explain import far_values

    if table.frame is None:
        return {}
    found = far_values(model, table.X)
    named = [{"where": table.where(far.row), **far._asdict(), "row": far.row + 1} for far in found[:SHOWN]]
    return {"rows": len({far.row for far in found}), "values": named}


def far_predictions(table: Table, predicted: Any, about: dict[str, Any]) -> dict[str, Any]:
    """How many predictions leave the range of the training targets, and some of them.

    They do where they are beyond it by more than a tenth of its width, or negative where no target was.
    """
    reach = about.get("target_range")
    if not (isinstance(reach, list) and len(reach) == 2):
        return {}
    low, high = map(float, reach)
    beyond = np.maximum(low - predicted, predicted - high)
    far = np.flatnonzero((beyond > _BEYOND * (high - low)) | ((predicted < 0) & (low >= 0)))
    worst = far[np.argsort(-beyond[far], kind="stable")][:SHOWN].tolist()
    named = [{"where": table.where(row), "row": row + 1, "prediction": float(predicted[row])} for row in worst]
    return {"rows": len(far), "low": low, "high": high, "predictions": named}


def show_far(facts: dict[str, Any], printer: Printer) -> None:
    """A sentence on rows, and one on predictions, where there are such."""
    from ..report.number_errors import in_digits

    rows = facts.get("far_rows") or {}
    if rows.get("rows"):
        told = "; ".join(
            f"{one['where']}: {one['column']} = {in_digits(one['value'])} "
            f"(in training {in_digits(one['low'])} to {in_digits(one['high'])})"
            for one in rows["values"]
        )
        has = counted(rows["rows"], "row holds a value", "rows hold values")
        printer.line(f"{has} far outside the training range, where predictions are guesses: {told}.")
    found = facts.get("far_predictions") or {}
    if found.get("rows"):
        told = "; ".join(f"{one['where']}: {in_digits(one['prediction'])}" for one in found["predictions"])
        leaves = counted(found["rows"], "prediction leaves", "predictions leave")
        ends = f"{in_digits(found['low'])} to {in_digits(found['high'])}"
        printer.line(f"{leaves} the range of the training targets, {ends}, and should not be trusted: {told}.")
