"""Kernels on strings: what they have in common piece by piece, or how well they align."""

from .alignment import LocalAlignment, Subsequence
from .collection import Strings
from .mismatch import Mismatch
from .positions import WeightedDegree
from .spectrum import Spectrum

__all__ = ["LocalAlignment", "Mismatch", "Spectrum", "Strings", "Subsequence", "WeightedDegree"]
