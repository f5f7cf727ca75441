"""``mercer import``: a model of LIBSVM becomes one of mercer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from .arguments import common
from .model_paths import save, sign_option
from .printing import Printer, run_line
from .reading_paths import READ

__all__ = ["import_model"]

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
    import pandas as pd
    from sklearn.base import is_classifier, is_regressor
    from sklearn.pipeline import Pipeline

    from ..exports import read_libsvm, read_range
    from ..preprocess import Numbers
    from .outputs import refuse_outputs

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
    what = f"{len(classes)} classes" if classes is not None else "numbers" if task == "regress" else "what is usual"
    printer.line(f"{learner} with the kernel {machine.kernel_}: {what}, {machine.n_features_in_} features")
    printer.line(f"model in {output}")
    printer.line(f"Go on with: {run_line(output)}")
