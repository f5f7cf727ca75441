"""The most memory that a search, or a prediction of many rows, has beside what the process has before it.

    python -m benchmarks.fault_trials._within WORK N MEMORY

prints the bytes of the search on N rows, or of predicting 50 000 rows by a machine that has learned from N, with so
much memory allowed. Everything compiled has been used before.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import mercer

from ._peak import given, peak_of

SEARCHED: dict[str, tuple[Any, dict[str, list[float]]]] = {
    "SVC": (mercer.SVC(), {"C": [1, 10]}),
    "KernelClassifier": (mercer.KernelClassifier(), {"lam": [1e-4, 1e-2]}),
}
_WIDTH, _WIDTHS, _PREDICTED, _FEW = 20, {"kernel__gamma": [0.01, 0.1]}, 50_000, 1500


def search(name: str, memory: str) -> mercer.KernelSearchCV:
    machine, grid = SEARCHED[name]
    return mercer.KernelSearchCV(machine.set_params(memory=memory), grid | _WIDTHS, cv=3, refit=False, memory=memory)


def main() -> None:
    warnings.simplefilter("ignore")
    work, n, memory = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    X, y = given(n, _WIDTH, "dense", 2)
    if work == "predict":
        model, new = mercer.SVC(memory=memory).fit(X, y), given(_PREDICTED, _WIDTH, "dense", 2)[0]
        model.predict(new[:_FEW])
        print(peak_of(lambda: model.predict(new)))
        return
    for room in (memory, "2MB"):  # with a matrix that all share, and without
        search(work, room).fit(X[:_FEW], y[:_FEW])
    searched = search(work, memory)
    print(peak_of(lambda: searched.fit(X, y)))


if __name__ == "__main__":
    main()
