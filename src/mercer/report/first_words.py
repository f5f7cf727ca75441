"""What an answer begins with where nothing was learned, and which classes are never answered."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from .._validation.wording import enumeration
from .error_measure import measure_of
from .number_errors import error_of_numbers, in_digits
from .scores import chosen_of_facts, score_in_words

Facts = Mapping[str, Any]
#: The share of the variance beyond which an explanation is doubted.
_TOO_GOOD = 0.999


def whether_learned(learners: Sequence[Facts], winner: Facts, guess: str) -> list[str]:
    """That nothing was learned, or that the test rows do not prove it; nothing where the winner is of use.

    Parameters
    ----------
    learners : sequence of dict
        All of them with their verdicts.
    winner : dict
        The one that was chosen.
    guess : str
        What needs no learning, such as "always answering the commonest class".

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


def closing_words(facts: Facts) -> list[str]:
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


def _doubts(facts: Facts) -> list[str]:
    """What makes a result doubtful: columns that give the target away, or hardly an error at all."""
    telling = list(facts["data"].get("telling") or [])
    test = chosen_of_facts(dict(facts))["test"]
    if (test.get("r2") or 0) <= _TOO_GOOD and test.get("wrong") != 0:
        return telling
    few = "an R² above 0.999" if "r2" in test else "no error at all"
    if telling:
        return [f"To find {few} is doubtful here.", *telling]
    return [f"To find {few} is rare: make sure that each column is known before the target is, for new rows too."]


def about_trees(facts: Facts) -> list[str]:
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


def about_unanswered(winner: Facts) -> list[str]:
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
