"""``mercer compare``: from a table to an honest comparison of learners."""

from __future__ import annotations

import json
import shlex
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click


@click.command(
    epilog="""\b
Example:
  mercer compare moons:200 --learners logistic,svc --output /tmp/moons
"""
)
@click.argument("data")
@click.option("--target", help="Target column, by name or position. Default: the last column.")
@click.option("--learners", help="Names separated by commas; `mercer train --help` lists them.")
@click.option("--test-size", type=click.FloatRange(0, 1, min_open=True, max_open=True), default=0.2, show_default=True,
              help="Share of rows kept for the test.")  # fmt: skip
@click.option("--cv", type=click.IntRange(2), default=5, show_default=True, help="Folds of the cross-validation.")
@click.option("--outliers", type=click.Choice(["iqr", "zscore"]), help="Leave out training rows that are outliers.")
@click.option("--correlation", type=click.FloatRange(0, 1, min_open=True), metavar="R",
              help="Leave out columns correlated above R with an earlier one.")  # fmt: skip
@click.option("--impute", type=click.Choice(["mean", "median", "most_frequent"]), help="Fill in missing values.")
@click.option("--time-limit", type=click.FloatRange(0, min_open=True), metavar="SECONDS",
              help="Begin no further learner after this time.")  # fmt: skip
@click.option("--seed", type=click.IntRange(0, 2**32 - 1), default=0, show_default=True,
              help="Of the split, the folds and the learners.")  # fmt: skip
@click.option("--output", "-o", type=click.Path(file_okay=False, path_type=Path), default=Path("mercer-report"),
              show_default=True, help="Folder for report.html and report.json.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print the facts as JSON instead of a table.")
@click.option("--quiet", "-q", is_flag=True, help="Print nothing but errors.")
def compare(
    data: str,
    target: str | None,
    learners: str | None,
    output: Path,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Compare learners on DATA and write a report.

    DATA is a file (CSV, TSV, svmlight, Parquet) or a built-in name such as margins. Every learner is tuned by
    cross-validation inside the training rows, fitted on them, and tested once on rows it has never seen.
    """
    from ..io import read
    from ..report import compare as study
    from ..report import write

    start = time.perf_counter()
    names = [name.strip() for name in learners.split(",") if name.strip()] if learners else None
    try:
        table = read(data, target=target)
        with _progress(quiet) as say:
            facts = study(
                table, learners=names, progress=say, command=_command(data, target, learners, options), **options
            )
        page = write(facts, output)
    except (ValueError, OSError) as error:
        raise click.ClickException(" ".join(str(error).split())) from None
    if as_json:
        click.echo(json.dumps(facts, ensure_ascii=False, allow_nan=False))
    elif not quiet:
        _show(facts, page, time.perf_counter() - start)


def _command(data: str, target: str | None, learners: str | None, options: dict[str, Any]) -> str:
    """The command that repeats the run: what was asked for, and the seed."""
    defaults = {"test_size": 0.2, "cv": 5}
    given = {"target": target, "learners": learners, **options}
    words = ["mercer", "compare", data]
    for name, value in given.items():
        if value is not None and defaults.get(name) != value:
            words += [f"--{name.replace('_', '-')}", str(value)]
    return shlex.join(words)


@contextmanager
def _progress(quiet: bool) -> Iterator[Callable[[str, float], None] | None]:
    """A bar on stderr, where that is a terminal."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (BarColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("reading", total=1.0)
        yield lambda what, share: bar.update(task, description=what, completed=share)


def _show(facts: dict[str, Any], page: Path, seconds: float) -> None:
    """The table in the terminal, the answer, and where the report is."""
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    data = facts["data"]
    console = Console(highlight=False)
    title = f"{data['name']}: {data['rows']} rows, {data['columns']} columns, target {data['target']}"
    table = Table(title=escape(title), title_justify="left", box=None, header_style="bold", pad_edge=False)
    table.add_column("learner")
    for head in ("test error", "95 % interval", "CV error", "training error", "seconds"):
        table.add_column(head, justify="right")
    for one in facts["learners"]:
        tuning, test = one["tuning"], one["test"]
        chosen = one["name"] == facts["answer"]["chosen"]
        validation = tuning["candidates"][tuning["best"]]["validation"]
        table.add_row(
            one["title"] + (" *" if chosen else ""),
            f"{100 * test['rate']:.2f} %",
            f"{100 * test['low']:.1f}–{100 * test['high']:.1f} %",
            f"{100 * validation['mean']:.2f} ± {100 * validation['sd']:.2f} %",
            f"{100 * one['train']['rate']:.2f} %",
            f"{tuning['seconds'] + one['fit_seconds']:.1f}",
            style="bold" if chosen else None,
        )
    for note in data["notes"]:
        console.print(escape(note), style="dim")
    console.print(table)
    for one in facts["skipped"]:
        console.print(escape(f"{one['title']} was left out: {one['why']}"), style="dim")
    console.print("\n* " + escape(" ".join(facts["answer"]["words"])))
    console.print(escape(f"\nReport: {page}  ({seconds:.1f} s)"), soft_wrap=True)
