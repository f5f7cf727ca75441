"""What shares of mistakes mean, in plain words."""

from __future__ import annotations

from typing import Any

from .choice import Choice
from .error_measure import SHARE, percent
from .first_words import about_unanswered, whether_learned
from .score_verdicts import about_pairs, about_rarest, answered, rises_left_out, under_or_over
from .significance import ALPHA, holm, mcnemar


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


def compare_right(names: list[str], right: dict[str, Any], chosen: str) -> list[dict[str, Any]]:
    """Paired tests of the chosen learner against each of the others, on the same test rows."""
    others = [name for name in names if name != chosen]
    counts = [(int((right[chosen] & ~right[name]).sum()), int((~right[chosen] & right[name]).sum())) for name in others]
    raw = [mcnemar(*pair) for pair in counts]
    return [
        {
            "other": name,
            "only_chosen_right": won,
            "only_other_right": lost,
            "p": p,
            "p_corrected": corrected,
            "verdict": _pair_verdict(won, lost, corrected),
        }
        for name, (won, lost), p, corrected in zip(others, counts, raw, holm(raw), strict=True)
    ]


def _pair_verdict(won: int, lost: int, p: float) -> str:
    if p >= ALPHA:
        return "tie"
    return "better" if won > lost else "worse"


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
    sentences = [
        *whether_learned(learners, winner, "always answering the commonest class"),
        expected,
        choice.in_words(SHARE),
        f"Always answering the commonest class would err on {percent(majority, 1)}.",
        *choice.about_convergence(),
        *(about_unanswered(winner) or (about_rarest(winner) if uneven else [])),
        *about_pairs(learners, pairs),
    ]
    return answered(choice, learners, pairs, expected, sentences)
