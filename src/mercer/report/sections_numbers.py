"""The page's sections that a study of numbers has of its own: results, paired tests, residuals, intervals."""

from __future__ import annotations

from typing import Any

from .._presentation.html import Markup, tag
from . import figures, figures_numbers
from .elements import Cell, count, figure, grouped, table
from .error_measure import NUMBERS
from .number_errors import in_digits
from .sections import Facts, section
from .sections_results import (
    SAID,
    beside_them,
    by_chance,
    chance,
    how_it_fits,
    in_validation,
    in_validation_head,
    left_out,
    part_of_the_rows,
    score_cells,
    score_heads,
    who,
)


@section("results", "Results", place=10, task="regress")
def results_of_numbers(facts: Facts) -> list[Any]:
    """All learners in one table and one figure, beside the constant."""
    pairs = {pair["other"]: pair for pair in facts["pairs"]}
    chosen, baseline = facts["answer"]["chosen"], facts["baseline"]
    rows = [_result(one, pairs.get(one["name"]), facts) for one in facts["learners"]]
    asked, errors = score_heads(facts), _errors(baseline)
    rows.append([Cell(baseline["title"]), *(errors.get(name, Cell("")) for name in asked), *_not_asked(baseline, asked),
                 Cell("a constant", look="words"), *[Cell("") for _ in range(3)]])  # fmt: skip
    marked = next(k for k, one in enumerate(facts["learners"]) if one["name"] == chosen)
    heads = [
        "learner", *asked, *(name for name in errors if name not in asked), "fit", in_validation_head(facts),
        "training RMSE", "p",
    ]  # fmt: skip
    if beside := facts.get("yardstick"):
        rows.append(beside_them(beside, facts, len(heads)))
    caption = "Every learner, tuned by cross-validation, tested once; errors in the unit of the target"
    return [
        table(heads, rows, caption=caption, marked=marked, also_words=[heads.index("fit")]),
        part_of_the_rows(facts),
        tag("p", "RMSE: the root of the mean squared error; MAE: the mean absolute error; R²: the share of the "
            "variance that is explained. p: how often chance alone would make a difference to the chosen learner at "
            "least this large, corrected for several comparisons. Below 0.05 it counts as real.", class_="quiet"),
        figure(figures.errors(facts["learners"], NUMBERS, baseline["rmse"], "the mean"),
               "Test error with its 95 % interval, and training error."),
        left_out(facts["skipped"]),
    ]  # fmt: skip


def _result(one: Facts, pair: Facts | None, facts: Facts) -> list[Any]:
    return [
        who(one, facts),
        *score_cells(one, facts),
        *_not_asked(one["test"], score_heads(facts)),
        how_it_fits(one, facts),
        in_validation(one, facts),
        Cell(NUMBERS.of(one["train"]), one["train"]["rmse"]),
        by_chance(pair),
    ]


def _errors(test: Facts) -> dict[str, Cell]:
    """The errors on some rows by the heads of their columns."""
    return {
        "test RMSE": Cell(NUMBERS.of(test), test["rmse"], "main"),
        "95 % interval": Cell(NUMBERS.between(test), test["low"]),
        "MAE": Cell(in_digits(test["mae"]), test["mae"]),
        "R²": Cell("—" if test["r2"] is None else f"{test['r2']:.3f}".replace("-", "−"), test["r2"]),
    }


def _not_asked(test: Facts, asked: list[str]) -> list[Cell]:
    """The errors that have no column of their own, as those have that were asked for."""
    return [cell for name, cell in _errors(test).items() if name not in asked]


@section("real", "Is the difference real?", place=20, contents="Is it real?", task="regress")
def paired_errors(facts: Facts) -> list[Any]:
    """Whether the winner is really better."""
    titles = {one["name"]: one["title"] for one in facts["learners"]}
    rows = [
        [
            titles[pair["other"]],
            SAID[pair["verdict"]],
            Cell(f"{100 * pair['closer']:.0f} %", pair["closer"]),
            Cell(f"{100 * pair['farther']:.0f} %", pair["farther"]),
            Cell(chance(pair["p"]), pair["p"]),
            Cell(chance(pair["p_corrected"]), pair["p_corrected"]),
        ]
        for pair in sorted(facts["pairs"], key=lambda pair: -pair["p_corrected"])
    ]
    title = facts["answer"]["title"]
    heads = ["learner", "verdict", "the chosen is closer", "this one is closer", "p", "p corrected"]
    return [
        tag("p", f"{title} and each other learner predicted the same test rows. If both were equally good, the "
            "difference of their squared errors on a row would be as likely as its opposite (10\u202f000 random flips "
            f"of signs; Holm’s correction for {count(len(rows), 'comparison')})."),
        table(heads, rows, caption=f"{title} against each of the others, on the test rows", words=2) if rows else None,
    ]  # fmt: skip


#: What the interval is, and what it is not.
_PROMISE = (
    "Of n errors on rows left out in cross-validation the half-width is the ⌈0.9·(n\u00a0+\u00a01)⌉-th smallest. That "
    "holds on average over new rows from the same source, as long as a few rows more hardly change the learner: it is "
    "expected, not guaranteed. mercer.Conformal makes intervals with a guarantee."
)


@section("residuals", "What the chosen learner misses", place=30, contents="Residuals", task="regress")
def what_is_missed(facts: Facts) -> list[Any]:
    """Predicted against true values, residuals, intervals, the largest errors, and whether more rows would help."""
    chosen = next(one for one in facts["learners"] if one["name"] == facts["answer"]["chosen"])
    intervals = facts["intervals"]
    reach = None if intervals is None else intervals["half_width"]
    band = " The band is the interval." if reach is not None else ""
    return [
        tag("p", intervals["words"]) if intervals else None,
        tag("p", _PROMISE) if intervals else None,
        tag(
            "div",
            figure(figures_numbers.predicted_and_true(chosen, facts["data"]["target"], reach, "chosen"),
                   f"{chosen['title']}: predicted against true values of test rows.{band}"),
            figure(figures_numbers.residuals(chosen, reach), f"What is left of the true value.{band}"),
            class_="pair",
        ),
        _from_training_rows(facts, chosen["title"]),
        None if chosen.get("wrong_rows") else _largest(facts["worst"]),
    ]  # fmt: skip


def _from_training_rows(facts: Facts, title: str) -> Markup | None:
    """What rows show that were left out of fits in turn; nothing where the study was interrupted before."""
    if facts["residuals"] is None:
        return None
    return tag(
        "div",
        figure(figures_numbers.residual_histogram(facts["residuals"], title), "How large residuals are."),
        figure(
            figures_numbers.rows_and_errors(facts["learning_curve"], title),
            "Errors with fewer training rows: where the upper line still falls, more rows would help.",
        ),
        class_="pair",
    )


def _largest(worst: list[Facts]) -> Markup:
    rows = [
        [
            Cell(one["where"], one["row"]),
            *(Cell(in_digits(one[key]).replace("-", "−"), one[key]) for key in ("true", "predicted", "difference")),
        ]
        for one in worst
    ]
    heads = ["row", "true", "predicted", "true less predicted"]
    return table(heads, rows, caption="The largest errors on test rows: look at these rows of the file first")


def target_of_numbers(data: Facts) -> list[Any]:
    """How the target is spread."""
    values = data["values"]
    low, lower, middle, upper, high = values["quantiles"]
    words = (
        f"From {in_digits(low)} to {in_digits(high)}, median {in_digits(middle)}, the middle half from "
        f"{in_digits(lower)} to {in_digits(upper)}; mean {in_digits(values['mean'])}, standard deviation "
        f"{in_digits(values['std'])}, skew {values['skew']:.2f}; {grouped(values['distinct'])} different values."
    )
    return [tag("p", words), figure(figures.histogram(values, [], "histogram-target"), "The target.")]
