"""
The boundaries of every learner
===============================

Twelve machines on the same three hundred rows: the same data, the same few lines of code, and
boundaries that differ in how straight, how smooth and how sure they are.
"""

# %%
# All of them are scikit-learn estimators. A kernel is an object or a text; without one, a
# Perceptron and Pegasos learn weights.

import warnings

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons
from sklearn.exceptions import ConvergenceWarning

from mercer import SVC, KernelClassifier, NuSVC, Pegasos, Perceptron
from mercer.displays import DecisionBoundary

X, y = make_moons(300, noise=0.25, random_state=0)
rbf, cubic = "gaussian(gamma=1)", "polynomial(degree=3)"
machines = {
    "Perceptron": Perceptron(random_state=0),
    "averaged Perceptron": Perceptron(variant="averaged", random_state=0),
    "kernel Perceptron": Perceptron(rbf, random_state=0),
    "Pegasos": Pegasos(random_state=0),
    "kernel Pegasos": Pegasos(rbf, random_state=0),
    "soft margin, linear": SVC("linear"),
    "soft margin, cubic": SVC(cubic),
    "soft margin, Gaussian": SVC(rbf),
    "ν-machine, Gaussian": NuSVC(rbf, nu=0.3),
    "kernel logistic": KernelClassifier(rbf),
    "squared hinge": KernelClassifier(rbf, loss="squared_hinge"),
    "least squares": KernelClassifier(rbf, loss="squared"),
}

# %%
# Perceptrons warn that these rows are not separable: they never stop by themselves. That is what
# the picture is about, so the warning is not shown.

figure, axes = plt.subplots(3, 4, figsize=(10.5, 7.2))
for ax, (name, machine) in zip(axes.flat, machines.items()):
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
        machine.fit(X, y)
    DecisionBoundary.from_estimator(machine, X, y, max_points=300).plot(ax, legend=False)
    ax.set(title=name, xticks=[], yticks=[], xlabel="", ylabel="")
plt.show()

# %%
# Dashed lines are where the score is ±1. For margin machines that is the margin; the length of a
# Perceptron's weights, and so of its scores, has no meaning.
