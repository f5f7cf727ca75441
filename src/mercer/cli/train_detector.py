"""What ``mercer train`` does with a learner of what is usual: it needs no labels, and counts the rows outside."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .._validation.wording import enumeration
from ..io.table import DataError
from .arguments import Places
from .exit_status import end_partial
from .printing import Printer, run_line, show_most_unusual

if TYPE_CHECKING:
    from ..io import Table
    from .recipe import Recipe

__all__ = ["WITHOUT_ERRORS", "train_detector"]

#: Why there is nothing to choose by, in the words that follow a learner's name.
WITHOUT_ERRORS = (
    "learns what is usual from rows without labels, so there are no errors to choose by; train it (mercer train), with "
    "--set nu=SHARE for the share of rows that may be unusual."
)


def train_detector(
    recipe: Recipe,
    data: Places,
    output: str,
    *,
    holdout: float | None,
    reading: dict[str, Any],
    printer: Printer,
) -> None:
    """Learn what is usual, say how many rows are not, and store the model."""
    from .._validation.unwrapped import machine_of
    from ..explain import support_lines
    from ..kernels import parse
    from .building import about_model, fit, fitting, held_out, machine, split, usual_kernel, with_columns_of
    from .model_paths import save
    from .train_line import given_command

    learner, kernel, preparing, seed = recipe.learner, recipe.kernel, dict(recipe.preparing), recipe.seed
    if recipe.max_rows is not None:
        raise DataError(f"--max-rows keeps the shares of classes, and {learner.name} knows none; leave it out.")
    if reading["task"] is not None:
        raise DataError(f"{learner.name} needs no target, so there is no task; leave out --task {reading['task']}.")
    if preparing["outliers"] is not None:
        raise DataError(f"{learner.name} finds outliers itself; leave out --outliers.")
    table, target = _without_labels(data, with_columns_of(reading, kernel), printer)
    if table.kind != "rows" or kernel is None or parse(kernel).on_rows:
        _say_what_is_learned_from(table, target, printer)
    learning, testing = split(table, holdout, seed)
    learner = fitting(learner, learning, kernel)
    if kernel is None:
        kernel = usual_kernel(learning, learner, preparing, printer)
    model = machine(
        learning, learner, preparing, kernel=kernel, degree=recipe.degree, seed=seed, params=dict(recipe.params)
    )
    seconds = fit(model, learning, f"training {learner.title} on {learning.n_rows} rows", printer)
    scores = model.decision_function(learning.X)
    outside = {"train": _outside(scores)}
    if testing is not None:
        outside["holdout"] = _outside(model.decision_function(testing.X))
    last = machine_of(model)
    training = {
        "rows": learning.n_rows,
        **held_out(model, learning, testing, printer),
        "seconds": seconds,
        "outside": outside,
        "status": last.status_,
        "support": len(last.support_),
        "seed": seed,
    }
    remembered = {"training": training, "support_lines": support_lines(model, learning), "command": given_command()}
    about = about_model(table, learner, model, learning, **remembered)
    save(model, output, {**about, "target": target})
    printer.json_result(
        {"model": output, "learner": learner.name, "kernel": kernel or learner.fixed.get("kernel"), **training,
         "run": run_line(output)}
    )  # fmt: skip
    printer.line(f"{learner.title}: {learning.extent}")
    promised = f"at most {100 * last.nu:g} % by nu={last.nu:g}"
    printer.line(f"training rows outside  {_in_words(outside['train'])}, {promised}")
    if testing is not None:
        printer.line(f"holdout rows outside   {_in_words(outside['holdout'])}")
    show_most_unusual(learning, scores, printer)
    printer.line(f"{last.status_} in {seconds:.2f} s, {training['support']} support rows; model in {output}")
    printer.line(f"Go on with: {run_line(output)}")
    if last.status_ != "converged" and last.time_limit is not None and seconds >= last.time_limit:
        end_partial("time_limit", f"the model in {output} is the best so far.")


def _without_labels(data: Places, reading: dict[str, Any], printer: Printer) -> tuple[Table, str | None]:
    """The table without its labels, and the name of the column that held them, if there is one."""
    from dataclasses import replace

    from ..io import read

    named = reading["target"] is not None
    unlabelled = "drop" if reading["unlabelled_rows"] == "drop" else "keep"
    with printer.working("reading"):
        table = read(data, **{**reading, "labelled": named, "unlabelled_rows": unlabelled})
    for note in table.notes:
        printer.note(note)
    if table.y is not None:
        printer.note(f"The target {table.target!r} is left out: what is usual is learned without labels.")
    return replace(table, y=None, target=None, notes=()), table.target


def _say_what_is_learned_from(table: Table, target: str | None, printer: Printer) -> None:
    """A label, a name or a time among the columns would be learned from like any other."""
    if target is None and table.kind == "rows":
        everything = f"All {table.n_columns} columns are learned from"
        printer.note(f"{everything}; leave one that holds a label out with --target, others with --drop.")
    elif target is None and table.kind == "sets":
        printer.note("All items of a line are learned from; leave a label out with --target first or --target last.")
    if names := _never_again(table):
        printer.note(
            f"In {enumeration(map(repr, names), 6)} no word comes again, so that all rows are equally unusual there; "
            "leave such columns out with --drop."
        )


def _never_again(table: Table) -> list[str]:
    """Columns of words in which each row has another: names, numbers of records, times."""
    columns = [(name, table.X[name].dropna()) for name in table.category_columns]
    return [name for name, words in columns if words.size > 1 and words.nunique() == words.size]


def _outside(scores: Any) -> dict[str, Any]:
    return {"rows": int(scores.size), "outside": int(np.sum(scores < 0)), "share": float(np.mean(scores < 0))}


def _in_words(outside: dict[str, Any]) -> str:
    return f"{outside['outside']} of {outside['rows']} ({100 * outside['share']:.2f} %)"
