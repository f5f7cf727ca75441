"""What a mistake costs: losses of the margin, for classes, and of the residual, for numbers.

Examples
--------
>>> from mercer.losses import Hinge, Huber
>>> Hinge().value([-1.0, 0.0, 1.0, 2.0])
array([2., 1., 0., 0.])
>>> Huber(delta=1.0).value([0.5, 3.0])
array([0.125, 2.5  ])
"""

from .margins import Hinge, Logistic, Loss, Perceptron, SmoothHinge, Squared, SquaredHinge, as_loss, names
from .residuals import EpsilonInsensitive, Huber, ResidualLoss, SquaredError, as_residual_loss

__all__ = [
    "EpsilonInsensitive",
    "Hinge",
    "Huber",
    "Logistic",
    "Loss",
    "Perceptron",
    "ResidualLoss",
    "SmoothHinge",
    "Squared",
    "SquaredError",
    "SquaredHinge",
    "as_loss",
    "as_residual_loss",
    "names",
]
