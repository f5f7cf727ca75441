"""What fits of a table will take, as ``mercer check`` tells it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .printing import Printer

if TYPE_CHECKING:
    from ..io import Table

__all__ = ["foretold_fits", "show_fits"]

#: Learners whose fits are foretold, by the task; the second of them on landmarks too.
_LEARNERS = {"classify": ("svc", "kernel-logistic"), "regress": ("svr", "kernel-ridge")}
#: Rows from which on a fit may take long enough to ask; of strings, sets and graphs fewer.
_MANY = {"rows": 3000}
_MANY_ITEMS = 500
#: Rows that trials draw from, and classes up to which a machine for each pair of them is soon tried.
_DRAWN, _CLASSES = 40_000, 50


def foretold_fits(table: Table, seed: int, printer: Printer) -> dict[str, Any] | None:
    """Seconds and bytes of exact fits and of one on landmarks, and a recommendation; none where rows are few."""
    import numpy as np

    from ..cuda import available
    from ..growth import foretell, rank_for, recommendation
    from ..kernels import Gaussian, as_kernel
    from ..learners import LEARNERS
    from .building import fitting, machine

    if table.y is None or table.task not in _LEARNERS:
        return None
    if table.task == "classify" and not 2 <= len(table.class_counts) <= _CLASSES:
        return None
    labelled = np.flatnonzero(table.labelled)
    n = labelled.size
    if n < _MANY.get(table.kind, _MANY_ITEMS):
        return None
    drawn = labelled if n <= _DRAWN else np.sort(np.random.default_rng(seed).choice(labelled, _DRAWN, replace=False))
    part, rank = table.take(drawn), rank_for(n)
    first, second = _LEARNERS[table.task]
    asked: list[tuple[str, dict[str, Any]]] = [(first, {}), (second, {}), (second, {"rank": rank})]
    found = []
    try:
        with printer.working("trying fits of some rows", len(asked)) as watched:
            for name, params in asked:
                learner = fitting(LEARNERS[name], part, None)
                # As "mercer train" has it where no kernel is named: the width by the spread of the columns.
                kernel = "gaussian" if isinstance(as_kernel(learner.fixed["kernel"]), Gaussian) else None
                model = machine(part, learner, {}, kernel=kernel, degree=None, seed=seed, params=params)
                found.append(foretell(model, part.X, part.y, n, seed))
                watched.advance()
    except ValueError:  # a table that nothing can be learned from; the warnings say why
        return None
    fits = [
        {"learner": name, **params, "seconds": told.seconds, "bytes": told.bytes, "gram": told.gram.lower()}
        for (name, params), told in zip(asked, found, strict=True)
    ]
    exact, low_rank = min(found[:2], key=lambda told: told.seconds), found[2]
    return {
        "rows": int(n),
        "fits": fits,
        "advice": recommendation(exact, low_rank, rank, _memory(), available()),
    }


def show_fits(told: dict[str, Any], printer: Printer) -> None:
    """The fits as a table, and the recommendation."""
    from ..growth import in_bytes, in_seconds

    rows = []
    for fit in told["fits"]:
        how = f"{fit['rank']} landmarks" if "rank" in fit else "exact"
        rows.append([fit["learner"], how, in_seconds(fit["seconds"]), in_bytes(fit["bytes"])])
    printer.table(["<learner", "<fit", "time", "memory"], rows, f"a fit of {told['rows']} rows will take")
    printer.line(f"recommended: {told['advice']}")


def _memory() -> float:
    """Bytes of memory that the computer has; more than any has where it does not say."""
    import os

    try:
        return float(os.sysconf("SC_PHYS_PAGES")) * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return float("inf")
