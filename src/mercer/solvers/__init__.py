"""The ways down: from a :class:`~mercer.problems.Problem` to a :class:`~mercer.problems.Solution`."""

from .base import CannotSolve, Solver
from .certified import Certified, solve_certified
from .interior import InteriorPoint
from .newton import Gradient, Newton
from .online import MistakeDriven, PegasosSteps
from .svm.soft_margin import SoftMargin

__all__ = [
    "CannotSolve",
    "Certified",
    "Gradient",
    "InteriorPoint",
    "MistakeDriven",
    "Newton",
    "PegasosSteps",
    "SoftMargin",
    "Solver",
    "solve_certified",
]
