r"""
The Perceptron's mistakes, and their bound
==========================================

A Perceptron changes only when it errs. If some :math:`u` separates the rows with a margin of at
least 1, it errs at most :math:`\|u\|^2\max_i\|x_i\|^2` times altogether, however often it goes
around. Where no :math:`u` separates them, the mistakes go on, and a bound with the hinge losses of
any :math:`u` takes its place.
"""

# %%
# Rows of length 1, once with a gap between the classes and once with some labels turned. The
# intercept is left out, so that rows and bound are about the same problem.

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.exceptions import ConvergenceWarning

from mercer import KernelClassifier, Perceptron
from mercer.margins import mistake_bound, mistake_bound_separable

rng = np.random.default_rng(0)
X = rng.normal(size=(2000, 10))
X /= np.linalg.norm(X, axis=1, keepdims=True)
score = X @ rng.normal(size=10)
apart = np.abs(score) > 0.15
X, score = X[apart], score[apart]
y = np.sign(score)
y_noisy = np.where(rng.random(len(y)) < 0.05, -y, y)

# %%
# Any :math:`u` gives a bound; a machine trained on the rows gives a good one.


def mistakes(labels, epochs=30):
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
        options = {"epochs": epochs, "fit_intercept": False}
        learners = [Perceptron(**options, random_state=seed) for seed in range(20)]
        return [np.cumsum(learner.fit(X, labels).mistakes_[0]) for learner in learners]


def good_weights(labels, lam):
    machine = KernelClassifier("linear", "squared_hinge", lam=lam, fit_intercept=False)
    return machine.fit(X, labels).coef_[0]


separable = float(mistake_bound_separable(X, y, good_weights(y, 1e-6)))
u = good_weights(y_noisy, 1e-2)
noisy = [float(mistake_bound(X, y_noisy, u, passes=epochs)) for epochs in range(1, 31)]

# %%
# Twenty orders of the rows each. On the left a run ends with its first pass without a mistake, far
# below the bound, which has to hold for the worst order of the worst rows. On the right every pass
# adds about as many mistakes as the one before.

figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.6))
for total in mistakes(y):
    left.plot(np.arange(1, len(total) + 1), total, color="C0", alpha=0.4, marker="o", markersize=3)
left.axhline(separable, color="C4", linestyle="--")
left.annotate(
    f"bound: {separable:.0f}",
    (0.97, separable),
    xycoords=("axes fraction", "data"),
    ha="right",
    va="bottom",
)
left.set(title="separable", xlabel="epoch", ylabel="mistakes so far", ylim=(0, 1.12 * separable))
for total in mistakes(y_noisy):
    right.plot(np.arange(1, 31), total, color="C0", alpha=0.4)
right.plot(np.arange(1, 31), noisy, "--", color="C4", label="bound")
right.plot([], color="C0", label="20 orders of the rows")
right.set(title="5 % of the labels turned", xlabel="epoch", ylim=(0, None))
right.legend()
plt.show()
