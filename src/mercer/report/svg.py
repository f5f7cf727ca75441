"""Matplotlib figures as SVG that belongs to the page: its fonts, its colours in light and dark, no clashing names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from typing import Any

from .._presentation.canvas import NEGATIVE, POSITIVE
from .._presentation.html import Markup, escaped
from .._runtime.terminal import printable

#: Colours that are drawn with, and the CSS variable that each of them becomes.
INK, MUTED, RULE = "#1c1e21", "#666d75", "#d7dbe0"
CYCLE = (POSITIVE, NEGATIVE, "#3d8b65", "#9560ad", "#a8842c", "#4f8796")
_VARIABLES = {INK: "ink", MUTED: "muted", RULE: "rule", **{colour: f"c{k}" for k, colour in enumerate(CYCLE)}}

_STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",  # letters stay letters: small, selectable, in the page's font
    "text.parse_math": False,  # a dollar in a column's name is a dollar
    "axes.unicode_minus": True,
    "font.size": 10,
    "axes.titlesize": 10.5,
    "axes.labelsize": 9.5,
    "xtick.labelsize": 9,
    "ytick.labelsize": 9,
    "legend.fontsize": 9,
    "legend.frameon": False,
    "legend.handlelength": 1.4,
    "figure.facecolor": "none",
    "axes.facecolor": "none",
    "savefig.facecolor": "none",
    "text.color": INK,
    "axes.labelcolor": MUTED,
    "axes.titlecolor": INK,
    "axes.edgecolor": RULE,
    "xtick.color": RULE,
    "ytick.color": RULE,
    "xtick.labelcolor": MUTED,
    "ytick.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": False,
    "grid.color": RULE,
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    "lines.linewidth": 1.6,
}

Margins = tuple[float, float, float, float]


class Sheet:
    """One figure in the making: its axes, and what a reader sees on pointing at its parts."""

    def __init__(self, name: str, width: float, height: float, margins: Margins | None) -> None:
        from matplotlib.figure import Figure

        self.name = name
        self.figure = Figure(figsize=(width, height), layout=None if margins else "constrained")
        self.ax = self.figure.add_subplot()
        if margins:
            left, bottom, right, top = margins
            self.figure.subplots_adjust(left / width, bottom / height, 1 - right / width, 1 - top / height)
        self.tips: dict[str, str] = {}

    def tip(self, artist: Any, words: str) -> None:
        """Show words on pointing at something drawn."""
        mark = f"tip{len(self.tips)}"
        artist.set_gid(mark)
        self.tips[mark] = words


@contextmanager
def sheet(name: str, width: float, height: float, margins: Margins | None = None) -> Iterator[Sheet]:
    """Draw inside this block in the page's style.

    Sizes are in inches. Margins (left, bottom, right, top) that are known beforehand save the time of measuring them.
    """
    from cycler import cycler
    from matplotlib import rc_context

    with rc_context({**_STYLE, "axes.prop_cycle": cycler(color=CYCLE), "svg.hashsalt": name}):
        yield Sheet(name, width, height, margins)


def inline(drawn: Sheet, title: str, description: str, scale: float = 1.34) -> Markup:
    """The figure as an element of the page, at most ``scale`` pixels a point wide; inside its :func:`sheet` block."""
    from matplotlib.backends.backend_svg import FigureCanvasSVG

    buffer = StringIO()
    nothing = {"Date": None, "Creator": None, "Format": None, "Type": None}
    FigureCanvasSVG(drawn.figure).print_svg(buffer, metadata=nothing)
    text = printable(buffer.getvalue(), longest=None)
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    text = _own_names(text, drawn.name)
    for colour, variable in _VARIABLES.items():
        text = text.replace(colour, f"var(--{variable})")
    text = re.sub(r"font: ([\d.]+)px [^;\"]*", r"font-size: \1px", text)
    for mark, words in drawn.tips.items():
        text = text.replace(
            f'<g id="{drawn.name}-{mark}">',
            f'<g id="{drawn.name}-{mark}" data-tip="{escaped(words)}">',
        )
    box = re.search(r'viewBox="([^"]*)"', text)
    assert box is not None
    _, _, width, _ = map(float, box[1].split())
    opening = (
        f'<svg viewBox="{box[1]}" role="img" aria-labelledby="{drawn.name}-title {drawn.name}-desc" '
        f'style="max-width: {scale * width:.0f}px">'
        f'<title id="{drawn.name}-title">{escaped(title)}</title>'
        f'<desc id="{drawn.name}-desc">{escaped(description)}</desc>'
    )
    text = opening + text[text.index(">") + 1 :]
    return Markup(re.sub(r">\s+<", "><", text).strip())


def _own_names(text: str, name: str) -> str:
    """Matplotlib names its parts alike in every figure; on one page they need a name of their own."""
    text = re.sub(r'\bid="([^"]+)"', rf'id="{name}-\1"', text)
    text = re.sub(r'href="#([^"]+)"', rf'href="#{name}-\1"', text)
    return re.sub(r"url\(#([^)]+)\)", rf"url(#{name}-\1)", text)
