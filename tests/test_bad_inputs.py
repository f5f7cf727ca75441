"""The table of bad inputs, each given to two estimators in turn; the fault trials give all to all."""

import pytest

from .bad_inputs import CASES, task_of, wrong_answer
from .cases import ESTIMATORS, NOVELTY, REGRESSORS

QUICK = [*ESTIMATORS[:7], *REGRESSORS[:5], NOVELTY[0]]


@pytest.mark.parametrize("part", range(12))
def test_every_bad_input_gets_the_right_answer(part):
    wrong = {}
    for place, case in list(enumerate(CASES))[part::12]:
        meant = [estimator for estimator in QUICK if task_of(estimator) in case.tasks]
        for number in (place, place + 3):
            estimator = meant[number % len(meant)]
            if what := wrong_answer(case, estimator):
                wrong[f"{estimator}, {case}"] = what
    assert not wrong


def test_the_table_is_long_and_names_are_told_apart():
    assert len(CASES) >= 150
    assert len({case.name for case in CASES}) == len(CASES)
