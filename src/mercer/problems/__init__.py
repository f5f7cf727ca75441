"""What is to be solved, what comes back, and how good it is."""

from .certificate import CLOSE, Certificate, certify, certify_nothing, keeps
from .dual import BoxDual, balanced, best_intercept, slack
from .problem import Intercept, Iterate, NuProblem, Problem, Solution, Status

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
