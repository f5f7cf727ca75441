r"""
Losses compared
===============

A loss says what a score costs. For labels it looks at the margin :math:`y\,f(x)`, which is
negative where the sign is wrong; for numbers at the residual :math:`y - f(x)`. Which loss a
machine has decides whether it forgives outliers, whether few rows matter, and whether its scores
can be read as probabilities or quantiles.
"""

# %%
# Every loss of the library is an object with its value, slope, curvature and conjugate. Values
# suffice to draw it.

import matplotlib.pyplot as plt
import numpy as np

from mercer.losses import (
    EpsilonInsensitive,
    Hinge,
    Huber,
    Logistic,
    PerceptronLoss,
    Pinball,
    SmoothHinge,
    Squared,
    SquaredHinge,
)

of_margins = {
    "Perceptron": PerceptronLoss(),
    "hinge": Hinge(),
    "squared hinge": SquaredHinge(),
    "smooth hinge": SmoothHinge(),
    "logistic": Logistic(),
}
of_residuals = {
    "squared": Squared(),
    "Huber, δ = 1": Huber(delta=1.0),
    "ε-insensitive, ε = 1": EpsilonInsensitive(epsilon=1.0),
    "pinball, τ = 0.9": Pinball(0.9),
}

# %%
# The step behind them is the mistake itself, which is too hard to minimise. The hinge (the soft
# margin) lies above it; the Perceptron's loss asks for the right sign and no more; the logistic
# loss is never quite content. On the right, the pinball loss is lopsided: a prediction that is too
# low by 1 costs 0.9, one that is too high by 1 costs 0.1, and what minimises the mean of that is
# the 90 % quantile.

margin, residual = np.linspace(-2, 2.5, 400), np.linspace(-3, 3, 400)
figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.8))
left.fill_between(margin, margin < 0, color="0.9", step="mid", label="a mistake")
for (name, loss), dash in zip(of_margins.items(), ("-", "-", "--", "-.", "-")):
    left.plot(margin, loss.value(margin), dash, label=name)
left.set(xlabel="margin $y\\,f(x)$", ylabel="loss", ylim=(0, 4), title="of labels")
for (name, loss), dash in zip(of_residuals.items(), ("-", "--", "-.", "-")):
    right.plot(residual, loss.value(residual), dash, label=name)
right.set(xlabel="residual $y - f(x)$", ylim=(0, 4), title="of numbers")
for ax in (left, right):
    ax.legend()
plt.show()
