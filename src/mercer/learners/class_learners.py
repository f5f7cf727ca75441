"""The learners of classes, in the order in which tables list them."""

from __future__ import annotations

from typing import Any

from .catalogue import GAMMA, GAUSSIAN, LAM, TOL, linear, with_kernel

_CUBIC = "polynomial(degree=3, gamma=0.1)"
_POLYNOMIAL: dict[str, list[Any]] = {"kernel__degree": [2, 3], "kernel__gamma": [1 / 64, 1 / 16, 1 / 4]}
_PASSES: dict[str, list[Any]] = {"epochs": [5, 20, 100], "variant": ["last", "averaged"]}
_KERNEL_LAM = [1e-6, 1e-5, 1e-4, 1e-3]
#: Kernel machines with a smooth loss cost most with a small λ, and gain least from it.
_SMOOTH_LAM = [1e-5, 1e-4, 1e-3]

linear("perceptron", "Perceptron", "Perceptron", _PASSES)
linear("pegasos", "Pegasos SVM", "Pegasos", {"lam": LAM})
linear("pegasos-logistic", "Pegasos logistic", "Pegasos", {"lam": LAM}, loss="logistic")
linear("logistic", "Logistic regression", "KernelClassifier", {"lam": LAM}, kernel=None, tol=TOL)
linear(
    "squared-hinge",
    "Squared-hinge machine",
    "KernelClassifier",
    {"lam": LAM},
    kernel=None,
    loss="squared_hinge",
    tol=TOL,
)
linear(
    "smooth-hinge",
    "Smooth-hinge machine",
    "KernelClassifier",
    {"lam": LAM},
    kernel=None,
    loss="smooth_hinge",
    tol=TOL,
)
linear("linear-svc", "Linear SVM", "SVC", {"C": [1e-3, 1e-2, 0.1, 1.0, 10.0, 100.0]}, "svc", kernel=None)
with_kernel(
    "kernel-perceptron",
    "Kernel Perceptron",
    "Perceptron",
    {"kernel__gamma": GAMMA, "epochs": [5, 20], "variant": ["last", "averaged"]},
    kernel=GAUSSIAN,
)
with_kernel(
    "poly-perceptron",
    "Polynomial Perceptron",
    "Perceptron",
    {**_POLYNOMIAL, "epochs": [5, 20], "variant": ["last", "averaged"]},
    "kernel-perceptron",
    "Kernel Perceptron",
    kernel=_CUBIC,
)
with_kernel(
    "kernel-pegasos",
    "Kernel Pegasos",
    "Pegasos",
    {"kernel__gamma": GAMMA, "lam": _KERNEL_LAM},
    kernel=GAUSSIAN,
)
with_kernel(
    "kernel-pegasos-logistic",
    "Kernel Pegasos logistic",
    "Pegasos",
    {"kernel__gamma": GAMMA, "lam": _KERNEL_LAM},
    kernel=GAUSSIAN,
    loss="logistic",
)
with_kernel(
    "kernel-logistic",
    "Kernel logistic regression",
    "KernelClassifier",
    {"kernel__gamma": GAMMA, "lam": _SMOOTH_LAM},
    tol=TOL,
    kernel=GAUSSIAN,
)
with_kernel(
    "kernel-squared-hinge",
    "Kernel squared-hinge machine",
    "KernelClassifier",
    {"kernel__gamma": GAMMA, "lam": _SMOOTH_LAM},
    tol=TOL,
    kernel=GAUSSIAN,
    loss="squared_hinge",
)
with_kernel(
    "kernel-smooth-hinge",
    "Kernel smooth-hinge machine",
    "KernelClassifier",
    {"kernel__gamma": GAMMA, "lam": _SMOOTH_LAM},
    tol=TOL,
    kernel=GAUSSIAN,
    loss="smooth_hinge",
)
with_kernel(
    "svc",
    "Gaussian SVM",
    "SVC",
    {"kernel__gamma": GAMMA, "C": [0.5, 5.0, 50.0, 500.0]},
    kernel_title="Kernel SVM",
    kernel=GAUSSIAN,
)
with_kernel(
    "poly-svc",
    "Polynomial SVM",
    "SVC",
    {**_POLYNOMIAL, "C": [0.1, 1.0, 10.0, 100.0]},
    "svc",
    "Kernel SVM",
    kernel=_CUBIC,
)
with_kernel(
    "nu-svc",
    "Gaussian ν-SVM",
    "NuSVC",
    {"kernel__gamma": GAMMA, "nu": [0.05, 0.15, 0.4]},
    kernel_title="Kernel ν-SVM",
    kernel=GAUSSIAN,
    nu=0.15,
)
