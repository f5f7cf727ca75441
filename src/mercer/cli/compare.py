"""``mercer compare``: from a table to an honest comparison of learners."""

from __future__ import annotations

import gc
import math
import time
from datetime import date
from pathlib import Path
from typing import Any

import click

from ..io import DataError, read
from ..messages import enumeration
from ..runtime import keep_best
from .cluster import cluster_option
from .options import (
    Places,
    common,
    data_argument,
    data_options,
    judging_options,
    preparation_options,
    target_transform_option,
    with_apart,
)
from .output import refuse_outputs
from .paths import kernel_names, several_learners, sign_option
from .printing import Printer, run_line
from .recipe import WITHOUT_ERRORS, with_columns_of
from .streams import end_partial

#: Seconds of a time limit that are for the start and the page, and the part of the rest that the study has where a
#: model is fitted after it.
_BESIDES, _STUDYING = 2.5, 0.8


def _names(context: click.Context, parameter: click.Parameter, given: str | None) -> list[str] | None:
    """Learners by name; a wrong one is a mistake of usage."""
    if given is None:
        return None
    from ..learners import named

    try:
        asked = [named(name.strip()) for name in given.split(",") if name.strip()]
    except ValueError as error:
        raise click.BadParameter(str(error)) from None
    for learner in asked:
        if learner.task == "detect":
            raise click.BadParameter(f"{learner.name} {WITHOUT_ERRORS}")
    names = [learner.name for learner in asked]
    if not names:
        raise click.BadParameter("it names no learner; leave the option out to compare the usual ones.")
    return names


@click.command()
@data_argument
@click.option(
    "--learners",
    callback=_names,
    shell_complete=several_learners,
    metavar="NAME,NAME",
    help="Which to compare. [default: all that suit the table: up to twelve, of strings, sets and graphs four]",
)
@click.option(
    "--kernel",
    "kernels",
    multiple=True,
    shell_complete=kernel_names,
    help="A kernel as text, for all learners with a kernel: 'spectrum(p=4).on(text)'. Of several the best is chosen.",
)
@click.option(
    "--test-size",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.2,
    show_default=True,
    help="The share of rows kept for the test.",
)
@click.option("--cv", type=click.IntRange(2), default=5, show_default=True, help="Folds of the cross-validation.")
@click.option(
    "--time-limit",
    type=click.FloatRange(0, min_open=True),
    metavar="SECONDS",
    help="How long it may take, about: learners share the time, with fewer rows where it is short.",
)
@click.option("--nested", is_flag=True, help="Test every row once, by nested cross-validation: for few rows.")
@click.option("--trees/--no-trees", default=True, help="Whether boosted trees are fitted for comparison.")
@judging_options
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("mercer-report"),
    show_default=True,
    help="The folder for report.html and report.json.",
)
@click.option(
    "--model",
    type=click.Path(dir_okay=False),
    help='Store the chosen learner as a model for "mercer run", fitted anew on all rows.',
)
@click.option("--title", help="The title of the report. [default: the name of the table]")
@click.option("--author", help="Whose report it is.")
@click.option("--notes", help="A text to stand before the answer; an empty line begins a new paragraph.")
@click.option("--brief", is_flag=True, help="The answer, the results and how to repeat them, and no more.")
@sign_option
@data_options
@preparation_options
@target_transform_option
@cluster_option
@common
def compare(
    data: Places,
    learners: list[str] | None,
    output: Path,
    model: str | None,
    title: str | None,
    author: str | None,
    notes: str | None,
    brief: bool,
    reading: dict[str, Any],
    preparing: dict[str, Any],
    printer: Printer,
    seed: int,
    **options: Any,
) -> None:
    """Compare learners on a table, with a report.

    Every learner is tuned by cross-validation inside the training rows, fitted on them, and tested once, on rows that
    it has never seen. The report says who won, by how much, and whether that is more than chance. Where the target
    holds numbers, learners of numbers are compared, with errors in its unit, residuals and intervals.

    At the end stands the "mercer train" line of the learner that was chosen. With --model that model is made at once,
    of all rows, the test rows too; the file remembers the test error of the comparison.

    \b
    Example:
      mercer compare moons:200 --learners logistic,svc -o moons-report
      mercer compare people.csv --model people.safetensors
      mercer compare waves --title "Waves" --author "Ann Lee" --brief
      mercer compare genes.fasta --kernel "spectrum(p=3)" --kernel "spectrum(p=5)"
      mercer compare people.csv --kernel "gaussian.on(age)*spectrum.on(name)+equal.on(job)"
    """
    from ..report import REPORT_FILES, refuse_unwritable_report, study_name, write
    from ..study import compare as study
    from ..study import division_of
    from .command_lines import given_command, said_besides, shown_name, train_command
    from .printing import show_comparison
    from .training import recipe_of_chosen, saved_winner

    refuse_unwritable_report(output)
    if model is not None and Path(model).parent.resolve() == output.resolve():
        output.resolve().mkdir(parents=True, exist_ok=True)  # of the report, which would make it later
    refuse_outputs([model])
    if model is not None and Path(model).resolve() in [(output / name).resolve() for name in REPORT_FILES]:
        raise DataError(f"{model!r} is a file of the report; name another for the model.")
    refuse_outputs(path for path in (output / name for name in REPORT_FILES) if path.exists())
    begin, limit = time.perf_counter(), options.pop("time_limit")
    # A study makes and drops many small objects. Collecting them need not look at all that was imported.
    gc.freeze()
    gc.set_threshold(100_000)
    table = read(data, **with_columns_of(with_apart(reading, options["group"], options["time"]), *options["kernels"]))
    for note in filter(None, (*table.notes, table.task_in_words)):
        printer.note(note)
    with printer.working("reading", total=1.0, lines=True) as watched, keep_best():

        def progress(what: str, share: float | None) -> None:
            watched.tell(what) if share is None else watched.reach(share, what)

        if limit is not None:  # a last fit of all rows and the page take time, too
            limit -= _BESIDES
            left = max(1e-9, limit + begin - time.perf_counter())
            options["time_limit"] = left if model is None else _STUDYING * left
        facts = study(
            table,
            learners=learners,
            seed=seed,
            progress=progress,
            command=given_command(),
            **preparing,
            **options,
        )
        apart = [options["group"]] if options["group"] else []
        preparing["target_transform"] = facts["preprocessing"]["target_transform"]
        table, division = division_of(table, *(options[name] for name in ("group", "time", "ordered")))
        recipe = recipe_of_chosen(facts, table, preparing, seed)
        besides = said_besides(table.target if table.kind == "rows" else None, apart)
        again = train_command(recipe, data, model or shown_name(table.name), besides)
        facts["answer"].update(setting=recipe.in_words, train_command=again)
        facts["study"] = study_name(facts)
        told = {"title": title, "author": author, "notes": notes, "date": date.today().isoformat(), "brief": brief}
        facts["document"] = {name: value for name, value in told.items() if value}
        page = write(facts, output)
    show_comparison(facts, printer)
    printer.line(f"\n{recipe.in_words}:\n  {again}")
    made = None
    if model is not None and facts["stopped"] != "interrupted":
        left = math.inf if limit is None else limit + begin - time.perf_counter()
        made = saved_winner(facts, recipe, table, division, model, printer, left)
        whole = made.facts["rows"] == table.n_rows
        rows = f"all {table.n_rows:,}" if whole else f"{made.facts['rows']:,} of {table.n_rows:,}"
        printer.line(f"Model of {rows} {table.kind}{', those of the test too' * whole}: {model}\n  {run_line(model)}")
    printer.json_result(facts if made is None else {**facts, "model": model})
    printer.line(f"\nReport: {page}  ({time.perf_counter() - begin:.1f} s)")
    without = "the comparison is partial, without " + (
        enumeration(one["title"] for one in facts["skipped"]) or "what only the last pictures show"
    )
    if facts["stopped"] == "interrupted":
        unsaid = f"; no model was written to {model}" if model else ""
        end_partial("interrupted", f"{without}{unsaid}.")
    if facts["skipped"] and facts["stopped"]:
        printer.note(f"The time limit was reached: {without}. A longer --time-limit tries them too.")
    if made is not None and made.learner.task == "regress" and made.half_widths is None:
        printer.note(f'The model in {model} is whole, but for --intervals of "mercer run".')
