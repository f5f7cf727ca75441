"""Between training and test error: which gaps deserve a warning, and which bounds say something."""

from __future__ import annotations

from typing import Any

from .error_measure import measure_of

Facts = dict[str, Any]

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
