"""What is to be solved, what comes back, and how good it is."""

from .certificate import MarginCertificate, balanced, best_intercept, certify_margin, slack
from .problem import Certificate, Path, Problem, Regression, Solution, Stage, Status, Tube, certify, checked_items
from .softmax import Softmax

__all__ = [
    "Certificate",
    "MarginCertificate",
    "Path",
    "Problem",
    "Regression",
    "Softmax",
    "Solution",
    "Stage",
    "Status",
    "Tube",
    "balanced",
    "best_intercept",
    "certify",
    "certify_margin",
    "checked_items",
    "slack",
]
