"""What commands print: results to the standard output, notes to the standard error, JSON where asked for."""

from __future__ import annotations

import math
import shlex
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import click

from .._runtime.progress import Progress, progress
from .._runtime.terminal import printable, printable_json

__all__ = [
    "Printer",
    "error_in_words",
    "folds_in_words",
    "mixture_weights",
    "run_line",
    "show_mixture",
    "show_most_unusual",
]

_LONG = 80
#: Unusual rows that are shown.
_SHOWN = 5


def error_in_words(error: dict[str, Any]) -> str:
    """How wrong predicted numbers are, in the unit of the target.

    Examples
    --------
    >>> error_in_words({"rmse": 53.2198, "mae": 41.3, "r2": 0.5123})
    'RMSE 53.22, mean absolute error 41.30, R² 0.512'
    """
    from ..report.number_errors import in_digits

    explained = "" if error["r2"] is None or error["r2"] != error["r2"] else f", R² {error['r2']:.3f}"
    return f"RMSE {in_digits(error['rmse'])}, mean absolute error {in_digits(error['mae'])}{explained}"


def folds_in_words(left_out: Mapping[str, Any]) -> str:
    """Into how many folds rows were divided to be left out in turn.

    Examples
    --------
    >>> folds_in_words({"rows": 150, "folds": 5}), folds_in_words({"rows": 150, "folds": 150})
    ('5 folds', 'leave-one-out')
    """
    return "leave-one-out" if left_out["folds"] == left_out["rows"] else f"{left_out['folds']} folds"


def run_line(model: str) -> str:
    """How to go on with a model.

    Examples
    --------
    >>> run_line("my model.safetensors")
    "mercer run 'my model.safetensors' NEW-DATA"
    """
    return f"mercer run {shlex.quote(model)} NEW-DATA"


@dataclass(frozen=True)
class Printer:
    """What a command was told about its output.

    Parameters
    ----------
    json, quiet : bool
    aside : bool
        Whether results go to the standard error, because the standard output is taken.
    """

    json: bool = False
    quiet: bool = False
    aside: bool = False

    def note(self, text: str) -> None:
        """A sentence on the standard error, unless the user wants quiet."""
        if not self.quiet:
            click.echo(printable(text), err=True)

    def line(self, text: str) -> None:
        """A line of the result, unless it is given as JSON."""
        if not self.json:
            click.echo(printable(text), err=self.aside)

    def json_result(self, facts: dict[str, Any]) -> None:
        """The whole result as JSON, where asked for."""
        if self.json:
            click.echo(printable_json(_jsonable(facts), indent=2))

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[Any]], title: str | None = None) -> None:
        """A table of the result; columns without a name, or with ``<`` before it, stand left, the others right."""
        if self.json:
            return
        from rich import box
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        if title is not None:
            self.line(f"\n{title}")
        table = Table(box=box.SIMPLE_HEAD, show_header=any(columns))
        for name in columns:
            justify: Any = "left" if not name or name.startswith("<") else "right"
            table.add_column(Text(printable(name.removeprefix("<"), _LONG)), justify=justify, overflow="fold")
        for row in rows:
            table.add_row(*(Text(printable(cell, _LONG)) for cell in row))
        file = sys.stderr if self.aside else sys.stdout
        console: Any = Console(file=file, highlight=False, soft_wrap=False, width=None if file.isatty() else 120)
        console.print(table)

    @contextmanager
    def working(self, what: str, total: float | None = None, lines: bool = False) -> Iterator[Progress]:
        """While work goes on: its progress on the standard error, with ``lines`` where that is no terminal, too.

        Warnings become notes.
        """
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            with progress(what, total, shown=not self.quiet, lines=lines) as watched:
                yield watched
        meant_for_users = [str(warning.message) for warning in caught if issubclass(warning.category, UserWarning)]
        for text in dict.fromkeys(meant_for_users):
            self.note(f"note: {text}")


def mixture_weights(machine: Any) -> dict[str, float]:
    """The weight of each kernel of a mixture that a machine has learned; nothing for any other kernel."""
    from ..kernels import Mixture

    kernel = getattr(machine, "kernel_", None)
    if not isinstance(kernel, Mixture):
        return {}
    return {str(each): float(weight) for each, weight in zip(kernel.kernels, kernel.weights_, strict=True)}


def show_mixture(machine: Any, printer: Printer) -> None:
    """A line for each kernel of a mixture, the heaviest first."""
    if weights := mixture_weights(machine):
        ranked = sorted(weights.items(), key=lambda pair: -pair[1])
        printer.table(["<kernel", "weight"], [[name, f"{value:.4f}"] for name, value in ranked], "learned weights")


def show_most_unusual(table: Any, scores: Any, printer: Printer) -> None:
    """The rows farthest outside; negative scores are outside."""
    farthest = [row for row in scores.argsort(kind="stable")[:_SHOWN].tolist() if scores[row] < 0]
    if farthest:
        rows = [[table.where(row), f"{scores[row]:.4g}"] for row in farthest]
        printer.table(["<where", "score"], rows, "most unusual")


def _jsonable(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _jsonable(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_jsonable(item) for item in value]
    if hasattr(value, "tolist"):
        return _jsonable(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)
