"""What is to be solved, what comes back, and how good it is."""

from .box_dual import BoxDual, balanced, best_intercept, slack
from .certificate import Certificate, certify
from .problem import Intercept, Problem
from .solution import Iterate, Solution, Status

__all__ = [
    "BoxDual",
    "Certificate",
    "Intercept",
    "Iterate",
    "Problem",
    "Solution",
    "Status",
    "balanced",
    "best_intercept",
    "certify",
    "slack",
]
