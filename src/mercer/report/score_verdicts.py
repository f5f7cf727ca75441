"""What scores mean that somebody asked for, or that uneven classes ask for, in plain words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._runtime.compile import Array
from .._validation.wording import enumeration, with_article
from .choice import Choice
from .error_measure import ErrorMeasure, percent
from .first_words import about_unanswered, whether_learned
from .number_errors import in_digits
from .predictions import Predictions
from .score_intervals import draws_of
from .significance import ALPHA, drawn_differences, holm
from .tuning import chosen_setting

Facts = dict[str, Any]


def fit_of_scores(
    measure: ErrorMeasure, train: Facts, test: Facts, best_test: Facts, baseline: Facts, rows: int
) -> dict[str, str]:
    """Whether a learner over- or underfits by some score, larger for better, and whether it is of any use.

    Overfitting is a test score clearly below the training score, their intervals do not touch, that is not good: below
    the interval of the best learner, or nearer to what guessing reaches than to a perfect score. Underfitting is a
    training score clearly below what the best learner reaches on new rows.
    """
    said = (
        f"{measure.title} {measure.in_words(train['value'])} on the rows it learned from, "
        f"{measure.in_words(test['value'])} on new rows"
    )
    if _missing(train, test, best_test):
        return {"kind": "good", "words": f"{said[0].upper()}{said[1:]}."}
    guess = f"{measure.in_words(baseline['value'])} for {baseline['title']}"
    if test["value"] <= baseline["value"]:
        return {"kind": "useless", "words": f"No better than {baseline['title']}: {said}, against {guess}."}
    if test["low"] <= baseline["value"]:
        words = f"{said[0].upper()}{said[1:]}, against {guess}: {rows:,} test rows do not prove it better."
        return {"kind": "unproven", "words": words}
    good = test["value"] >= max(best_test["low"], (baseline["value"] + measure.perfect) / 2)
    return under_or_over(train["high"] < best_test["low"], test["high"] < train["low"], good, said)


def rises_left_out(learner: Facts, train: float) -> bool:
    """Whether the error on rows left out in cross-validation, where there is one, lies above a training error too.

    Examples
    --------
    >>> tuning = {"candidates": [{"validation": {"mean": 0.02}}], "best": 0}
    >>> rises_left_out({"tuning": tuning}, 0.01), rises_left_out({"tuning": tuning}, 0.03)
    (True, False)
    """
    mean = chosen_setting(learner["tuning"])["validation"]["mean"] if learner.get("tuning") else None
    return mean is None or mean > train


def under_or_over(under: bool, apart: bool, good: bool, said: str, overfits: str = "It overfits") -> dict[str, str]:
    """The verdict on a learner that is of use: whether it is clearly too simple, clearly worse on new rows, and good.

    Examples
    --------
    >>> under_or_over(False, True, False, "AUC 1 on the rows it learned from, 0.7 on new rows")["kind"]
    'overfit'
    >>> under_or_over(False, True, True, "AUC 1 on the rows it learned from, 0.97 on new rows")["kind"]
    'good'
    """
    over = apart and not good
    if under and over:
        return {"kind": "both", "words": f"Too simple for these data, and it overfits as well: {said}."}
    if under:
        return {
            "kind": "underfit",
            "words": f"Underfits: {said}. It does worse on rows it has seen than the best learner does on rows it has "
            "not; a richer model is needed, not more rows.",
        }
    if over:
        return {"kind": "overfit", "words": f"{overfits}: {said}. More rows would narrow the gap."}
    why = "fewer errors on rows it has seen do no harm to others" if apart else "the difference is within chance"
    return {"kind": "good", "words": f"Fits well: {said}; {why}."}


def compare_scores(
    measure: ErrorMeasure, names: Sequence[str], y: Array, found: Mapping[str, Predictions], chosen: str, weights: Array
) -> list[Facts]:
    """Paired tests of the chosen learner against each of the others, by drawing the same test rows again and again."""
    others = [name for name in names if name != chosen]
    own = draws_of(measure, y, found[chosen], weights)
    gained = [own - draws_of(measure, y, found[name], weights) for name in others]
    raw = [drawn_differences(each) for each in gained]
    return [
        {
            "other": name,
            **_closer(y, found[chosen], found[name]),
            "p": p,
            "p_corrected": corrected,
            "verdict": "tie" if corrected >= ALPHA else "better" if np.nanmean(each) > 0 else "worse",
        }
        for name, each, p, corrected in zip(others, gained, raw, holm(raw), strict=True)
    ]


def _closer(y: Array, first: Predictions, second: Predictions) -> Facts:
    """On how many rows one of two learners alone is right, or on which share of them it is nearer to the number."""
    if first.classes is not None:
        one, other = first.predicted == y, second.predicted == y
        return {"only_chosen_right": int((one & ~other).sum()), "only_other_right": int((~one & other).sum())}
    one, other = np.abs(y - first.predicted), np.abs(y - second.predicted)
    return {"closer": float(np.mean(one < other)), "farther": float(np.mean(one > other))}


def headline_of_scores(
    measure: ErrorMeasure, learners: Sequence[Facts], pairs: Sequence[Facts], choice: Choice, baseline: Facts
) -> Facts:
    """The answer: who won, by how much, and whether it is real."""
    winner = choice.learner
    score = winner["scores"][measure.scoring]
    # A score from its lower end to its upper; an error, of which scikit-learn's score is the opposite, the other way.
    ends = [measure.in_words(score[end]) for end in (("low", "high") if measure.perfect else ("high", "low"))]
    guess = baseline["title"]
    expected = (
        f"On new rows of the same kind expect {with_article(measure.title)} of {ends[0]} to {ends[1]}: on the test "
        f"rows {winner['title']} has {score['words']}{_error(measure, winner['test'])}."
    )
    sentences = [
        *whether_learned(learners, winner, guess),
        expected,
        choice.in_words(measure),
        f"{guess[0].upper()}{guess[1:]} would have {with_article(measure.title)} of "
        f"{measure.in_words(baseline['value'])}.",
        *choice.about_convergence(),
        *(about_unanswered(winner) or about_rarest(winner)),
        *about_pairs(learners, pairs),
    ]
    return answered(choice, learners, pairs, expected, sentences)


def _error(measure: ErrorMeasure, test: Facts) -> str:
    """How much it errs, where the measure itself does not say that."""
    if "rate" in test:
        return f"; it errs on {percent(test['rate'])} of them ({test['wrong']} of {test['rows']})"
    if measure.scoring == "neg_mean_absolute_error":
        return ""
    return f"; it errs by {in_digits(test['mae'])} on average"


def about_rarest(winner: Mapping[str, Any]) -> list[str]:
    """How the rarest class fares: how much of it is found, and how often its name is right."""
    if not winner.get("by_class"):
        return []
    rare = min(winner["by_class"], key=lambda one: one["rows"])
    if not rare["rows"]:
        return []
    if not rare["answered"]:
        return about_unanswered(winner)
    hit = round(rare["recall"] * rare["rows"])
    return [
        f"It finds {hit:,} of the {rare['rows']:,} test rows of {rare['label']!r} ({percent(rare['recall'], 0)}), and "
        f"of the {rare['answered']:,} rows that it calls so {hit:,} are ({percent(rare['precision'], 0)})."
    ]


def told(learners: Sequence[Facts], pairs: Sequence[Facts]) -> dict[str, list[str]]:
    """Titles of the learners that cannot be told from the chosen one, that it beats, and that beat it."""
    titles = {one["name"]: one["title"] for one in learners}
    kinds = {"ties": "tie", "beaten": "better", "ahead": "worse"}
    return {name: [titles[pair["other"]] for pair in pairs if pair["verdict"] == kind] for name, kind in kinds.items()}


def about_pairs(learners: Sequence[Facts], pairs: Sequence[Facts]) -> list[str]:
    """Whether the chosen learner is really better than the others."""
    found, sentences = told(learners, pairs), []
    if found["beaten"]:
        whom = "all the others" if len(found["beaten"]) == len(pairs) > 1 else enumeration(found["beaten"], 6)
        sentences.append(f"It is really better than {whom}: chance would rarely make such a difference.")
    if found["ties"]:
        whom = "any of the others" if len(found["ties"]) == len(pairs) > 1 else enumeration(found["ties"], 6)
        sentences.append(f"These test rows cannot tell it from {whom}: among equals take the simplest or the fastest.")
    if found["ahead"]:
        sentences.append(f"The test rows prefer {enumeration(found['ahead'], 6)}: cross-validation chose wrongly here.")
    return sentences


def answered(
    choice: Choice, learners: Sequence[Facts], pairs: Sequence[Facts], expected: str, sentences: list[str]
) -> Facts:
    """The answer as facts; ``expected`` is the one of its sentences that says what to expect of new rows."""
    named = {"chosen": choice.name, "title": choice.learner["title"]}
    return {**named, **told(learners, pairs), "expected": expected, "words": sentences}


def _missing(*scores: Facts) -> bool:
    """Whether some score has no value or no interval, as with too few rows of a class."""
    return any(score[name] is None for score in scores for name in ("value", "low", "high"))
