"""Scikit-learn faces of the solvers."""

from .kernel_classifier import KernelClassifier
from .kernel_regressor import KernelRegressor
from .pegasos import Pegasos
from .perceptron import Perceptron
from .svc import SVC
from .svr import SVR

__all__ = ["SVC", "SVR", "KernelClassifier", "KernelRegressor", "Pegasos", "Perceptron"]
