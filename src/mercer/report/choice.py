"""Which learner is chosen, from cross-validation alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .._validation.wording import enumeration
from .error_measure import ErrorMeasure
from .tuning import chosen_setting

Facts = dict[str, Any]


@dataclass(frozen=True)
class Choice:
    """The learner that was chosen, those as good in cross-validation, and those that were passed over.

    Attributes
    ----------
    learner : dict
        The facts of the chosen one.
    equals : tuple of str
        Titles of others with the same error in cross-validation.
    passed_over : tuple of str
        Titles of others with a lower error there, by less than a standard error, that did not converge.
    nested : bool
        Whether all rows are both learned from and, by turns, tested.
    """

    learner: Mapping[str, Any]
    equals: tuple[str, ...] = ()
    passed_over: tuple[str, ...] = ()
    nested: bool = False

    @property
    def name(self) -> str:
        return self.learner["name"]

    def in_words(self, measure: ErrorMeasure) -> str:
        """How the choice was made."""
        title = self.learner["title"]
        if measure.perfect and not measure.is_usual:
            best, better = f"the highest {measure.title}", f"a higher {measure.title}"
        else:
            what = "error" if measure.is_usual else measure.title
            best, better = f"the lowest {what}", f"a lower {what}"
        when = "chosen by that alone" if self.nested else "chosen before any test row was looked at"
        if self.passed_over:
            return (
                f"{title} was {when}: {enumeration(self.passed_over, 6)} had {better} in cross-validation, by less "
                "than its standard error, but did not converge."
            )
        if self.equals:
            return (
                f"{title} was {when}: it had {best} in cross-validation, and so had {enumeration(self.equals, 6)}; "
                "it was tried first."
            )
        return f"{title} had {best} in cross-validation and was {when}."

    def about_convergence(self) -> list[str]:
        """What is to be said of a chosen learner whose solver did not come to its end."""
        if self.learner.get("converged", True):
            return []
        return [f"{self.learner['title']} did not converge: with more passes or steps it could still change."]


def choose(learners: Sequence[Facts], nested: bool = False) -> Choice:
    """The learner with the least error in cross-validation, of those that were tuned on all rows.

    Where it did not converge, the best one that did is taken instead, if its error is higher by no more than the
    standard error of that mean, which is the deviation over the folds divided by the root of their number.
    """
    learners = [one for one in learners if one["tuning"].get("final", True)] or learners
    errors = {one["name"]: chosen_setting(one["tuning"])["validation"]["mean"] for one in learners}
    first = min(learners, key=lambda one: errors[one["name"]])
    converged = [one for one in learners if one.get("converged", True)]
    if not first.get("converged", True) and converged:
        best = min(converged, key=lambda one: errors[one["name"]])
        deviation = chosen_setting(first["tuning"])["validation"]["sd"] or 0.0
        if errors[best["name"]] - errors[first["name"]] <= deviation / math.sqrt(first["tuning"]["folds"]):
            ahead = tuple(one["title"] for one in learners if errors[one["name"]] < errors[best["name"]])
            if ahead:
                return Choice(best, passed_over=ahead, nested=nested)
            first = best
    equals = [one["title"] for one in learners if errors[one["name"]] == errors[first["name"]] and one is not first]
    return Choice(first, equals=tuple(equals), nested=nested)
