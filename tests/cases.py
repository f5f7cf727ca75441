"""Every kernel, loss, Gram, solver and estimator of the library, once. ``test_cases.py`` fails if one is missing."""

from __future__ import annotations

import numpy as np

import mercer
from mercer import grams, kernels, losses, solvers
from mercer.kernels import (
    After,
    Conformal,
    Cosine,
    Equal,
    Function,
    Gaussian,
    Hamming,
    Laplacian,
    Linear,
    Matern,
    Normalised,
    Polynomial,
    Power,
    Precomputed,
    Product,
    Quadratic,
    Scaled,
    Sigmoid,
    Sum,
)


def row_sums(X):
    return np.asarray(X.sum(axis=1)).ravel()


def halves(X):
    return X * 0.5


def squared_dots(A, B):
    out = A @ B.T
    return np.asarray(out.todense() if hasattr(out, "todense") else out) ** 2


#: Kernels on rows of three numbers.
KERNELS = [
    Linear(),
    Polynomial(degree=3, coef0=0.5, gamma=0.7),
    Polynomial(degree=2, coef0=0.0),
    Gaussian(gamma=0.3),
    Laplacian(gamma=0.2),
    Matern(nu=0.5),
    Matern(nu=1.5, length=2.0),
    Matern(nu=2.5),
    Matern(nu=1.0),
    Cosine(),
    Sigmoid(gamma=0.1, coef0=0.2),
    Quadratic(np.diag([1.0, 2.0, 0.5])),
    Conformal(row_sums),
    Function(squared_dots),
    Sum(Linear(), Gaussian()),
    Scaled(2.5, Gaussian(gamma=0.1)),
    Product(Polynomial(), Gaussian(gamma=0.1)),
    Power(Linear(), 3),
    After(halves, Gaussian()),
    Normalised(Polynomial(degree=2)),
]

#: Kernels that stand for rows of a matrix, not for rows of features.
MATRIX_KERNELS = [Precomputed()]

#: Kernels on categories and on columns of a table.
TABLE_KERNELS = [Equal(), Hamming(), Gaussian(gamma=0.1).on("age", "hours")]

LOSSES = [
    losses.Perceptron(),
    losses.Hinge(),
    losses.SquaredHinge(),
    losses.SmoothHinge(),
    losses.Logistic(),
    losses.Squared(),
]


def make_grams(kernel, X):
    """The same matrix in every place that it can live."""
    K = kernel(X)
    bigger = np.zeros((len(X) + 2, len(X) + 2))
    bigger[2:, 2:] = K
    made = [
        grams.Dense(K),
        grams.Dense(bigger).take(np.arange(2, len(X) + 2)),
        grams.Lazy(kernel, X, memory="1MB"),
        grams.Lazy(kernel, X, memory=len(X) * 8 * 4),
    ]
    features = kernel.features(X)
    return made + ([grams.Features(features)] if features is not None else [])


GRAMS = [grams.Dense, grams.Lazy, grams.Features]

SOLVERS = [
    solvers.Perceptron(epochs=20),
    solvers.Pegasos(steps=2000),
    solvers.SoftMargin(),
    solvers.Newton(),
    solvers.Gradient(),
]

ESTIMATORS = [
    mercer.Perceptron(),
    mercer.Pegasos(),
    mercer.Perceptron(kernel="gaussian(gamma=0.1)"),
    mercer.Perceptron(kernel="linear + 0.5*polynomial(degree=2)", variant="averaged"),
    mercer.Pegasos(kernel="gaussian(gamma=0.1)", steps=5000),
    mercer.Pegasos(kernel="laplacian(gamma=0.1)", loss="logistic", steps=5000),
    mercer.SVC(),
    mercer.SVC(kernel=None),
    mercer.SVC(kernel="polynomial(degree=2)", strategy="ovr"),
    mercer.KernelClassifier(),
    mercer.KernelClassifier(kernel=None, loss="squared_hinge"),
]

REGRESSORS = [
    mercer.KernelRegressor(),
    mercer.KernelRegressor(kernel=None, loss="huber"),
    mercer.KernelRegressor(loss="epsilon_insensitive"),
]

EXPORTS = {
    kernels: [type(kernel) for kernel in KERNELS + MATRIX_KERNELS + TABLE_KERNELS] + [kernels.Kernel],
    losses: [type(loss) for loss in LOSSES] + [losses.Loss],
    grams: [*GRAMS, grams.Gram],
    solvers: [type(solver) for solver in SOLVERS],
    mercer: [type(estimator) for estimator in ESTIMATORS + REGRESSORS],
}
