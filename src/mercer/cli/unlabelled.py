"""What ``mercer cluster`` and ``mercer map`` share: from a table without labels to a machine and a picture."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from ..io import DataError
from .options import Places
from .output import ALL, Delivery, draw, kept_columns, read_twice, refuse_outputs, refuse_unknown_picture
from .paths import kernel_names
from .printing import Printer

if TYPE_CHECKING:
    from ..io import Table
    from ..learners import Learner

#: Rows of refits, the share of them that a refit sees, and how many refits there are.
ROWS, SHARE, REFITS = 2500, 0.8, 10

#: The machine of each method, and its title.
_METHODS = {
    "kmeans": ("KernelKMeans", "Kernel k-means"),
    "spectral": ("SpectralClustering", "Spectral clustering"),
    "map": ("KernelPCA", "Kernel principal components"),
}


def extent_of_refits(table: Table) -> str:
    """What refits are made on, in words."""
    return f"the {table.kind}" if table.n_rows <= ROWS else f"{ROWS:,} {table.kind} drawn at random"


def unlabelled_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """What both commands are asked for."""
    for option in reversed(
        [
            click.option(
                "--kernel",
                shell_complete=kernel_names,
                help="A kernel as text. [default: a gaussian that suits the rows; on strings, sets and graphs the one "
                "that suits them]",
            ),
            click.option("--rank", type=click.IntRange(1), metavar="LANDMARKS", help="Let so many rows stand for all."),
            click.option("--memory", metavar="SIZE", help="What the kernel matrix may take. [default: 1GB]"),
            click.option(
                "-o",
                "--output",
                type=click.Path(dir_okay=False),
                help="Write the table with what was found, as CSV; - for the standard output.",
            ),
            click.option("--plot", type=click.Path(dir_okay=False), help="Draw the rows on a plane into this file."),
        ]
    ):
        command = option(command)
    return command


@dataclass(frozen=True)
class Unlabelled:
    """A table whose labels are left out, and all that makes a machine of it."""

    table: Table
    #: The table with its labels, if it has any.
    whole: Table
    learner: Learner
    kernel: str | None
    preparing: dict[str, Any]
    params: dict[str, Any]
    seed: int
    #: Where results go, and who prints all others.
    delivery: Delivery
    printer: Printer

    @classmethod
    def of(
        cls,
        method: str,
        data: Places,
        reading: dict[str, Any],
        preparing: dict[str, Any],
        printer: Printer,
        seed: int,
        *,
        kernel: str | None,
        output: str | None,
        plot: str | None,
        model: str | None = None,
        **placing: Any,
    ) -> Unlabelled:
        """Read the table, and choose the kernel where none was named."""
        from .recipe import table_without_labels

        refuse_outputs([None if output == "-" else output, plot, model])
        refuse_unknown_picture(plot)
        what = "a map" if method == "map" else "clustering"
        if preparing["outliers"] is not None:
            raise DataError(
                "--outliers leaves rows out, and all of them are looked at here; leave it out, or find outliers with "
                "mercer train one-class."
            )
        if reading["task"] is not None:
            raise DataError(f"{what} needs no target, so there is no task; leave out --task {reading['task']}.")
        delivery = Delivery(output, {}, printer)
        others = delivery.to_stderr
        with read_twice(data, (ALL,) if output else (), reading["max_bytes"]):
            table, whole = table_without_labels(data, reading, others, kernel, what)
            if output is not None and table.frame is not None:
                delivery = replace(delivery, kept=kept_columns(data, table, (ALL,), reading))
        learner = _learner(method, table, kernel)
        kernel = kernel or _usual_kernel(method, table, learner, preparing, others)
        params = {name: value for name, value in placing.items() if value is not None}
        return cls(table, whole, learner, kernel, preparing, params, seed, delivery, others)

    def machine(self, **number: int) -> Any:
        """The machine with the preparation of its rows, not fitted."""
        from .recipe import machine

        return machine(
            self.table, self.learner, self.preparing, kernel=self.kernel, degree=None, seed=self.seed,
            params={**self.params, **number},
        )  # fmt: skip

    def deliver(self, columns: dict[str, Any]) -> dict[str, Any]:
        """Write the rows with these columns, where that was asked for."""
        if self.delivery.output is None and not self.delivery.printer.json:
            return {}
        given = self.delivery.give(self.table, columns, columns, None)
        if self.delivery.output not in (None, "-"):
            self.printer.line(f"The {self.table.kind} with what was found: {self.delivery.output}")
        return given

    def draw(self, found: Any, path: str | None, labels: bool = False) -> None:
        """A picture of the rows on a plane, in the colours of their clusters or of their labels."""
        if path is None:
            return
        from matplotlib.figure import Figure

        from ..displays import ItemMap

        y: Any = self.whole.y if labels else None
        measured = y is not None and self.whole.measured
        y = y if y is None or measured else ["" if label is None else str(label) for label in y]
        figure = Figure(figsize=(6.4, 4.8))
        ItemMap.from_estimator(found, self.table.X, y, measured=measured).plot(figure.subplots())
        draw(figure, path)
        self.printer.line(f"Picture: {path}")


def _learner(method: str, table: Table, kernel: str | None) -> Learner:
    """The machine as a learner, with the kernel that suits the items."""
    from .. import estimators
    from ..learners import GAUSSIAN, Learner, suited

    name, title = _METHODS[method]
    learner = Learner(name, title, getattr(estimators, name), {}, {"kernel": GAUSSIAN}, kernelised=name, task="cluster")
    return suited(learner, table, [kernel] if kernel else [])


def _usual_kernel(
    method: str, table: Table, learner: Learner, preparing: dict[str, Any], printer: Printer
) -> str | None:
    """The usual kernel; for gaps of any shape a Gaussian as wide as the nearest neighbours are apart."""
    from ..clusters import neighbour_kernel
    from ..preprocess import prepare
    from .recipe import APART, usual_kernel

    if method != "spectral" or table.kind != "rows":
        return usual_kernel(table, learner, preparing, printer)
    steps = {name: value for name, value in preparing.items() if name not in APART}
    kernel = str(neighbour_kernel(prepare(table, **steps).fit_transform(table.X)))
    printer.note(f"No kernel was named; using {kernel}, as wide as near rows are apart.")
    return kernel
