"""What was decided about columns, in plain sentences, each with the way to decide otherwise."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .._validation.wording import enumeration
from .text_units import text_units, words_each

__all__ = ["in_words"]

#: Columns that are named in one sentence.
_NAMED = 6
_COMPARED = {
    "characters": "letter by letter",
    "words": "by their words",
    "both": "by their words and letter by letter",
}


def in_words(found: Mapping[str, Any], asked: Mapping[str, str]) -> list[str]:
    """A sentence for each kind of decision that is not plain."""
    judged = {name: column for name, column in found.items() if name not in asked}
    said = [*_left_out(judged), *_signed(judged)]
    for name, column in found.items():
        if column.kind == "date":
            said += _dates(name, column, name in asked)
    for name, column in judged.items():
        if column.kind == "text":
            said.append(_text(name, column.values))
    return said


def _left_out(judged: Mapping[str, Any]) -> list[str]:
    gone = {name: column for name, column in judged.items() if column.kind == "ignore"}
    if not gone:
        return []
    because = enumeration((f"{name!r} ({column.why})" for name, column in gone.items()), _NAMED)
    name = next(iter(gone))
    kind = "number" if getattr(gone[name].values, "dtype", None) == "float64" else "category"
    back = "brings it back" if len(gone) == 1 else "brings one back"
    return [f"Left out: {because}; --as {_quoted(name)}={kind} {back}."]


def _signed(judged: Mapping[str, Any]) -> list[str]:
    signed = {name: column for name, column in judged.items() if column.kind == "number" and column.detail}
    if not signed:
        return []
    read = enumeration((f"{name!r} ({column.detail})" for name, column in signed.items()), _NAMED)
    first = next(iter(signed))
    return [f"Read as numbers without what stands around them: {read}; --as {_quoted(first)}=category keeps the words."]


def _dates(name: str, column: Any, asked: bool) -> list[str]:
    if asked and not column.or_else:
        return []
    few = f" ({column.detail})" if column.detail else ""
    if column.or_else:
        first, other = ("the month", "the day") if column.form.startswith("%m") else ("the day", "the month")
        return [
            f"{name!r} holds dates{few}; {first} is taken to come first, as nothing says that {other} does; "
            f"--as {_quoted(name)}=date:{column.or_else} says otherwise."
        ]
    return [
        f"{name!r} holds dates{few}; learned as days since the first one, with season, weekday and hour where they "
        f"vary; --as {_quoted(name)}=category keeps the words."
    ]


def _text(name: str, values: Any) -> str:
    texts = [text for text in values if text]
    length = words_each(texts)
    how = _COMPARED[text_units(texts)]
    otherwise = f"--as {_quoted(name)}=category or =ignore says otherwise."
    if length < 4:
        return f"{name!r} holds names or other words that hardly come again; compared {how}; {otherwise}"
    return f"{name!r} is free text (about {length:,.0f} words each); compared {how}; {otherwise}"


def _quoted(name: str) -> str:
    """A name as people write it in a shell."""
    return name if name.replace("_", "").isalnum() else f"{name!r}"
