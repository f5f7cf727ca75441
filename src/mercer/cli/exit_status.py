"""Partial results, less than what was asked for: said in words, and by the exit status."""

from __future__ import annotations

from typing import Any, NoReturn

import click

from .._runtime.terminal import printable

__all__ = ["STATUSES", "end_at_time_limit", "end_partial"]

#: Exit statuses of a command that gave a partial result: after Ctrl-C, and when a time limit left work undone.
STATUSES = {"interrupted": 130, "time_limit": 124}


def end_partial(stopped: str, what: str) -> NoReturn:
    """End a command after its result, saying that it is partial and why."""
    cause = {"interrupted": "interrupted", "time_limit": "the time limit was reached"}[stopped]
    click.echo(printable(f"mercer: {cause}: {what}"), err=True)
    raise click.exceptions.Exit(STATUSES[stopped])


def end_at_time_limit(machine: Any, seconds: float, output: str) -> None:
    """End a command where fitting a machine took so many seconds, all that its limit allows, and was not done then."""
    limit = getattr(machine, "time_limit", None)
    if getattr(machine, "status_", None) != "converged" and limit is not None and seconds >= limit:
        end_partial("time_limit", f"the model in {output} is the best so far.")
