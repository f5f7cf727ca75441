"""Matplotlib figures as SVG that belongs to the page: its fonts, its colours in light and dark, no clashing names."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import StringIO
from typing import Any

import numpy as np

from ..checks import is_number
from ..displays import DecisionBoundary, MarginHistogram, SearchCurve, WeightTable
from ..messages import count, percent, printable
from ..presentation import (
    NEGATIVE,
    POSITIVE,
    Markup,
    class_colours,
    diverging,
    draw_cells,
    escaped,
    short,
    shorten,
    tag,
)
from ..runtime import Array
from ..study import SHARE, ErrorMeasure, chosen_setting
from .layout import seconds

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


# The figures, each from the facts alone: displays drawn in the page's style, and what only a page shows.


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


# The figures of a study of numbers: predicted against true values, residuals, and errors over the number of rows.


#: Margins of a plot with labelled axes: left, bottom, right, top.
_NUMBER_PLOT = (0.75, 0.45, 0.1, 0.12)


def predicted_and_true(one: Facts, target: str, reach: float | None = None, name: str = "predicted") -> Markup:
    """Predicted against true values, with the line where both are the same and the interval around it."""
    true, predicted = (np.array(one["predictions"][key], dtype=np.float64) for key in ("true", "predicted"))
    low, high = min(true.min(), predicted.min()), max(true.max(), predicted.max())
    with sheet(f"{name}-{one['name']}", 4.2, 3.4, _NUMBER_PLOT) as drawn:
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
    with sheet(f"residuals-{one['name']}", 4.2, 3.0, _NUMBER_PLOT) as drawn:
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
    with sheet("learning-curve", 4.2, 3.0, _NUMBER_PLOT) as drawn:
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


# The figures of scores: what a threshold can do, whether probabilities are true, which columns matter.


#: Margins of a plot with labelled axes: left, bottom, right, top.
_SCORE_PLOT = (0.55, 0.45, 0.1, 0.12)
#: Columns that are drawn.
_COLUMNS = 20


def roc_curve(one: Facts, others: Sequence[Facts]) -> Markup:
    """The share of one class that is found against the share of the other that is taken for it."""
    with sheet("roc", 3.8, 3.2, _SCORE_PLOT) as drawn:
        drawn.ax.plot([0, 1], [0, 1], color=MUTED, linewidth=0.8, linestyle=":")
        _lines(drawn.ax, "roc", one, others)
        drawn.ax.set(xlabel="false positive rate", ylabel="true positive rate", xlim=(-0.02, 1.02), ylim=(-0.02, 1.03))
        return inline(drawn, f"ROC curve of {one['title']}", "The nearer to the upper left corner the better.")


def precision_recall_curve(one: Facts, others: Sequence[Facts]) -> Markup:
    """Precision against recall."""
    with sheet("precision-recall", 3.8, 3.2, _SCORE_PLOT) as drawn:
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
    with sheet("calibration", 3.8, 3.2, _SCORE_PLOT) as drawn:
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


# The figures of words: how many rows have each, by class.


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
