"""Bad and odd inputs for every estimator: NaN in every container, damaged sparse rows, labels that are none.

Every case of ``tests/bad_inputs.py`` is given to every estimator of ``tests/cases.py``, to searches, and to what is
wrapped around estimators. Counted are answers that are not right: a sentence that does not name what is wrong, a fit
where there should be a sentence, predictions other than on plain rows, an answer after half a minute, and data of the
caller's that has changed. Bad parameters, and kernels that are none, are those of ``tests/bad_parameters.py``.
"""

from __future__ import annotations

import re
import warnings

import mercer
from reproductions.results import Results
from tests.bad_inputs import CASES, task_of, wrong_answer
from tests.bad_parameters import ESTIMATORS as OF_EACH_KIND
from tests.bad_parameters import answer_to, fits_of
from tests.cases import ESTIMATORS, NOVELTY, REGRESSORS

WRAPPED = [
    mercer.KernelSearchCV(mercer.SVC(), {"C": [0.1, 10.0]}, cv=2),
    mercer.KernelSearchCV(mercer.KernelRegressor(), {"lam": [0.01, 1.0]}, cv=2),
    mercer.Calibrated(mercer.SVC(), cv=2),
    mercer.TunedThreshold(mercer.SVC(), cv=2),
    mercer.Conformal(mercer.KernelRegressor(), coverage=0.7, random_state=0),
]


def show(results: Results, scale: float, seed: int) -> None:
    estimators = [*ESTIMATORS, *REGRESSORS, *NOVELTY, *WRAPPED]
    step = max(1, round(1 / scale))
    given, wrong = 0, []
    for place, case in enumerate(CASES):
        for number, estimator in enumerate(estimators):
            if task_of(estimator) in case.tasks and (place + number + seed) % step == 0:
                given += 1
                what = wrong_answer(case, estimator)
                wrong += [f"{type(estimator).__name__}, {case.name}: {what}"] if what else []
    results.add("bad inputs", len(CASES), ">= 150", len(CASES) >= 150, f"for {len(estimators)} estimators")
    note = "; ".join(wrong[:20])
    results.add("answers to bad inputs that are wrong", len(wrong), "0", not wrong, f"of {given}; {note}")
    given, wrong = _bad_parameters()
    note = "; ".join(wrong[:20])
    results.add("answers to bad parameters that are wrong", len(wrong), "0", not wrong, f"of {given}; {note}")


def _bad_parameters() -> tuple[int, list[str]]:
    """How many bad parameters and kernels were tried, and the answers that do not say what is wrong."""
    given, wrong = 0, []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for estimator in OF_EACH_KIND:
            for name, model, says in fits_of(estimator):
                given += 1
                said = answer_to(model, task_of(estimator))
                if re.search(says, said) is None:
                    wrong.append(f"{type(estimator).__name__}, {name}: {said[:160]}")
    return given, wrong
