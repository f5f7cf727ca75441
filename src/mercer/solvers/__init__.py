"""The ways down: from a :class:`~mercer.problems.Problem` to a :class:`~mercer.problems.Solution`."""

from .base import CannotSolve, Solver
from .certified import Certified, solve_certified
from .eigen import Eigenpairs, leading_eigenpairs
from .generalised import Directions, canonical_directions, discriminant_directions
from .interior import FeatureCurvature, InteriorPoint, MatrixCurvature, interior_point
from .newton import Gradient, Newton
from .online import MistakeDriven, PegasosSteps
from .ridge import RidgePath, solve_ridge, solve_ridge_of_many
from .svm.soft_margin import SoftMargin

__all__ = [
    "CannotSolve",
    "Certified",
    "Directions",
    "Eigenpairs",
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
    "canonical_directions",
    "discriminant_directions",
    "interior_point",
    "leading_eigenpairs",
    "solve_certified",
    "solve_ridge",
    "solve_ridge_of_many",
]
