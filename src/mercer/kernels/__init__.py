"""What "similar" means: kernels and their algebra.

Examples
--------
>>> from mercer.kernels import Gaussian, Linear, parse
>>> parse("2*gaussian(gamma=0.5) + linear") == 2 * Gaussian(gamma=0.5) + Linear()
True
"""

from .algebra import Normalised, Power, Product, Scaled, Sum
from .base import Kernel
from .categories import Equal, Hamming
from .given import Function, Precomputed
from .graphs import (
    Diffusion,
    Graphlet,
    Graphs,
    RandomWalk,
    ShortestPath,
    WeisfeilerLehman,
    WeisfeilerLehmanAssignment,
)
from .mapped import After, Conformal
from .on_columns import OnColumns
from .sets import Bags, Intersection, Jaccard, MinMax, Subsets, Tanimoto
from .strings import LocalAlignment, Mismatch, Spectrum, Strings, Subsequence, WeightedDegree
from .text_form import as_kernel, parse
from .vectors import Cosine, Gaussian, Laplacian, Linear, Matern, Polynomial, Quadratic, Sigmoid

__all__ = [
    "After",
    "Bags",
    "Conformal",
    "Cosine",
    "Diffusion",
    "Equal",
    "Function",
    "Gaussian",
    "Graphlet",
    "Graphs",
    "Hamming",
    "Intersection",
    "Jaccard",
    "Kernel",
    "Laplacian",
    "Linear",
    "LocalAlignment",
    "Matern",
    "MinMax",
    "Mismatch",
    "Normalised",
    "OnColumns",
    "Polynomial",
    "Power",
    "Precomputed",
    "Product",
    "Quadratic",
    "RandomWalk",
    "Scaled",
    "ShortestPath",
    "Sigmoid",
    "Spectrum",
    "Strings",
    "Subsequence",
    "Subsets",
    "Sum",
    "Tanimoto",
    "WeightedDegree",
    "WeisfeilerLehman",
    "WeisfeilerLehmanAssignment",
    "as_kernel",
    "parse",
]
