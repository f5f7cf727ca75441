"""The learners of numbers, in the order in which tables list them, and those of what is usual.

Widths of losses and of tubes, and what a small error costs, are in units of the target's spread
(:meth:`.learner.Learner.in_units`).
"""

from __future__ import annotations

from functools import partial

from ..losses import Huber
from .catalogue import GAMMA, GAUSSIAN, LAM, SLOW_ROWS, TOL, linear, of_tables, with_kernel

#: Learners of numbers have fewer values of each of more parameters.
_FEW_GAMMA = [2.0**power for power in (-6, -3, 0, 3)]
#: ½·‖w‖² + C·Σ max(0, |r| − ε) is s² times that of residuals, weights and ε divided by s, with C/s in the place of C.
_TUBE_UNITS = {"C": 1, "epsilon": 1}
#: λ/2·‖w‖² + mean τ·|r| is s times that of residuals and weights divided by s, with λ·s in the place of λ.
_QUANTILE_UNITS = {"lam": -1}

_regressor_of_rows = partial(linear, class_name="KernelRegressor", task="regress", kernel=None)
_regressor_with_kernel = partial(with_kernel, class_name="KernelRegressor", task="regress", kernel=GAUSSIAN)

of_tables("table-regression", "TableRegressor", "regress")
_regressor_of_rows("ridge", "Ridge regression", grid={"lam": LAM}, good_for="a plain line, fast")
_regressor_of_rows(
    "huber",
    "Huber regression",
    grid={"lam": [1e-5, 1e-3, 1e-1, 1.0], "loss": [Huber(0.1), Huber(0.3), Huber(1.0)]},
    loss=Huber(0.3),
    tol=TOL,
    good_for="a line that outliers do not bend",
)
linear(
    "linear-svr",
    "Linear SVR",
    "SVR",
    {"C": [0.01, 0.1, 1.0, 10.0], "epsilon": [0.05, 0.3]},
    "svr",
    task="regress",
    units=_TUBE_UNITS,
    kernel=None,
    C=1.0,
    epsilon=0.1,
    good_for="a line in a tube of half width epsilon",
)
linear(
    "linear-quantile",
    "Linear median regression",
    "KernelQuantiles",
    {"lam": [1e-4, 1e-3, 1e-2, 1e-1, 1.0]},
    "quantile",
    task="regress",
    units=_QUANTILE_UNITS,
    kernel=None,
    quantiles=0.5,
    lam=1e-3,
    good_for="a line through the median",
)
_regressor_with_kernel(
    "kernel-ridge",
    "Kernel ridge",
    grid={"kernel__gamma": GAMMA, "lam": [1e-5, 1e-4, 1e-3, 1e-2]},
    good_for="the one to begin with: smooth functions",
)
_regressor_with_kernel(
    "kernel-huber",
    "Kernel Huber regression",
    grid={"kernel__gamma": _FEW_GAMMA, "lam": [1e-5, 3e-4, 1e-2], "loss": [Huber(0.3), Huber(1.0)]},
    loss=Huber(0.3),
    tol=TOL,
    most_rows=SLOW_ROWS,
    good_for="smooth functions, whatever outliers do",
)
with_kernel(
    "svr",
    "Support vector regression",
    "SVR",
    {"kernel__gamma": _FEW_GAMMA, "C": [1.0, 10.0, 100.0], "epsilon": [0.05, 0.3]},
    task="regress",
    units=_TUBE_UNITS,
    kernel=GAUSSIAN,
    C=1.0,
    epsilon=0.1,
    good_for="few support rows, robust to outliers",
)
with_kernel(
    "nu-svr",
    "ν-support vector regression",
    "NuSVR",
    {"kernel__gamma": _FEW_GAMMA, "C": [1.0, 10.0, 100.0], "nu": [0.3, 0.7]},
    task="regress",
    units={"C": 1},
    kernel=GAUSSIAN,
    C=1.0,
    nu=0.5,
    most_rows=SLOW_ROWS,
    good_for="nu bounds the share of rows outside the tube",
)
with_kernel(
    "quantile",
    "Kernel median regression",
    "KernelQuantiles",
    {"kernel__gamma": _FEW_GAMMA, "lam": [1e-6, 1e-5, 1e-4, 1e-3, 1e-2]},
    task="regress",
    units=_QUANTILE_UNITS,
    kernel=GAUSSIAN,
    quantiles=0.5,
    lam=1e-3,
    most_rows=SLOW_ROWS,
    good_for="the median, robust to outliers",
)

# Learners of what is usual, from rows without labels. At most a share nu of them is outside.
_detector = partial(with_kernel, grid={}, task="detect", kernel=GAUSSIAN, nu=0.05)
_detector("one-class", "One-class SVM", "OneClassSVM", good_for="rows like no other: at most a share nu is outside")
_detector("svdd", "Smallest ball", "SVDD", good_for="the same by the smallest ball around the others")
