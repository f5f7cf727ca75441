"""The ways down: from a :class:`~mercer.problems.Problem` to a :class:`~mercer.problems.Solution`."""

from .base import CannotSolve, Solver
from .certified import Certified, solve_certified
from .interior import FeatureCurvature, InteriorPoint, MatrixCurvature, interior_point
from .newton import Gradient, Newton
from .online import MistakeDriven, PegasosSteps
from .ridge import RidgePath, solve_ridge, solve_ridge_of_many
from .svm.soft_margin import SoftMargin

__all__ = [
    "CannotSolve",
    "Certified",
    "FeatureCurvature",
    "Gradient",
    "InteriorPoint",
    "MatrixCurvature",
    "MistakeDriven",
    "Newton",
    "PegasosSteps",
    "RidgePath",
    "SoftMargin",
    "Solver",
    "interior_point",
    "solve_certified",
    "solve_ridge",
    "solve_ridge_of_many",
]
