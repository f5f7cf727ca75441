"""``mercer export``: a model leaves for another place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from .arguments import common, data_options
from .model_paths import open_model, verify_option
from .printing import Printer
from .reading_paths import MODEL, READ

__all__ = ["export"]

#: The targets by name; what each is, :mod:`mercer.exports` knows.
_TARGETS = ("onnx", "libsvm", "c", "python")


@click.command()
@click.argument("model", type=MODEL)
@click.option("--to", required=True, type=click.Choice(_TARGETS), help="What the model becomes.")
@click.option(
    "-o",
    "--output",
    type=click.Path(dir_okay=False),
    help="The file to write. [default: the name of MODEL, ending as such files do]",
)
@click.option(
    "--check",
    type=READ,
    metavar="DATA",
    help="Rows to compare the file with the model on; errors are measured, not promised. [default: rows near those "
    "that the model is made of]",
)
@data_options
@verify_option
@common
def export(
    model: str,
    to: str,
    output: str | None,
    check: str | None,
    reading: dict[str, Any],
    printer: Printer,
    seed: int,
) -> None:
    """Write a model for another place to compute it, with all preparation of its rows.

    \b
    onnx    a model for ONNX runtimes, in double precision (pip install 'mercer[onnx]')
    libsvm  LIBSVM's text format; "mercer import" reads such files
    c       one C99 file without dependencies, for small devices
    python  one file that needs NumPy alone, for readers: python model.py rows.csv

    Rows that the model refuses (an infinite number, a gap that no step fills, a word that must not be new) are refused
    by the files of c and python too. ONNX cannot refuse: all scores of such a row are NaN, and its label is empty, -1
    or another one that no class has.

    Machines on rows of numbers and on categories can leave, with scaling, filled gaps, products of columns and words as
    columns of 0 and 1, with probabilities and thresholds. Texts leave for python. Kernels on strings, sets and graphs,
    and dates, stay.

    \b
    Example:
      mercer export moons.safetensors --to c
      mercer export moons.safetensors --to python -o model.py --check moons:500
      mercer export moons.safetensors --to libsvm
    """
    from .._validation.unwrapped import machine_of
    from ..exports import TARGETS
    from ..exports import export as write
    from ..exports.deviation import deviation
    from .as_in_training import as_in_training
    from .matching import matching_table
    from .outputs import refuse_outputs

    path = output if output is not None else str(Path(model).with_suffix(TARGETS[to].suffix))
    refuse_outputs([path])
    loaded = open_model(model)
    rows = None
    if check is not None:
        with printer.working("reading"):
            rows = matching_table(loaded, check, as_in_training(reading, loaded.about), printer, blind=True).X
    with printer.working(f"exporting to {to}"):
        notes = write(loaded.estimator, path, to)
        found = deviation(loaded.estimator, path, to, rows)
    machine = machine_of(loaded.estimator)
    rows_inside = len(machine.support_) if hasattr(machine, "support_vectors_") else 0
    printer.json_result(
        {
            "model": model,
            "to": to,
            "output": path,
            "bytes": Path(path).stat().st_size,
            "rows_compared": found.rows,
            "largest_difference": found.largest,
            "largest_difference_of_probabilities": found.of_probabilities,
            "labels_that_differ": found.labels,
            "notes": notes,
            "training_rows_inside": rows_inside,
        }
    )
    printer.line(f"{TARGETS[to].what} in {path}, {Path(path).stat().st_size:,} bytes")
    printer.line(f"{found}.")
    for note in notes:
        printer.line(f"{note[0].upper()}{note[1:]}.")
    if rows_inside:
        printer.line(f"The file holds {rows_inside} training rows: share it as you would share the data.")
