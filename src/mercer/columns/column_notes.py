"""What was decided about columns, in plain sentences, each with the way to decide otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._validation.guide import guide
from .._validation.wording import enumeration
from .column_names import says_identifier, says_someone, says_time
from .text_units import are_molecules, text_units, words_each

__all__ = ["in_words", "quoted"]

#: Columns that are named in one sentence.
_NAMED = 6
#: People or things from which on they can be told from categories.
_FEWEST = 5
#: Rows whose time differs from that of the row before, and the share of these that go the same way in sorted rows.
_STEPS, _SORTED = 20, 0.98
_COMPARED = {
    "characters": "letter by letter",
    "words": "by its words",
    "both": "by its words and letter by letter",
}


def in_words(found: Mapping[str, Any], asked: Mapping[str, str]) -> list[str]:
    """A sentence for each kind of decision that is not plain."""
    judged = {name: column for name, column in found.items() if name not in asked}
    dated = {name: column for name, column in found.items() if column.kind == "date"}
    doubtful = {name: column for name, column in dated.items() if column.or_else}
    plain = {name: column for name, column in dated.items() if name in judged and name not in doubtful}
    texts = {name: column for name, column in judged.items() if column.kind == "text"}
    return [
        *_left_out(judged),
        *_signed(judged),
        *_dates(plain),
        *(_day_or_month(name, column) for name, column in doubtful.items()),
        *(_text(name, column.values) for name, column in texts.items()),
        *_several_rows_each(judged),
        *_in_order(judged),
    ]


def _left_out(judged: Mapping[str, Any]) -> list[str]:
    gone = {name: column for name, column in judged.items() if column.kind == "ignore"}
    if not gone:
        return []
    because = enumeration((f"{name!r} ({column.why})" for name, column in gone.items()), _NAMED)
    name = next(iter(gone))
    kind = "number" if getattr(gone[name].values, "dtype", None) == "float64" else "category"
    back = "brings it back" if len(gone) == 1 else "brings one back"
    return [f"Left out: {because}; --as {quoted(name)}={kind} {back}."]


def _signed(judged: Mapping[str, Any]) -> list[str]:
    signed = {name: column for name, column in judged.items() if column.kind == "number" and column.detail}
    if not signed:
        return []
    read = enumeration((f"{name!r} ({column.detail})" for name, column in signed.items()), _NAMED)
    first = next(iter(signed))
    return [f"Read as numbers without what stands around them: {read}; --as {quoted(first)}=category keeps the words."]


def _dates(dated: Mapping[str, Any]) -> list[str]:
    if not dated:
        return []
    named = enumeration((f"{name!r}{_few(column)}" for name, column in dated.items()), _NAMED)
    return [
        f"{named} {'holds' if len(dated) == 1 else 'hold'} dates; learned as days since the first one, with season, "
        f"weekday and hour where they vary; --as {quoted(next(iter(dated)))}=category keeps the words."
    ]


def _day_or_month(name: str, column: Any) -> str:
    first = "month" if column.form.startswith("%m") else "day"
    return (
        f"{name!r}{_few(column)} holds dates; the {first} is taken to come first, though the values do not tell; "
        f"--as {quoted(name)}=date:{column.or_else} says otherwise."
    )


def _few(column: Any) -> str:
    return f" ({column.detail})" if column.detail else ""


def _several_rows_each(judged: Mapping[str, Any]) -> list[str]:
    """Columns of people or things that stand in several rows: a model may know them by their other rows."""
    said = []
    for name, column in judged.items():
        if column.kind == "ignore" or not (says_someone(name) or says_identifier(name)):
            continue
        rows, different = len(column.values), _different(column.values)
        if _FEWEST <= different <= rows / 2:
            said.append(
                f"{name!r} has {different:,} values in {rows:,} rows; if rows of one belong together, compare and tune "
                f"with --group {quoted(name)}, or the errors are too good {guide('leakage')}."
            )
    return said


def _in_order(judged: Mapping[str, Any]) -> list[str]:
    """The first column that tells the time and by which the rows are sorted, but for some of them."""
    for name, column in judged.items():
        if column.kind != "date" and not (column.kind == "number" and says_time(name)):
            continue
        times = np.asarray(column.values)
        times = times[~np.isnat(times)] if times.dtype.kind == "M" else times[~np.isnan(times)]
        steps = np.diff(times.astype(np.int64) if times.dtype.kind == "M" else times)
        moved = steps[steps != 0]
        if moved.size >= _STEPS and max(np.mean(moved > 0), np.mean(moved < 0)) >= _SORTED:
            return [
                f"The rows are in the order of {name!r}; if later ones are to be predicted from earlier ones, say so "
                f"with --time {quoted(name)}, or the errors are too good {guide('leakage')}."
            ]
    return []


def _different(values: Any) -> int:
    import pandas as pd

    return int(pd.Series(values).nunique())


def _text(name: str, values: Any) -> str:
    texts = [text for text in values if text]
    length = words_each(texts)
    how = _COMPARED[text_units(texts)]
    otherwise = f"--as {quoted(name)}=category or =ignore says otherwise."
    if are_molecules(texts):
        return f"{name!r} holds molecules (SMILES); compared letter by letter, capitals as they are; {otherwise}"
    if length < 4:
        return f"{name!r} holds names or other words that hardly come again; compared {how}; {otherwise}"
    return f"{name!r} is free text (about {length:,.0f} words each); compared {how}; {otherwise}"


def quoted(name: str) -> str:
    """A name as people write it in a shell."""
    return name if name.replace("_", "").isalnum() else f"{name!r}"
