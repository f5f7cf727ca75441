"""``mercer compare``: from a table to an honest comparison of learners."""

from __future__ import annotations

import gc
import shlex
import sys
import time
from pathlib import Path
from typing import Any

import click

from .._validation.wording import enumeration
from .arguments import common, data_options, preparation_options
from .exit_status import end_partial
from .judging import judging_options
from .printing import Printer

__all__ = ["compare"]


def _names(context: click.Context, parameter: click.Parameter, given: str | None) -> list[str] | None:
    """Learners by name; a wrong one is a mistake of usage."""
    if given is None:
        return None
    from ..learners.catalogue import named
    from .train_detector import WITHOUT_ERRORS

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
@click.argument("data")
@click.option(
    "--learners",
    callback=_names,
    metavar="NAME,NAME",
    help="Which to compare. [default: eleven of them; four on strings, sets and graphs; seven and four of numbers]",
)
@click.option(
    "--kernel",
    "kernels",
    multiple=True,
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
@click.option("--trees/--no-trees", default=True, help="Whether boosted trees are tried as a yardstick.")
@judging_options
@click.option(
    "-o",
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("mercer-report"),
    show_default=True,
    help="The folder for report.html and report.json.",
)
@data_options
@preparation_options
@common
def compare(
    data: str,
    learners: list[str] | None,
    output: Path,
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

    \b
    Example:
      mercer compare moons:200 --learners logistic,svc -o moons-report
      mercer compare waves
      mercer compare genes.fasta --kernel "spectrum(p=3)" --kernel "spectrum(p=5)"
      mercer compare people.csv --kernel "gaussian.on(age)*spectrum.on(name)+equal.on(job)"
    """
    from .._runtime.interrupts import keep_best
    from ..io import read
    from ..report import compare as study
    from ..report import write

    begin = time.perf_counter()
    # A study makes and drops many small objects. Collecting them need not look at all that was imported.
    gc.freeze()
    gc.set_threshold(100_000)
    table = read(data, **reading)
    for note in filter(None, (*table.notes, table.task_in_words)):
        printer.note(note)
    with printer.working("reading", total=1.0) as watched, keep_best():
        facts = study(
            table,
            learners=learners,
            seed=seed,
            progress=lambda what, share: watched.reach(share, what),
            command=_command(),
            **preparing,
            **options,
        )
        page = write(facts, output)
    printer.json_result(facts)
    _show(facts, printer)
    printer.line(f"\nReport: {page}  ({time.perf_counter() - begin:.1f} s)")
    if facts["stopped"]:
        missing = enumeration(one["title"] for one in facts["skipped"]) or "what only the last pictures show"
        end_partial(facts["stopped"], f"the comparison is partial, without {missing}.")


def _command() -> str:
    """The command as it was given; what was not said has its default."""
    return shlex.join(["mercer", *sys.argv[1:]])


def _show(facts: dict[str, Any], printer: Printer) -> None:
    """The table of all learners, and the answer."""
    data = facts["data"]
    printer.line(f"{data['name']}: {data['extent']}, target {data['target']!r}")
    if facts["task"] == "regress":
        _table_of_numbers(facts, printer)
    else:
        _table_of_classes(facts, printer)
    for one in facts["skipped"]:
        printer.line(f"{one['title']} was left out: {one['why']}")
    reach = [facts["intervals"]["words"]] if facts.get("intervals") else []
    printer.line("* " + "\n  ".join([*facts["answer"]["words"], *reach]))


def _table_of_classes(facts: dict[str, Any], printer: Printer) -> None:
    rows = []
    for one in facts["learners"]:
        tuning, test = one["tuning"], one["test"]
        validation = tuning["candidates"][tuning["best"]]["validation"]
        rows.append(
            [
                one["title"] + (" *" if one["name"] == facts["answer"]["chosen"] else ""),
                f"{100 * test['rate']:.2f} %",
                f"{100 * test['low']:.1f}–{100 * test['high']:.1f} %",
                f"{100 * validation['mean']:.2f} ± {100 * validation['sd']:.2f} %",
                f"{100 * one['train']['rate']:.2f} %",
                f"{tuning['seconds'] + one['fit_seconds']:.1f}",
            ]
        )
    printer.table(["<learner", "test error", "95 % interval", "CV error", "training error", "seconds"], rows)


def _table_of_numbers(facts: dict[str, Any], printer: Printer) -> None:
    from ..report.error_measure import NUMBERS
    from ..report.number_errors import in_digits

    def errors(test: dict[str, Any]) -> list[str]:
        explained = "" if test["r2"] is None else f"{test['r2']:.3f}"
        return [NUMBERS.of(test), NUMBERS.between(test), in_digits(test["mae"]), explained]

    rows = []
    for one in facts["learners"]:
        tuning = one["tuning"]
        rows.append(
            [
                one["title"] + (" *" if one["name"] == facts["answer"]["chosen"] else ""),
                *errors(one["test"]),
                NUMBERS.spread(tuning["candidates"][tuning["best"]]["validation"]),
                NUMBERS.of(one["train"]),
                f"{tuning['seconds'] + one['fit_seconds']:.1f}",
            ]
        )
    rows.append([facts["baseline"]["title"], *errors(facts["baseline"]), "", "", ""])
    names = ["<learner", "test RMSE", "95 % interval", "MAE", "R²", "CV RMSE", "training RMSE", "seconds"]
    printer.table(names, rows, "errors in the unit of the target")
