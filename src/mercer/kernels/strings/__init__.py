"""Kernels on strings: what they have in common piece by piece, or how well they align."""

# ruff: noqa: F403
from . import alignment, mismatch, positions, spectrum, string_collection
from .alignment import *
from .mismatch import *
from .positions import *
from .spectrum import *
from .string_collection import *

__all__ = [
    *alignment.__all__,
    *mismatch.__all__,
    *positions.__all__,
    *spectrum.__all__,
    *string_collection.__all__,
]
