"""Tables of the page, and other pieces that sections share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .._presentation.html import Markup, tag


@dataclass(frozen=True)
class Cell:
    """What a cell shows, what it is sorted by, and how it looks."""

    shown: Any
    key: float | str | None = None
    look: str | None = None
    tip: str | None = None


def table(
    heads: Sequence[str],
    rows: Sequence[Sequence[Any]],
    *,
    caption: str,
    words: int = 1,
    sortable: bool = True,
    marked: int | None = None,
    also_words: Sequence[int] = (),
) -> Markup:
    """A table in a box that scrolls by itself. The first ``words`` columns are text, and ``also_words`` by number; the
    others hold numbers."""
    head = [_head(name, k < words or k in also_words, sortable) for k, name in enumerate(heads)]
    body = [
        tag("tr", [_cell(value, k, words) for k, value in enumerate(row)], class_="chosen" if n == marked else None)
        for n, row in enumerate(rows)
    ]
    inside = tag("table", tag("thead", tag("tr", head)), tag("tbody", body), class_="sortable" if sortable else None,
                 aria_label=caption)  # fmt: skip
    box = tag("div", inside, class_="scroll", tabindex="0", role="region", aria_label=caption)
    return tag("div", tag("p", caption, class_="caption"), box, class_="table")


def _head(name: str, is_words: bool, sortable: bool) -> Markup:
    shown = tag("button", name, type="button") if sortable else name
    return tag("th", shown, scope="col", class_=None if is_words else "n")


def _cell(value: Any, place: int, words: int) -> Markup:
    cell = value if isinstance(value, Cell) else Cell(value)
    look = " ".join(part for part in ("n" if place >= words else "", cell.look or "") if part) or None
    element, scope = ("th", "row") if place == 0 else ("td", None)
    return tag(element, cell.shown, scope=scope, class_=look, data_key=cell.key, data_tip=cell.tip)


def figure(picture: Markup | None, caption: Any = None, look: str | None = None) -> Markup | None:
    """A picture with its caption."""
    if picture is None:
        return None
    return tag("figure", picture, tag("figcaption", caption) if caption else None, class_=look)


def paragraphs(sentences: Sequence[Any], look: str | None = None) -> list[Markup]:
    """A paragraph for each sentence."""
    return [tag("p", sentence, class_=look) for sentence in sentences]


def bullets(items: Sequence[Any]) -> Markup | None:
    """A list, or nothing where it is empty."""
    return tag("ul", [tag("li", item) for item in items]) if items else None


def count(number: int, one: str, many: str | None = None) -> str:
    """A number of things, in words.

    Examples
    --------
    >>> count(1, "row"), count(12000, "row"), count(2, "class", "classes")
    ('1 row', '12\\u202f000 rows', '2 classes')
    """
    return f"{grouped(number)} {one if number == 1 else many or one + 's'}"


def grouped(number: int) -> str:
    """A whole number with thin spaces between thousands.

    Examples
    --------
    >>> grouped(1234567)
    '1\\u202f234\\u202f567'
    """
    return f"{number:,}".replace(",", "\u202f")


def seconds(value: float) -> str:
    """A time a person can read.

    Examples
    --------
    >>> seconds(0.0123), seconds(4.2), seconds(75.0)
    ('12 ms', '4.2 s', '75 s')
    """
    if value < 0.0995:
        return f"{1000 * value:.2g} ms" if value < 0.00995 else f"{1000 * value:.0f} ms"
    return f"{value:.1f} s" if value < 9.95 else f"{value:.0f} s"
