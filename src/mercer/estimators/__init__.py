"""Scikit-learn faces of the solvers."""

from .pegasos import Pegasos
from .perceptron import Perceptron
from .svc import SVC

__all__ = ["SVC", "Pegasos", "Perceptron"]
