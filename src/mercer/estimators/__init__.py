"""Scikit-learn faces of the solvers."""

from .base import KNOWN, KernelMachine
from .classifier import Classifier, cost_matrix
from .gp_classifier import GPClassifier
from .gp_regressor import GPRegressor
from .kernel_classifier import KernelClassifier
from .kernel_pca import KernelPCA
from .kernel_regressor import KernelQuantiles, KernelRegressor, rearranged
from .model import KernelModel, LinearModel, kernel_model, model_of
from .nu import NuSVC
from .one_class import SVDD, NoveltyMachine, OneClassSVM
from .pairs import BinaryMachine, begin_pairs, laid_out, solve_pairs, votes
from .pegasos import Pegasos
from .perceptron import Perceptron
from .regressor import Regressor
from .running import NotInTimeError, Run
from .svc import SVC
from .svr import SVR, NuSVR
from .training import Training, fingerprints, training_of
from .transformer import Transformer

__all__ = [
    "KNOWN",
    "SVC",
    "SVDD",
    "SVR",
    "BinaryMachine",
    "Classifier",
    "GPClassifier",
    "GPRegressor",
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
    "Training",
    "Transformer",
    "begin_pairs",
    "cost_matrix",
    "fingerprints",
    "kernel_model",
    "laid_out",
    "model_of",
    "rearranged",
    "solve_pairs",
    "training_of",
    "votes",
]
