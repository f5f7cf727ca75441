"""The sections of the page. Each is one function of the facts, registered where it is written.

Examples
--------
>>> from mercer.report.sections import SECTIONS, section
>>> @section("greeting", "A greeting", place=95)
... def greeting(facts):
...     return [f"Hello, {facts['data']['name']}."]
>>> SECTIONS["greeting"].render({"data": {"name": "<iris>"}})
'<section id="greeting" aria-label="A greeting"><h2>A greeting</h2>Hello, &lt;iris&gt;.</section>'
>>> del SECTIONS["greeting"]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .._presentation.html import Markup, tag

Facts = dict[str, Any]
#: What a section shows of the facts; ``None`` where they give it nothing to show.
Body = Callable[[Facts], Sequence[Any] | None]


@dataclass(frozen=True)
class Section:
    """A part of the page.

    Attributes
    ----------
    name : str
        Its address on the page.
    title : str
        Its heading.
    place : int
        Sections come in the order of their places.
    contents : str
        What the table of contents calls it.
    body : callable
    task : {"classify", "regress"} or None
        Of which studies it is a part; ``None``: of all.
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
    """Make a function of the facts a section of the page and an entry of its table of contents.

    Parameters
    ----------
    name, title : str
    place : int
    contents : str, optional
        A shorter title for the table of contents.
    task : {"classify", "regress"}, optional
        Of which studies it is a part, by default of all.
    """
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
