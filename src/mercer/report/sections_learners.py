"""The page's sections about what each learner is: its boundary, its weights, its tuning and its mistakes."""

from __future__ import annotations

from typing import Any

from .._presentation.canvas import short
from .._presentation.html import Markup, tag
from . import figures
from .elements import Cell, bullets, count, figure, grouped, seconds, table
from .error_measure import ErrorMeasure, measure_of, percent
from .figures_numbers import predicted_and_true
from .sections import Facts, section

#: Classes up to which a confusion matrix is shown whole.
_CONFUSED = 40


@section("boundaries", "What they decide", place=30, task="classify")
def boundaries(facts: Facts) -> list[Any] | None:
    """The boundaries of all learners on one plane."""
    plane = facts["boundary"]
    if plane is None:
        return None
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


@section("weights", "Weights side by side", place=40, contents="Weights")
def weights(facts: Facts) -> list[Any] | None:
    """Weights of the linear learners side by side."""
    linear = [one for one in facts["learners"] if one["weights"] and one["family"] == "linear"]
    square = [one for one in facts["learners"] if one["weights"] and one["family"] == "degree 2"]
    if not linear and not square:
        return None
    meaning = _meaning(facts)
    left = max([one["weights"]["left_out"] for one in linear + square], default=0)
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


def _meaning(facts: Facts) -> str:
    """What the sign of a weight says."""
    if facts.get("task") == "regress":
        return f"Blue raises the prediction of “{facts['data']['target']}”, orange lowers it."
    labels = [one["label"] for one in facts["data"]["classes"]]
    if len(labels) == 2:
        return f"Blue speaks for “{labels[1]}”, orange for “{labels[0]}”."
    return "With several classes a weight is its length over all of them, without a sign."


@section("learners", "Learner by learner", place=60)
def learner_by_learner(facts: Facts) -> list[Any]:
    """Each learner by itself."""
    return [_learner(one, facts) for one in facts["learners"]]


def _learner(one: Facts, facts: Facts) -> Markup:
    tuning, measure = one["tuning"], measure_of(facts)
    found = [
        f"Best of {count(len(tuning['candidates']), 'setting')} by {tuning['folds']}-fold cross-validation: "
        f"{figures.settings(one['params'])}.",
        *one["notes"],
        *[fact["message"] for fact in tuning["advice"]],
    ]
    if one["support"]:
        share = percent(one["support"]["share"], 0)
        found.append(f"Made of {count(one['support']['number'], 'support vector')}, {share} of its training rows.")
    found += [one["certificate"]["words"]] if one["certificate"] else []
    found += [bound["words"] for bound in one["bounds"]]
    found += [f"Warning: {words}" for words in one["warnings"]]
    return tag(
        "article",
        tag("h3", one["title"], tag("small", f"{measure.of(one['test'])} test {measure.name}")),
        tag("p", one["verdict"]["words"], class_=f"verdict fit-{one['verdict']['kind']}"),
        bullets(found),
        tag(
            "div",
            figure(figures.tuning_curve(one, measure), "Tuning: validation error (band: ± one deviation over the "
                   "folds), dotted: training error; the ring is the choice."),
            _on_test_rows(one, facts),
            class_="pair",
        ),
        tag("details", tag("summary", "All settings tried"), _settings(one, measure)),
        _confusions(one, facts),
        id=one["name"],
    )  # fmt: skip


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
