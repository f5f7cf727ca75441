"""Predictions, a row for each item: on the screen, as CSV in a file or on the standard output, or as JSON."""

from __future__ import annotations

import csv
import io
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import click
import numpy as np

from ..checks import bytes_of
from ..io import DataError, Table, read, refuse_unwritable, write_whole
from ..messages import enumeration, nearest
from .new_rows import TrainedRowsFound
from .options import Places
from .paths import files_read
from .printing import Printer
from .streams import standard_output_is_closed

# The files that a command is to write, looked at before it begins.


def refuse_outputs(outputs: Iterable[str | Path | None], remedy: str = "name a file to write") -> None:
    """Refuse what could not be stored after the work, and what would destroy a file that the command reads."""
    read, written = files_read(), set[str]()
    for path in outputs:
        if path is None:
            continue
        refuse_unwritable(path, remedy)
        place = os.path.realpath(path)
        if place in read:
            raise DataError(f"{str(path)!r} is read by this command and would be lost; name another file to write.")
        if place in written:
            raise DataError(f"{str(path)!r} is to be written twice; name two files.")
        written.add(place)


# Pictures.


def refuse_unknown_picture(path: str | None) -> None:
    """Refuse a picture whose name tells no format that can be drawn."""
    if path is None:
        return
    from matplotlib.backend_bases import FigureCanvasBase

    known = FigureCanvasBase.get_supported_filetypes()
    if _suffix(path) not in known:
        raise DataError(f"{path!r} cannot be drawn: its name should end in {enumeration(map('.{}'.format, known))}.")


def draw(figure: Any, path: str) -> None:
    """Write a figure in the format of its name."""
    from io import BytesIO

    from ..io import write_whole

    picture = BytesIO()
    figure.savefig(picture, format=_suffix(path), bbox_inches="tight")
    write_whole(path, picture.getvalue())


def _suffix(path: str) -> str:
    """What a picture's name says of its format; without a word, PNG."""
    return Path(path).suffix.removeprefix(".").lower() or "png"


# Predictions as CSV, a line for each row, that no spreadsheet takes for formulas.


#: How formulas begin; what spreadsheets skip before one may stand there too.
_FORMULA = re.compile(r"[\s\ufeff\u200b]*[=+\-@]|[\t\r\n]")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
#: With this end of lines, the writer puts quotes around cells with either of its letters.
_QUOTED_END = "\r\n"


def csv_of(columns: Mapping[str, Any]) -> str:
    """Columns by name.

    Examples
    --------
    >>> print(csv_of({"row": [1, 2], "prediction": ["a", "=b"], "score": [0.5, None]}), end="")
    row,prediction,score
    1,a,0.5
    2,'=b,
    """
    out = _Lines()
    writer = csv.writer(out, lineterminator=_QUOTED_END)
    writer.writerow([escaped_formula(name) for name in columns])
    for cells in zip(*columns.values(), strict=True):
        writer.writerow(["" if cell is None or cell != cell else escaped_formula(cell) for cell in cells])
    return out.getvalue()


class _Lines(io.StringIO):
    """Lines that end as everywhere here."""

    def write(self, line: str) -> int:
        return super().write(line.removesuffix(_QUOTED_END) + "\n")


def escaped_formula(cell: Any) -> Any:
    """A cell that no spreadsheet takes for a formula: words that begin like one get an apostrophe in front.

    Examples
    --------
    >>> escaped_formula("=HYPERLINK(1)"), escaped_formula("-1"), escaped_formula("-1+1"), escaped_formula("plain")
    ("'=HYPERLINK(1)", '-1', "'-1+1", 'plain')
    """
    if isinstance(cell, (float, np.floating)):
        return repr(float(cell))
    if not isinstance(cell, str) or not _FORMULA.match(cell) or _NUMBER.fullmatch(cell):
        return cell
    return "'" + cell


STANDARD_OUTPUT = "-"
#: Rows that are shown on the screen.
_SHOWN = 15


@dataclass(frozen=True)
class Delivery:
    """Where predictions go: into a file, to the standard output (``"-"``) or, without an output, onto the screen.

    Columns of the input that are ``kept`` go along with them.
    """

    output: str | None
    kept: Mapping[str, list[Any]]
    printer: Printer

    def __post_init__(self) -> None:
        if self.output == STANDARD_OUTPUT and self.printer.json:
            raise click.UsageError("--json and -o - both write to the standard output; leave one of them out.")
        if self.output == STANDARD_OUTPUT and standard_output_is_closed():
            raise DataError("the standard output is closed, so that -o - has no reader; open it, or name a file.")

    @property
    def to_stderr(self) -> Printer:
        """The printer for all other results: the standard output may be taken."""
        return replace(self.printer, to_stderr=self.output == STANDARD_OUTPUT)

    def give(
        self, table: Table, columns: Mapping[str, Any], shown: Mapping[str, Any], seen: TrainedRowsFound | None
    ) -> dict[str, Any]:
        """Write all columns, or show those that a screen has room for; what a result in JSON says about it.

        Where rows are among those that the model was trained on, a column tells which.
        """
        places = _places(table)
        if table.named_by in self.kept and table.named_by == _called(table):
            del places[table.named_by]  # it is kept as it is written
        if seen is not None and seen.trained.any():
            known = {"trained on": seen.column}
            columns, shown = {**columns, **known}, {**shown, **known}
        taken = {*places, *columns}
        own = {f"input {name}" if name in taken else name: cells for name, cells in self.kept.items()}
        whole: dict[str, Any] = {**places, **own, **columns}
        if self.output is None:
            self._show(table, {**own, **shown})
            return {"predictions": [dict(zip(whole, cells, strict=True)) for cells in _rows(whole)]}
        text = csv_of(whole)
        if self.output == STANDARD_OUTPUT:
            sys.stdout.buffer.write(text.encode(errors="replace"))
            sys.stdout.buffer.flush()
        else:
            write_whole(self.output, text)
        return {"output": self.output}

    def _show(self, table: Table, columns: Mapping[str, Any]) -> None:
        if self.printer.json:
            return
        count = min(_SHOWN, table.n_rows)
        names = [] if table.names is None else [f"<{_called(table)}"]
        rows = []
        for row, cells in zip(range(count), _rows(columns), strict=False):
            called = [] if table.names is None else [table.names[row]]
            rows.append([table.where(row), *called, *map(_in_few_digits, cells)])
        if table.n_rows > count:
            title = f"predictions, the first {count} of {table.n_rows:,} {table.kind} (-o FILE.csv writes all of them)"
        else:
            title = "predictions"
        heads = [f"<{name}" if _are_words(cells) else name for name, cells in columns.items()]
        self.printer.table(["<where", *names, *heads], rows, title)


def _places(table: Table) -> dict[str, Any]:
    """The number of each row, its line in the file and its name, where it has them."""
    found: dict[str, Any] = {"row": range(1, table.n_rows + 1)}
    if isinstance(table.lines, np.ndarray):
        found["line"] = table.lines
    elif table.lines is not None:  # rows of a sheet, lines of several files
        found["where"] = [table.where(row) for row in range(table.n_rows)]
    if table.names is not None:
        found[_called(table)] = table.names
    return found


def _called(table: Table) -> str:
    """The name of the column of names: that of the input, where it is none of the other columns that are written."""
    taken = ("row", "line", "where", "prediction", "score", "margin", "target", "residual", "low", "high", "wrong")
    return "name" if table.named_by is None or table.named_by in taken else table.named_by


def _rows(columns: Mapping[str, Any]) -> Any:
    values = [cells.tolist() if hasattr(cells, "tolist") else cells for cells in columns.values()]
    return zip(*values, strict=True)


def _are_words(cells: Any) -> bool:
    return any(isinstance(cell, str) and cell for cell in cells[:_SHOWN])


def _in_few_digits(cell: Any) -> str:
    if cell is None or cell != cell:
        return ""
    return f"{cell:.5g}" if isinstance(cell, float) else str(cell)


# Columns of the input that go through to the predictions as they are written in the file.


#: The word for all columns.
ALL = "all"


def kept_columns(data: Places, table: Table, keep: tuple[str, ...], reading: dict[str, Any]) -> dict[str, list[Any]]:
    """Columns as texts, also those that a model does not use; ``"all"`` stands for all of them.

    The file is read once more, all of these columns as words, so that ``007`` stays ``007``.
    """
    if not keep:
        return {}
    if table.frame is None:
        raise DataError(f"--keep is for columns of a table, and {table.name} has none; leave it out.")
    names = {*table.columns, *keep}
    if ALL in keep:
        found = _whole(data, reading, {})
        names |= {*found.columns, *found.left_out}
    whole = _whole(data, reading, dict.fromkeys(names - {ALL}, "category"))
    wanted = whole.columns if ALL in keep else list(dict.fromkeys(keep))
    for name in wanted:
        if name not in whole.columns:
            there = [*whole.columns, *whole.left_out]
            near = nearest(name, there)
            hint = f"the columns are {enumeration(map(repr, there))}." if near is None else f"did you mean {near!r}?"
            raise DataError(f"{table.name} has no column {name!r} to keep; {hint}")
    return {name: ["" if cell != cell else cell for cell in whole.X[name].tolist()] for name in wanted}


def _whole(data: Places, reading: dict[str, Any], kinds: dict[str, str]) -> Table:
    """The whole table, its target as a column like the others."""
    if "-" in ([data] if isinstance(data, str) else data):
        sys.stdin.buffer.seek(0)
    as_it_is = {"target": None, "labelled": False, "unlabelled_rows": "keep", "drop": (), "task": None, "kinds": kinds}
    return read(data, **{**reading, **as_it_is})


@contextmanager
def read_twice(data: Places, keep: tuple[str, ...], max_bytes: int | str) -> Iterator[None]:
    """Hold what stands on the standard input, where it is read and columns of it are kept."""
    if not keep or "-" not in ([data] if isinstance(data, str) else data):
        yield
        return
    given = sys.stdin
    sys.stdin = io.TextIOWrapper(io.BytesIO(given.buffer.read(bytes_of(max_bytes) + 1)))
    try:
        yield
    finally:
        sys.stdin = given
