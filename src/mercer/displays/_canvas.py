"""What every display draws on, and with which colours."""

from __future__ import annotations

from typing import Any

from ._axes import axes

#: The colour of what is positive and of what is negative in a diverging picture.
POSITIVE, NEGATIVE = "#2f6db3", "#cc6f2c"


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


def show_legend(ax: Any, **options: Any) -> None:
    """A legend that shows names from the data letter by letter, and does not read dollars as mathematics."""
    handles, labels = ax.get_legend_handles_labels()
    for entry in ax.legend(handles, labels, **options).get_texts():
        entry.set_parse_math(False)
