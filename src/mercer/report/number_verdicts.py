"""What errors of numbers mean, in plain words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .._runtime.compile import Array
from .choice import Choice
from .error_measure import NUMBERS
from .first_words import whether_learned
from .number_errors import in_digits
from .score_verdicts import about_pairs, answered, rises_left_out, under_or_over
from .significance import ALPHA, holm, sign_flips


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


def compare_errors(names: list[str], residuals: Mapping[str, Array], chosen: str) -> list[dict[str, Any]]:
    """Paired tests of the chosen learner against each of the others, on the squared errors of the same test rows."""
    others = [name for name in names if name != chosen]
    gained = [np.square(residuals[name]) - np.square(residuals[chosen]) for name in others]
    raw = [sign_flips(each) for each in gained]
    return [
        {
            "other": name,
            "closer": float(np.mean(np.abs(residuals[chosen]) < np.abs(residuals[name]))),
            "farther": float(np.mean(np.abs(residuals[chosen]) > np.abs(residuals[name]))),
            "p": p,
            "p_corrected": corrected,
            "verdict": "tie" if corrected >= ALPHA else "better" if each.mean() > 0 else "worse",
        }
        for name, each, p, corrected in zip(others, gained, raw, holm(raw), strict=True)
    ]


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
    sentences = [
        *whether_learned(learners, winner, "always answering the mean of the training rows"),
        expected,
        choice.in_words(NUMBERS),
        f"Always answering the mean of the training rows would have an RMSE of {in_digits(baseline['rmse'])}.",
        *choice.about_convergence(),
    ]
    linear = [one for one in learners if one["family"] == "linear" and one["name"] != choice.name]
    if linear and winner["family"] != "linear":
        best = min(linear, key=lambda one: one["test"]["rmse"])
        sentences.append(f"The best linear learner, {best['title']}, reaches {in_digits(best['test']['rmse'])}.")
    sentences += about_pairs(learners, pairs)
    return answered(choice, learners, pairs, expected, sentences)
