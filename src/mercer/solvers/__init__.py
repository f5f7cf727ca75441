"""The ways down: from a :class:`~mercer.problems.Problem` to a :class:`~mercer.problems.Solution`."""

from .base import CannotSolve, Solver
from .certified import Certified, solve_certified
from .gradient import Gradient
from .interior_dual import InteriorPoint
from .mistake_driven import MistakeDriven
from .newton import Newton
from .pegasos import Pegasos
from .svm.soft_margin import SoftMargin

__all__ = [
    "CannotSolve",
    "Certified",
    "Gradient",
    "InteriorPoint",
    "MistakeDriven",
    "Newton",
    "Pegasos",
    "SoftMargin",
    "Solver",
    "solve_certified",
]
