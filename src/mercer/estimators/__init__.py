"""Scikit-learn faces of the solvers."""

from .pegasos import Pegasos
from .perceptron import Perceptron
from .smooth import KernelClassifier, KernelRegressor
from .svc import SVC

__all__ = ["SVC", "KernelClassifier", "KernelRegressor", "Pegasos", "Perceptron"]
