"""What is to be solved, what comes back, and how good it is."""

from .box_dual import BoxDual, balanced, best_intercept, slack
from .certificate import CLOSE, Certificate, certify, certify_nothing, keeps
from .nu_problem import NuProblem
from .problem import Intercept, Problem
from .solution import Iterate, Solution, Status

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
