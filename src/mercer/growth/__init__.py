"""How costs grow with the rows, and what a fit will take before it begins.

Examples
--------
>>> from mercer.growth import PowerLaw
>>> print(PowerLaw.fitted({"n": [1, 2, 4], "d": [1, 3, 1]}, [2.0, 24.0, 32.0]))
2 · n^2.00 · d^1.00
"""

from .footprint import Footprint, footprint, held
from .foretelling import Foretold, foretell
from .power_law import PowerLaw
from .recommendation import in_bytes, in_seconds, rank_for, recommendation
from .trials import Trial, trials

__all__ = [
    "Footprint", "Foretold", "PowerLaw", "Trial", "footprint", "foretell", "held", "in_bytes", "in_seconds", "rank_for",
    "recommendation", "trials",
]  # fmt: skip
