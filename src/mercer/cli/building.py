"""From a table and options to a machine, and to what is remembered about it."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

from .._validation.target_kind import measured_in_words
from ..io.table import DataError
from .printing import Printer

if TYPE_CHECKING:
    from ..io import Table
    from ..learners.catalogue import Learner

__all__ = ["about_model", "fit", "machine", "refuse_unlearnable", "usual_kernel"]


def refuse_unlearnable(table: Table) -> None:
    """Learners here tell classes apart: a target of measurements, or of one class, is none for them."""
    if table.measured:
        raise DataError(measured_in_words(table.target, len(table.class_counts), int(table.labelled.sum())))
    if len(table.class_counts) < 2:
        label = next(iter(table.class_counts))
        raise DataError(
            f"all rows have the same label, {label!r}: there is nothing to learn; add rows of another class, or choose "
            "another target (--target)."
        )


def usual_kernel(table: Table, learner: Learner, preparing: dict[str, Any], printer: Printer) -> str | None:
    """The Gaussian whose gamma is by the rule "scale" on the prepared rows, as a number that can be read.

    ``None`` where the learner has no kernel, or one of its own that is no Gaussian: on strings, sets and graphs the
    one that suits them.
    """
    from ..kernels import Gaussian, as_kernel
    from ..preprocess import prepare

    if table.kind != "rows":
        printer.note(f"No kernel was named; using {learner.fixed['kernel']}, which suits {table.kind}.")
    if not isinstance(as_kernel(learner.fixed["kernel"]), Gaussian):
        return None
    steps = {name: value for name, value in preparing.items() if name not in ("outliers", "outlier_factor")}
    rows = prepare(table, **steps).fit_transform(table.X)
    rows = rows.to_numpy() if hasattr(rows, "to_numpy") else rows
    if rows.min() == rows.max():
        raise DataError(f"{table.name}: all columns are constant, so there is nothing to learn from.")
    kernel = f"gaussian(gamma={Gaussian('scale').resolved(rows).gamma:.3g})"
    printer.note(f"No kernel was named; using {kernel}, which suits the spread of the columns.")
    return kernel


def machine(
    table: Table,
    learner: Learner,
    preparing: dict[str, Any],
    *,
    kernel: str | None,
    degree: int | None,
    seed: int,
    params: dict[str, Any],
) -> Any:
    """The learner with everything that comes before it, not fitted."""
    from ..preprocess import pipeline

    if degree is not None and not learner.on_rows:
        raise DataError(f"--degree multiplies columns of numbers, which {learner.fixed['kernel']} does not see.")
    return pipeline(table, learner.build(kernel, degree, seed, **params), **preparing)


def fit(model: Any, table: Table, what: str, printer: Printer) -> float:
    """Fit, and tell how many seconds it took."""
    begin = time.perf_counter()
    with printer.working(what):
        model.fit(table.X, table.y)
    if hasattr(model, "report_"):
        printer.note(str(model.report_))
    return time.perf_counter() - begin


def about_model(table: Table, learner: Learner, model: Any, reading: dict[str, Any], **more: Any) -> dict[str, Any]:
    """What a model file remembers besides the model."""
    from .._validation.unwrapped import machine_of

    last = machine_of(model)
    return {
        "learner": learner.name,
        "kernel": str(last.kernel_) if hasattr(last, "kernel_") else None,
        "target": table.target,
        "classes": model.classes_.tolist(),
        "kind": table.kind,
        "format": reading["format"],
        "columns": [] if table.frame is None else table.columns,
        "words": table.category_columns,
        "missing": list(reading["missing"]),
        "sparse": table.rows is not None,
        "features": table.n_columns,
        "found": table.found,
        "data": {"name": table.name, "sha256": table.digest, "rows": table.n_rows},
        **more,
    }
