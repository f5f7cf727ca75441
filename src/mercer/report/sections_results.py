"""The page's sections about all learners together: who won, whether that is real, what it costs."""

from __future__ import annotations

from typing import Any

from .._presentation.canvas import short
from .._presentation.html import Markup, tag
from . import figures
from .elements import Cell, bullets, count, figure, grouped, seconds, table
from .error_measure import SHARE, measure_of, percent
from .gaps import fit_in_a_word
from .scores import score_between, score_in_words, scored_by
from .scorings import tuning_measure_of
from .sections import Facts, section
from .tuning import chosen_setting


@section("results", "Results", place=10, task="classify")
def results(facts: Facts) -> list[Any]:
    """All learners in one table and one figure."""
    pairs = {pair["other"]: pair for pair in facts["pairs"]}
    chosen = facts["answer"]["chosen"]
    rows = [_result(one, pairs.get(one["name"]), facts) for one in facts["learners"]]
    marked = next(k for k, one in enumerate(facts["learners"]) if one["name"] == chosen)
    heads = [
        "learner", *score_heads(facts), "test error", "95 % interval", "fit", in_validation_head(facts),
        "training error", "p", "fitted in",
    ]  # fmt: skip
    if beside := facts.get("yardstick"):
        rows.append(beside_them(beside, facts, len(heads)))
    return [
        table(heads, rows, caption="Every learner, tuned by cross-validation, tested once; the chosen one is marked",
              marked=marked, also_words=[heads.index("fit")]),
        part_of_the_rows(facts),
        tag("p", "p: how often chance alone would make a difference to the chosen learner at least this large, "
            "corrected for several comparisons. Below 0.05 it counts as real.", class_="quiet"),
        figure(figures.errors(facts["learners"], SHARE, facts["majority_error"], "commonest class"),
               "Test error with its 95 % interval, and training error."),
        left_out(facts["skipped"]),
    ]  # fmt: skip


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


def _result(one: Facts, pair: Facts | None, facts: Facts) -> list[Any]:
    return [
        who(one, facts),
        *score_cells(one, facts),
        *_error(one["test"]),
        how_it_fits(one, facts),
        in_validation(one, facts),
        Cell(percent(one["train"]["rate"]), one["train"]["rate"]),
        by_chance(pair),
        Cell(seconds(one["fit_seconds"]), one["fit_seconds"]),
    ]


def _error(test: Facts) -> list[Cell]:
    return [
        Cell(percent(test["rate"]), test["rate"], "main"),
        Cell(f"{100 * test['low']:.1f}–{percent(test['high'], 1)}", test["low"]),
    ]


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
    "better": "really worse than the chosen",
    "worse": "really better than the chosen",
    "tie": "cannot be told apart",
}


@section("real", "Is the difference real?", place=20, contents="Is it real?", task="classify")
def paired_tests(facts: Facts) -> list[Any]:
    """Whether the winner is really better."""
    titles = {one["name"]: one["title"] for one in facts["learners"]}
    rows = [
        [
            titles[pair["other"]],
            SAID[pair["verdict"]],
            Cell(grouped(pair["only_chosen_right"]), pair["only_chosen_right"]),
            Cell(grouped(pair["only_other_right"]), pair["only_other_right"]),
            Cell(chance(pair["p"]), pair["p"]),
            Cell(chance(pair["p_corrected"]), pair["p_corrected"]),
        ]
        for pair in sorted(facts["pairs"], key=lambda pair: -pair["p_corrected"])
    ]
    title = facts["answer"]["title"]
    heads = ["learner", "verdict", "only the chosen right", "only this one right", "p", "p corrected"]
    return [
        tag("p", f"{title} and each other learner decided the same test rows. {_how_tested(facts)} Holm’s correction "
            f"for {count(len(rows), 'comparison')}."),
        table(heads, rows, caption=f"{title} against each of the others, on the test rows", words=2) if rows else None,
    ]  # fmt: skip


def _how_tested(facts: Facts) -> str:
    measure = tuning_measure_of(facts)
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
            caption="What each learner cost; relative gap: how far at most from its best objective",
            words=2,
        ),
        figure(
            figures.costs(facts["learners"], measure_of(facts)),
            "Test error against the time of the final fit: lower left is better.",
        ),
    ]


def _gap(certificate: Facts | None) -> Cell:
    if certificate is None:
        return Cell("—", 1e9)
    share = certificate["relative"]
    return Cell("< 1e-6" if share < 1e-6 else short(share), share)
