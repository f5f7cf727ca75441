"""Options about what is good, and how rows are divided to find out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from .suggestions import scoring_names

__all__ = ["judging_options", "with_apart"]


def _known(context: click.Context, parameter: click.Parameter, given: str | None) -> str | None:
    """The name of a measure, of classes or of numbers; a wrong one is a mistake of usage."""
    if given is None:
        return None
    from ..report.scorings import class_measures, measure_named, number_measures

    refusals = []
    for task in ("classify", "regress"):
        try:
            measure_named(given, task)
        except ValueError as error:
            refusals.append(str(error))
    if len(refusals) == 2:
        hint = refusals[0].partition("; ")[2].partition("The names")[0].partition("the names")[0]
        of_classes, of_numbers = ", ".join(class_measures([0, 1])), ", ".join(number_measures())
        raise click.BadParameter(
            f"there is no measure {given!r}; {hint}Of classes there are {of_classes}; of numbers {of_numbers}."
        )
    return given


_OPTIONS = [
    click.option(
        "--scoring",
        callback=_known,
        shell_complete=scoring_names,
        metavar="MEASURE",
        help="What is good: accuracy, balanced_accuracy, roc_auc, average_precision, f1, mcc or log_loss of classes; "
        'rmse, mae, r2 or "pinball(0.9)" of numbers. [default: accuracy, or where a class is rare '
        "balanced_accuracy, of several classes f1; rmse]",
    ),
    click.option(
        "--positive", metavar="LABEL", help="Of two classes the one that f1 and average_precision are of. [default: "
        "the rarer one]"
    ),
    click.option(
        "--group", metavar="COLUMN", help="Keep rows with the same value here on one side of every split; no feature."
    ),
    click.option(
        "--time",
        metavar="COLUMN",
        help="Order rows by this column: predict later rows from earlier ones only. Learned from as trend, season, "
        "weekday and hour.",
    ),
    click.option("--ordered", is_flag=True, help="The rows of the file are in the order of time already."),
    click.option(
        "--repeats",
        type=click.IntRange(1, 100),
        help="How often folds are drawn. [default: 3 below 500 training rows, else 1]",
    ),
]  # fmt: skip


def judging_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """``--scoring``, ``--positive``, ``--group``, ``--time``, ``--ordered``, ``--repeats``, under these names."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def with_apart(reading: dict[str, Any], group: str | None, time: str | None) -> dict[str, Any]:
    """How to read a table of groups or in the order of time: columns that tell these may look like ids."""
    apart = {**({group: "category"} if group else {}), **({time: "keep"} if time else {})}
    return {**reading, "kinds": {**apart, **reading["kinds"]}}
