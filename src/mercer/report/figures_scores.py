"""The figures of scores: what a threshold can do, whether probabilities are true, which columns matter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._presentation.canvas import shorten
from .._presentation.html import Markup
from .elements import count
from .error_measure import SHARE, ErrorMeasure
from .svg import CYCLE, INK, MUTED, inline, sheet

Facts = dict[str, Any]

#: Margins of a plot with labelled axes: left, bottom, right, top.
_PLOT = (0.55, 0.45, 0.1, 0.12)
#: Columns that are drawn.
_COLUMNS = 20


def roc_curve(one: Facts, others: Sequence[Facts]) -> Markup:
    """The share of one class that is found against the share of the other that is taken for it."""
    with sheet("roc", 3.8, 3.2, _PLOT) as drawn:
        drawn.ax.plot([0, 1], [0, 1], color=MUTED, linewidth=0.8, linestyle=":")
        _lines(drawn.ax, "roc", one, others)
        drawn.ax.set(xlabel="false positive rate", ylabel="true positive rate", xlim=(-0.02, 1.02), ylim=(-0.02, 1.03))
        return inline(drawn, f"ROC curve of {one['title']}", "The nearer to the upper left corner the better.")


def precision_recall_curve(one: Facts, others: Sequence[Facts]) -> Markup:
    """Precision against recall."""
    with sheet("precision-recall", 3.8, 3.2, _PLOT) as drawn:
        _lines(drawn.ax, "pr", one, others)
        drawn.ax.set(xlabel="recall", ylabel="precision", xlim=(-0.02, 1.02), ylim=(-0.02, 1.03))
        return inline(drawn, f"Precision and recall of {one['title']}", "The nearer to the upper right the better.")


def _lines(ax: Any, kind: str, one: Facts, others: Sequence[Facts]) -> None:
    for other in others:
        if points := other["curves"].get(kind):
            ax.plot(*np.array(points, dtype=np.float64).T, color=MUTED, linewidth=0.7, alpha=0.5)
    ax.plot(*np.array(one["curves"][kind], dtype=np.float64).T, color=CYCLE[0], linewidth=2)
    ax.grid()


def calibration_curve(one: Facts) -> Markup:
    """The share of a class among rows that were given it with some probability; larger spots hold more rows."""
    points = np.array(one["curves"]["calibration"], dtype=np.float64)
    with sheet("calibration", 3.8, 3.2, _PLOT) as drawn:
        ax = drawn.ax
        ax.plot([0, 1], [0, 1], color=MUTED, linewidth=0.8, linestyle=":")
        ax.plot(points[:, 0], points[:, 1], color=CYCLE[0], linewidth=1)
        for mean, share, rows in points:
            size = 3 + 9 * np.sqrt(rows / points[:, 2].max())
            (spot,) = ax.plot(mean, share, "o", color=CYCLE[0], alpha=0.7, markersize=size, markeredgewidth=0)
            drawn.tip(spot, f"predicted {mean:.2f}, true {share:.2f}, {count(int(rows), 'test row')}")
        ax.set(xlabel="predicted probability", ylabel="share that is", xlim=(-0.03, 1.03), ylim=(-0.03, 1.03))
        ax.grid()
        return inline(drawn, f"Calibration of {one['title']}", "On the dotted line probabilities are true.")


def importances(one: Facts, measure: ErrorMeasure) -> tuple[Markup, int]:
    """By how much the error rises without each column, the most important ones; and how many are not drawn."""
    ranked = sorted(one["importances"], key=lambda each: -each["drop"])
    shown = ranked[:_COLUMNS]
    with sheet(f"importances-{one['name']}", 5.2, 0.7 + 0.24 * len(shown)) as drawn:
        ax = drawn.ax
        for place, each in enumerate(reversed(shown)):
            drop, sd = (measure.scale * each[key] for key in ("drop", "sd"))
            (bar,) = ax.barh(place, drop, height=0.62, color=CYCLE[0] if drop > 0 else MUTED, alpha=0.75)
            ax.plot([drop - sd, drop + sd], [place, place], color=INK, linewidth=1)
            drawn.tip(bar, f"{each['column']}: {drop:.3g} ± {sd:.2g}")
        ax.axvline(0, color=MUTED, linewidth=0.8)
        ax.set_yticks(range(len(shown)), [shorten(each["column"], 30) for each in reversed(shown)])
        unit = "error, percentage points" if measure is SHARE else measure.axis
        ax.set_xlabel(f"rise of the {unit}")
        ax.set_ylim(-0.6, len(shown) - 0.4)
        ax.grid(axis="x")
        ax.tick_params(length=0)
        ax.spines["left"].set_visible(False)
        listed = ", ".join(each["column"] for each in shown[:5])
        picture = inline(drawn, f"Importance of columns to {one['title']}", f"Most important: {listed}.")
        return picture, len(ranked) - len(shown)
