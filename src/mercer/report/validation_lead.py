"""Whether the chosen learner led in cross-validation, or shared the lead."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._validation.wording import enumeration
from .tuning import chosen_setting

__all__ = ["lead_in_words"]

#: Errors nearer than this to each other, in shares of the larger, are the same.
_SAME = 1e-9


def lead_in_words(learners: Sequence[dict[str, Any]], chosen: str) -> str:
    """How the chosen learner did in cross-validation, as the end of a sentence that its title begins.

    Examples
    --------
    >>> def one(name, error):
    ...     tuning = {"best": 0, "candidates": [{"validation": {"mean": error}}]}
    ...     return {"name": name, "title": name.upper(), "tuning": tuning}
    >>> lead_in_words([one("a", 0.1), one("b", 0.2)], "a")
    'had the lowest error in cross-validation'
    >>> lead_in_words([one("a", 0.1), one("b", 0.1), one("c", 0.2)], "a")
    'shared the lowest error in cross-validation with B'
    """
    errors = {one["name"]: chosen_setting(one["tuning"])["validation"]["mean"] for one in learners}
    lowest = errors[chosen]
    same = [
        one["title"]
        for one in learners
        if one["name"] != chosen and abs((errors[one["name"]] or 0.0) - lowest) <= _SAME * max(1.0, abs(lowest))
    ]
    if not same:
        return "had the lowest error in cross-validation"
    if len(same) == len(learners) - 1 > 1:
        return "had the same error in cross-validation as all the others"
    return f"shared the lowest error in cross-validation with {enumeration(same, 4)}"
