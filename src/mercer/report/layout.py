"""Tables of the page, and other pieces that sections share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..presentation import Markup, tag


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
    others hold numbers. On a phone each row of a wide one is a block, with the head of a column beside each cell."""
    head = [_head(name, k < words or k in also_words, sortable) for k, name in enumerate(heads)]
    body = [
        tag(
            "tr",
            [_cell(value, k, words, head) for k, (head, value) in enumerate(zip(heads, row, strict=True))],
            class_="chosen" if n == marked else None,
        )
        for n, row in enumerate(rows)
    ]
    inside = tag("table", tag("thead", tag("tr", head)), tag("tbody", body), class_="sortable" if sortable else None,
                 aria_label=caption)  # fmt: skip
    box = tag("div", inside, class_="scroll", tabindex="0", role="region", aria_label=caption)
    wide = (sortable or words > 1) and len(heads) > _WIDE
    return tag("div", tag("p", caption, class_="caption"), box, class_="table wide" if wide else "table")


#: Columns that fit a phone beside each other.
_WIDE = 4


def _head(name: str, is_words: bool, sortable: bool) -> Markup:
    shown = tag("button", name, type="button") if sortable else name
    return tag("th", shown, scope="col", class_=None if is_words else "n")


def _cell(value: Any, place: int, words: int, head: str) -> Markup:
    cell = value if isinstance(value, Cell) else Cell(value)
    look = " ".join(part for part in ("n" if place >= words else "", cell.look or "") if part) or None
    element, scope = ("th", "row") if place == 0 else ("td", None)
    facts = {"data_key": cell.key, "data_tip": cell.tip, "data_head": head if place else None}
    return tag(element, cell.shown, scope=scope, class_=look, **facts)


def figure(picture: Markup | None, caption: Any = None, look: str | None = None) -> Markup | None:
    """A picture with its caption."""
    if picture is None:
        return None
    return tag("figure", picture, tag("figcaption", caption) if caption else None, class_=look)


def paragraphs(sentences: Sequence[Any]) -> list[Markup]:
    """A paragraph for each sentence."""
    return [tag("p", sentence) for sentence in sentences]


def bullets(items: Sequence[Any]) -> Markup | None:
    """A list, or nothing where it is empty."""
    return tag("ul", [tag("li", item) for item in items]) if items else None


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


# The sections of the page. Each is one function of the facts, registered where it is written.


Facts = dict[str, Any]
#: What a section shows of the facts; ``None`` where they give it nothing to show.
Body = Callable[[Facts], Sequence[Any] | None]


@dataclass(frozen=True)
class Section:
    """A part of the page: its address there, its heading, and what the table of contents calls it.

    Sections come in the order of their places. One with a task belongs to studies of that task alone.
    """

    name: str
    title: str
    place: int
    contents: str
    body: Body
    task: str | None = None

    def render(self, facts: Facts) -> Markup | None:
        """The section as HTML, or nothing where there is nothing to show."""
        children = self.body(facts)
        if children is None:
            return None
        return tag("section", tag("h2", self.title), *children, id=self.name, aria_label=self.title)


#: All sections by name; those of one task have it before the name.
SECTIONS: dict[str, Section] = {}


def section(
    name: str, title: str, *, place: int, contents: str | None = None, task: str | None = None
) -> Callable[[Body], Body]:
    """Make a function of the facts a section of the page and an entry of its table of contents."""
    key = f"{task} {name}" if task else name
    if key in SECTIONS:
        raise ValueError(f"the page has a section {name!r} already; choose another name.")

    def register(body: Body) -> Body:
        SECTIONS[key] = Section(name, title, place, contents or title, body, task)
        return body

    return register


def rendered(facts: Facts) -> dict[Section, Markup]:
    """The sections that have something to show, in their order."""
    task = facts.get("task", "classify")
    here = [one for one in SECTIONS.values() if one.task in (None, task)]
    ordered = sorted(here, key=lambda one: one.place)
    shown = {one: one.render(facts) for one in ordered}
    return {one: body for one, body in shown.items() if body is not None}
