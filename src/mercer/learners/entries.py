"""The learners of classes, in the order in which tables list them."""

from __future__ import annotations

from functools import partial
from typing import Any

from ..losses import Huber
from .catalogue import FEW_ROWS, GAMMA, GAUSSIAN, LAM, SLOW_ROWS, SPARSE_ROWS, TOL, linear, of_tables, with_kernel

_CUBIC = "polynomial(degree=3, gamma=0.1)"
_POLYNOMIAL: dict[str, list[Any]] = {"kernel__degree": [2, 3], "kernel__gamma": [1 / 8, 1 / 2, 2.0]}
_PASSES: dict[str, list[Any]] = {"epochs": [5, 20, 100], "variant": ["last", "averaged"]}
_KERNEL_LAM = [1e-6, 1e-5, 1e-4, 1e-3]
#: Kernel machines with a smooth loss cost most with a small λ, and gain least from it.
_SMOOTH_LAM = [1e-5, 1e-4, 1e-3]

of_tables("table", "TableClassifier", "classify")
linear("perceptron", "Perceptron", "Perceptron", _PASSES, good_for="a first line, and the textbook's bound on mistakes")
linear("pegasos", "Pegasos SVM", "Pegasos", {"lam": LAM}, good_for="many rows: steps of the SVM, in one pass or a few")
linear(
    "pegasos-logistic",
    "Pegasos logistic",
    "Pegasos",
    {"lam": LAM},
    loss="logistic",
    good_for="the same with the logistic loss",
)
linear(
    "logistic",
    "Logistic regression",
    "KernelClassifier",
    {"lam": LAM},
    kernel=None,
    tol=TOL,
    good_for="probabilities, and weights that can be read",
)
linear(
    "squared-hinge",
    "Squared-hinge machine",
    "KernelClassifier",
    {"lam": LAM},
    kernel=None,
    loss="squared_hinge",
    tol=TOL,
    good_for="many columns, such as words",
)
linear(
    "smooth-hinge",
    "Smooth-hinge machine",
    "KernelClassifier",
    {"lam": LAM},
    kernel=None,
    loss="smooth_hinge",
    tol=TOL,
    good_for="the same with a softer corner",
)
linear(
    "linear-svc",
    "Linear SVM",
    "SVC",
    {"C": [1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0]},
    "svc",
    kernel=None,
    good_for="many rows or columns: the exact line, certified",
)
with_kernel(
    "kernel-perceptron",
    "Kernel Perceptron",
    "Perceptron",
    {"kernel__gamma": GAMMA, "epochs": [5, 20], "variant": ["last", "averaged"]},
    kernel=GAUSSIAN,
    most_rows=SLOW_ROWS,
    good_for="the textbook's Perceptron with any kernel",
)
with_kernel(
    "poly-perceptron",
    "Polynomial Perceptron",
    "Perceptron",
    {**_POLYNOMIAL, "epochs": [5, 20], "variant": ["last", "averaged"]},
    "kernel-perceptron",
    "Kernel Perceptron",
    kernel=_CUBIC,
    most_rows=SLOW_ROWS,
    good_for="the same on products of columns",
)
with_kernel(
    "kernel-pegasos",
    "Kernel Pegasos",
    "Pegasos",
    {"kernel__gamma": GAMMA, "lam": _KERNEL_LAM},
    kernel=GAUSSIAN,
    most_rows=SLOW_ROWS,
    good_for="the textbook's Pegasos with any kernel",
)
with_kernel(
    "poly-pegasos",
    "Polynomial Pegasos",
    "Pegasos",
    {**_POLYNOMIAL, "lam": _KERNEL_LAM},
    "kernel-pegasos",
    "Kernel Pegasos",
    kernel=_CUBIC,
    most_rows=SLOW_ROWS,
    good_for="the same on products of columns",
)
with_kernel(
    "kernel-pegasos-logistic",
    "Kernel Pegasos logistic",
    "Pegasos",
    {"kernel__gamma": GAMMA, "lam": _KERNEL_LAM},
    kernel=GAUSSIAN,
    loss="logistic",
    most_rows=SLOW_ROWS,
    good_for="the same with the logistic loss",
)
with_kernel(
    "kernel-logistic",
    "Kernel logistic regression",
    "KernelClassifier",
    {"kernel__gamma": GAMMA, "lam": _SMOOTH_LAM},
    tol=TOL,
    kernel=GAUSSIAN,
    good_for="probabilities of several classes at once",
)
with_kernel(
    "kernel-squared-hinge",
    "Kernel squared-hinge machine",
    "KernelClassifier",
    {"kernel__gamma": GAMMA, "lam": _SMOOTH_LAM},
    tol=TOL,
    kernel=GAUSSIAN,
    loss="squared_hinge",
    good_for="an SVM by Newton's method",
)
with_kernel(
    "kernel-smooth-hinge",
    "Kernel smooth-hinge machine",
    "KernelClassifier",
    {"kernel__gamma": GAMMA, "lam": _SMOOTH_LAM},
    tol=TOL,
    kernel=GAUSSIAN,
    loss="smooth_hinge",
    good_for="the same with a softer corner",
)
with_kernel(
    "svc",
    "Gaussian SVM",
    "SVC",
    {"kernel__gamma": GAMMA, "C": [0.5, 5.0, 50.0, 500.0]},
    kernel_title="Kernel SVM",
    kernel=GAUSSIAN,
    most_rows=SPARSE_ROWS,
    good_for="the one to begin with: exact, certified, any kernel",
)
with_kernel(
    "poly-svc",
    "Polynomial SVM",
    "SVC",
    {**_POLYNOMIAL, "C": [0.1, 1.0, 10.0, 100.0]},
    "svc",
    "Kernel SVM",
    kernel=_CUBIC,
    good_for="products of columns",
)
with_kernel(
    "nu-svc",
    "Gaussian ν-SVM",
    "NuSVC",
    {"kernel__gamma": GAMMA, "nu": [0.05, 0.15, 0.4]},
    kernel_title="Kernel ν-SVM",
    kernel=GAUSSIAN,
    nu=0.15,
    good_for="nu bounds the share of rows inside the margin",
)


# The learners of numbers, in the order in which tables list them, and outlier detectors.
#
# Widths of losses and of tubes, and what a small error costs, are in units of the target's spread
# (:meth:`.learner.Learner.in_units`).


#: Learners of numbers have fewer values of each of more parameters.
_FEW_GAMMA = [2.0**power for power in (-6, -3, 0, 3)]
#: ½·‖w‖² + C·Σ max(0, |r| − ε) is s² times that of residuals, weights and ε divided by s, with C/s in the place of C.
_TUBE_UNITS = {"C": 1, "epsilon": 1}
#: λ/2·‖w‖² + mean τ·|r| is s times that of residuals and weights divided by s, with λ·s in the place of λ.
_QUANTILE_UNITS = {"lam": -1}

#: A Gaussian process finds the lengths of columns itself, of functions as smooth as these.
_OF_PROCESSES = ["gaussian", "matern(nu=2.5)", "matern(nu=1.5)", "laplacian"]

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
with_kernel(
    "gp",
    "Gaussian process",
    "GPRegressor",
    {"kernel": _OF_PROCESSES},
    task="regress",
    kernel=_OF_PROCESSES[0],
    most_rows=FEW_ROWS,
    good_for="lengths of columns by likelihood; how sure it is",
)

# Outlier detectors, from rows without labels. At most a share nu of them is outside.
_detector = partial(with_kernel, grid={}, task="detect", kernel=GAUSSIAN, nu=0.05)
_detector(
    "one-class",
    "One-class SVM",
    "OneClassSVM",
    good_for="outlier detection: at most a share nu of the training rows is outside",
)
_detector("svdd", "Smallest ball", "SVDD", good_for="the same by the smallest ball around the others")
