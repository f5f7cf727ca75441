"""Columns of Python values, as workbooks, JSON files and databases hold them: numbers, dates or words."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
import pandas as pd

from ..runtime.arrays import Array
from .cells import MISSING, as_number, missing_words
from .sources import refuse_few_mistakes
from .table import DataError, Options

Place = Callable[[int], str]


def raw_column(name: str, values: Sequence[Any], place: Place, options: Options) -> tuple[Any, bool]:
    """A column of numbers, dates or words, and whether some of the words are numbers.

    ``place`` says where a value stands, for messages, such as ``"'a.xlsx', sheet 'B', row 3"``.

    Examples
    --------
    >>> from mercer.io.table import Options
    >>> raw_column("a", [1, None, "2.5"], str, Options())[0].tolist()
    [1.0, nan, 2.5]
    >>> raw_column("a", ["x", "n/a"], str, Options())[0].tolist()
    ['x', nan]
    """
    missing = missing_words(options)
    present = [(row, value) for row, value in enumerate(values) if not is_missing(value, missing)]
    for row, value in present:
        if not isinstance(value, (str, Real, Decimal, datetime.date, datetime.time)):
            raise DataError(
                f"{place(row)}, column {name!r}: {shortened(value)} is neither a number nor a word; write one value in "
                f"each cell, or leave the column out (--drop {name!r})."
            )
    kind = options.kinds.get(name)
    if (
        present
        and all(isinstance(value, datetime.date) for _, value in present)
        and (kind or "date").startswith("date")
    ):
        return as_dates(name, present, len(values), place), False
    if kind not in (None, "number", "keep"):
        return as_words(present, len(values)), False
    numbers, wrong = _as_numbers(present, len(values), codes=kind in (None, "keep"))
    if not wrong:
        refuse_infinite(name, numbers, place)
        return numbers, False
    right = len(present) - len(wrong)
    _refuse_mistakes(name, wrong, right, place, options)
    return as_words(present, len(values)), right > 0


def is_missing(value: Any, missing: frozenset[str] = MISSING) -> bool:
    """Whether a value is no value: ``None``, NaN and their like, or a word that means it."""
    if value is None:
        return True
    if isinstance(value, str):
        return value.strip().lower() in missing
    if isinstance(value, (float, Decimal, np.floating)):
        return bool(value != value)
    return type(value).__name__ in ("NAType", "NaTType")


def text_of(value: Any) -> str:
    """A value as a word: whole numbers without a fraction, dates as the standard writes them.

    Examples
    --------
    >>> text_of(2.0), text_of(2.5), text_of(" red "), text_of(datetime.date(2024, 2, 29))
    ('2', '2.5', 'red', '2024-02-29')
    """
    if isinstance(value, str):
        return value.strip()
    if isinstance(value, datetime.datetime):
        return value.isoformat(sep=" ").removesuffix(" 00:00:00")
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return str(value)


def as_words(present: list[tuple[int, Any]], count: int) -> Any:
    """A Categorical of the words in some rows, sorted; the other rows are missing."""
    texts = np.full(count, None, dtype=object)
    for row, value in present:
        texts[row] = text_of(value)
    words = np.array(sorted({text_of(value) for _, value in present}), dtype=object)
    return pd.Categorical(texts, categories=words)


def as_dates(name: str, present: list[tuple[int, Any]], count: int, place: Place) -> Array:
    """Dates as datetime64[ns]; those with a time zone in UTC."""
    found = np.full(count, "NaT", dtype="datetime64[ns]")
    for row, value in present:
        try:
            moment = pd.Timestamp(value)
            if moment.tzinfo is not None:
                moment = moment.tz_convert(None)
            found[row] = moment.as_unit("ns").to_datetime64()
        except (ValueError, OverflowError):
            raise DataError(
                f"{place(row)}, column {name!r}: the date {value} lies outside the years 1678 to 2261; correct it or "
                "empty the cell."
            ) from None
    return found


def refuse_infinite(name: str, numbers: Array, place: Place) -> None:
    """No learner can do anything with infinity."""
    wrong = np.flatnonzero(np.isinf(numbers))
    if wrong.size:
        raise DataError(
            f"{place(int(wrong[0]))}, column {name!r}: the number {numbers[wrong[0]]} is not finite; correct it or "
            "empty the cell."
        )


def shortened(value: Any) -> str:
    """A value as messages show it."""
    text = " ".join(str(value)[:200].split())
    return text if len(text) <= 40 else f"{text[:40]}…"


def _as_numbers(present: list[tuple[int, Any]], count: int, codes: bool) -> tuple[Array, list[tuple[int, Any]]]:
    """The numbers, and the values that are none; where ``codes``, a text such as 007 is a code and no number."""
    numbers, wrong = np.full(count, np.nan), []
    for row, value in present:
        try:
            if isinstance(value, datetime.date | datetime.time):
                raise ValueError
            if isinstance(value, str):
                text = value.strip()
                if codes and len(text) > 1 and text.isdigit() and text[0] == "0":
                    raise ValueError
                numbers[row] = as_number(text)
            else:
                numbers[row] = float(value)
        except ValueError:
            wrong.append((row, value))
        except OverflowError:  # a whole number of more than 308 digits
            numbers[row] = np.inf
    return numbers, wrong


def _refuse_mistakes(name: str, wrong: list[tuple[int, Any]], right: int, place: Place, options: Options) -> None:
    """Raise where a column is one of numbers but for some mistakes, rather than one of categories."""
    row, value = wrong[0]
    if options.kinds.get(name) == "number":
        raise DataError(f"{place(row)}, column {name!r}: {shortened(value)!r} is not a number.")
    refuse_few_mistakes(place(row), name, shortened(value), len(wrong), right)
