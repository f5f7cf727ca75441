"""The page's parts about columns that are not numbers: how columns were read, and which words go with which class."""

from __future__ import annotations

from typing import Any

from .._presentation.html import Markup, tag
from . import figures
from .elements import Cell, bullets, count, grouped, table
from .figures_words import words_by_class
from .sections import Facts

#: A table of more columns than this is folded, and so many columns are pictured.
_OPEN, _PICTURED = 12, 12


def columns_as_read(data: Facts) -> list[Any]:
    """What each column was taken for and why, and which were left out; nothing where that is not known."""
    read, left_out = data.get("columns_read") or [], data.get("left_out") or []
    if not read and not left_out:
        return []
    rows = [[one["name"], one["kind"], Cell(one.get("why") or "", look="words wrap")] for one in read]
    whole = table(["column", "read as", "why"], rows, caption="How each column was read", words=3) if rows else None
    folded = tag("details", tag("summary", f"How {count(len(rows), 'column was', 'columns were')} read"), whole)
    return [
        tag("h3", "How the columns were read"),
        bullets([[tag("strong", one["name"]), f" was left out: {one['why']}"] for one in left_out]),
        whole if len(rows) <= _OPEN else folded,
    ]


def _telling(columns: list[Facts]) -> str:
    """Which words of texts are pictured; nothing where there are no texts."""
    return "; of texts the words that tell most" if any(column["kind"] == "texts" for column in columns) else ""


def pictured_words(data: Facts) -> Markup | None:
    """The commonest words of each column of words, and the most telling words of each text, by class."""
    columns = [column for column in data["described"] if any("by_class" in top for top in column.get("top", []))]
    if not columns:
        return None
    labels = [one["label"] for one in data["classes"]]
    shown = columns[:_PICTURED]
    pictures = [words_by_class(column, labels, f"words-{k}") for k, column in enumerate(shown)]
    left = f" The first {len(shown)} of {grouped(len(columns))} columns of words." if len(columns) > len(shown) else ""
    what = f"Rows with each word{', by class' if labels else ''}{_telling(columns)}. "
    return tag(
        "figure",
        tag("div", [tag("div", picture) for picture in pictures], class_="many wide"),
        tag("figcaption", what, figures.class_keys(labels), left),
    )
