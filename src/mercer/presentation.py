"""What pictures and notebooks share: axes, colours and cells, and HTML in which text is text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

import numpy as np

from .messages import printable

__all__ = [
    "NEGATIVE",
    "POSITIVE",
    "Canvas",
    "Markup",
    "axes",
    "class_colours",
    "diverging",
    "draw_cells",
    "escaped",
    "safe",
    "short",
    "shorten",
    "show_legend",
    "signed",
    "table_html",
    "tag",
    "unique_names",
]

# What pictures are drawn on, with which colours, and how names and numbers are written beside them.


#: The colour of what is positive and of what is negative in a diverging picture.
POSITIVE, NEGATIVE = "#2f6db3", "#cc6f2c"
#: Letters of a name that is not cut.
_WHOLE = 200


def axes(ax: Any = None) -> Any:
    """The axes given, or new ones where matplotlib is installed."""
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError("plot() needs matplotlib: pip install matplotlib.") from None
    return pyplot.subplots()[1]


class Canvas:
    """Base of the displays: where a picture was drawn."""

    ax_: Any
    figure_: Any

    def _open(self, ax: Any) -> Any:
        self.ax_ = axes(ax)
        self.figure_ = self.ax_.figure
        return self.ax_


def diverging() -> Any:
    """A colour map from ``NEGATIVE`` to ``POSITIVE`` that is transparent at zero, so that it suits every background.

    It stays half transparent at its ends: text on top of it remains readable.
    """
    from matplotlib.colors import LinearSegmentedColormap, to_rgb

    ends = [(*to_rgb(NEGATIVE), 0.6), (*to_rgb(NEGATIVE), 0.0), (*to_rgb(POSITIVE), 0.0), (*to_rgb(POSITIVE), 0.6)]
    return LinearSegmentedColormap.from_list("mercer", list(zip((0.0, 0.5, 0.5, 1.0), ends)))


def class_colours(number: int) -> list[Any]:
    """A colour for each class: the axes' own cycle while it lasts, evenly spaced hues beyond.

    Of two classes the second has the first colour: scores and weights above zero speak for it, and have that colour in
    diverging pictures.
    """
    from matplotlib import colormaps, rcParams

    cycle = rcParams["axes.prop_cycle"].by_key().get("color", ["C0"])
    if number == 2:
        return [*cycle[1:2], *cycle[:1]]
    if number <= len(cycle):
        return cycle[:number]
    return [colormaps["turbo"](0.08 + 0.84 * k / (number - 1)) for k in range(number)]


def shorten(text: Any, limit: int = 24) -> str:
    """A name that fits beside an axis; matplotlib would hide one that begins with an underscore."""
    text = " ".join(str(text).split())
    text = f"\u200b{text}" if text.startswith("_") else text
    return text if len(text) <= limit else text[: limit - 1] + "…"


def unique_names(names: Sequence[Any], limit: int = 24) -> list[str]:
    """Names that fit beside an axis; those that would look the same lose their middle, or nothing if that is no help.

    Examples
    --------
    >>> unique_names(["price of a house in town", "price of a house in a village", "price of a house in a valley"], 16)
    ['price of…in town', 'price of…village', 'price of… valley']
    """
    shown = [shorten(name, limit) for name in names]
    shown = [cut if shown.count(cut) == 1 else _without_middle(name, limit) for cut, name in zip(shown, names)]
    return [cut if shown.count(cut) == 1 else shorten(name, _WHOLE) for cut, name in zip(shown, names)]


def _without_middle(name: Any, limit: int) -> str:
    whole, begin = shorten(name, _WHOLE), limit // 2
    return whole if len(whole) <= limit else f"{whole[:begin]}…{whole[begin + 1 - limit :]}"


def short(value: Any) -> str:
    """The value of a parameter in few letters.

    Examples
    --------
    >>> short(0.001), short(1e-06), short(0.0078125), short("last")
    ('0.001', '1e-06', '0.00781', 'last')
    """
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def show_legend(ax: Any, **options: Any) -> None:
    """A legend that shows names from the data letter by letter, and does not read dollars as mathematics."""
    handles, labels = ax.get_legend_handles_labels()
    for entry in ax.legend(handles, labels, **options).get_texts():
        entry.set_parse_math(False)


def draw_cells(
    ax: Any, matrix: Any, rows: Sequence[Any], columns: Sequence[Any], *, number: str | None = None, **colours: Any
) -> Any:
    """A matrix as coloured cells, with names beside its rows and columns and, given a format, numbers in the cells.

    ``colours`` are those of ``pcolormesh``: ``cmap``, ``vmin``, ``vmax``. Cells are drawn as paths, which stay sharp at
    every size; an empty cell is one whose value is NaN. Returns what a colour bar needs.
    """
    matrix = np.asarray(matrix, dtype=np.float64)
    picture = ax.pcolormesh(np.ma.masked_invalid(matrix), **colours)
    ax.set_xticks(np.arange(len(columns)) + 0.5, columns, parse_math=False)
    ax.set_yticks(np.arange(len(rows)) + 0.5, rows, parse_math=False)
    ax.tick_params(length=0)
    if number is not None:
        for (row, column), value in np.ndenumerate(matrix):
            if np.isfinite(value):
                ax.text(column + 0.5, row + 0.5, signed(value, number), ha="center", va="center", fontsize="small")
    return picture


def signed(value: float, form: str = ".2f") -> str:
    """A number with a true minus sign, and none before a zero.

    Examples
    --------
    >>> signed(-0.001), signed(-0.5)
    ('0.00', '−0.50')
    """
    text = format(value, form)
    return text.lstrip("-") if float(text) == 0 else text.replace("-", "\u2212")


# HTML in which text is text: whatever is not :class:`Markup` is escaped, and control characters are replaced.


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

    Whatever is not :class:`Markup` is escaped.

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
