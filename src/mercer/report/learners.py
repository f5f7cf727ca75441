"""The page's sections about what each learner is: its boundary, its weights, its tuning and its mistakes."""

from __future__ import annotations

import re
from typing import Any

from ..messages import count, grouped, in_digits, percent
from ..presentation import Markup, short, shorten, tag
from ..study import (
    ErrorMeasure,
    chosen_of_facts,
    fit_in_a_word,
    folds_in_words,
    measure_of,
    telling_bounds,
    tuning_measure_of,
    verdict_in_words,
)
from . import charts
from .answer import kernel_of
from .charts import importances, predicted_and_true
from .layout import Cell, Facts, bullets, figure, seconds, section, table
from .results import by_class

# The page's sections about the chosen learner alone: which columns matter to it, and which rows it got wrong.


#: Cells of a row that are shown, and letters of each.
_CELLS, _LETTERS = 6, 60


@section("columns", "Which columns matter", place=23, contents="Columns")
def which_columns_matter(facts: Facts) -> list[Any] | None:
    """How much worse the chosen learner becomes without a column."""
    chosen = chosen_of_facts(facts)
    picture = picture_of_importances(chosen, facts)
    if picture is None:
        return None
    words = (
        f"The values of one column at a time were shuffled among the test rows. The more {chosen['title']} errs then, "
        "the more it relies on that column. Columns that say the same share their importance."
    )
    return [tag("p", words), picture]


def picture_of_importances(one: Facts, facts: Facts) -> Markup | None:
    """The importances of a learner's columns as bars; nothing where they are not known."""
    found = one.get("importances")
    if not found:
        return None
    picture, left = importances(one, measure_of(facts))
    rest = f" {count(left, 'less important column is', 'less important columns are')} not shown." if left else ""
    return figure(picture, f"By how much the test error rises, ± one standard deviation over the shufflings.{rest}")


@section("wrong", "Which rows went wrong", place=26, contents="Wrong rows")
def which_rows_went_wrong(facts: Facts) -> list[Any] | None:
    """Test rows that the chosen learner got most wrong, with what they look like and what they resemble."""
    chosen = chosen_of_facts(facts)
    wrong = chosen.get("wrong_rows")
    if not wrong:
        return None
    numbers = facts.get("task") == "regress"
    near = any(one.get("nearest") for one in wrong)
    heads = ["row", *(["true", "predicted"] if numbers else ["true class", "answer", "score"])]
    heads += [*(["most similar rows it learned from"] if near else []), "what is in it"]
    rows = [
        [
            Cell(one["row"]),
            *_answers(one, numbers),
            *([Cell(_nearest(one.get("nearest") or [], numbers), look="words wrap")] if near else []),
            Cell(*_inside(one.get("cells") or {})),
        ]
        for one in wrong
    ]
    return [
        tag("p", _how_many(chosen, len(wrong), numbers)),
        table(heads, rows, caption=f"Test rows that {chosen['title']} got most wrong", words=len(heads),
              sortable=False),
    ]  # fmt: skip


def _how_many(chosen: Facts, shown: int, numbers: bool) -> str:
    look = "Look at them in the file: is the label right, is a cell odd, is a column missing that would tell?"
    if numbers:
        return f"The {count(shown, 'row')} with the largest errors. {look}"
    wrong, rows = chosen["test"]["wrong"], chosen["test"]["rows"]
    told = "" if shown >= wrong else f", of which {grouped(shown)} are here, the most wrong first"
    score = "Score: that of the true class less that of the answer; the farther below zero, the surer was the mistake."
    return f"{grouped(wrong)} of {count(rows, 'test row')} went wrong{told}. {score} {look}"


def _answers(one: Facts, numbers: bool) -> list[Cell]:
    if numbers:
        return [Cell(in_digits(one[key]).replace("-", "−"), look="n") for key in ("label", "answer")]
    score = one.get("score")
    return [
        Cell(one["label"]),
        Cell(one["answer"]),
        Cell("" if score is None else f"{score:.3g}".replace("-", "−"), look="n"),
    ]


def _nearest(items: list[Facts], numbers: bool) -> list[Markup]:
    """The rows it learned from that are most like this one: where they stand, their label, how similar."""
    labels = [one["label"] if not numbers or one["label"] is None else in_digits(one["label"]) for one in items]
    return [
        tag("div", f"{one['row']}{'' if label is None else f': {label}'} ({one['similarity']:.2f})")
        for one, label in zip(items, labels, strict=True)
    ]


def _inside(cells: Facts) -> tuple[str, None, str, str]:
    """The first cells of a row in words, and all of them on pointing at it."""
    shown = [f"{name} {_short(value)}" for name, value in cells.items()]
    more = f" and {len(shown) - _CELLS} more" if len(shown) > _CELLS else ""
    return ", ".join(shown[:_CELLS]) + more, None, "words wrap", ", ".join(shown)


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else shorten(value, _LETTERS)


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
    pictures = [tag("div", charts.boundary(one, plane, labels)) for one in shown]
    margins = " The full line is the boundary, dashed lines are scores of ±1." if len(labels) == 2 else ""
    caption = tag("figcaption", where, margins, " ", charts.class_keys(labels))
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
                figure(charts.weights(linear, "weights-linear", "features", meaning), "Linear learners."),
                figure(charts.weights(square, "weights-products", "interactions", meaning),
                       "The heaviest interactions of two columns."),
            ),
            figure(charts.weights(square, "weights-square", "features", meaning),
                   "Degree-2 learners: columns, squares and products."),
            class_="pair",
        ),
    ]  # fmt: skip


def _not_drawn(weights: Facts) -> int:
    """How many weights of a model are too light for the figures."""
    return max(0, weights["left_out"] + len(weights["features"]) - charts.WEIGHTS)


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
            figure(charts.tuning_curve(one, tuned_by), "Tuning: validation error (band: ± one deviation over the "
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
        f"Best of {tried} by {folds_in_words(tuning)}: {charts.settings(one['params'])}."
        if len(tuning["candidates"]) > 1
        else f"One setting: {charts.settings(one['params'])}.",
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
    return figure(charts.margin(one), "Margins: how clearly rows are decided.")


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
