"""
XOR three ways
==============

Four clouds, and a label that says whether both coordinates have the same sign. No line tells the
classes apart. What does: a feature that somebody thought of, a kernel that contains this feature,
or a kernel that knows nothing of it.
"""

# %%
# The data are made here, so that everybody has the same.

import matplotlib.pyplot as plt

from mercer import SVC
from mercer.datasets import make_xor
from mercer.displays import DecisionBoundary
from mercer.kernels import Function

X, y = make_xor(300, random_state=0)
X_new, y_new = make_xor(2000, random_state=1)

# %%
# The product :math:`x_1x_2` is all that matters. As a kernel it is :math:`k(x, z) = x_1x_2\cdot
# z_1z_2`, which any Python function may say. The kernel :math:`(\langle x, z\rangle + 1)^2`
# contains the product among its six features. The Gaussian kernel contains every feature a little,
# and weighs near rows most.


def product(A, B):
    return A.prod(axis=1)[:, None] * B.prod(axis=1)


machines = {
    "a line": SVC("linear"),
    "the product alone": SVC(Function(product)),
    "polynomial of degree 2": SVC("polynomial(degree=2)"),
    "Gaussian": SVC("gaussian(gamma=1)"),
}

# %%
# Dashed lines are the margins, where the score is ±1. The first machine errs on more than a
# quarter of the new rows, however it turns its line. The other three find nearly the same
# boundary, and err on the rows that noise has put among another cloud.

figure, axes = plt.subplots(1, 4, figsize=(10.5, 3.5), sharex=True, sharey=True)
for ax, (name, machine) in zip(axes, machines.items()):
    machine.fit(X, y)
    DecisionBoundary.from_estimator(machine, X, y).plot(ax, legend=False)
    error = 100 * (1 - machine.score(X_new, y_new))
    ax.set(title=f"{name}\n{error:.1f} % of new rows wrong", aspect="equal")
    ax.label_outer()
handles = axes[0].get_legend_handles_labels()
figure.legend(*handles, loc="outside right center", title="same sign", markerscale=2)
plt.show()
