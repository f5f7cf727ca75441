"""Random kernels on rows of numbers, of widths that fit the rows and of widths that do not."""

from __future__ import annotations

import numpy as np

from mercer import kernels

from .definitions import Array


def draw_kernel(rng: np.random.Generator, X: Array, depth: int = 0) -> kernels.Kernel:
    """A kernel; parameters are relative to the scale of the rows."""
    centred = X - X.mean(axis=0)
    spread = float(np.mean(np.square(centred).sum(axis=1))) or 1.0
    size = float(np.mean(np.square(X).sum(axis=1))) or 1.0
    names = ["gaussian", "polynomial", "laplacian", "matern", "cosine", "quadratic", "linear"]
    chances = np.array([0.32, 0.17, 0.1, 0.13, 0.06, 0.06, 0.16])
    if depth < 1 and rng.random() < 0.15:
        return _combined(rng, X)
    match str(rng.choice(names, p=chances)):
        case "gaussian":
            exponent = rng.uniform(-6, 6) if rng.random() < 0.4 else rng.uniform(-2, 2)
            return kernels.Gaussian(gamma=_short(10**exponent / spread))
        case "polynomial":
            degree, coef0 = int(rng.choice([1, 2, 3, 5, 8])), float(rng.choice([0.0, 1.0, 0.1, 10.0]))
            return kernels.Polynomial(degree, coef0, _short(1 / size) if rng.random() < 0.8 else 1.0)
        case "laplacian":
            return kernels.Laplacian(gamma=_short(10 ** rng.uniform(-4, 4) / np.sqrt(spread)))
        case "matern":
            nu = float(rng.choice([0.5, 1.5, 2.5, 0.7, 1.0, 3.0, 6.5]))
            return kernels.Matern(nu=nu, length=_short(10 ** rng.uniform(-3, 3) * np.sqrt(spread)))
        case "cosine":
            return kernels.Cosine()
        case "quadratic":
            root = rng.standard_normal((X.shape[1], int(rng.integers(1, X.shape[1] + 1))))
            return kernels.Quadratic(root @ root.T)
    return kernels.Linear()


def _combined(rng: np.random.Generator, X: Array) -> kernels.Kernel:
    left, right = draw_kernel(rng, X, 1), draw_kernel(rng, X, 1)
    match int(rng.integers(5)):
        case 0:
            return left + right
        case 1:
            return left * right
        case 2:
            return left ** int(rng.integers(2, 4))
        case 3:
            return kernels.Normalised(left)
    return kernels.Scaled(_short(10 ** rng.uniform(-6, 6)), left)


def _short(value: float) -> float:
    """The number to three digits, so that it can be typed."""
    return float(f"{value:.3g}")
