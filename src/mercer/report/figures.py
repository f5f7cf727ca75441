"""The figures, each from the facts alone: displays drawn in the page's style, and what only a page shows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from .._presentation.canvas import class_colours, diverging, draw_cells, short, shorten
from .._presentation.html import Markup, tag
from .._runtime.compile import Array
from .._validation.parameters import is_number
from ..displays import DecisionBoundary, MarginHistogram, SearchCurve, WeightTable
from .elements import seconds
from .error_measure import SHARE, ErrorMeasure, percent
from .svg import CYCLE, INK, MUTED, inline, sheet
from .tuning import chosen_setting

Facts = dict[str, Any]

#: Margins of a plot with labelled axes: left, bottom, right, top.
_PLOT = (0.5, 0.45, 0.08, 0.1)
#: The same where numbers beside the axis may be long.
_WIDER = (0.75, *_PLOT[1:])
#: Features whose weights are drawn.
WEIGHTS = 18


def errors(learners: Sequence[Facts], measure: ErrorMeasure, guessing: float, guess: str) -> Markup:
    """Training and test error of every learner, with intervals, beside the error of a guess."""
    with sheet("errors", 5.4, 0.9 + 0.3 * len(learners)) as drawn:
        ax = drawn.ax
        for row, one in enumerate(reversed(learners)):
            train, test = one["train"], one["test"]
            ends = [measure.drawn(test, "low"), measure.drawn(test, "high")]
            ax.plot(ends, [row, row], color=CYCLE[0], linewidth=5, alpha=0.35, solid_capstyle="round")
            ax.plot(measure.drawn(train), row, "o", markersize=5, markerfacecolor="none", color=MUTED, clip_on=False)
            (spot,) = ax.plot(measure.drawn(test), row, "o", markersize=6, color=CYCLE[0], clip_on=False)
            drawn.tip(
                spot,
                f"{one['title']}: test {measure.of(test)} (95 %: {measure.to(test)}), training {measure.of(train)}",
            )
        worst = max(max(one["test"]["high"], one["train"][measure.key]) for one in learners)
        if guessing <= 1.3 * worst:
            place = measure.scale * guessing
            ax.axvline(place, color=MUTED, linewidth=0.8, linestyle=":")
            ax.annotate(
                guess, (place, len(learners) - 0.45), color=MUTED, fontsize=8.5, ha="right", annotation_clip=False
            )
        ax.set_yticks(range(len(learners)), [one["title"] for one in reversed(learners)])
        ax.set_ylim(-0.6, len(learners) - 0.4)
        ax.set_xlim(left=0)
        ax.set_xlabel(f"{measure.axis}   (● test with 95 % interval   ○ training)")
        ax.locator_params(axis="x", nbins=5)  # room for prices
        ax.grid(axis="x")
        ax.tick_params(length=0)
        ax.tick_params(axis="y", pad=9)  # room for the mark of an error of zero
        ax.spines["left"].set_visible(False)
        listed = "; ".join(f"{one['title']} {measure.of(one['test'])}" for one in learners)
        return inline(drawn, "Training and test error of every learner", f"Test errors: {listed}.", scale=1.8)


def histogram(column: Facts, classes: Sequence[str], name: str) -> Markup:
    """How the values of a column are spread, by class."""
    counts, edges = column["histogram"]["counts"], column["histogram"]["edges"]
    with sheet(name, 2.5, 1.55, (0.05, 0.25, 0.05, 0.25)) as drawn:
        ax = drawn.ax
        base = np.zeros(len(edges) - 1)
        for heights, colour in zip(counts, class_colours(len(counts)), strict=True):
            ax.stairs(base + heights, edges, baseline=base, fill=True, color=colour, alpha=0.75, linewidth=0)
            base = base + heights
        ax.set_title(shorten(column["name"], 30), loc="left")
        ax.set_yticks([])
        ax.spines["left"].set_visible(False)
        ax.locator_params(axis="x", nbins=4)
        low, _, middle, _, high = column["quantiles"]
        by_class = ", by class" if len(counts) == len(classes) else ""
        words = f"From {low:.4g} to {high:.4g}, median {middle:.4g}{by_class}."
        return inline(drawn, f"Histogram of {column['name']}", words)


def boxes(columns: Sequence[Facts]) -> Markup:
    """Boxplots of all columns, each in units of its own quartiles."""
    with sheet("boxes", 5.0, 0.8 + 0.23 * len(columns)) as drawn:
        ax = drawn.ax
        stats = []
        for column in reversed(columns):
            low, lower, middle, upper, high = column["quantiles"]
            scale = (upper - lower) or column["std"] or 1.0
            inside = [(value - middle) / scale for value in column["whiskers"]]
            ends = [(value - middle) / scale for value in (low, high)]
            fliers = [end for end, whisker in zip(ends, inside, strict=True) if abs(end - whisker) > 1e-9]
            box = {"q1": (lower - middle) / scale, "med": 0.0, "q3": (upper - middle) / scale}
            stats.append({**box, "whislo": inside[0], "whishi": inside[1], "fliers": fliers})
        line = {"color": MUTED, "linewidth": 1}
        parts = ax.bxp(stats, orientation="horizontal", widths=0.55, patch_artist=True, manage_ticks=False,
                       boxprops={"facecolor": CYCLE[0], "alpha": 0.35, "linewidth": 0}, whiskerprops=line,
                       capprops={"linewidth": 0}, medianprops={"color": INK, "linewidth": 1.4},
                       flierprops={"marker": "|", "markersize": 5, "markeredgecolor": CYCLE[1]})  # fmt: skip
        for box, column in zip(parts["boxes"], reversed(columns), strict=True):
            low, lower, middle, upper, high = column["quantiles"]
            words = f"{low:.4g} to {high:.4g}, middle half {lower:.4g} to {upper:.4g}, {column['outliers']} outliers"
            drawn.tip(box, f"{column['name']}: {words}")
        ax.set_yticks(range(1, len(stats) + 1), [shorten(column["name"]) for column in reversed(columns)])
        ax.set_xlabel("distance from the median, in widths of the middle half")
        ax.grid(axis="x")
        ax.tick_params(length=0)
        ax.spines["left"].set_visible(False)
        return inline(
            drawn, "Boxplots of the columns", "Boxes hold the middle half; marks are the most extreme outliers."
        )


def correlation(facts: Facts) -> Markup:
    """Correlations of columns as a heat map."""
    names, matrix = facts["columns"], np.array(facts["matrix"], dtype=np.float64)
    size = len(names)
    with sheet("correlation", 4.9, 4.3) as drawn:
        ax = drawn.ax
        labels = [shorten(name, 16) for name in names]
        number = ".2f" if size <= 12 else None
        draw_cells(ax, matrix, labels, labels, number=number, cmap=diverging(), vmin=-1, vmax=1)
        crowded = size * max(map(len, labels)) > 45
        ax.tick_params(axis="x", rotation=90 if crowded else 0, labelcolor=INK)
        ax.set_aspect("equal")
        ax.invert_yaxis()
        ax.spines[:].set_visible(False)
        return inline(drawn, "Correlations of the columns", "Blue is positive, orange is negative, empty is none.")


def tuning_curve(one: Facts, measure: ErrorMeasure) -> Markup | None:
    """Validation and training error over the parameter with most values, a line for each setting of the others."""
    candidates = one["tuning"]["candidates"]
    axis = _main_parameter(candidates)
    if axis is None:
        return None
    best = chosen_setting(one["tuning"])
    with sheet(f"tuning-{one['name']}", 4.2, 2.7, _PLOT if measure is SHARE else _WIDER) as drawn:
        ax = drawn.ax
        curve = SearchCurve.from_results(_results(candidates, measure.scale), axis, others="each")
        curve.as_losses(measure.axis).plot(ax)
        reached = best["validation"]["mean"]
        (spot,) = ax.plot(best["params"][axis], measure.scale * reached, "o", markersize=10, color=INK,
                          markerfacecolor="none", markeredgewidth=1.3)  # fmt: skip
        drawn.tip(spot, f"best: {settings(best['params'])}, validation error {measure.words(reached)}")
        ax.set_ylim(bottom=0)
        ax.grid(axis="y")
        ax.legend(loc="best", fontsize=8)
        words = (
            "Lines are validation errors with their spread over folds, dotted lines training errors; best at "
            f"{settings(best['params'])}."
        )
        return inline(drawn, f"Tuning of {one['title']}", words)


def _results(candidates: Sequence[Facts], scale: float) -> Facts:
    """The settings tried as a table like ``cv_results_`` of a search, with errors as losses of score."""

    def column(rows: str, key: str) -> Array:
        return scale * np.array([np.nan if one[rows][key] is None else one[rows][key] for one in candidates])

    return {
        "params": [one["params"] for one in candidates],
        "mean_test_score": -column("validation", "mean"),
        "std_test_score": column("validation", "sd"),
        "mean_train_score": -column("train", "mean"),
    }


def _main_parameter(candidates: Sequence[Facts]) -> str | None:
    """The numeric parameter with most values."""
    values = {
        key: {candidate["params"][key] for candidate in candidates}
        for key, value in candidates[0]["params"].items()
        if is_number(value)
    }
    key = max(values, key=lambda name: len(values[name]), default=None)
    return key if key is not None and len(values[key]) > 1 else None


def settings(params: Facts) -> str:
    """Parameters in words: "gamma = 0.5, C = 10"."""
    return ", ".join(f"{name} = {short(value)}" for name, value in params.items()) or "no parameters"


def margin(one: Facts) -> Markup:
    """Margins of training and test rows."""
    counted = one["margins"]
    with sheet(f"margin-{one['name']}", 4.2, 2.7, _PLOT) as drawn:
        MarginHistogram(edges=counted["edges"], train_counts=counted["train"], test_counts=counted["test"]).plot(
            drawn.ax
        )
        drawn.ax.grid(axis="y")
        train, test = percent(one["train"]["rate"]), percent(one["test"]["rate"])
        words = f"{train} of training rows and {test} of test rows are below 0."
        return inline(drawn, f"Margins of {one['title']}", words)


def boundary(one: Facts, plane: Facts, classes: Sequence[str]) -> Markup:
    """What a learner decides on its plane."""
    with sheet(f"boundary-{one['name']}", 2.9, 2.7, (0.02, 0.02, 0.02, 0.26)) as drawn:
        DecisionBoundary(**plane["learners"][one["name"]], classes=classes).plot(drawn.ax, legend=False)
        drawn.ax.set_title(one["title"], loc="left")
        drawn.ax.set(xlabel="", ylabel="", xticks=[], yticks=[])
        drawn.ax.spines[:].set_visible(False)
        words = f"Regions by decided class; some training rows on top. Test error {percent(one['test']['rate'])}."
        return inline(drawn, f"Decision boundary of {one['title']}", words)


def weights(learners: Sequence[Facts], name: str, key: str, meaning: str) -> Markup | None:
    """Weights of some learners side by side: of "features", or of "interactions" alone."""
    columns: dict[str, dict[str, float]] = {}
    for one in learners:
        found = one["weights"]
        pairs: Iterable[tuple[str, float | None]] = zip(found["features"], found["values"], strict=True)
        if key == "interactions":
            pairs = ((product["feature"], product["value"]) for product in found["interactions"])
        model = one["short_title"]
        columns[model] = {feature: weight for feature, weight in pairs if weight is not None}
    table = WeightTable.from_weights(columns).top(WEIGHTS)
    if not table.features:
        return None
    with sheet(name, 1.7 + 1.15 * len(columns), 0.9 + 0.26 * len(table.features)) as drawn:
        table.plot(drawn.ax)
        drawn.ax.spines[:].set_visible(False)
        listed = ", ".join(table.features[:5])
        return inline(
            drawn,
            "Weights side by side",
            f"Heaviest: {listed}. {meaning}",
        )


def costs(learners: Sequence[Facts], measure: ErrorMeasure) -> Markup:
    """Error against time: what accuracy costs."""
    with sheet("costs", 5.0, 3.2) as drawn:
        ax = drawn.ax
        families = list(dict.fromkeys(one["family"] for one in learners))
        for family, colour in zip(families, CYCLE, strict=False):
            for k, one in enumerate(x for x in learners if x["family"] == family):
                place = max(one["fit_seconds"], 1e-4), measure.drawn(one["test"])
                (spot,) = ax.plot(*place, "o", color=colour, markersize=7, label=family if k == 0 else None)
                drawn.tip(
                    spot,
                    f"{one['title']}: {one['fit_seconds']:.3g} s to fit, test error {measure.of(one['test'])}",
                )
        times = np.log10([max(one["fit_seconds"], 1e-4) for one in learners])
        decades = np.arange(np.floor(times.min()), np.ceil(times.max() + 1e-9) + 1)
        ax.set_xscale("log")
        ax.minorticks_off()
        ax.set_xlim(10 ** (decades[0] - 0.1), 10 ** (decades[-1] + 0.1))  # room for spots on the edges
        ax.set_xticks(10.0**decades, [seconds(10.0**power) for power in decades])
        ax.set(xlabel="time of the final fit", ylabel=f"test {measure.axis}")
        ax.set_ylim(0, 1.08 * max(measure.drawn(one["test"]) for one in learners) + 1e-3 * (measure is SHARE))
        ax.grid(axis="y")
        ax.legend(loc="best")
        return inline(drawn, "Test error against the time of the fit", "Lower left is better.")


def class_keys(classes: Sequence[str]) -> list[Markup]:
    """The classes beside the colours that they have in every figure; empty where there are too many to name."""
    if len(classes) > len(CYCLE):
        return []
    places = (1, 0) if len(classes) == 2 else range(len(classes))
    return [
        tag("span", tag("i", style=f"background: var(--c{k})"), label, class_="key")
        for k, label in zip(places, classes, strict=True)
    ]
