"""The most memory that work with a limit has beside what the process has before it.

    python -m benchmarks.fault_trials._within WORK MACHINE N MEMORY

prints the bytes that a piece of WORK takes with so much memory allowed: the fit of a machine to N rows, a search, the
fit with calibration or out-of-fold intervals, or predictions of 50 000 rows. Everything compiled has been used before.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from typing import Any

import mercer

from ._peak import given, peak_of

#: Machines, and the values of the parameter along which a search goes.
MACHINES: dict[str, tuple[Any, dict[str, list[float]]]] = {
    "SVC": (mercer.SVC(), {"C": [1, 10]}),
    "NuSVC": (mercer.NuSVC(), {"nu": [0.3, 0.5]}),
    "KernelClassifier": (mercer.KernelClassifier(), {"lam": [1e-4, 1e-2]}),
    "KernelRegressor": (mercer.KernelRegressor(), {"lam": [1e-4, 1e-2]}),
    "huber": (mercer.KernelRegressor(loss="huber"), {"lam": [1e-4, 1e-2]}),
    "SVR": (mercer.SVR(), {"C": [1, 10]}),
    "NuSVR": (mercer.NuSVR(), {"nu": [0.3, 0.5]}),
    "OneClassSVM": (mercer.OneClassSVM(), {}),
    "KernelQuantiles": (mercer.KernelQuantiles(), {"lam": [1e-4, 1e-2]}),
    "KernelPerceptron": (mercer.Perceptron(kernel="rbf"), {"epochs": [1, 3]}),
    "Pegasos": (mercer.Pegasos(kernel="rbf"), {"lam": [1e-4, 1e-2]}),
    "rank": (mercer.KernelClassifier(rank=1000), {"lam": [1e-4, 1e-2]}),
    "SVC rank": (mercer.SVC(rank=1000), {"C": [1, 10]}),
    "regressor rank": (mercer.KernelRegressor(rank=1000), {"lam": [1e-4, 1e-2]}),
}
_NUMBERS = ("KernelRegressor", "huber", "SVR", "NuSVR", "KernelQuantiles", "regressor rank")
_WIDTH, _WIDTHS, _PREDICTED, _FEW = 20, {"kernel__gamma": [0.01, 0.1]}, 50_000, 1500


def work_of(kind: str, name: str, memory: str) -> Callable[[Any, Any], Any]:
    """The work on rows and targets."""
    machine, grid = MACHINES[name]
    if kind != "search of another limit":  # where that of the machine is the default
        machine.set_params(memory=memory)
    if kind.startswith("search"):
        return mercer.KernelSearchCV(machine, grid | _WIDTHS, cv=3, memory=memory).fit
    if kind == "calibrated":
        return mercer.Calibrated(machine, memory=memory).fit
    if kind == "conformal":
        return mercer.Conformal(machine).fit
    return machine.fit


def main() -> None:
    warnings.simplefilter("ignore")
    kind, name, n, memory = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]
    X, y = given(n, _WIDTH, "dense", 0 if name in _NUMBERS else 2)
    if kind == "predict":
        model, new = work_of("fit", name, memory)(X, y), given(_PREDICTED, _WIDTH, "dense", 2)[0]
        model.predict(new[:_FEW])
        print(peak_of(lambda: model.predict(new)))
        return
    for room in ("1GB", memory, "60MB"):  # with a matrix that all share, and without
        work_of(kind, name, room)(X[:_FEW], y[:_FEW])
    work = work_of(kind, name, memory)
    print(peak_of(lambda: work(X, y)))


if __name__ == "__main__":
    main()
