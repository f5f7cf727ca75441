"""
A certificate while it shrinks
==============================

Every machine that minimises something comes with a proof of how good it is: its objective, and a
lower bound below which no machine can get. Between the two lies the duality gap. Here three solvers
are stopped again and again on their way, to see both.
"""

# %%
# A :class:`~mercer.problems.Problem` says what is to be minimised, here
# :math:`\frac\lambda2\|w\|^2 + \text{mean loss}`; :func:`~mercer.problems.certify` looks at a
# model alone, wherever it came from, and recomputes objective and gap in double precision.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.preprocessing import StandardScaler

from mercer.datasets import make_margins
from mercer.grams import Dense
from mercer.kernels import Gaussian
from mercer.losses import Hinge, Logistic
from mercer.problems import Problem, certify
from mercer.solvers import Gradient, Newton, PegasosSteps

X, y = make_margins(800, random_state=0)
gram = Dense(Gaussian(gamma=0.1)(StandardScaler().fit_transform(X)))
soft_margin = Problem(gram, y.astype(float), Hinge(), lam=1e-3)
logistic = Problem(gram, y.astype(float), Logistic(), lam=1e-3)


def along(problem, solver_for, lengths):
    """Objective and lower bound of models after so many steps."""
    found = [
        certify(problem, solver_for(n).solve(problem, rng=np.random.default_rng(0)))
        for n in lengths
    ]
    return np.array([(one.objective, one.objective - one.gap) for one in found]).T


# %%
# Stochastic steps are good early, and bring the gap down ever more slowly. Plain descent takes its
# time. Newton's method is down to rounding after five steps, each of which solves a system of
# equations with the matrix.

ways = {
    "Pegasos, hinge": (soft_margin, lambda n: PegasosSteps(steps=800 * n), 400),
    "gradient descent, logistic": (logistic, lambda n: Gradient(max_iter=n), 3000),
    "Newton, logistic": (logistic, lambda n: Newton(max_iter=n), 8),
}
figure, axes = plt.subplots(2, 3, figsize=(10.5, 5.2), sharex="col")
for (upper, lower), (name, (problem, solver_for, most)) in zip(axes.T, ways.items()):
    steps = np.unique(np.geomspace(1, most, 12).astype(int)).tolist()
    objective, bound = along(problem, solver_for, steps)
    upper.fill_between(steps, bound, objective, color="C0", alpha=0.2, label="the minimum is here")
    upper.plot(steps, objective, color="C0", marker="o", markersize=3, label="objective")
    upper.plot(steps, bound, color="C1", marker="s", markersize=3, label="lower bound")
    upper.set(title=name, ylim=(0, 0.8))
    lower.plot(steps, (objective - bound) / objective, color="C4", marker="o", markersize=3)
    lower.set(xscale="log" if most > 10 else "linear", yscale="log", ylim=(1e-16, 30))
    lower.set_xlabel("epochs" if "Pegasos" in name else "steps")
axes[0, 2].legend(loc="lower right")
axes[1, 0].set_ylabel("relative gap")
plt.show()
