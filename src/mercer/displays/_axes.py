"""Where pictures are drawn: on the axes given, or on new ones where matplotlib is installed."""

from __future__ import annotations

from typing import Any


def axes(ax: Any = None) -> Any:
    """The axes given, or new ones."""
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError:
        raise ImportError("plot() needs matplotlib: pip install matplotlib.") from None
    return pyplot.subplots()[1]
