"""Where the kernel matrix lives. A :class:`Placement` chooses a :class:`Gram`, and a solver never asks which one."""

from .base import Gram, Multiple, Repeated
from .cuda import Cuda
from .dense import Dense, Features, Lazy
from .landmarks import LANDMARKS, Nystrom, pivoted
from .placement import Placement, is_linear
from .span import Basis, Exact, Whole
from .streamed import Scattered, Streamed, sample_of

__all__ = [
    "LANDMARKS",
    "Basis",
    "Cuda",
    "Dense",
    "Exact",
    "Features",
    "Gram",
    "Lazy",
    "Multiple",
    "Nystrom",
    "Placement",
    "Repeated",
    "Scattered",
    "Streamed",
    "Whole",
    "is_linear",
    "pivoted",
    "sample_of",
]
