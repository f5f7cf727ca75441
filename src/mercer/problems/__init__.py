"""What is to be solved, what comes back, and how good it is."""

from .certificate import CLOSE, certify, certify_nothing
from .dual import BoxDual, balanced, best_intercept, slack
from .problem import Certificate, Intercept, Iterate, NuProblem, Problem, Solution, Status, keeps

__all__ = [
    "CLOSE",
    "BoxDual",
    "Certificate",
    "Intercept",
    "Iterate",
    "NuProblem",
    "Problem",
    "Solution",
    "Status",
    "balanced",
    "best_intercept",
    "certify",
    "certify_nothing",
    "keeps",
    "slack",
]
