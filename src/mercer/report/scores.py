"""By which score a study was judged, and scores in words."""

from __future__ import annotations

from typing import Any

from .number_errors import in_digits

Facts = dict[str, Any]

#: Scores that say the same as the error that every page shows.
_USUAL = ("accuracy", "neg_root_mean_squared_error")


def chosen_of_facts(facts: Facts) -> Facts:
    """The learner that was chosen."""
    return next(one for one in facts["learners"] if one["name"] == facts["answer"]["chosen"])


def scored_by(facts: Facts) -> Facts | None:
    """The score that decided, where it is another than the usual error.

    Examples
    --------
    >>> scored_by({"scoring": {"name": "accuracy", "title": "accuracy"}}) is None
    True
    >>> scored_by({"scoring": {"name": "roc_auc", "title": "AUC"}})["title"]
    'AUC'
    """
    scoring = facts.get("scoring")
    return None if not scoring or scoring["name"] in _USUAL else scoring


def score_in_words(name: str, value: float | None) -> str:
    """A score with a few digits; those that are errors with a minus sign are shown as errors.

    Examples
    --------
    >>> score_in_words("balanced_accuracy", 0.83456), score_in_words("neg_mean_absolute_error", -41.3)
    ('0.835', '41.30')
    """
    if value is None:
        return "—"
    return in_digits(-value) if name.startswith("neg_") else f"{value:.3f}".replace("-", "−")


def score_between(name: str, score: Facts) -> str:
    """The interval of a score; empty where none is known.

    Examples
    --------
    >>> score_between("f1", {"value": 0.8, "low": 0.75, "high": 0.84})
    '0.750–0.840'
    """
    low, high = score.get("low"), score.get("high")
    if low is None or high is None:
        return ""
    ends = sorted((low, high), key=lambda value: -value if name.startswith("neg_") else value)
    return "–".join(score_in_words(name, end) for end in ends)
