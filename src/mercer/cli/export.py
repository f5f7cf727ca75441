"""``mercer export``: a model leaves for another place."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import pandas as pd
from sklearn.base import is_classifier, is_regressor
from sklearn.pipeline import Pipeline

from ..composition import machine_of
from ..exports import TARGETS, deviation, read_libsvm, read_range
from ..exports import export as write
from ..preprocess import Numbers
from .new_rows import as_in_training, matching_table
from .options import common, data_options
from .output import refuse_outputs
from .paths import MODEL, READ, open_model, save, sign_option, verify_option
from .printing import Printer, run_line

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
    python  one file that needs NumPy alone, for readers

    Rows that the model refuses (an infinite number, a missing value that no step fills, a category that must not be
    new) are refused by the files of c and python too. ONNX cannot refuse: all scores of such a row are NaN, and its
    label is empty, -1 or another one that no class has.

    Machines on rows of numbers and on categories can leave, with scaling, imputation, products of columns and one-hot
    codes of categories, with probabilities and thresholds. Texts leave for python. Kernels on strings, sets and graphs,
    and dates, stay.

    \b
    Example:
      mercer export moons.safetensors --to c
      mercer export moons.safetensors --to python -o model.py --check moons:500
      mercer export moons.safetensors --to libsvm
    """
    path = output if output is not None else str(Path(model).with_suffix(TARGETS[to].suffix))
    refuse_outputs([path])
    loaded = open_model(model)
    rows = None
    if check is not None:
        with printer.working("reading"):
            rows = matching_table(loaded, check, as_in_training(reading, loaded.about), printer, without_labels=True).X
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


# ``mercer import``: a model of LIBSVM becomes one of mercer.


#: Rows of more features than this are kept sparse.
_WIDE = 2000


@click.command("import")
@click.argument("model", type=READ)
@click.option("-o", "--output", required=True, type=click.Path(dir_okay=False), help="The model file to write.")
@click.option(
    "--features",
    type=click.IntRange(1, 2**31 - 2),
    metavar="NUMBER",
    help="How many columns rows have. [default: the largest number of a feature in MODEL]",
)
@click.option(
    "--range",
    "scaling",
    type=READ,
    metavar="FILE",
    help="How svm-scale has scaled the rows (svm-scale -s FILE), which the model then does itself.",
)
@sign_option
@common
def import_model(
    model: str, output: str, features: int | None, scaling: str | None, printer: Printer, seed: int
) -> None:
    """Read a model that LIBSVM has written, and store it as a model file.

    It predicts as it did there, from svmlight files or from tables with columns x1, x2, and so on. Where several
    classes win as many pairs, LIBSVM answers the first of them, and mercer the one that wins by more. Probabilities are
    left out: where they are needed, train and calibrate anew. Rows of a precomputed kernel are as LIBSVM has them,
    0:SERIAL 1:K 2:K, or a table of the kernel's values, x1, x2, and so on.

    \b
    Example:
      mercer import rows.model -o m.safetensors
      mercer import rows.model --range rows.range -o m.safetensors
      mercer run m.safetensors new.svm
    """
    refuse_outputs([output])
    with printer.working("reading"):
        machine = read_libsvm(model, n_features=features)
        steps: list[Any] = [] if scaling is None else [("scale", read_range(scaling, machine.n_features_in_))]
    classes = machine.classes_.tolist() if is_classifier(machine) else None
    task = "classify" if classes is not None else "regress" if is_regressor(machine) else "detect"
    learner = {"SVC": "svc", "NuSVC": "nu-svc", "SVR": "svr", "NuSVR": "nu-svr"}.get(
        type(machine).__name__, "one-class"
    )
    by_serial = machine.kernel_.precomputed
    wide = machine.n_features_in_ > _WIDE and not steps and not by_serial
    columns = [] if wide else [f"x{place}" for place in range(1, machine.n_features_in_ + 1)]
    if columns:
        steps.insert(0, ("columns", Numbers().fit(pd.DataFrame(columns=columns))))
    about = {
        "learner": learner,
        "kernel": str(machine.kernel_),
        "task": task,
        "classes": classes,
        "kind": "rows",
        "columns": columns,
        "kinds": dict.fromkeys(columns, "number"),
        "sparse": wide,
        "found": {"zero_based": False},
        **({"serials": True} if by_serial else {}),
        "features": machine.n_features_in_,
        "data": {"name": "a model of LIBSVM", "rows": "unknown"},
        "training": {"status": "read from a file of LIBSVM", "rows": "unknown", "seed": "unknown"},
    }
    save(Pipeline([*steps, ("learner", machine)]), output, about)
    if scaling is None and Path(f"{model}.range").exists():
        printer.note(f"There is a file {model}.range: if it says how the rows were scaled, name it with --range.")
    printer.json_result({"model": output, "learner": learner, "kernel": about["kernel"], "classes": classes,
                         "features": machine.n_features_in_, "run": run_line(output)})  # fmt: skip
    what = (
        f"{len(classes)} classes" if classes is not None else "numbers" if task == "regress" else "inliers and outliers"
    )
    printer.line(f"{learner} with the kernel {machine.kernel_}: {what}, {machine.n_features_in_} features")
    printer.line(f"model in {output}")
    printer.line(f"Go on with: {run_line(output)}")
