"""What a mistake costs: losses of the margin, for labels, and of the residual, for numbers.

Examples
--------
>>> from mercer.losses import Hinge, Huber
>>> Hinge().value([-1.0, 0.0, 1.0, 2.0])
array([2., 1., 0., 0.])
>>> Huber(delta=1.0).value([0.5, 3.0])
array([0.125, 2.5  ])
"""

from .._runtime.compile import Scalar
from .base import Loss
from .margins import Hinge, Logistic, MarginLoss, PerceptronLoss, SmoothHinge, SquaredHinge
from .named import as_loss, as_residual_loss
from .residuals import EpsilonInsensitive, Huber, Pinball, ResidualLoss, Shortfall, Squared
from .softmax import Softmax

__all__ = [
    "EpsilonInsensitive",
    "Hinge",
    "Huber",
    "Logistic",
    "Loss",
    "MarginLoss",
    "PerceptronLoss",
    "Pinball",
    "ResidualLoss",
    "Scalar",
    "Shortfall",
    "SmoothHinge",
    "Softmax",
    "Squared",
    "SquaredHinge",
    "as_loss",
    "as_residual_loss",
]
