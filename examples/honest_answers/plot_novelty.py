"""
Outlier detection
=================

A one-class machine learns from rows without labels where most of them are, and says of a new one
whether it is among them. Of the training rows it leaves at most a share ν outside; at least a share
ν carries the boundary.
"""

# %%
# Two clouds and a bent one, nothing else: no example of what is unusual is needed.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from mercer import SVDD, OneClassSVM

rng = np.random.default_rng(0)
X = np.vstack(
    [make_moons(240, noise=0.06, random_state=0)[0], rng.normal((2.2, 1.3), 0.12, (60, 2))]
)
side = np.linspace(-1.8, 3.2, 150), np.linspace(-1.3, 2.2, 150)
plane = np.column_stack([axis.ravel() for axis in np.meshgrid(*side)])

# %%
# The half space of a :class:`~mercer.OneClassSVM` and the smallest ball of an
# :class:`~mercer.SVDD` are the same set where every row has the same length in feature space, as
# with a Gaussian kernel. With another kernel they differ.

machines = {
    "one-class, ν = 0.02": OneClassSVM("gaussian(gamma=5)", nu=0.02),
    "one-class, ν = 0.2": OneClassSVM("gaussian(gamma=5)", nu=0.2),
    "smallest ball, degree 4": SVDD("polynomial(degree=4, gamma=0.3)", nu=0.02),
}
figure, axes = plt.subplots(1, 3, figsize=(10.5, 2.9), sharey=True)
for ax, (name, machine) in zip(axes, machines.items()):
    usual = machine.fit(X).predict(X) > 0
    score = machine.decision_function(plane).reshape(150, 150)
    ax.imshow(score, extent=(-1.8, 3.2, -1.3, 2.2), origin="lower", cmap="Greys_r", alpha=0.3)
    ax.contour(*side, score, levels=[0], colors="C0", linewidths=1.6)
    ax.scatter(*X[usual].T, s=9, color="C0", linewidths=0)
    ax.scatter(*X[~usual].T, s=22, color="C4", marker="x")
    ax.set(
        title=f"{name}: {100 * np.mean(~usual):.0f} % outside", aspect="equal", xticks=[], yticks=[]
    )
plt.show()
