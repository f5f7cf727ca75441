"""The ways down: from a :class:`~mercer.problems.Problem` to a :class:`~mercer.problems.Solution`."""

from .base import CannotSolve, Solver
from .certified import Certified, solve_certified
from .eigen import Eigenpairs, leading_eigenpairs
from .interior import FeatureCurvature, InteriorPoint, MatrixCurvature, interior_point
from .kmeans import Partition, kernel_kmeans, least_cost
from .newton import Gradient, Newton
from .online import MistakeDriven, PegasosSteps
from .ridge import RidgePath, solve_ridge, solve_ridge_of_many
from .svm.soft_margin import SoftMargin

__all__ = [
    "CannotSolve",
    "Certified",
    "Eigenpairs",
    "FeatureCurvature",
    "Gradient",
    "InteriorPoint",
    "MatrixCurvature",
    "MistakeDriven",
    "Newton",
    "Partition",
    "PegasosSteps",
    "RidgePath",
    "SoftMargin",
    "Solver",
    "interior_point",
    "kernel_kmeans",
    "leading_eigenpairs",
    "least_cost",
    "solve_certified",
    "solve_ridge",
    "solve_ridge_of_many",
]
