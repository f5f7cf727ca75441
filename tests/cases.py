"""Every kernel, loss, Gram, solver and estimator of the library, once. ``test_cases.py`` fails if one is missing."""

from __future__ import annotations

import numpy as np

import mercer
from mercer import grams, kernels, losses, solvers
from mercer.kernels import (
    After,
    Cosine,
    Diffusion,
    Equal,
    Function,
    Gaussian,
    Graphlet,
    Hamming,
    Intersection,
    Jaccard,
    Laplacian,
    Linear,
    LocalAlignment,
    Matern,
    MinMax,
    Mismatch,
    Mixture,
    Normalised,
    Periodic,
    Polynomial,
    Power,
    Precomputed,
    Product,
    Quadratic,
    RandomWalk,
    RankOne,
    RationalQuadratic,
    Scaled,
    ScaledColumns,
    ShortestPath,
    Sigmoid,
    Spectrum,
    Subsequence,
    Subsets,
    Sum,
    Tanimoto,
    WeightedDegree,
    WeisfeilerLehman,
    WeisfeilerLehmanAssignment,
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
    RationalQuadratic(alpha=0.6, length=1.3),
    Periodic(period=2.0, length=0.7),
    Cosine(),
    Sigmoid(gamma=0.1, coef0=0.2),
    Quadratic(np.diag([1.0, 2.0, 0.5])),
    RankOne(row_sums),
    Function(squared_dots),
    Sum(Linear(), Gaussian(gamma=1.0)),
    Scaled(2.5, Gaussian(gamma=0.1)),
    Product(Polynomial(), Gaussian(gamma=0.1)),
    Power(Linear(), 3),
    ScaledColumns(Laplacian(gamma=0.2), [1.0, 0.0, 0.5]),
    ScaledColumns(Gaussian(gamma=0.2), [[1.0, 0.0, 0.5], [-1.0, 2.0, 0.0]]),
    After(halves, Gaussian(gamma=1.0)),
    Normalised(Polynomial(degree=2)),
    Mixture([Linear(), Gaussian(gamma=0.3), Cosine()], p=2, weights=[0.6, 0.8, 0.0], scales=[2.0, 0.5, 1.0]),
]

#: Kernels that stand for rows of a matrix, not for rows of features.
MATRIX_KERNELS = [Precomputed()]

#: Kernels on categories and on columns of a table.
TABLE_KERNELS = [Equal(), Hamming(), Gaussian(gamma=0.1).on("age", "hours")]

#: Small examples of items that are not rows of numbers; one of them comes twice, or in another guise.
STRINGS = ["GATTACA", "GATTACC", "CATTAGA", "ACGTACG", "TTTTTTT", "GATTACA", "CCGATTA"]
TEXTS = ["statistics", "computation", "", "a", "to be or not to be", "naïve 🙂🙂", "🙂 not to be", "statistics"]
SETS = [{"A", "B", "C", "D"}, {"B", "C", "D", "E"}, set(), {1, 2, "A"}, ["A", "A", "B", "B", "B"], ("B", "A", "A")]
GRAPHS = [
    (4, [[0, 1], [1, 2], [2, 3]], ["C", "O", "C", "C"], ["-", "=", "-"]),
    (4, [[0, 1], [0, 2], [0, 3]], ["C", "O", "C", "N"], ["-", "-", "="]),
    (5, [[0, 1], [1, 2], [2, 0], [2, 3]], ["C", "C", "O", "O", "C"], ["-", "-", "=", "="]),
    (6, [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 0], [0, 3]], list("CCOCNC"), list("-=--==-")),
    (0, [], [], []),
    (2, [[0, 1]], ["O", "C"], ["="]),
    (4, [[3, 2], [2, 1], [1, 0]], ["C", "C", "O", "C"], ["-", "=", "-"]),
]
PLAIN_GRAPHS = [graph[:2] for graph in GRAPHS]
RING = (6, [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 0], [1, 4]])

#: Kernels on structured items, each with items that it works on.
STRUCTURED = [
    (Spectrum(p=3), TEXTS),
    (Spectrum(p=(1, 3), weights=[0.5, 0.0, 2.0]), TEXTS),
    (Spectrum(p=2, tokens="bytes"), TEXTS),
    (Spectrum(p=1, tokens="words"), TEXTS),
    (Mismatch(k=3, m=1), STRINGS),
    (Mismatch(k=4, m=2, alphabet="ACGTN"), STRINGS),
    (Subsequence(k=3, decay=0.7), TEXTS),
    (Subsequence(k=1, decay=0.5, tokens="words"), TEXTS),
    (WeightedDegree(k=3), STRINGS),
    (LocalAlignment(), TEXTS),
    (LocalAlignment(match=1.0, mismatch=-0.5, gap_open=1.5, gap_extend=0.25), STRINGS),
    (Subsets(), SETS),
    (Subsets(normalised=True), SETS),
    (Intersection(), SETS),
    (Jaccard(), SETS),
    (MinMax(), SETS),
    (Tanimoto(), SETS),
    (WeisfeilerLehman(h=2), GRAPHS),
    (WeisfeilerLehman(h=2), PLAIN_GRAPHS),
    (WeisfeilerLehmanAssignment(h=2), GRAPHS),
    (ShortestPath(), GRAPHS),
    (RandomWalk(decay=0.05), GRAPHS),
    (RandomWalk(decay=0.05), PLAIN_GRAPHS),
    (Graphlet(size=3), GRAPHS),
    (Graphlet(), GRAPHS),
    (Graphlet(size=5, connected=True), GRAPHS),
    (Graphlet(size=4, scale="frequencies"), GRAPHS),
    (Graphlet(size=5, scale="cosine"), GRAPHS),
    (Diffusion(RING, beta=0.7), [0, 3, 5, 1, 1]),
    (Normalised(Spectrum(p=2)), TEXTS),
    (0.5 * Jaccard() + Intersection() ** 2, SETS),
    (WeisfeilerLehman(h=1) * ShortestPath(), GRAPHS),
    (Mixture([Spectrum(p=2), Spectrum(p=1, tokens="words")], weights=[0.25, 0.75], scales=[0.5, 2.0]), TEXTS),
]

LOSSES = [
    losses.PerceptronLoss(),
    losses.Hinge(),
    losses.SquaredHinge(),
    losses.SmoothHinge(),
    losses.Logistic(),
]

RESIDUAL_LOSSES = [
    losses.Squared(),
    losses.Huber(delta=0.7),
    losses.EpsilonInsensitive(epsilon=0.2),
    losses.Pinball(tau=0.8),
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
        grams.Nystrom.of(kernel, X, rank=len(X)),
    ]
    features = kernel.features(X)
    return made + ([grams.Features(features)] if features is not None else [])


GRAMS = [grams.Dense, grams.Lazy, grams.Features, grams.Nystrom, grams.Streamed]

SOLVERS = [
    solvers.MistakeDriven(epochs=20),
    solvers.PegasosSteps(steps=2000),
    solvers.SoftMargin(),
    solvers.Newton(),
    solvers.Gradient(),
    solvers.InteriorPoint(),
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
    mercer.SVC(rank=1000),
    mercer.NuSVC(nu=0.15),
    mercer.KernelClassifier(),
    mercer.KernelClassifier(kernel=None, loss="squared_hinge"),
    mercer.KernelClassifier(rank=1000),
    mercer.SVC(kernel="mixture(gaussian(gamma=0.1), linear)"),
    mercer.KernelClassifier(kernel="mixture(gaussian, linear, p=2)"),
    mercer.GPClassifier(tune=None),
]

REGRESSORS = [
    mercer.KernelRegressor(),
    mercer.KernelRegressor(kernel=None, loss="huber"),
    mercer.KernelRegressor(rank=1000),
    mercer.KernelRegressor(loss="epsilon_insensitive"),
    mercer.SVR(tol=1e-6),
    mercer.SVR(kernel=None, C=0.5, tol=1e-6),
    mercer.NuSVR(nu=0.47, tol=1e-9),
    mercer.NuSVR(kernel=None, nu=0.31, tol=1e-9),
    mercer.KernelRegressor(kernel="mixture(gaussian, linear)"),
    mercer.KernelRegressor(loss="pinball"),
    mercer.KernelQuantiles(quantiles=0.5),
    mercer.GPRegressor(),
    mercer.GPRegressor("0.7*matern(nu=2.5, length=2.0) + linear", noise=0.1, tune=None),
]

#: Machines that learn from items without labels.
NOVELTY = [mercer.OneClassSVM(nu=0.2), mercer.OneClassSVM(kernel=None), mercer.SVDD(nu=0.1)]

#: Machines that learn from items without labels something else than what is usual.
UNLABELLED = [
    mercer.KernelPCA(),
    mercer.KernelPCA(kernel=None),
    mercer.KernelPCA(rank=1000),
    mercer.KernelKMeans(n_clusters=3),
    mercer.KernelKMeans(kernel=None, n_clusters=3),
    mercer.KernelKMeans(n_clusters=3, rank=1000),
    mercer.SpectralClustering(n_clusters=3),
    mercer.SpectralClustering(n_clusters=3, assign_labels="cluster_qr"),
    mercer.SpectralClustering(n_clusters=3, rank=1000),
]

#: Machines that make components of labelled items, and of two views of items.
COMPONENTS = [mercer.KernelDiscriminant(), mercer.KernelDiscriminant(kernel=None), mercer.KernelCCA()]

#: Estimators that take tables as they are.
TABLES = [mercer.TableClassifier(), mercer.TableRegressor()]

EXPORTS = {
    kernels: [type(kernel) for kernel in KERNELS + MATRIX_KERNELS + TABLE_KERNELS]
    + [type(kernel) for kernel, _ in STRUCTURED]
    + [kernels.Kernel, kernels.OfStatistic, kernels.Bags, kernels.Graphs, kernels.Strings],
    losses: [type(loss) for loss in LOSSES + RESIDUAL_LOSSES]
    + [losses.Loss, losses.MarginLoss, losses.ResidualLoss, losses.Scalar, losses.Shortfall, losses.Softmax],
    grams: [*GRAMS, grams.Cuda, grams.Gram, grams.Nystrom, grams.Placement],
    solvers: [type(solver) for solver in SOLVERS] + [solvers.CannotSolve, solvers.Certified, solvers.Solver],
    mercer: [type(estimator) for estimator in ESTIMATORS + REGRESSORS + NOVELTY + UNLABELLED + COMPONENTS]
    + [mercer.Calibrated, mercer.Conformal, mercer.KernelSearchCV, mercer.TunedThreshold]
    + [type(estimator) for estimator in TABLES],
}
