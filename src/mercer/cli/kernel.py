"""``mercer kernel``: is a kernel valid on a table, and any good for its labels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from ..io import DataError, Table, read
from .options import common, data_options, preparation_options
from .output import draw, refuse_outputs, refuse_unknown_picture
from .paths import ROWS, kernel_names
from .printing import Printer
from .recipe import with_columns_of

if TYPE_CHECKING:
    from ..kernels import Kernel


@click.command()
@click.argument("data", type=ROWS)
@click.option(
    "--kernel",
    "texts",
    multiple=True,
    shell_complete=kernel_names,
    help="A kernel as text, also on columns: 'gaussian(gamma=0.1).on(age) + equal.on(job)'. Several are ranked. "
    "[default: a gaussian whose gamma suits the spread of the columns; on strings, sets and graphs those that suit "
    "them]",
)
@click.option(
    "--sample", type=click.IntRange(2), default=1000, show_default=True, help="Look at so many rows, drawn at random."
)
@click.option("--plot", type=click.Path(dir_okay=False), help="Draw the matrix into this file, rows sorted by class.")
@data_options
@preparation_options
@common
def kernel(
    data: str,
    texts: tuple[str, ...],
    sample: int,
    plot: str | None,
    reading: dict[str, Any],
    preparing: dict[str, Any],
    printer: Printer,
    seed: int,
) -> None:
    """Look at the kernel matrix of a table: is it valid, and does it know the labels?

    A kernel on all columns sees them as numbers, prepared as "mercer train" prepares them. One that names its columns
    sees these as they are. Of several kernels the best is looked at, and how well each fits the labels is listed.

    \b
    Example:
      mercer kernel breast_cancer --kernel 'gaussian(gamma=0.03)'
      mercer kernel moons --kernel linear --kernel 'gaussian(gamma=1)' --kernel 'gaussian(gamma=100)'
      mercer kernel genes.fasta --kernel 'spectrum(p=3)'
    """
    from ..diagnostics import diagnose
    from ..kernels import parse
    from ..learners import refuse_unfit

    refuse_outputs([plot])
    refuse_unknown_picture(plot)
    named = [parse(text) for text in texts]
    with printer.working("reading"):
        table = read(data, **with_columns_of(reading, *texts))
    if table.task_in_words:
        printer.note(table.task_in_words)
    kernels = named or [parse(text) for text in _usual(table, preparing)]
    for each in kernels:
        refuse_unfit(each, table)
    with printer.working(f"comparing {table.kind}"):
        ranking = _ranking(kernels, table, preparing, sample, seed) if len(kernels) > 1 else None
        chosen = kernels[0] if ranking is None else ranking.best
        found = diagnose(
            chosen, _items(chosen, table, preparing), table.y, sample=sample, random_state=seed, task=table.asked
        )
    facts = found.facts()
    if ranking is not None:
        facts["ranking"] = {str(each): value for each, value in zip(ranking.kernels, ranking.values, strict=True)}
        facts["mixture"] = {"kernel": str(ranking.mixture), "alignment": ranking.mixture_value}
    printer.json_result({**facts, "source": table.source, "sha256": table.digest})
    if not named and table.kind == "rows":
        printer.note(f"No kernel was named; looking at {found.name}, which suits the spread of the columns.")
    if ranking is not None:
        printer.line(f"{ranking}\n")
    printer.line(str(found))
    if plot is not None:
        draw(found.plot().figure, plot)
        printer.note(f"The matrix is drawn in {plot}.")


def _ranking(kernels: list[Kernel], table: Table, preparing: dict[str, Any], sample: int, seed: int) -> Any:
    from ..diagnostics import align

    if table.y is None:
        raise DataError("kernels are ranked by the labels, and the table has none; name their column with --target.")
    if len({each.on_rows for each in kernels}) > 1:
        raise DataError(
            "kernels on all columns and kernels that name their columns see different rows; rank them apart."
        )
    items = _items(kernels[0], table, preparing)
    return align(kernels, items, table.y, sample=sample, random_state=seed, task=table.asked)


def _usual(table: Table, preparing: dict[str, Any]) -> list[str]:
    """What is looked at where no kernel was named: of rows, the Gaussian that suits the spread of their columns."""
    from ..kernels import Gaussian
    from ..learners import kernels_for

    if table.kind != "rows":
        return kernels_for(table)
    kernel = Gaussian("scale")
    return [f"gaussian(gamma={kernel.resolved(_items(kernel, table, preparing)).gamma:.3g})"]


def _items(kernel: Kernel, table: Table, preparing: dict[str, Any]) -> Any:
    """What the kernel works on: rows of numbers, the only column of a table of strings, or the table itself."""
    from ..kernels import columns_named

    if kernel.on_rows:
        from ..preprocess import prepare
        from .recipe import APART

        steps = {name: value for name, value in preparing.items() if name not in APART}
        return prepare(table, **steps).fit_transform(table.X)
    if table.frame is None or table.n_columns > 1 or columns_named(kernel):
        return table.X
    return table.frame.iloc[:, 0]
