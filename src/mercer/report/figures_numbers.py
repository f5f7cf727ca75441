"""The figures of a study of numbers: predicted against true values, residuals, and errors over the number of rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._presentation.canvas import shorten
from .._presentation.html import Markup
from .svg import CYCLE, INK, MUTED, inline, sheet

Facts = dict[str, Any]

#: Margins of a plot with labelled axes: left, bottom, right, top.
_PLOT = (0.75, 0.45, 0.1, 0.12)


def predicted_and_true(one: Facts, target: str, reach: float | None = None, name: str = "predicted") -> Markup:
    """Predicted against true values, with the line where both are the same and the interval around it."""
    true, predicted = (np.array(one["predictions"][key], dtype=np.float64) for key in ("true", "predicted"))
    low, high = min(true.min(), predicted.min()), max(true.max(), predicted.max())
    with sheet(f"{name}-{one['name']}", 4.2, 3.4, _PLOT) as drawn:
        ax = drawn.ax
        ends = np.array([low, high])
        if reach is not None:
            ax.fill_between(ends, ends - reach, ends + reach, color=MUTED, alpha=0.14, linewidth=0)
        ax.plot(ends, ends, color=MUTED, linewidth=1)
        ax.plot(predicted, true, "o", markersize=3.2, color=CYCLE[0], alpha=0.55, markeredgewidth=0)
        ax.set(xlabel="predicted", ylabel=shorten(target, 40))
        _few_ticks(ax)
        test = one["test"]
        explained = "" if test["r2"] is None else f", R² {test['r2']:.3f}"
        words = (
            f"{true.size} test rows; RMSE {test['rmse']:.4g}{explained}. Spots above the line are predicted too low."
        )
        return inline(drawn, f"Predicted and true values of {one['title']}", words)


def residuals(one: Facts, reach: float | None) -> Markup:
    """True less predicted values, over the predicted ones."""
    true, predicted = (np.array(one["predictions"][key], dtype=np.float64) for key in ("true", "predicted"))
    with sheet(f"residuals-{one['name']}", 4.2, 3.0, _PLOT) as drawn:
        ax = drawn.ax
        ax.axhline(0, color=MUTED, linewidth=1)
        if reach is not None:
            ax.axhspan(-reach, reach, color=MUTED, alpha=0.14, linewidth=0)
        ax.plot(predicted, true - predicted, "o", markersize=3.2, color=CYCLE[0], alpha=0.55, markeredgewidth=0)
        ax.set(xlabel="predicted", ylabel="true less predicted")
        _few_ticks(ax)
        words = "Spread evenly about zero where nothing was missed; a funnel or a bend shows what was."
        return inline(drawn, f"Residuals of {one['title']}", words)


def residual_histogram(facts: Facts, title: str) -> Markup:
    """How large residuals are: of rows left out in cross-validation, and of test rows."""
    edges = np.array(facts["edges"])
    with sheet("residual-histogram", 4.2, 3.0, (0.5, 0.45, 0.1, 0.12)) as drawn:
        ax = drawn.ax
        for kind, colour, label in (("out_of_fold", CYCLE[0], "left out in a fold"), ("test", CYCLE[1], "test rows")):
            counts = np.array(facts[kind], dtype=np.float64)
            shares = counts / max(1.0, counts.sum())
            ax.stairs(shares, edges, color=colour, fill=kind == "out_of_fold", alpha=0.75, label=label)
        ax.axvline(0, color=INK, linewidth=0.8)
        ax.set(xlabel="true less predicted", ylabel="share of rows")
        ax.legend(loc="best")
        _few_ticks(ax)
        return inline(drawn, f"Histogram of the residuals of {title}", "Rows left out in a fold, and test rows.")


def rows_and_errors(curve: Facts, title: str) -> Markup:
    """Errors of a learner that has seen fewer rows."""
    rows, validation, sd = (np.array(curve[key], dtype=np.float64) for key in ("rows", "validation", "sd"))
    with sheet("learning-curve", 4.2, 3.0, _PLOT) as drawn:
        ax = drawn.ax
        ax.plot(rows, validation, marker="o", markersize=3, label="other rows")
        ax.fill_between(rows, validation - sd, validation + sd, color=CYCLE[0], alpha=0.14, linewidth=0)
        ax.plot(rows, np.array(curve["train"], dtype=np.float64), marker="o", markersize=3, label="rows learned from")
        ax.set(xlabel="training rows", ylabel="RMSE")
        ax.set_ylim(bottom=0)
        ax.grid(axis="y")
        ax.legend(loc="best")
        _few_ticks(ax)
        reached = [f"{error:.4g} with {number:.0f} rows" for number, error in zip(rows, validation, strict=True)]
        words = f"The RMSE on other rows is {reached[0]} and {reached[-1]}."
        return inline(drawn, f"Errors of {title} over the number of rows", words)


def _few_ticks(ax: Any) -> None:
    ax.locator_params(axis="both", nbins=5)
    ax.ticklabel_format(axis="both", useOffset=False, scilimits=(-4, 6))
