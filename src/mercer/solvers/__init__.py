"""The ways down: from a :class:`~mercer.problems.Problem` to a :class:`~mercer.problems.Solution`."""

from .gradient import Gradient
from .newton import Newton
from .pegasos import Pegasos
from .perceptron import Perceptron
from .svm.soft_margin import SoftMargin

__all__ = ["Gradient", "Newton", "Pegasos", "Perceptron", "SoftMargin"]
