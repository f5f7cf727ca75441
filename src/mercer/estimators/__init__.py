"""Scikit-learn faces of the solvers."""

from .kernel_classifier import KernelClassifier
from .kernel_regressor import KernelQuantiles, KernelRegressor
from .nu import NuSVC
from .one_class import SVDD, OneClassSVM
from .pegasos import Pegasos
from .perceptron import Perceptron
from .svc import SVC
from .svr import SVR, NuSVR

__all__ = [
    "SVC",
    "SVDD",
    "SVR",
    "KernelClassifier",
    "KernelQuantiles",
    "KernelRegressor",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
    "Pegasos",
    "Perceptron",
]
