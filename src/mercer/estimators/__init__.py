"""Scikit-learn faces of the solvers."""

from .base import KernelMachine
from .classifier import Classifier, cost_matrix
from .kernel_classifier import KernelClassifier
from .kernel_pca import KernelPCA
from .kernel_regressor import KernelQuantiles, KernelRegressor, rearranged
from .model import KernelModel, LinearModel
from .nu import NuSVC
from .one_class import SVDD, NoveltyMachine, OneClassSVM
from .pairs import BinaryMachine, begin_pairs, laid_out, solve_pairs, votes
from .pegasos import Pegasos
from .perceptron import Perceptron
from .regressor import Regressor
from .running import NotInTimeError, Run
from .svc import SVC
from .svr import SVR, NuSVR
from .training import fingerprints, training_of

__all__ = [
    "MACHINES",
    "SVC",
    "SVDD",
    "SVR",
    "UNLABELLED",
    "BinaryMachine",
    "Classifier",
    "KernelClassifier",
    "KernelMachine",
    "KernelModel",
    "KernelPCA",
    "KernelQuantiles",
    "KernelRegressor",
    "LinearModel",
    "NotInTimeError",
    "NoveltyMachine",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
    "Pegasos",
    "Perceptron",
    "Regressor",
    "Run",
    "begin_pairs",
    "cost_matrix",
    "fingerprints",
    "laid_out",
    "rearranged",
    "solve_pairs",
    "training_of",
    "votes",
]

#: What users fit.
MACHINES = (
    SVC, SVDD, SVR, KernelClassifier, KernelQuantiles, KernelRegressor, NuSVC, NuSVR, OneClassSVM, Pegasos, Perceptron,
)  # fmt: skip

#: What users fit to items without targets, beside the machines for outliers.
UNLABELLED = (KernelPCA,)
