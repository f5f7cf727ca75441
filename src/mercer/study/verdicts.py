"""What shares of mistakes mean, in plain words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ..messages import enumeration, in_digits, percent, with_article
from ..runtime import Array
from .base import Tested
from .measures import (
    NUMBERS,
    SHARE,
    ErrorMeasure,
    chosen_of_facts,
    draws_of,
    error_of_numbers,
    measure_of,
    on_all_rows,
    score_in_words,
)
from .predictions import ALPHA, Predictions, drawn_differences, holm, mcnemar, number, sign_flips
from .tuning import Choice, chosen_setting

# What an answer begins with where nothing was learned, and which classes are never answered.


GivenFacts = Mapping[str, Any]
#: The share of the variance beyond which an explanation is doubted.
_TOO_GOOD = 0.999


def whether_learned(learners: Sequence[GivenFacts], winner: GivenFacts, guess: str) -> list[str]:
    """That nothing was learned, or that the test rows do not prove it; nothing where the winner is of use.

    ``guess`` is what needs no learning, such as "always answering the commonest class".

    Examples
    --------
    >>> lost = {"title": "SVM", "verdict": {"kind": "useless"}}
    >>> whether_learned([lost], lost, "always answering the mean")
    ['Nothing here is better than always answering the mean.']
    """
    kinds, own = {one["verdict"]["kind"] for one in learners}, winner["verdict"]["kind"]
    if own not in ("useless", "unproven"):
        return []
    if kinds <= {"useless"}:
        return [f"Nothing here is better than {guess}."]
    if kinds <= {"useless", "unproven"}:
        return [f"Nothing here is proven to be better than {guess}."]
    return [f"{winner['title']} is {'not better' if own == 'useless' else 'not proven to be better'} than {guess}."]


def beside_mean(rmse: float, y: Any, learned: Any) -> str:
    """That a learner of numbers is no better on new rows than the mean of the rows it learned from; else nothing.

    Examples
    --------
    >>> beside_mean(3.0, [1.0, 5.0], [2.0, 4.0])
    'It is no better on these rows than always answering the mean of the training rows, whose RMSE is 2.000.'
    >>> beside_mean(1.0, [1.0, 5.0], [2.0, 4.0])
    ''
    """
    y = np.asarray(y, dtype=np.float64)
    constant = error_of_numbers(y, np.full(y.size, np.mean(np.asarray(learned, dtype=np.float64))))["rmse"]
    if rmse < constant:
        return ""
    return (
        "It is no better on these rows than always answering the mean of the training rows, whose RMSE is "
        f"{in_digits(constant)}."
    )


def closing_words(facts: GivenFacts) -> list[str]:
    """What a study ends with: what to expect of new rows, whether trees are better, and then all else.

    Examples
    --------
    >>> answer = {"title": "SVM", "expected": "Expect 1 %.", "words": ["Expect 1 %.", "SVM was chosen."]}
    >>> trees = {"error": 0.02, "better": False, "worse": False}
    >>> facts = {"answer": {**answer, "chosen": "svc"}, "learners": [{"name": "svc", "test": {"wrong": 2}}], "data": {}}
    >>> closing_words({**facts, "yardstick": trees})[1]
    'These rows cannot tell SVM from boosted trees, not tuned, with an error of 2.00\\xa0%.'
    """
    answer = facts["answer"]
    words = list(answer["words"])
    place = words.index(answer["expected"]) + 1 if answer.get("expected") in words else 0
    reach = [facts["intervals"]["words"]] if facts.get("intervals") else []
    uneven = [facts["uneven"]] if facts.get("uneven") else []
    return [*words[:place], *about_trees(facts), *_doubts(facts), *words[place:], *reach, *uneven]


def _doubts(facts: GivenFacts) -> list[str]:
    """What makes a result doubtful: columns that give the target away, or hardly an error at all."""
    telling = list(facts["data"].get("telling") or [])
    test = chosen_of_facts(dict(facts))["test"]
    if (test.get("r2") or 0) <= _TOO_GOOD and test.get("wrong") != 0:
        return telling
    few = "an R² above 0.999" if "r2" in test else "no error at all"
    if telling:
        return [f"To find {few} is doubtful here.", *telling]
    return [f"To find {few} is rare: make sure that each column is known before the target is, for new rows too."]


def about_trees(facts: GivenFacts) -> list[str]:
    """Whether the chosen learner is better than boosted trees on the test rows; nothing where these were not tried."""
    found = facts.get("yardstick")
    if not found:
        return []
    if found["better"]:
        return [found["words"]]
    title = facts["answer"]["title"]
    name = (facts.get("scoring") or {}).get("name")
    measure = measure_of(facts)
    if name in (None, measure.scoring):
        reached = f"an {measure.name} of {measure.words(found['error'])}"
    else:
        reached = f"{facts['scoring']['title']} {score_in_words(name, found['score'])}"
    if found.get("worse"):
        return [f"{title} is really better than boosted trees, not tuned, with {reached}."]
    return [f"These rows cannot tell {title} from boosted trees, not tuned, with {reached}."]


def about_unanswered(winner: GivenFacts) -> list[str]:
    """The classes of test rows that a learner never answers.

    Examples
    --------
    >>> about_unanswered({"by_class": [{"label": "q", "rows": 4, "answered": 0}]})
    ["It never answers 'q', though 4 of the test rows are of that class."]
    """
    never = [one for one in winner.get("by_class") or [] if one["rows"] and not one["answered"]]
    if not never:
        return []
    named, rows = enumeration((repr(one["label"]) for one in never), 6), sum(one["rows"] for one in never)
    of = "that class" if len(never) == 1 else "these classes"
    return [f"It never answers {named}, though {rows:,} of the test rows {'is' if rows == 1 else 'are'} of {of}."]


# What scores mean that somebody asked for, or that uneven classes ask for, in plain words.


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
    """Paired tests by drawing the same test rows again and again."""
    own = draws_of(measure, y, found[chosen], weights)
    return _paired_tests(
        names, y, found, chosen, lambda other: own - draws_of(measure, y, other, weights), drawn_differences
    )


def compare_right(names: Sequence[str], y: Array, found: Mapping[str, Predictions], chosen: str) -> list[Facts]:
    """Paired tests by the rows on which one learner alone is right."""
    own = (found[chosen].predicted == y).astype(int)
    return _paired_tests(
        names,
        y,
        found,
        chosen,
        lambda other: own - (other.predicted == y),
        lambda gained: mcnemar(int((gained > 0).sum()), int((gained < 0).sum())),
    )


def compare_errors(names: Sequence[str], y: Array, found: Mapping[str, Predictions], chosen: str) -> list[Facts]:
    """Paired tests by squared errors."""
    own = np.square(y - found[chosen].predicted)
    return _paired_tests(names, y, found, chosen, lambda other: np.square(y - other.predicted) - own, sign_flips)


def _paired_tests(
    names: Sequence[str],
    y: Array,
    found: Mapping[str, Predictions],
    chosen: str,
    gains: Callable[[Predictions], Array],
    p_value: Callable[[Array], float],
) -> list[Facts]:
    """Whether the chosen learner's gains over each of the others, on the same test rows, are more than chance."""
    others = [name for name in names if name != chosen]
    gained = [gains(found[name]) for name in others]
    raw = [p_value(each) for each in gained]
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
    expected = (
        f"On new rows of the same kind expect {with_article(measure.title)} of {ends[0]} to {ends[1]}: on the test "
        f"rows {winner['title']} has {score['words']}{_error(measure, winner['test'])}."
    )
    would = f"would have {with_article(measure.title)} of {measure.in_words(baseline['value'])}"
    more = about_unanswered(winner) or about_rarest(winner)
    return _answer(measure, learners, pairs, choice, expected, baseline["title"], would, more)


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


def _answer(
    measure: ErrorMeasure,
    learners: Sequence[Facts],
    pairs: Sequence[Facts],
    choice: Choice,
    expected: str,
    guess: str,
    would: str,
    more: Sequence[str],
) -> Facts:
    """The answer as facts: what to expect of new rows, why the winner, and how a guess without learning would fare."""
    sentences = [
        *whether_learned(learners, choice.learner, guess),
        expected,
        choice.in_words(measure),
        f"{guess[0].upper()}{guess[1:]} {would}.",
        *choice.about_convergence(),
        *more,
        *about_pairs(learners, pairs),
    ]
    named = {"chosen": choice.name, "title": choice.learner["title"]}
    return {**named, **told(learners, pairs), "expected": expected, "words": sentences}


def _missing(*scores: Facts) -> bool:
    """Whether some score has no value or no interval, as with too few rows of a class."""
    return any(score[name] is None for score in scores for name in ("value", "low", "high"))


def fit_verdict(learner: dict[str, Any], best_test: dict[str, float], majority: float) -> dict[str, str]:
    """Whether a learner over- or underfits, and whether it is of any use.

    Where the interval of its test error holds the error of always answering the commonest class, the test rows do not
    prove it better than that. Overfitting is a test error clearly above the training error, as their intervals do not
    touch and cross-validation found as well, that is not good: outside the interval of the best learner, or above half
    of what guessing errs. A machine that makes no mistake on rows it has seen and few on others does not overfit.
    Underfitting is a training error clearly above what the best learner reaches on new rows: more data would not help,
    a richer model would.
    """
    train, test = learner["train"], learner["test"]
    numbers = f"{percent(train['rate'])} on the rows it learned from, {percent(test['rate'])} on new rows"
    if test["rate"] >= majority:
        words = f"No better than always answering the commonest class ({percent(majority)}): {numbers}."
        return {"kind": "useless", "words": words}
    if majority <= test["high"]:
        words = (
            f"{percent(test['rate'])} on new rows against {percent(majority)} for always answering the commonest "
            f"class: {test['rows']:,} test rows do not prove it better. On the rows it learned from it errs on "
            f"{percent(train['rate'])}."
        )
        return {"kind": "unproven", "words": words}
    overfits = "It has memorised its rows" if train["wrong"] == 0 else "It overfits"
    apart = test["low"] > train["high"] and rises_left_out(learner, train["high"])
    good = test["rate"] <= min(best_test["high"], majority / 2)
    return under_or_over(train["low"] > best_test["high"], apart, good, numbers, overfits)


def headline(
    learners: list[dict[str, Any]], pairs: list[dict[str, Any]], choice: Choice, majority: float, uneven: bool = False
) -> dict[str, Any]:
    """The answer: who won, by how much, and whether it is real; where classes are uneven, how the rarest fares."""
    winner = choice.learner
    test = winner["test"]
    expected = (
        f"On new rows of the same kind expect errors on {percent(test['low'], 1)} to {percent(test['high'], 1)}: "
        f"{winner['title']} errs on {percent(test['rate'])} of the test rows ({test['wrong']} of {test['rows']})."
    )
    guess, would = "always answering the commonest class", f"would err on {percent(majority, 1)}"
    more = about_unanswered(winner) or (about_rarest(winner) if uneven else [])
    return _answer(SHARE, learners, pairs, choice, expected, guess, would, more)


# What errors of numbers mean, in plain words.


def fit_of_numbers(
    learner: dict[str, Any], residuals: Array, best_test: dict[str, float], baseline: dict[str, Any], constant: Array
) -> dict[str, str]:
    """Whether a learner over- or underfits, and whether it is of any use.

    It is of none where its squared errors on the test rows are not clearly less than those of the training mean.
    Overfitting is a test error clearly above the training error, as their intervals do not touch and cross-validation
    found as well, that is not good: outside the interval of the best learner, or explaining less than half of the
    variance. Underfitting is a training
    error clearly above what the best learner reaches on new rows.
    """
    train, test = learner["train"], learner["test"]
    said = f"RMSE {in_digits(train['rmse'])} on the rows it learned from, {in_digits(test['rmse'])} on new rows"
    gained = np.square(constant) - np.square(residuals)
    if gained.mean() <= 0:
        words = f"No better than always answering the mean (RMSE {in_digits(baseline['rmse'])}): {said}."
        return {"kind": "useless", "words": words}
    if sign_flips(gained) >= ALPHA:
        words = (
            f"RMSE {in_digits(test['rmse'])} on new rows against {in_digits(baseline['rmse'])} for always answering "
            f"the mean: {residuals.size:,} test rows do not prove it better. On the rows it learned from it is "
            f"{in_digits(train['rmse'])}."
        )
        return {"kind": "unproven", "words": words}
    apart = test["low"] > train["high"] and rises_left_out(learner, train["high"])
    good = test["rmse"] <= min(best_test["high"], np.sqrt(0.5) * baseline["rmse"])
    return under_or_over(train["low"] > best_test["high"], apart, good, said)


def headline_of_numbers(
    learners: list[dict[str, Any]], pairs: list[dict[str, Any]], choice: Choice, baseline: dict[str, Any]
) -> dict[str, Any]:
    """The answer: who won, by how much, and whether it is real."""
    winner = choice.learner
    test = winner["test"]
    share = "none" if (test["r2"] or 0) < 0.005 else f"{100 * test['r2']:.0f} %"
    explained = "" if test["r2"] is None else f", and explains {share} of their variance"
    expected = (
        f"On new rows of the same kind expect an RMSE of {in_digits(test['low'])} to {in_digits(test['high'])}: on the "
        f"test rows that of {winner['title']} is {in_digits(test['rmse'])}; it errs by {in_digits(test['mae'])} on "
        f"average{explained}."
    )
    guess = "always answering the mean of the training rows"
    would, more = f"would have an RMSE of {in_digits(baseline['rmse'])}", []
    linear = [one for one in learners if one["family"] == "linear" and one["name"] != choice.name]
    if linear and winner["family"] != "linear":
        best = min(linear, key=lambda one: one["test"]["rmse"])
        more = [f"The best linear learner, {best['title']}, reaches {in_digits(best['test']['rmse'])}."]
    return _answer(NUMBERS, learners, pairs, choice, expected, guess, would, more)


# The conclusions of a study that is judged by another score than the usual error.


def by_scores(
    measure: ErrorMeasure,
    learners: list[dict[str, Any]],
    tested: Tested,
    choice: Choice,
    guess: tuple[str, Predictions],
) -> dict[str, Any]:
    """Verdicts, paired tests and the answer, all in one score; ``guess`` is an answer without learning."""
    title, predictions = guess
    reached = measure.score(on_all_rows(measure.weighted, tested.targets, predictions))
    baseline = {"title": title, "value": number(reached)}
    scores = {one["name"]: one["scores"][measure.scoring] for one in learners}

    def rank(name: str) -> float:
        value = scores[name]["value"]
        return float("-inf") if value is None else value

    best = scores[max(scores, key=rank)]
    for one in learners:
        one["verdict"] = fit_of_scores(
            measure, one["train"]["score"], scores[one["name"]], best, baseline, len(tested.test)
        )
    names = [one["name"] for one in learners]
    pairs = compare_scores(measure, names, tested.targets, tested.found, choice.name, tested.weights)
    return {
        "answer": headline_of_scores(measure, learners, pairs, choice, baseline),
        "guess": baseline,
        "learners": sorted(learners, key=lambda one: -rank(one["name"])),
        "pairs": pairs,
    }


# Between training and test error: which gaps deserve a warning, and which bounds say something.


#: A gap is small up to this many mistakes in a hundred rows, or this many times the training error of numbers.
_POINTS, _TIMES = 0.05, 1.25

_FITS = {
    "good": "fits well",
    "overfit": "overfits",
    "underfit": "underfits",
    "both": "too simple, overfits",
    "useless": "no better than guessing",
    "unproven": "not proved better than guessing",
}


def is_small(one: Facts, facts: Facts) -> bool:
    """Whether a learner overfits, as the intervals of its errors show, but only by a little."""
    if one["verdict"]["kind"] != "overfit":
        return False
    key = measure_of(facts).key
    train, test = one["train"][key], one["test"][key]
    return test <= _TIMES * train if facts.get("task") == "regress" else test - train <= _POINTS


def fit_in_a_word(one: Facts, facts: Facts) -> tuple[str, str]:
    """How a learner fits, in a word or two, and how that looks: "good", "small", "overfit" or the like.

    Examples
    --------
    >>> one = {"verdict": {"kind": "overfit"}, "train": {"rate": 0.0}, "test": {"rate": 0.02}}
    >>> fit_in_a_word(one, {"task": "classify"})
    ('small gap', 'small')
    """
    kind = one["verdict"]["kind"]
    if is_small(one, facts):
        return "small gap", "small"
    if _is_unfinished(one):
        return "did not converge", "unproven"
    return _FITS.get(kind, kind), kind


def _is_unfinished(one: Facts) -> bool:
    """Whether training and test error are near each other, but the learner had not come to its end."""
    return one["verdict"]["kind"] == "good" and one.get("converged") is False


def verdict_in_words(one: Facts, facts: Facts) -> str:
    """The verdict of the study, in calmer words where the gap is small."""
    if _is_unfinished(one):
        return one["verdict"]["words"].replace("Fits well", "It did not converge", 1)
    if not is_small(one, facts):
        return one["verdict"]["words"]
    measure = measure_of(facts)
    return (
        f"A small gap: {measure.of(one['train'])} on the rows it learned from, {measure.of(one['test'])} on new rows. "
        "That is usual; trust the number of the new rows."
    )


def telling_bounds(one: Facts, facts: Facts) -> list[Facts]:
    """The bounds that promise more than answering the commonest class would give anyway."""
    baseline = min(1.0, facts.get("majority_error") or 1.0)
    return [bound for bound in one["bounds"] if bound["value"] is not None and bound["value"] < baseline]
