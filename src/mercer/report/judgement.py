"""The conclusions of a study that is judged by another score than the usual error."""

from __future__ import annotations

from typing import Any

from .choice import Choice
from .error_measure import ErrorMeasure
from .plain import number
from .predictions import Predictions
from .score_verdicts import compare_scores, fit_of_scores, headline_of_scores
from .study import Tested
from .weighted_scores import on_all_rows


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
