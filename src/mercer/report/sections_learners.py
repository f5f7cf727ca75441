"""The page's sections about what each learner is: its boundary, its weights, its tuning and its mistakes."""

from __future__ import annotations

import re
from typing import Any

from .._presentation.canvas import short
from .._presentation.html import Markup, tag
from . import figures
from .answer import kernel_of
from .elements import Cell, bullets, count, figure, grouped, seconds, table
from .error_measure import ErrorMeasure, measure_of, percent
from .figures_numbers import predicted_and_true
from .gaps import fit_in_a_word, telling_bounds, verdict_in_words
from .scorings import tuning_measure_of
from .sections import Facts, section
from .sections_chosen import picture_of_importances
from .sections_scores import by_class
from .tuning import folds_in_words

#: Classes up to which a confusion matrix is shown whole.
_CONFUSED = 40
#: A plane that shows less than this share of the spread of the rows explains nothing.
_TELLING = 0.2


@section("boundaries", "What they decide", place=30, contents="Boundaries", task="classify")
def boundaries(facts: Facts) -> list[Any] | None:
    """The boundaries of all learners on one plane."""
    plane = facts["boundary"]
    if plane is None:
        return None
    share = _share_of_spread(plane)
    if share < _TELLING:
        words = (
            f"No plane shows these data: the best one holds {percent(share, 0)} of the spread of "
            f"{count(plane['features'], 'feature')}, so that a picture would mislead."
        )
        return [tag("p", words)]
    labels = [one["label"] for one in facts["data"]["classes"]]
    where = (
        f"The plane of {plane['axes'][0]} and {plane['axes'][1]}."
        if plane["features"] == 2
        else f"A slice of {count(plane['features'], 'feature')} through the mean: {plane['axes'][0]} across, "
        f"{plane['axes'][1]} upwards. Rows are projected onto it, so one may lie on the other side here than it does "
        "in all dimensions."
    )
    shown = [one for one in facts["learners"] if one["name"] in plane["learners"]]
    pictures = [tag("div", figures.boundary(one, plane, labels)) for one in shown]
    margins = " The full line is the boundary, dashed lines are scores of ±1." if len(labels) == 2 else ""
    caption = tag("figcaption", where, margins, " ", figures.class_keys(labels))
    return [tag("figure", tag("div", pictures, class_="many wide"), caption)]


def _share_of_spread(plane: Facts) -> float:
    """How much of the spread of all features a plane shows: the shares of its axes, which their names tell."""
    if plane["features"] <= 2:
        return 1.0
    shares = [re.search(r"\((\d+) %", axis) for axis in plane["axes"]]
    return sum(int(share[1]) for share in shares if share) / 100 if all(shares) else 1.0


@section("weights", "Weights side by side", place=40, contents="Weights")
def weights(facts: Facts) -> list[Any] | None:
    """Weights of the linear learners side by side."""
    linear = [one for one in facts["learners"] if one["weights"] and one["family"] == "linear"]
    square = [one for one in facts["learners"] if one["weights"] and one["family"] == "degree 2"]
    if not linear and not square:
        return None
    meaning = _meaning(facts)
    left = max(_not_drawn(one["weights"]) for one in linear + square)
    return [
        tag("p", f"Each weight as a share of the length of its model’s weight vector. {meaning}",
            f" Up to {grouped(left)} lighter weights of a model are left out." if left else None),
        tag(
            "div",
            tag(
                "div",
                figure(figures.weights(linear, "weights-linear", "features", meaning), "Linear learners."),
                figure(figures.weights(square, "weights-products", "interactions", meaning),
                       "The heaviest interactions of two columns."),
            ),
            figure(figures.weights(square, "weights-square", "features", meaning),
                   "Degree-2 learners: columns, squares and products."),
            class_="pair",
        ),
    ]  # fmt: skip


def _not_drawn(weights: Facts) -> int:
    """How many weights of a model are too light for the figures."""
    return max(0, weights["left_out"] + len(weights["features"]) - figures.WEIGHTS)


def _meaning(facts: Facts) -> str:
    """What the sign of a weight says."""
    if facts.get("task") == "regress":
        return f"Blue raises the prediction of “{facts['data']['target']}”, orange lowers it."
    labels = [one["label"] for one in facts["data"]["classes"]]
    if len(labels) == 2:
        return f"Blue speaks for “{labels[1]}”, orange for “{labels[0]}”."
    return "With several classes a weight is its length over all of them, without a sign."


@section("learners", "Learner by learner", place=60, contents="Learners")
def learner_by_learner(facts: Facts) -> list[Any]:
    """Each learner by itself: the chosen one first and open, the others folded."""
    chosen = facts["answer"]["chosen"]
    return [_folded(one, facts) for one in sorted(facts["learners"], key=lambda one: one["name"] != chosen)]


def _folded(one: Facts, facts: Facts) -> Markup:
    is_chosen = one["name"] == facts["answer"]["chosen"]
    measure = measure_of(facts)
    badge = tag("span", "chosen", class_="badge") if is_chosen else None
    title = tag("h3", one["title"], badge, tag("small", f"{measure.of(one['test'])} test {measure.name}"))
    return tag("details", tag("summary", title), _learner(one, facts), class_="learner", open=is_chosen)


def _learner(one: Facts, facts: Facts) -> Markup:
    tuned_by = tuning_measure_of(facts)
    look = fit_in_a_word(one, facts)[1]
    others = one["name"] != facts["answer"]["chosen"]
    return tag(
        "article",
        tag("p", verdict_in_words(one, facts), class_=f"verdict fit-{look}"),
        bullets(_findings(one, facts)),
        tag(
            "div",
            figure(figures.tuning_curve(one, tuned_by), "Tuning: validation error (band: ± one deviation over the "
                   "folds), dotted: training error; the ring is the choice."),
            _on_test_rows(one, facts),
            class_="pair",
        ),
        picture_of_importances(one, facts) if others else None,
        by_class(one) if others else None,
        tag("details", tag("summary", "All settings tried"), _settings(one, tuned_by)),
        _confusions(one, facts),
        id=one["name"],
    )  # fmt: skip


def _findings(one: Facts, facts: Facts) -> list[str]:
    """What there is to say of a learner, a sentence each."""
    tuning, kernel = one["tuning"], kernel_of(one)
    tried = count(len(tuning["candidates"]), "setting")
    found = [
        f"Best of {tried} by {folds_in_words(tuning)}: {figures.settings(one['params'])}."
        if len(tuning["candidates"]) > 1
        else f"One setting: {figures.settings(one['params'])}.",
        *([f"Kernel: {kernel}."] if kernel else []),
        *one["notes"],
        *([] if one.get("converged", True) else ["It did not converge: more steps may change it."]),
        *[fact["message"] for fact in tuning["advice"]],
    ]
    if one["support"]:
        share = percent(one["support"]["share"], 0)
        found.append(f"Made of {count(one['support']['number'], 'support vector')}, {share} of its training rows.")
    found += [one["certificate"]["words"]] if one["certificate"] else []
    found += [bound["words"] for bound in telling_bounds(one, facts)]
    return [*found, *[f"Warning: {words}" for words in one["warnings"]]]


def _on_test_rows(one: Facts, facts: Facts) -> Markup | None:
    """How clearly rows are decided, or how near to their value they are predicted."""
    if facts.get("task") == "regress":
        picture = predicted_and_true(one, facts["data"]["target"])
        return figure(picture, "Predicted against true values of test rows: on the line where both are the same.")
    return figure(figures.margin(one), "Margins: how clearly rows are decided.")


def _confusions(one: Facts, facts: Facts) -> Markup | None:
    if facts.get("task") == "regress":
        return None
    labels = [each["label"] for each in facts["data"]["classes"]]
    return tag("details", tag("summary", "Confusion matrix of the test rows"), _confusion(one, labels))


def _settings(one: Facts, measure: ErrorMeasure) -> Markup:
    candidates = one["tuning"]["candidates"]
    names = list(candidates[0]["params"])
    rows = [
        [
            *[Cell(short(candidate["params"][name]), candidate["params"][name]) for name in names],
            *[Cell(measure.spread(candidate[kind]), candidate[kind]["mean"]) for kind in ("validation", "train")],
            Cell(seconds(candidate["fit_seconds"]), candidate["fit_seconds"]),
        ]
        for candidate in candidates
    ]
    heads = [*names, f"validation {measure.name}", f"training {measure.name}", "fit of a fold"]
    caption = f"{one['title']}: mean ± standard deviation over {one['tuning']['folds']} folds"
    return table(heads, rows, caption=caption, words=0, marked=one["tuning"]["best"])


def _confusion(one: Facts, labels: list[str]) -> Markup:
    if len(labels) > _CONFUSED:
        return tag("p", f"{len(labels)} classes: the matrix is in report.json.", class_="quiet")
    rows = []
    for label, counts in zip(labels, one["confusion"], strict=True):
        total = max(1, sum(counts))
        cells = [
            Cell(
                tag(
                    "span",
                    grouped(number),
                    style=f"--share: {100 * number / total:.0f}%",
                    class_="heat" if other == label else "heat wrong" if number else "heat none",
                ),
                number,
                tip=f"{number} of {total} rows of class {label} decided as {other}",
            )
            for other, number in zip(labels, counts, strict=True)
        ]
        rows.append([label, *cells])
    caption = "Rows are the true classes, columns the decided ones"
    return table(["true class", *labels], rows, caption=caption, sortable=False)
