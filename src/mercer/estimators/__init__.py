"""Scikit-learn faces of the solvers."""

from .pegasos import Pegasos
from .perceptron import Perceptron

__all__ = ["Pegasos", "Perceptron"]
