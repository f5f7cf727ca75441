"""HTML in which text is text: whatever is not :class:`Markup` is escaped, and control characters are replaced."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from .._runtime.terminal import printable

#: Elements without an end.
_VOID = {"meta", "br", "hr", "col", "input"}


def escaped(text: Any) -> str:
    r"""Text as HTML writes it, whole; no letter of it can end an attribute, hide others or turn their order.

    Examples
    --------
    >>> escaped('<a "b\u202e">') == "&lt;a &quot;b\ufffd&quot;&gt;"
    True
    """
    return escape(printable(text, longest=None))


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
    return Markup(escaped(child))


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
            parts.append(f" {key}" if value is True else f' {key}="{escaped(value)}"')
    opening = f"<{name}{''.join(parts)}>"
    return Markup(opening) if name in _VOID else Markup(f"{opening}{safe(children)}</{name}>")


def table_html(
    title: Any, rows: Iterable[Sequence[Any]], *, heads: Sequence[Any] = (), notes: Iterable[Any] = ()
) -> Markup:
    """A small table as notebooks show it: a caption, a line for each row, its name in front, and notes below.

    Parameters
    ----------
    title : str
    rows : iterable of sequences
        The cells of each row. Whatever is not :class:`Markup` is escaped.
    heads : sequence
        Names of the columns.
    notes : iterable
        Sentences under the table.

    Examples
    --------
    >>> print(table_html("<b>", [["rows", 3]]))
    <div><table><caption>&lt;b&gt;</caption><tbody><tr><th scope="row">rows</th><td>3</td></tr></tbody></table></div>
    """
    body = [tag("tr", tag("th", first, scope="row"), [tag("td", cell) for cell in rest]) for first, *rest in rows]
    head = tag("thead", tag("tr", [tag("th", name, scope="col") for name in heads])) if heads else None
    said = [tag("li", note) for note in notes]
    table = tag("table", tag("caption", title), head, tag("tbody", body))
    return tag("div", table, tag("ul", said) if said else None)
