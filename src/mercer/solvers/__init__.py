"""The ways down. A solver takes a :class:`~mercer.problem.Problem` and returns a :class:`~mercer.problem.Solution`."""

from .pegasos import Pegasos
from .perceptron import Perceptron

__all__ = ["Pegasos", "Perceptron"]
