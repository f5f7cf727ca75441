"""Scikit-learn faces of the solvers."""

from .kernel_classifier import KernelClassifier
from .kernel_quantiles import KernelQuantiles
from .kernel_regressor import KernelRegressor
from .pegasos import Pegasos
from .perceptron import Perceptron
from .svc import SVC

__all__ = ["SVC", "KernelClassifier", "KernelQuantiles", "KernelRegressor", "Pegasos", "Perceptron"]
