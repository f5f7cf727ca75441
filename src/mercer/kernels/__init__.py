"""What "similar" means: kernels and their algebra.

Examples
--------
>>> from mercer.kernels import Gaussian, Linear, parse
>>> parse("2*gaussian(gamma=0.5) + linear") == 2 * Gaussian(gamma=0.5) + Linear()
True
"""

from .algebra import After, Conformal, Normalised, Power, Product, Scaled, Sum
from .base import Kernel
from .categories import Equal, Hamming
from .columns import OnColumns
from .given import Function, Precomputed
from .strings import LocalAlignment, Mismatch, Spectrum, Strings, Subsequence, WeightedDegree
from .text import as_kernel, parse
from .vectors import Cosine, Gaussian, Laplacian, Linear, Matern, Polynomial, Quadratic, Sigmoid

__all__ = [
    "After",
    "Conformal",
    "Cosine",
    "Equal",
    "Function",
    "Gaussian",
    "Hamming",
    "Kernel",
    "Laplacian",
    "Linear",
    "LocalAlignment",
    "Matern",
    "Mismatch",
    "Normalised",
    "OnColumns",
    "Polynomial",
    "Power",
    "Precomputed",
    "Product",
    "Quadratic",
    "Scaled",
    "Sigmoid",
    "Spectrum",
    "Strings",
    "Subsequence",
    "Sum",
    "WeightedDegree",
    "as_kernel",
    "parse",
]
