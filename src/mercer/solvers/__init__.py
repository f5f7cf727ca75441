"""The ways down. A solver takes a :class:`~mercer.problem.Problem` and returns a :class:`~mercer.problem.Solution`."""

from .gradient import Gradient
from .newton import Newton
from .pegasos import Pegasos
from .perceptron import Perceptron
from .soft_margin import SoftMargin

__all__ = ["Gradient", "Newton", "Pegasos", "Perceptron", "SoftMargin"]
