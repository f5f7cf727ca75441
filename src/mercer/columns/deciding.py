"""Which kind each column is of, and the column as that kind is kept: the one rule for all files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .._runtime.compile import Array
from .column_names import says_identifier, says_time
from .column_notes import in_words, quoted
from .date_formats import dates, parsed
from .signed_numbers import signed_either_way
from .text_units import sampled
from .word_columns import kind_of_words

__all__ = ["KINDS", "Column", "Decided", "check_kind", "decide"]

#: What a column may be asked to be; "keep" is as it looks but never left out, "ignore" and "id" leave it out.
KINDS = ("number", "category", "date", "text", "keep", "ignore", "id")
#: Rows from which on a column tells its kind by its values: fewer may be alike, or all different, by chance.
_ENOUGH = 10
#: Rows from which on a column that counts them is no chance.
_COUNTED = 20
#: The share of cells from which on the others are mistakes.
_NEARLY_ALL = 0.95


@dataclass(frozen=True)
class Column:
    """A column as it is kept: float64, Categorical, datetime64[ns] or texts; and what is worth a note."""

    kind: str
    values: Any
    why: str = ""
    detail: str = ""
    form: str | None = None
    or_else: str | None = None


@dataclass(frozen=True)
class Decided:
    """The columns that stay, the kind of each, why others were left out, and what to say about it.

    ``forms`` are the kinds that say how dates are written, to be asked for where other files of the same kind are read.
    """

    columns: dict[str, Any]
    kinds: dict[str, str]
    left_out: dict[str, str]
    notes: list[str]
    forms: dict[str, str] = field(default_factory=dict)


def check_kind(kind: str) -> bool:
    """Whether this names a kind; dates may say how they are written, as in ``date:%d.%m.%Y``."""
    return kind in KINDS or (kind.startswith("date:") and len(kind) > len("date:"))


def decide(columns: Mapping[str, Any], asked: Mapping[str, str] | None = None, decimal: str = ".") -> Decided:
    """Decide what each column holds.

    Parameters
    ----------
    columns : mapping
        Arrays of numbers, of ``datetime64``, or pandas Categoricals of words.
    asked : mapping, optional
        The kinds of some columns, as people or models say them; these are not judged.
    decimal : {".", ","}
        The decimal sign of numbers with something around them.

    Returns
    -------
    Decided

    Raises
    ------
    ValueError
        Where a column cannot be of the kind that was asked for.
    """
    asked = asked or {}
    found = {
        name: _as_asked(name, values, asked[name], decimal) if name in asked else _judged(name, values, decimal)
        for name, values in columns.items()
    }
    if found and not any(column.kind != "ignore" for column in found.values()):
        found |= _brought_back(columns, asked, found)
    stay = {name: column for name, column in found.items() if column.kind != "ignore"}
    return Decided(
        {name: column.values for name, column in stay.items()},
        {name: column.kind for name, column in stay.items()},
        {name: column.why for name, column in found.items() if column.kind == "ignore"},
        in_words(found, asked),
        {name: f"date:{column.form}" for name, column in stay.items() if column.form},
    )


# -- as they look -------------------------------------------------------------------------------------------------


def _judged(name: str, values: Any, decimal: str) -> Column:
    if not hasattr(values, "codes"):
        values = np.asarray(values)
        why = _says_nothing(name, values)
        kind = "ignore" if why else "date" if values.dtype.kind == "M" else "number"
        kept = "datetime64[ns]" if values.dtype.kind == "M" else np.float64
        return Column(kind, values.astype(kept, copy=False), why)
    words, counts = _words_of(values)
    if not counts.size or (counts.size == 1 and counts[0] == len(values) >= _ENOUGH):
        return Column("ignore", values, "only one value" if counts.size else "no values")
    written = dates(words, counts)
    if written is not None:
        column = _dated(values, written.values, written.form, written.or_else)
        why = _says_nothing(name, column.values)
        return Column("ignore", column.values, why) if why else column
    signed = signed_either_way(words, decimal)
    if signed is not None:
        numbers = _spread_out(values, signed.values)
        why = _says_nothing(name, numbers)
        return Column("ignore" if why else "number", numbers, why, detail=f"{words[0]!r} as {signed.values[0]:g}")
    _refuse_few_odd_words(name, words, counts, decimal)
    kind, why = kind_of_words(name, words, counts)
    return Column(kind, _texts(values) if kind == "text" else values, why)


def _refuse_few_odd_words(name: str, words: list[str], counts: Array, decimal: str) -> None:
    """Raise where nearly all cells of a column are numbers with something around them: the others are mistakes."""
    some = sampled(words)
    if counts.sum() < _COUNTED or sum(_is_number(word, decimal) for word in some) < _NEARLY_ALL * len(some):
        return
    right = np.array([_is_number(word, decimal) for word in words])
    numbers = [word for word, good in zip(words, right, strict=True) if good]
    odd = int(counts[~right].sum())
    if odd > (1 - _NEARLY_ALL) * counts.sum() or signed_either_way(numbers, decimal) is None:
        return
    word = words[int(np.flatnonzero(~right)[0])][:40]
    rows = "1 cell" if odd == 1 else f"{odd} cells"
    raise ValueError(
        f"column {name!r}: {word!r} is not a number, but all except {rows} are, such as {numbers[0]!r}; correct it, "
        f"name it as a word for missing (--missing {quoted(word)}), or read the column as categories "
        f"(--as {quoted(name)}=category)"
    )


def _is_number(word: str, decimal: str) -> bool:
    return signed_either_way([word], decimal) is not None


def _says_nothing(name: str, values: Array) -> str:
    """Why a column of numbers or dates is left out; nothing where it stays."""
    missing = np.isnat(values) if values.dtype.kind == "M" else np.isnan(values)
    if missing.all():
        return "no values"
    if missing.any() or values.size < _ENOUGH:
        return ""  # one value and gaps are two things
    if (values == values[0]).all():
        return "only one value"
    if values.dtype.kind == "M" or (values != np.floor(values)).any():
        return ""
    counts_up = values[0] in (0, 1) and bool((np.diff(values) == 1).all())
    if counts_up and values.size >= _COUNTED and not says_time(name):
        return "a number for each row"
    if says_identifier(name) and np.unique(values).size == values.size:
        return "a number for each row"
    return ""


# -- as people say ------------------------------------------------------------------------------------------------


def _as_asked(name: str, values: Any, kind: str, decimal: str) -> Column:
    kind, _, form = kind.partition(":")
    if kind in ("ignore", "id"):
        return Column("ignore", values, "as asked")
    if kind == "keep":
        column = _judged(name, values, decimal)
        return column if column.kind != "ignore" else _kept(values, column)
    if kind == "number":
        return Column("number", _numbers(name, values, decimal))
    if kind == "date":
        return _asked_date(name, values, form)
    words = values if hasattr(values, "codes") else _categories(values)
    return Column(kind, _texts(words) if kind == "text" else words)


def _numbers(name: str, values: Any, decimal: str) -> Array:
    if not hasattr(values, "codes"):
        values = np.asarray(values)
        if values.dtype.kind == "M":  # days
            days = (values - np.datetime64(0, "s")) / np.timedelta64(1, "D")
            return np.where(np.isnat(values), np.nan, days)
        return values.astype(np.float64)
    words, _ = _words_of(values)
    signed = signed_either_way(words, decimal)
    if signed is None:
        strange = next((word for word in words if signed_either_way([word], decimal) is None), words[-1])
        raise ValueError(
            f"column {name!r}: {strange[:40]!r} is not a number; correct it, or name it as a word for missing "
            f"(--missing {quoted(strange[:40])})"
        )
    return _spread_out(values, signed.values)


def _asked_date(name: str, values: Any, form: str) -> Column:
    if not hasattr(values, "codes"):
        values = np.asarray(values)
        if values.dtype.kind == "M":
            return Column("date", values.astype("datetime64[ns]"))
        values = _categories(values)
    words, counts = _words_of(values)
    if form:
        try:
            read = parsed(words, form)
        except ValueError as error:
            raise ValueError(f"column {name!r}: {form!r} is no form of dates ({error})") from None
        if counts.size and counts[~np.isnat(read)].sum() == 0:
            raise ValueError(f"column {name!r}: {words[0][:40]!r} is no date of the form {form!r}")
        return _dated(values, read, form)
    written = dates(words, counts)
    if written is None:
        raise ValueError(
            f"column {name!r} holds no dates in one form that is known, such as {words[0][:40] if words else ''!r}; "
            f"say how they are written, as in --as {name}=date:%d.%m.%Y"
        )
    return _dated(values, written.values, written.form, written.or_else)


# -- from words to values -----------------------------------------------------------------------------------------


def _words_of(values: Any) -> tuple[list[str], Array]:
    """The different words that occur in a column, and in how many rows each does."""
    counts = np.bincount(values.codes[values.codes >= 0], minlength=len(values.categories))
    used = np.flatnonzero(counts)
    return [str(word) for word in np.asarray(values.categories, dtype=object)[used]], counts[used]


def _spread_out(values: Any, by_word: Array) -> Array:
    """A value for each row from one for each word that occurs."""
    counts = np.bincount(values.codes[values.codes >= 0], minlength=len(values.categories))
    nothing = np.array(["NaT"], "datetime64[ns]") if by_word.dtype.kind == "M" else np.array([np.nan])
    of_category = np.repeat(nothing, counts.size + 1)
    of_category[np.flatnonzero(counts)] = by_word
    return of_category[values.codes]


def _dated(values: Any, by_word: Array, form: str, or_else: str | None = None) -> Column:
    days = _spread_out(values, by_word)
    present = values.codes >= 0
    lost = int((np.isnat(days) & present).sum())
    detail = f"{lost} of {int(present.sum())} cells are none and count as missing" if lost else ""
    return Column("date", days, detail=detail, form=form, or_else=or_else)


def _texts(values: Any) -> Array:
    words = np.array([*values.categories, None], dtype=object)
    return words[values.codes]


def _categories(values: Any) -> Any:
    import pandas as pd

    values = np.asarray(values)
    if values.dtype.kind == "f":
        words = [None if value != value else str(int(value)) if value == int(value) else repr(value)
                 for value in values.tolist()]  # fmt: skip
    elif values.dtype.kind == "M":
        words = [None if np.isnat(value) else str(value) for value in values.astype("datetime64[s]")]
    else:
        words = [None if value is None or value != value else str(value) for value in values.tolist()]
    return pd.Categorical(words)


def _brought_back(
    columns: Mapping[str, Any], asked: Mapping[str, str], found: Mapping[str, Column]
) -> dict[str, Column]:
    """Where nothing would be left, the columns that say most of what was to be left out: those with several values."""
    for unlike in ("only one value", "no values"):
        kept = {}
        for name, column in found.items():
            if name in asked or column.why in ("no values", unlike):
                continue
            kept[name] = _kept(columns[name], column)
        if kept:
            return kept
    return {}


def _kept(values: Any, column: Column) -> Column:
    """A column that would be left out, as it looks."""
    if not hasattr(column.values, "codes"):  # numbers and dates, also those that were written as words
        return Column("date" if np.asarray(column.values).dtype.kind == "M" else "number", column.values)
    several = column.why not in ("only one value", "no values")
    return Column("text", _texts(values)) if several else Column("category", values)
