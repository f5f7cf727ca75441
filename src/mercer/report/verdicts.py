"""What the numbers mean, in plain words."""

from __future__ import annotations

from typing import Any

from .._validation.wording import enumeration
from .error_measure import percent
from .significance import ALPHA, holm, mcnemar
from .validation_lead import lead_in_words


def fit_verdict(learner: dict[str, Any], best_test: dict[str, float], majority: float) -> dict[str, str]:
    """Whether a learner over- or underfits.

    Overfitting is a test error clearly above the training error: their intervals do not touch. Underfitting is a
    training error clearly above what the best learner reaches on new rows: more data would not help, a richer model
    would.
    """
    train, test = learner["train"], learner["test"]
    numbers = f"{percent(train['rate'])} on the rows it learned from, {percent(test['rate'])} on new rows"
    if test["low"] <= majority <= test["high"] or test["rate"] > majority:
        return {
            "kind": "useless",
            "words": f"No better than always answering the commonest class ({percent(majority)}): {numbers}.",
        }
    under, over = train["low"] > best_test["high"], test["low"] > train["high"]
    if under and over:
        return {"kind": "both", "words": f"Too simple for these data, and it overfits as well: {numbers}."}
    if under:
        return {
            "kind": "underfit",
            "words": f"Underfits: {numbers}. It errs more on rows it has seen than the best learner does on rows it "
            "has not; a richer model is needed, not more rows.",
        }
    if over:
        memory = "It has memorised its rows" if train["wrong"] == 0 else "It overfits"
        return {
            "kind": "overfit",
            "words": f"{memory}: {numbers}. More rows or more regularisation would narrow the gap.",
        }
    return {"kind": "good", "words": f"Fits well: {numbers}; the difference is within chance."}


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
    learners: list[dict[str, Any]], pairs: list[dict[str, Any]], chosen: str, majority: float
) -> dict[str, Any]:
    """The answer: who won, by how much, and whether it is real."""
    by_name = {learner["name"]: learner for learner in learners}
    winner = by_name[chosen]
    test = winner["test"]
    ties = [by_name[pair["other"]]["title"] for pair in pairs if pair["verdict"] == "tie"]
    beaten = [by_name[pair["other"]]["title"] for pair in pairs if pair["verdict"] == "better"]
    ahead = [by_name[pair["other"]]["title"] for pair in pairs if pair["verdict"] == "worse"]
    sentences = [
        f"{winner['title']} {lead_in_words(learners, chosen)} and was chosen before any test row was looked at. "
        f"It errs on {percent(test['rate'])} of the test rows ({test['wrong']} of {test['rows']}); on new rows of the "
        f"same kind expect {percent(test['low'], 1)} to {percent(test['high'], 1)}.",
        f"Always answering the commonest class would err on {percent(majority, 1)}.",
    ]
    if beaten:
        whom = "all the others" if len(beaten) == len(pairs) > 1 else enumeration(beaten, 6)
        sentences.append(f"It is really better than {whom}: chance would rarely make such a difference.")
    if ties:
        whom = "any of the others" if len(ties) == len(pairs) > 1 else enumeration(ties, 6)
        sentences.append(f"These test rows cannot tell it from {whom}: among equals take the simplest or the fastest.")
    if ahead:
        sentences.append(f"The test rows prefer {enumeration(ahead, 6)}: cross-validation chose wrongly here.")
    return {
        "chosen": chosen,
        "title": winner["title"],
        "ties": ties,
        "beaten": beaten,
        "ahead": ahead,
        "words": sentences,
    }
