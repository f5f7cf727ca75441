"""Functions by which an exported Python file reads CSV files as mercer does: their source is copied into the file."""

from __future__ import annotations

import csv
import io
import math
import sys

import numpy as np

from ..io.cells import MISSING as MISSING_CELLS

__all__ = ["CSV_PARTS", "MISSING_CELLS"]

#: Stand-ins for what a file says of its own.
COLUMNS: list[tuple[str, bool]] = []
CLASSES: list[str] = []


def read_csv(path):
    """The COLUMNS of a CSV file by name: texts where they hold words, else numbers; gaps are None and NaN."""
    try:
        with open(path, newline="", encoding="utf-8-sig") as file:
            text = file.read()
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is no readable text in UTF-8: {error}") from None
    lines = cells_of(text, best_delimiter(text))
    if not lines:
        raise ValueError(f"{path} is empty")
    (_, head), *rows = lines
    absent = [name for name, _ in COLUMNS if name not in head]
    if absent:
        raise ValueError(f"{path}: the first line must name the columns, and it does not name {absent[0]!r}")
    for line, row in rows:
        if len(row) != len(head) and row[len(head) :] != [""]:
            raise ValueError(f"{path}, line {line}: the row has {len(row)} cells, and the first line {len(head)}")
    read = {}
    for name, words in COLUMNS:
        place = head.index(name)
        column = [(line, row[place]) for line, row in rows]
        read[name] = [word_in(text) if words else number_in(text, name, line) for line, text in column]
    return read


def best_delimiter(text):
    """The sign between cells by which the first line names most of the COLUMNS."""
    names = {name for name, _ in COLUMNS}
    return max(",\t;|", key=lambda sign: len(names.intersection(*[row for _, row in cells_of(text, sign)[:1]])))


def cells_of(text, delimiter):
    """The number of each line that is not empty, and its cells without the spaces around them."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, skipinitialspace=True)
    rows = ((reader.line_num, [cell.strip() for cell in row]) for row in reader)
    return [(line, row) for line, row in rows if any(row)]


def word_in(text):
    """The word in a cell; None where it says that nothing is there."""
    return None if text.lower() in MISSING_CELLS else text


def number_in(text, name, line):
    """The number in a cell; NaN where it says that nothing is there."""
    if text.lower() in MISSING_CELLS:
        return math.nan
    try:
        number = math.nan if "_" in text else float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        raise ValueError(f"line {line}: {text!r} in the column {name!r} is no finite number; write it like -1.5e3")
    return number


def named(what, values):
    """Columns by name: one, or one for each class or number."""
    values = np.asarray(values)
    if values.ndim == 1:
        return {what: values.tolist()}
    names = CLASSES or range(1, values.shape[1] + 1)
    return {f"{what} {name}": column.tolist() for name, column in zip(names, values.T)}


def plain(value):
    """A cell that no spreadsheet takes for a formula."""
    if not isinstance(value, str) or (value[:1] not in "\t\r\n" and value.lstrip()[:1] not in tuple("=+-@")):
        return value
    try:
        return value if math.isfinite(float(value)) and "_" not in value else "'" + value
    except ValueError:
        return "'" + value


def write_csv(columns):
    """Columns by name, to the standard output."""
    writer = csv.writer(sys.stdout, lineterminator="\r\n")  # cells with either of them are quoted
    writer.writerow([plain(name) for name in columns])
    writer.writerows([plain(value) for value in row] for row in zip(*columns.values()))
    sys.stdout.flush()


#: All of them, in the order in which files have them.
CSV_PARTS = (read_csv, best_delimiter, cells_of, word_in, number_in, named, plain, write_csv)
