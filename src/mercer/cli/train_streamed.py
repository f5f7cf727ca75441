"""``mercer train --rank`` on files that are larger than the memory allowed: read in chunks, again in every pass."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..io.table import DataError
from .arguments import Places
from .exit_status import end_at_time_limit
from .large_files import options_of
from .printing import Printer, run_line

if TYPE_CHECKING:
    from ..io import Table
    from ..learners.learner import Learner
    from .recipe import Recipe

__all__ = ["train_streamed"]

#: Rows of the sample that decides what columns hold and how they are prepared.
_SAMPLE = 20_000
#: Passes that a fit takes as a rule, for the time that is left.
_PASSES = 16


def _rows(file: Any, columns: list[str], n_rows: int, prepare: Any, told: Any) -> Any:
    """The prepared rows, on the workers of a cluster where there is one."""
    import numpy as np

    from ..io.prepared_rows import PreparedRows
    from ..io.row_groups import rows_on_workers
    from ..rows import dask_client

    client = dask_client()
    if client is None:
        return PreparedRows(file, columns, n_rows, prepare, told)
    return rows_on_workers(client, file, columns, np.float64, prepare)


def train_streamed(
    recipe: Recipe, data: Places, output: str, *, holdout: float | None, reading: dict[str, Any], printer: Printer
) -> None:
    """Learn from files by passes over them, and store the model."""
    import numpy as np
    from sklearn.pipeline import Pipeline

    from .._validation.unwrapped import machine_of
    from ..grams.streamed import sample_of
    from ..io.frames import read_frame
    from ..io.like import what_was_said
    from ..io.options import Options
    from ..io.scanning import open_chunked, targets_of
    from ..preprocess import prepare
    from ..rows import dask_client
    from .building import APART, about_model, fitting, refuse_unlearnable, usual_kernel
    from .model_paths import save
    from .train_classes import about_mistakes
    from .train_line import given_command

    _refuse_in_memory(recipe, holdout)
    begin = time.perf_counter()
    options = options_of(reading)
    with printer.working("reading a sample"):
        path = Path(data if isinstance(data, str) else data[0])
        file, kept, target, notes = open_chunked(path, options)
        if target is None:
            raise DataError(f"{file.shown} has no target; name it with --target.")
        y = targets_of(file, target, options)
        drawn = sample_of(y.size, min(y.size, _SAMPLE), recipe.seed)
        drawn_rows = read_frame(file.taken(kept, drawn), Options(**{**vars(options), "target": target}))
        sample = replace(drawn_rows, name=path.name.partition(".")[0], read_as=what_was_said(options))
    for note in filter(None, (*notes, *sample.notes, sample.task_in_words)):
        printer.note(note)
    how = (
        "in chunks, as its table would take more than the memory allowed"
        if dask_client() is None
        else "by the workers of the cluster"
    )
    printer.note(
        f"{file.shown} is read {how}; what its columns hold was decided by {drawn.size:,} of its {y.size:,} rows."
    )
    refuse_unlearnable(sample)
    learner = fitting(recipe.learner, sample, recipe.kernel)
    kernel = recipe.kernel or usual_kernel(sample, learner, dict(recipe.preparing), printer)
    steps = {name: value for name, value in recipe.preparing.items() if name not in APART}
    params = {"tol": _own_tolerance(learner), **recipe.params, **about_mistakes(recipe, sample)}
    machine = learner.build(kernel, None, recipe.seed, **params)
    first = prepare(sample, **steps).fit(sample.X)
    with printer.working(f"training {learner.title} on {y.size:,} rows", _PASSES) as watched:
        rows = _rows(file, sample.columns, y.size, first.transform, lambda number, share: watched.reach(
            min(number - 1 + share, _PASSES - 0.1), f"training, pass {number} over {y.size:,} rows"))  # fmt: skip
        fitting_since = time.perf_counter()
        machine.fit(rows, y)
        fitted_in = time.perf_counter() - fitting_since
        predicted = machine.predict(rows)
    model, last = Pipeline([("prepare", first), ("learner", machine)]), machine_of(machine)
    seconds = time.perf_counter() - begin
    if learner.task == "classify":
        error: Any = float(np.mean(predicted != y))
        said = f"training error  {100 * error:6.2f} %"
    else:
        from ..report.number_errors import error_of_numbers
        from .printing import error_in_words

        error = error_of_numbers(y, predicted)
        said = f"training error  {error_in_words(error)}"
    gap = float(np.max(np.asarray(last.duality_gap_) / np.asarray(last.objective_)))
    facts = {
        "rows": int(y.size), "seconds": seconds, "errors": {"train": error}, "status": last.status_,
        "support": len(last.support_), "seed": recipe.seed, "outliers": None, "calibrated": None, "threshold": None,
        "passes": rows.passes, "missing_trace": last.missing_trace_, "relative_gap": gap,
    }  # fmt: skip
    with printer.working("remembering which rows were learned from"):
        learned = _pieces(file, sample, y, first[0]), int(y.size)
        about = about_model(sample, learner, model, learned, training=facts, half_widths=None,
                            support_lines=None, command=given_command())  # fmt: skip
    save(model, output, about)
    printer.json_result({"model": output, "learner": learner.name, "kernel": kernel, **facts, "run": run_line(output)})
    printer.line(
        f"{learner.title}: {y.size:,} rows, {len(last.support_)} landmarks, {rows.passes} passes over the file"
    )
    printer.line(said)
    printer.line(
        f"landmarks leave out {100 * last.missing_trace_:.2g} % of the kernel matrix's trace; of what they can do the "
        f"model is within {100 * gap:.1g} % of the best"
    )
    printer.line(f"{last.status_} in {seconds:.2f} s; model in {output}")
    printer.line(f"Go on with: {run_line(output)}")
    end_at_time_limit(last, fitted_in, output)


def _pieces(file: Any, sample: Table, y: Any, reader: Any) -> Iterator[Table]:
    """The rows of the file, chunk by chunk, each a table of its own with its targets."""
    first = 0
    for frame in file.frames(sample.columns):
        stop = first + len(frame)
        rows = reader.transform(frame)
        yield replace(sample, frame=rows, y=y[first:stop], asked=sample.task, lines=None, names=None)
        first = stop


def _own_tolerance(learner: Learner) -> Any:
    """The tolerance of the machine itself: with that of its learner, which is for few rows, passes would be many."""
    from .._validation.unwrapped import machine_of

    return type(machine_of(learner.build()))().tol


def _refuse_in_memory(recipe: Recipe, holdout: float | None) -> None:
    """Refuse what needs all rows at hand."""
    said = {
        "--holdout": holdout, "--calibrate": recipe.calibrate, "--threshold": recipe.threshold,
        "--degree": recipe.degree, "--max-rows": recipe.max_rows, "--outliers": recipe.preparing.get("outliers"),
    }  # fmt: skip
    asked = [option for option, value in said.items() if value is not None]
    if asked:
        raise DataError(
            f"{asked[0]} needs the table in memory, and it is too large for that; leave {asked[0]} out, or allow more "
            "with --memory and --max-bytes."
        )
