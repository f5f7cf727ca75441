"""``mercer map``: the rows of a table on a plane."""

from __future__ import annotations

from typing import Any

import click
import numpy as np

from .options import Places, common, data_argument, data_options, preparation_options
from .printing import Printer
from .unlabelled import REFITS, ROWS, SHARE, Unlabelled, extent_of_refits, unlabelled_options

#: Columns that are told of a component, and shown.
_COLUMNS, _SHOWN = 8, 3


@click.command(name="map")
@data_argument
@click.option(
    "--components", type=click.IntRange(2), default=2, show_default=True, help="How many columns the map has."
)
@unlabelled_options
@data_options
@preparation_options
@common
def map_rows(
    data: Places,
    components: int,
    kernel: str | None,
    rank: int | None,
    memory: str | None,
    output: str | None,
    plot: str | None,
    reading: dict[str, Any],
    preparing: dict[str, Any],
    printer: Printer,
    seed: int,
) -> None:
    """Lay the rows of a table out on a plane.

    The axes are the kernel principal components: the directions in which the rows differ most, as the kernel sees
    them. The report says how much of the differences they show, which columns go with them, and whether they come again
    where some rows are left out. A target that is named (--target) is left out, and colours the picture.

    \b
    Example:
      mercer map breast_cancer --target diagnosis --plot map.svg
      mercer map customers.csv --components 5 -o components.csv
      mercer map genes.fasta --kernel "normalised(spectrum(p=3))" --plot genes.png
    """
    from ..composition import machine_of

    asked = Unlabelled.of(
        "map", data, reading, preparing, printer, seed, kernel=kernel, output=output, plot=plot, rank=rank,
        memory=memory,
    )  # fmt: skip
    table = asked.table
    with asked.printer.working(f"laying out {table.n_rows} {table.kind}"):
        found = asked.machine(n_components=components).fit(table.X)
        places = found.transform(table.X)
        machine = machine_of(found)
        facts = {
            "data": table.name,
            "rows": table.n_rows,
            "kernel": str(machine.kernel_),
            "shares": machine.explained_variance_ratio_,
            "eigenvalues": machine.eigenvalues_,
            "eigenvalue_bounds": machine.eigenvalue_bounds_,
            "found_again": _found_again(asked, found, places),
            "columns": [_columns_along(table.frame, component) for component in places.T],
        }
    _show(asked, facts)
    facts |= asked.deliver({f"component {k + 1}": component for k, component in enumerate(places.T)})
    asked.draw(found, plot, labels=True)
    printer.json_result(facts)


def _found_again(asked: Unlabelled, found: Any, places: Any) -> Any:
    """How well each component agrees with that of refits on some of the rows: the mean absolute correlation."""
    from sklearn.base import clone

    from ..checks import chosen

    rng = np.random.default_rng(asked.seed)
    rows = np.sort(rng.permutation(asked.table.n_rows)[:ROWS])
    items, own = chosen(asked.table.X, rows), places[rows]
    again = np.zeros((REFITS, places.shape[1]))
    for repeat in again:
        some = np.sort(rng.permutation(rows.size)[: max(2, round(SHARE * rows.size))])
        other = clone(found).fit(chosen(items, some)).transform(items)
        for k in range(min(places.shape[1], other.shape[1])):
            repeat[k] = abs(_correlation(own[:, k], other[:, k]))
    return again.mean(axis=0)


def _correlation(a: Any, b: Any) -> float:
    return float(np.corrcoef(a, b)[0, 1]) if a.std() > 0 and b.std() > 0 else 0.0


def _columns_along(frame: Any, component: Any) -> dict[str, float]:
    """The columns that go with a component: correlations of numbers, and of categories with the mean of their rows."""
    found = {}
    for name in () if frame is None else frame.columns:
        there = frame[name].notna().to_numpy()
        values, own = frame[name][there], component[there]
        if values.dtype.kind in "iufb":
            found[str(name)] = _correlation(values.to_numpy(dtype=np.float64), own)
        elif values.dtype.kind != "M":
            _, codes, counts = np.unique(values.astype(str), return_inverse=True, return_counts=True)
            n, many = codes.size, counts.size
            if 1 < many < n:  # else all are different, like names
                # Means of few rows each follow any component: R² is lessened by what chance alone would give.
                explained = _correlation((np.bincount(codes, own) / counts)[codes], own) ** 2
                found[str(name)] = float(np.sqrt(max(0.0, 1 - (1 - explained) * (n - 1) / (n - many))))
    return dict(sorted(found.items(), key=lambda one: -abs(one[1]))[:_COLUMNS])


def _show(asked: Unlabelled, facts: dict[str, Any]) -> None:
    """How much of the differences each component shows, and what goes with it."""
    table, printer = asked.table, asked.printer
    shown = 100 * float(sum(facts["shares"]))
    printer.line(f"{asked.learner.title}: {table.extent}, {facts['kernel']}")
    rows = []
    for k, (share, along) in enumerate(zip(facts["shares"], facts["columns"], strict=True)):
        with_it = ", ".join(f"{name} {value:+.2f}" for name, value in list(along.items())[:_SHOWN])
        rows.append([k + 1, f"{100 * share:.1f} %", f"{facts['found_again'][k]:.2f}", with_it])
    printer.table(["<component", "of the variance", "found again", "<columns that go with it"], rows)
    printer.line(
        f"{shown:.0f} % of the differences are seen here, {100 - shown:.0f} % are not. A component is found again "
        f"where its correlation with that of refits on 80 % of {extent_of_refits(table)} is nearly 1."
    )
