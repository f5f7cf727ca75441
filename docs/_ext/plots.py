"""Pictures of a page have different names.

Matplotlib's directive numbers the pictures of a document. Every ``{eval-rst}`` block of a Markdown page is a document
of its own, so that each picture would be the first one and the page would show one picture everywhere. Here the numbers
of a page go on from block to block.
"""

from __future__ import annotations

from typing import Any

from matplotlib.sphinxext.plot_directive import PlotDirective

_NUMBER = "_plot_counter"


class NumberedPlot(PlotDirective):
    """Matplotlib's ``plot``, numbered through the page."""

    def run(self) -> list[Any]:
        """The picture, after those that the page has already."""
        page = self.state.document.settings.env.temp_data
        block = self.state_machine.document.attributes
        block[_NUMBER] = page.get(_NUMBER, 0)
        made = super().run()
        page[_NUMBER] = block[_NUMBER]
        return made
