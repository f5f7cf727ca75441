"""Kernels on strings: what they have in common piece by piece, or how well they align."""

from .alignment import LocalAlignment, Subsequence
from .mismatch import Mismatch
from .positions import WeightedDegree
from .spectrum import Spectrum
from .string_collection import Strings

__all__ = ["LocalAlignment", "Mismatch", "Spectrum", "Strings", "Subsequence", "WeightedDegree"]
