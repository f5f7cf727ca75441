"""What commands print: results to the standard output, notes to the standard error, JSON where asked for."""

from __future__ import annotations

import math
import re
import shlex
import sys
import textwrap
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from shutil import get_terminal_size
from typing import Any

import click

from ..messages import in_digits, printable, printable_json
from ..runtime import Progress, progress

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
    """What a command was told about its output; results go to the standard error where the standard output is taken."""

    json: bool = False
    quiet: bool = False
    to_stderr: bool = False

    def note(self, text: str) -> None:
        """A sentence on the standard error, unless the user wants quiet."""
        if not self.quiet:
            click.echo(_broken_at_words(printable(text), sys.stderr), err=True)

    def line(self, text: str) -> None:
        """A line of the result, unless it is given as JSON."""
        if not self.json:
            file = sys.stderr if self.to_stderr else sys.stdout
            click.echo(_broken_at_words(printable(text), file), err=self.to_stderr)

    def json_result(self, facts: dict[str, Any]) -> None:
        """The whole result as JSON, where asked for."""
        if self.json:
            click.echo(printable_json(_jsonable(facts), indent=2))

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[Any]], title: str | None = None) -> None:
        """A table of the result; columns without a name, or with ``<`` before it, stand left, the others right.

        Numbers are never broken, and words only where one alone is too long: where the columns do not fit beside each
        other, they stand in several tables, each with the first column.
        """
        if self.json:
            return
        from rich import box
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        if title is not None:
            self.line(f"\n{title}")
        file = sys.stderr if self.to_stderr else sys.stdout
        console: Any = Console(file=file, highlight=False, soft_wrap=False, width=None if file.isatty() else 120)
        shown = [[printable(cell, _LONG) for cell in row] for row in rows]
        laid_out = [_Column.of(name, [row[k] for row in shown], console.width) for k, name in enumerate(columns)]
        for places in _that_fit(laid_out, console.width):
            table = Table(box=box.SIMPLE_HEAD, show_header=any(columns))
            widths = _widths([laid_out[place] for place in places], console.width)
            for place, width in zip(places, widths, strict=True):
                name, words = Text(laid_out[place].name, no_wrap=False), laid_out[place].words
                table.add_column(name, justify="left" if words else "right", overflow="fold", width=width)
            for row in shown:
                table.add_row(*(Text(row[place], no_wrap=not laid_out[place].words) for place in places))
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


#: A line to copy, which is left whole.
_COMMAND = re.compile(r"(^|: )\s*mercer [a-z]+ ")


def _broken_at_words(text: str, file: Any) -> str:
    """Lines that are longer than the terminal broken between words; files have them as they are."""
    if not file.isatty():
        return text
    width = get_terminal_size().columns

    def broken(line: str) -> str:
        if len(line) <= width or _COMMAND.search(line):
            return line
        indent = " " * (len(line) - len(line.lstrip(" -*†‡§")))
        return textwrap.fill(line, width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)

    return "\n".join(map(broken, text.split("\n")))


#: What a column takes beside its text, and a table beside its columns.
_AROUND_COLUMN, _AROUND_TABLE = 3, 1


@dataclass(frozen=True)
class _Column:
    """A column of a table: whether it holds words, its width on one line, and the least at which none is broken."""

    name: str
    words: bool
    width: int
    least: int

    @classmethod
    def of(cls, name: str, cells: Sequence[str], room: int) -> _Column:
        from rich.cells import cell_len

        words, shown = not name or name.startswith("<"), printable(name.removeprefix("<"), _LONG)
        widest = max(map(cell_len, cells), default=0)
        longest = max(
            (cell_len(word) for text in (shown, *(cells if words else ())) for word in text.split()), default=0
        )
        least = min(longest, room // 2) if words else max(longest, widest)
        return cls(shown, words, max(widest, cell_len(shown), 1), max(least, 1))


def _that_fit(columns: Sequence[_Column], room: int) -> Iterator[list[int]]:
    """The places of columns that fit beside each other; the first of all stands in each table."""
    places: list[int] = []
    for place, column in enumerate(columns):
        taken = sum(columns[other].least + _AROUND_COLUMN for other in places)
        if len(places) > 1 and taken + column.least + _AROUND_COLUMN + _AROUND_TABLE > room:
            yield places
            places = [0]
        places.append(place)
    yield places


def _widths(columns: Sequence[_Column], room: int) -> list[int]:
    """The width of each column: on one line where there is room, else taken from those that can spare most."""
    widths = [column.width for column in columns]
    for _ in range(sum(widths) + _AROUND_COLUMN * len(widths) + _AROUND_TABLE - room):
        spare = [width - column.least for width, column in zip(widths, columns, strict=True)]
        if max(spare) > 0:
            widths[spare.index(max(spare))] -= 1
    return widths


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


def show_farthest_outliers(table: Any, scores: Any, printer: Printer) -> None:
    """The rows farthest outside; negative scores are outside."""
    farthest = [row for row in scores.argsort(kind="stable")[:_SHOWN].tolist() if scores[row] < 0]
    if farthest:
        rows = [[table.where(row), f"{scores[row]:.4g}"] for row in farthest]
        printer.table(["<where", "score"], rows, "farthest outside")


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


# What ``mercer compare`` shows on the console: all learners, and the one that was chosen more closely.


#: Classes that are told one by one.
_CLASSES = 12
#: Scores that the table of learners shows anyway, under another name.
_SHOWN_ANYWAY = ("accuracy", "neg_root_mean_squared_error")
_UNFINISHED = "† stopped before it was done: with more steps or time its errors may still change."
_BESIDE = "§ for comparison, not tuned."


def show_comparison(facts: dict[str, Any], printer: Printer) -> None:
    """The table of all learners, and the answer."""
    from ..study import closing_words

    data = facts["data"]
    printer.line(f"{data['name']}: {data['extent']}, target {data['target']!r}")
    _table_of_learners(facts, printer)
    _show_footnotes(facts, printer)
    for one in facts["skipped"]:
        printer.line(f"{one['title']} was left out: {one['why']}")
    _show_by_class(facts, printer)
    printer.line("* " + "\n  ".join(closing_words(facts)))


def _table_of_learners(facts: dict[str, Any], printer: Printer) -> None:
    """The errors of all learners; of numbers those of the mean too."""
    from ..study import NUMBERS, SHARE

    title, scores = _asked_score(facts)
    numbers = facts["task"] == "regress"
    measure = NUMBERS if numbers else SHARE

    def errors(test: dict[str, Any]) -> dict[str, str]:
        found = {f"test {measure.name}": _plain(measure.of(test)), "95 % interval": _plain(measure.between(test))}
        if numbers:
            found |= {"MAE": in_digits(test["mae"]), "R²": "" if test["r2"] is None else f"{test['r2']:.3f}"}
        return found

    def not_asked(test: dict[str, Any]) -> dict[str, str]:
        return {name: shown for name, shown in errors(test).items() if name not in title}

    rows = [
        [
            _titled(one, facts),
            *scores(one),
            *not_asked(one["test"]).values(),
            _validated(one, facts),
            _plain(measure.of(one["train"])),
            f"{one['tuning']['seconds'] + one['fit_seconds']:.1f}",
        ]
        for one in facts["learners"]
    ]
    if numbers:
        baseline = facts["baseline"]
        asked = [errors(baseline).get(name, "") for name in title]
        rows.append([baseline["title"], *asked, *not_asked(baseline).values(), "", "", ""])
    cv = f"CV {title[0] if title else measure.name}"
    names = ["<learner", *title, *not_asked(facts["learners"][0]["test"]), cv, f"training {measure.name}", "seconds"]
    caption = "errors in the unit of the target" if numbers else None
    printer.table(names, [*rows, *_beside_them(facts, len(names))], caption)


def _plain(text: str) -> str:
    """A text for the console, where lines are not broken."""
    return text.replace("\u00a0", " ")


def _beside_them(facts: dict[str, Any], width: int) -> list[list[str]]:
    """The row of boosted trees, where they were tried: what they reach by the measure that decided."""
    from ..study import measure_of, score_in_words

    found, name = facts.get("yardstick"), _other_score(facts)
    if not found:
        return []
    measure = measure_of(facts)
    if name is None:
        between = "" if found["low"] is None else measure.between(found)
        reached = list(map(_plain, (measure.words(found["error"]), between)))
    else:
        reached = [score_in_words(name, found["score"])]
    return [[f"{found['title']} §", *reached, *([""] * (width - 1 - len(reached)))]]


def _titled(one: dict[str, Any], facts: dict[str, Any]) -> str:
    """A learner in the table: the chosen one with a star, one that is not done with a dagger."""
    chosen = " *" if one["name"] == facts["answer"]["chosen"] else ""
    return one["title"] + chosen + (" †" if one.get("converged") is False else "")


def _validated(one: dict[str, Any], facts: dict[str, Any]) -> str:
    """The mean over folds and its deviation: errors, or the score that the learners were chosen by."""
    from ..study import chosen_setting, tuning_measure_of

    found = chosen_setting(one["tuning"])["validation"]
    sampled = "" if found["mean"] is None else _sampled(one, facts)
    return _plain(tuning_measure_of(facts).spread(found)) + sampled


def _other_score(facts: dict[str, Any]) -> str | None:
    """The score by which learners were chosen, where it is not that of the table."""
    name = (facts.get("scoring") or {}).get("name")
    return None if name in _SHOWN_ANYWAY else name


def _sampled(one: dict[str, Any], facts: dict[str, Any]) -> str:
    fewer = one.get("tuned_rows") and one["tuned_rows"] < facts["split"]["train"]
    return " ‡" if fewer or not one["tuning"].get("final", True) else ""


def _asked_score(facts: dict[str, Any]) -> tuple[list[str], Any]:
    """The column of the score by which learners were chosen, where the table does not have it anyway."""
    from ..study import score_in_words

    name = _other_score(facts)
    if name is None:
        return [], lambda one: []

    def cell(one: dict[str, Any]) -> list[str]:
        value = one.get("scores", {}).get(name, {}).get("value")
        return ["" if value is None else score_in_words(name, value)]

    return [facts["scoring"]["title"]], cell


def _show_footnotes(facts: dict[str, Any], printer: Printer) -> None:
    rows = facts["split"]["train"]
    if any(one.get("converged") is False for one in facts["learners"]):
        printer.line(_UNFINISHED)
    tuned = {one["tuned_rows"] for one in facts["learners"] if _sampled(one, facts)}
    if tuned:
        some = (
            f"{min(tuned):,} of {rows:,} training rows, drawn at random" if min(tuned) < rows else "one draw of folds"
        )
        printer.line(f"‡ cross-validated on {some}; the learners that could win were tuned once more on all.")
    if facts.get("yardstick"):
        printer.line(_BESIDE)
    fitted = [one for one in facts["learners"] if one.get("fitted_rows", rows) < rows]
    if fitted:
        fewest = min(one["fitted_rows"] for one in fitted)
        printer.line(f"Learners with a kernel were fitted on {fewest:,} of {rows:,} training rows.")


def _show_by_class(facts: dict[str, Any], printer: Printer) -> None:
    """How well the chosen learner does on each class."""
    chosen = next(one for one in facts["learners"] if one["name"] == facts["answer"]["chosen"])
    classes = chosen.get("by_class") or []
    if not 0 < len(classes) <= _CLASSES:
        return

    def share(value: float | None) -> str:
        return "—" if value is None else f"{100 * value:.1f} %"

    rows = [
        [one["label"], one["rows"], one["answered"], *(share(one[name]) for name in ("recall", "precision", "f1"))]
        for one in classes
    ]
    heads = ["<class", "test rows", "predicted", "recall", "precision", "F1"]
    printer.table(heads, rows, f"{chosen['title']}, class by class")
