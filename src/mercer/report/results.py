"""The page's sections about all learners together: who won, whether that is real, what it costs."""

from __future__ import annotations

from typing import Any

from ..messages import count, enumeration, grouped, in_digits, percent
from ..presentation import Markup, short, tag
from ..study import (
    NUMBERS,
    SHARE,
    chosen_of_facts,
    chosen_setting,
    fit_in_a_word,
    measure_of,
    score_between,
    score_in_words,
    scored_by,
    tuning_measure_of,
)
from . import charts
from .charts import calibration_curve, precision_recall_curve, roc_curve
from .layout import Cell, Facts, bullets, figure, seconds, section, table


@section("results", "Results", place=10)
def results(facts: Facts) -> list[Any]:
    """All learners in one table and one figure; of numbers beside the constant."""
    pairs, asked = {pair["other"]: pair for pair in facts["pairs"]}, score_heads(facts)
    chosen, numbers = facts["answer"]["chosen"], facts.get("task") == "regress"
    measure = NUMBERS if numbers else SHARE

    def not_asked(test: Facts) -> dict[str, Cell]:
        """The errors on test rows that have no column of their own, as those have that were asked for."""
        return {head: cell for head, cell in _errors(test, numbers).items() if head not in asked}

    rows = [
        [
            who(one, facts),
            *score_cells(one, facts),
            *not_asked(one["test"]).values(),
            how_it_fits(one, facts),
            in_validation(one, facts),
            Cell(measure.of(one["train"]), one["train"][measure.key]),
            by_chance(pairs.get(one["name"])),
            Cell(seconds(one["fit_seconds"]), one["fit_seconds"]),
        ]
        for one in facts["learners"]
    ]
    heads = [
        "learner", *asked, *not_asked(facts["learners"][0]["test"]), "fit", in_validation_head(facts),
        f"training {measure.name}", "p", "fitted in",
    ]  # fmt: skip
    guess = facts["baseline"]["rmse"] if numbers else facts["majority_error"]
    if numbers:
        baseline = facts["baseline"]
        reached = [_errors(baseline, numbers).get(name, Cell("")) for name in asked]
        known = [Cell(baseline["title"]), *reached, *not_asked(baseline).values(), Cell("a constant", look="words")]
        rows.append([*known, *[Cell("") for _ in range(len(heads) - len(known))]])
    if beside := facts.get("yardstick"):
        rows.append(beside_them(beside, facts, len(heads)))
    caption = "errors in the unit of the target" if numbers else "the chosen one is marked"
    return [
        table(heads, rows, caption=f"Every learner, tuned by cross-validation, tested once; {caption}",
              marked=next(k for k, one in enumerate(facts["learners"]) if one["name"] == chosen),
              also_words=[heads.index("fit")]),
        part_of_the_rows(facts),
        tag("p", "RMSE: the root of the mean squared error; MAE: the mean absolute error; R²: the share of the "
            "variance that is explained. " if numbers else None,
            "p: how often chance alone would make a difference to the chosen learner at least this large, "
            "corrected for several comparisons. Below 0.05 it counts as real.", class_="quiet"),
        figure(charts.errors(facts["learners"], measure, guess, "the mean" if numbers else "commonest class"),
               "Test error with its 95 % interval, and training error."),
        left_out(facts["skipped"]),
    ]  # fmt: skip


def _errors(test: Facts, numbers: bool) -> dict[str, Cell]:
    """The errors on some rows by the heads of their columns."""
    measure = NUMBERS if numbers else SHARE
    found = {
        f"test {measure.name}": Cell(measure.of(test), test[measure.key], "main"),
        "95 % interval": Cell(measure.between(test), test["low"]),
    }
    if numbers:
        explained = "—" if test["r2"] is None else f"{test['r2']:.3f}".replace("-", "−")
        found |= {"MAE": Cell(in_digits(test["mae"]), test["mae"]), "R²": Cell(explained, test["r2"])}
    return found


def beside_them(found: Facts, facts: Facts, width: int) -> list[Cell]:
    """The row of what is shown for comparison: its name, and what it reaches by the measure that decided."""
    measure, scoring = measure_of(facts), scored_by(facts)
    name = Cell([found["title"], tag("small", " for comparison, not tuned")], found["title"])
    if scoring:
        reached = [Cell(score_in_words(scoring["name"], found["score"]), found["score"], "main")]
    else:
        interval = "" if found["low"] is None else measure.between(found)
        reached = [Cell(measure.words(found["error"]), found["error"], "main"), Cell(interval, found["low"])]
    return [name, *reached, *(Cell("") for _ in range(width - 1 - len(reached)))]


def left_out(skipped: list[Facts]) -> Markup | None:
    """Learners that were not compared, and why."""
    return bullets([[tag("strong", one["title"]), f" was left out: {one['why']}"] for one in skipped])


def score_heads(facts: Facts) -> list[str]:
    """The name of the score that decided, where it is not the error itself."""
    scoring = scored_by(facts)
    return [scoring["title"]] if scoring else []


def score_cells(one: Facts, facts: Facts) -> list[Cell]:
    """What a learner scored on the test rows by the score that decided."""
    scoring = scored_by(facts)
    if not scoring:
        return []
    name = scoring["name"]
    score = one.get("scores", {}).get(name) or {"value": None}
    between = score_between(name, score)
    tip = f"95 %: {between}" if between else None
    return [Cell(score_in_words(name, score["value"]), score["value"], "main", tip)]


def who(one: Facts, facts: Facts) -> Cell:
    """A learner by its name."""
    badge = tag("span", "chosen", class_="badge") if one["name"] == facts["answer"]["chosen"] else None
    unfinished = None if one.get("converged", True) else tag("span", "did not converge", class_="badge warn")
    return Cell([tag("a", one["title"], href=f"#{one['name']}"), badge, unfinished], one["title"])


def how_it_fits(one: Facts, facts: Facts) -> Cell:
    """How near training and test error are."""
    word, look = fit_in_a_word(one, facts)
    return Cell(word, look=f"words fit-{look}")


def in_validation_head(facts: Facts) -> str:
    """The head of the column of :func:`in_validation`."""
    return f"CV {tuning_measure_of(facts).name}"


def in_validation(one: Facts, facts: Facts) -> Cell:
    """The error in cross-validation, marked where fewer rows were cross-validated than the learner was fitted on."""
    validation = chosen_setting(one["tuning"])["validation"]
    mark = "\u00a0†" if one["tuning"]["rows"] < facts["split"]["train"] else ""
    return Cell(tuning_measure_of(facts).spread(validation) + mark, validation["mean"])


def part_of_the_rows(facts: Facts) -> Markup | None:
    """What the mark of :func:`in_validation` means."""
    whole = facts["split"]["train"]
    parts = {one["tuning"]["rows"] for one in facts["learners"]} - {whole}
    if not parts:
        return None
    words = f"† Cross-validated on {count(max(parts), 'row')} of {grouped(whole)}, so rather too pessimistic."
    return tag("p", words, class_="quiet")


def by_chance(pair: Facts | None) -> Cell:
    """How often chance makes the difference to the chosen learner."""
    return Cell("—" if pair is None else chance(pair["p_corrected"]), -1 if pair is None else pair["p_corrected"])


def chance(p: float) -> str:
    return "< 0.0001" if p < 1e-4 else f"{p:.4f}" if p < 0.1 else f"{p:.2f}"


#: What is said of another learner than the chosen.
SAID = {
    "better": "significantly worse than the chosen",
    "worse": "significantly better than the chosen",
    "tie": "no significant difference",
}


@section("real", "Is the difference real?", place=20, contents="Is it real?")
def paired_tests(facts: Facts) -> list[Any]:
    """Whether the winner is really better."""
    titles = {one["name"]: one["title"] for one in facts["learners"]}
    title, numbers = facts["answer"]["title"], facts.get("task") == "regress"
    keys = ("closer", "farther") if numbers else ("only_chosen_right", "only_other_right")
    rows = [
        [
            titles[pair["other"]],
            SAID[pair["verdict"]],
            *(Cell(percent(pair[key], 0) if numbers else grouped(pair[key]), pair[key]) for key in keys),
            *(Cell(chance(pair[key]), pair[key]) for key in ("p", "p_corrected")),
        ]
        for pair in sorted(facts["pairs"], key=lambda pair: -pair["p_corrected"])
    ]
    heads = (
        ["the chosen is closer", "this one is closer"] if numbers else ["only the chosen right", "only this one right"]
    )
    heads = ["learner", "verdict", *heads, "p", "p corrected"]
    did = "predicted" if numbers else "decided"
    return [
        tag("p", f"{title} and each other learner {did} the same test rows. {_how_tested(facts)} Holm’s correction "
            f"for {count(len(rows), 'comparison')}."),
        table(heads, rows, caption=f"{title} against each of the others, on the test rows", words=2) if rows else None,
    ]  # fmt: skip


def _how_tested(facts: Facts) -> str:
    measure = tuning_measure_of(facts)
    if facts.get("task") == "regress":
        return (
            "If both were equally good, the difference of their squared errors on a row would be as likely as its "
            "opposite (10\u202f000 random flips of signs)."
        )
    if measure.is_usual:
        return (
            "Rows on which exactly one of the two is right fall to either side like a fair coin if both are equally "
            "good (McNemar’s exact test)."
        )
    return f"The difference of {measure.title} was drawn again from resampled test rows (a paired bootstrap)."


@section("cost", "Time and cost", place=50, contents="Time")
def cost(facts: Facts) -> list[Any]:
    """Running time and what it buys."""
    rows = [
        [
            one["title"],
            one["family"],
            Cell(seconds(one["tuning"]["seconds"]), one["tuning"]["seconds"]),
            Cell(grouped(one["tuning"]["rows"]), one["tuning"]["rows"]),
            Cell(seconds(one["fit_seconds"]), one["fit_seconds"]),
            Cell(f"{one['predict_microseconds']:.3g} µs", one["predict_microseconds"]),
            Cell(grouped(one["support"]["number"]), one["support"]["number"]) if one["support"] else Cell("—", 0),
            _gap(one["certificate"]),
        ]
        for one in sorted(facts["learners"], key=lambda one: one["fit_seconds"])
    ]  # fmt: skip
    heads = ["learner", "family", "tuning", "on rows", "final fit", "per new row", "support vectors", "relative gap"]
    return [
        table(
            heads,
            rows,
            caption="What each learner cost; relative gap: the duality gap by the objective",
            words=2,
        ),
        figure(
            charts.costs(facts["learners"], measure_of(facts)),
            "Test error against the time of the final fit: lower left is better.",
        ),
    ]


def _gap(certificate: Facts | None) -> Cell:
    if certificate is None:
        return Cell("—", 1e9)
    share = certificate["relative"]
    return Cell("< 1e-6" if share < 1e-6 else short(share), share)


# The page's section about answers class by class: precision and recall, curves, and whether probabilities are true.


#: Classes that are listed; of more, those that are found least.
_LISTED = 40
#: Titles of scikit-learn's scores.
_TITLES = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "roc_auc": "AUC (area under the ROC curve)",
    "roc_auc_ovr": "AUC, each class against the rest",
    "average_precision": "average precision",
    "f1": "F1",
    "f1_macro": "macro-averaged F1",
    "matthews_corrcoef": "Matthews correlation",
    "neg_log_loss": "log loss",
    "r2": "R²",
    "neg_mean_absolute_error": "mean absolute error",
    "neg_root_mean_squared_error": "RMSE",
}


@section("classes", "Class by class", place=24, task="classify")
def class_by_class(facts: Facts) -> list[Any] | None:
    """How well the chosen learner finds each class, and at which price."""
    chosen = chosen_of_facts(facts)
    if not chosen.get("by_class") and not chosen.get("curves"):
        return None
    return [*by_class(chosen), _scores(chosen), _curves(chosen, facts)]


def by_class(one: Facts) -> list[Any]:
    """Precision and recall of each class; nothing where they are not known."""
    found = one.get("by_class")
    if not found:
        return []
    never = [row["label"] for row in found if not row["answered"]]
    said = f"{one['title']} never answers {enumeration(never, 6)}. " if never else ""
    listed = found if len(found) <= _LISTED else sorted(found, key=lambda row: row["recall"] or 0)[:_LISTED]
    rows = [
        [
            row["label"],
            Cell(grouped(row["rows"]), row["rows"]),
            Cell(grouped(row["answered"]), row["answered"]),
            *(_share(row.get(key)) for key in ("precision", "recall", "f1")),
        ]
        for row in listed
    ]
    part = "" if len(listed) == len(found) else f"; the {_LISTED} of {grouped(len(found))} that are found least"
    heads = ["class", "test rows", "predicted", "precision", "recall", "F1"]
    return [
        tag("p", said, "Precision: the share of the rows predicted to be of the class that are. Recall: the share of "
            "the rows of the class that are predicted to be. F1: the harmonic mean of both."),
        table(heads, rows, caption=f"{one['title']} on the test rows{part}"),
    ]  # fmt: skip


def _share(value: float | None) -> Cell:
    return Cell("—", -1) if value is None else Cell(percent(value, 1), value)


def _scores(one: Facts) -> Markup | None:
    """All scores on the test rows."""
    found = one.get("scores")
    if not found:
        return None
    rows = [
        [_TITLES.get(name, name.replace("_", " ")), Cell(score_in_words(name, score["value"]), score["value"]),
         Cell(score_between(name, score))]
        for name, score in found.items()
    ]  # fmt: skip
    whole = table(["score", "on test rows", "95 % interval"], rows, caption=f"Scores of {one['title']}", sortable=False)
    return tag("details", tag("summary", f"{count(len(rows), 'score')} of the chosen learner"), whole)


def _curves(one: Facts, facts: Facts) -> Markup | None:
    """What thresholds can do, and whether probabilities are true."""
    curves = one.get("curves")
    if not curves:
        return None
    others = [other for other in facts["learners"] if other is not one and other.get("curves")]
    thin = " Thin lines: the other learners." if others else ""
    positive = facts["data"]["classes"][1]["label"]
    return tag(
        "div",
        figure(roc_curve(one, others), f"ROC curve: true positive rate of “{positive}” against false positive rate, "
               f"as the threshold moves.{thin}"),
        figure(precision_recall_curve(one, others), f"Precision and recall of “{positive}” as the threshold moves."),
        figure(calibration_curve(one), "Calibration: the observed share of “" + positive + "” at each predicted "
               "probability. Calibrated probabilities lie on the line.") if curves.get("calibration") else None,
        class_="pair",
    )  # fmt: skip


# The page's sections that a study of numbers has of its own: residuals and intervals.


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
            figure(charts.predicted_and_true(chosen, facts["data"]["target"], reach, "chosen"),
                   f"{chosen['title']}: predicted against true values of test rows.{band}"),
            figure(charts.residuals(chosen, reach), f"What is left of the true value.{band}"),
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
        figure(charts.residual_histogram(facts["residuals"], title), "How large residuals are."),
        figure(
            charts.rows_and_errors(facts["learning_curve"], title),
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
    return [tag("p", words), figure(charts.histogram(values, [], "histogram-target"), "The target.")]
