"""The figures of words: how many rows have each, by class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._presentation.canvas import class_colours, shorten
from .._presentation.html import Markup
from .elements import count
from .svg import inline, sheet

Facts = dict[str, Any]


def words_by_class(column: Facts, classes: Sequence[str], name: str) -> Markup:
    """A bar for each word, divided by class; the commonest words of a category, the most telling ones of a text."""
    top = list(reversed(column["top"]))
    counts = np.array([one["by_class"] for one in top], dtype=np.float64)
    with sheet(name, 3.2, 0.5 + 0.21 * len(top)) as drawn:
        ax = drawn.ax
        base = np.zeros(len(top))
        for heights, colour in zip(counts.T, class_colours(counts.shape[1]), strict=True):
            ax.barh(range(len(top)), heights, left=base, height=0.66, color=colour, alpha=0.75, linewidth=0)
            base = base + heights
        ax.set_yticks(range(len(top)), [shorten(one["value"], 18) for one in top])
        ax.set_title(shorten(column["name"], 30), loc="left")
        ax.tick_params(length=0)
        ax.locator_params(axis="x", nbins=4, integer=True)
        ax.spines["left"].set_visible(False)
        listed = "; ".join(f"{one['value']}: {count(one['rows'], 'row')}" for one in column["top"][:5])
        by_class = ", by class" if counts.shape[1] == len(classes) else ""
        return inline(drawn, f"Words of {column['name']}", f"{listed}{by_class}.")
