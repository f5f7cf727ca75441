"""HTML in which text is text: whatever is not :class:`Markup` is escaped."""

from __future__ import annotations

from html import escape
from typing import Any

#: Elements without an end.
_VOID = {"meta", "br", "hr", "col", "input"}


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


def safe(child: Any) -> Markup:
    """A child of an element, escaped unless it is markup; lists one after another, ``None`` as nothing.

    Examples
    --------
    >>> safe(["<b>", Markup("<br>"), None, 3])
    '&lt;b&gt;<br>3'
    """
    if child is None:
        return Markup("")
    if isinstance(child, Markup):
        return child
    if isinstance(child, (list, tuple)):
        return Markup("".join(safe(one) for one in child))
    return Markup(escape(str(child)))


def tag(name: str, /, *children: Any, **attributes: Any) -> Markup:
    """An element. ``class_`` is ``class``, other underscores are hyphens; ``None`` and ``False`` leave one out.

    Examples
    --------
    >>> tag("td", "<script>", class_="n", data_value=3)
    '<td class="n" data-value="3">&lt;script&gt;</td>'
    """
    parts = []
    for key, value in attributes.items():
        if value is not None and value is not False:
            key = key.rstrip("_").replace("_", "-")
            parts.append(f" {key}" if value is True else f' {key}="{escape(str(value))}"')
    opening = f"<{name}{''.join(parts)}>"
    return Markup(opening) if name in _VOID else Markup(f"{opening}{safe(children)}</{name}>")
