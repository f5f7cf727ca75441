r"""
The kernel trick, lifted to three dimensions
============================================

A ring around a disc cannot be cut off by a line. The map :math:`\varphi(x) = (x_1^2, \sqrt2x_1x_2,
x_2^2)` lifts the plane onto a cone, where a plane cuts them apart. The kernel :math:`\langle x,
z\rangle^2` is the dot product up there, :math:`\langle\varphi(x), \varphi(z)\rangle`, computed
from the rows down here.
"""

# %%
# First the claim itself: the matrix of the kernel and the dot products of the lifted rows are the
# same numbers.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_circles

from mercer import SVC
from mercer.displays import DecisionBoundary
from mercer.kernels import Polynomial

X, y = make_circles(240, noise=0.09, factor=0.45, random_state=0)


def lifted(X):
    return np.column_stack([X[:, 0] ** 2, np.sqrt(2) * X[:, 0] * X[:, 1], X[:, 1] ** 2])


kernel = Polynomial(degree=2, gamma=1, coef0=0)
print("largest difference:", np.abs(kernel(X) - lifted(X) @ lifted(X).T).max())

# %%
# A linear machine on lifted rows and a machine with the kernel are the same machine. Below is its
# plane, and what the plane becomes at home: an ellipse, here nearly a circle.

flat = SVC("linear", C=10).fit(lifted(X), y)
trick = SVC(kernel, C=10).fit(X, y)
apart = np.abs(flat.decision_function(lifted(X)) - trick.decision_function(X)).max()
print(f"scores differ by at most {apart:.0e}, within the tolerance of both fits")

figure = plt.figure(figsize=(9.5, 4.4))
left, right = (figure.add_subplot(1, 2, 1), figure.add_subplot(1, 2, 2, projection="3d"))
DecisionBoundary.from_estimator(trick, X, y).plot(left)
left.set(aspect="equal", title="where the rows live", xlabel="x₁", ylabel="x₂")

for label, colour in ((0, "C1"), (1, "C0")):
    right.scatter(*lifted(X[y == label]).T, s=9, color=colour, depthshade=False)
(a, b, c), d = flat.coef_[0], flat.intercept_[0]
first, second = np.meshgrid(np.linspace(0, 1.3, 9), np.linspace(-0.9, 0.9, 9))
third = -(a * first + b * second + d) / c
right.plot_surface(first, second, np.where(third >= 0, third, np.nan), color="0.5", alpha=0.35)
right.set(xticks=(0, 0.5, 1), yticks=(-1, 0, 1), zticks=(0, 0.5, 1))
right.set(
    xlabel="$x_1^2$",
    ylabel=r"$\sqrt{2}\,x_1x_2$",
    zlabel="$x_2^2$",
    title="where the kernel compares them",
)
right.view_init(elev=22, azim=-52)
right.set_box_aspect((1, 1, 0.9), zoom=0.95)
plt.show()
