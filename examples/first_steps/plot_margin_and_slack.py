r"""
Hard and soft margins
=====================

Of all lines that separate two classes, the hard margin takes the one that is farthest from the
nearest rows. The soft margin lets rows into the margin, or onto the wrong side, for a price: what
they lack of a margin of 1 is their slack :math:`\xi`, and the machine minimises
:math:`\frac12\|w\|^2 + C\sum_i\xi_i`.
"""

# %%
# Two clouds that a line separates, and the same clouds with two rows that are in the way.

import matplotlib.pyplot as plt
import numpy as np

from mercer import SVC
from mercer.margins import functional_margins, width

rng = np.random.default_rng(3)
X = np.vstack([rng.normal((-1.6, -0.6), 0.55, (30, 2)), rng.normal((1.4, 0.8), 0.55, (30, 2))])
y = np.repeat([-1, 1], 30)
X_disturbed = np.vstack([X, [[0.9, -0.4], [-0.9, 0.3]]])
y_disturbed = np.append(y, [-1, 1])

# %%
# With ``C=inf`` nobody may pay: that is the hard margin, and where there is none the machine says
# so. A small C buys a wide margin with much slack. The support vectors, ringed, are all that a
# machine remembers of the rows.


def draw(ax, machine, X, y):
    machine.fit(X, y)
    horizontal, vertical = np.meshgrid(np.linspace(-3.5, 3.2, 120), np.linspace(-2.4, 2.6, 120))
    score = machine.decision_function(np.column_stack([horizontal.ravel(), vertical.ravel()]))
    score = score.reshape(horizontal.shape)
    ax.contourf(horizontal, vertical, score, levels=[-1, 1], colors=["#dddddd"], alpha=0.6)
    ax.contour(
        horizontal,
        vertical,
        score,
        levels=[-1, 0, 1],
        colors="k",
        linestyles=["--", "-", "--"],
        linewidths=1,
    )
    slack = np.maximum(
        0, 1 - functional_margins(X, y, w=machine.coef_[0], b=machine.intercept_[0]).values
    )
    along = machine.coef_[0] / np.square(machine.coef_[0]).sum()
    for row, label, xi in zip(X, y, slack):
        if xi > 1e-2:  # from the row straight to the margin of its class
            ax.plot(*np.column_stack([row, row + label * xi * along]), color="C4", linewidth=1.2)
    ax.scatter(*X[y < 0].T, s=16, color="C1", marker="s")
    ax.scatter(*X[y > 0].T, s=16, color="C0")
    ax.scatter(*X[machine.support_].T, s=75, facecolors="none", edgecolors="k", linewidths=0.9)
    ax.set(
        aspect="equal",
        xlabel=f"width {float(width(model=machine)):.2f}, sum of slacks {slack.sum():.2f}",
    )
    ax.set(xticks=[], yticks=[])


figure, axes = plt.subplots(1, 3, figsize=(10.5, 3.2))
draw(axes[0], SVC("linear", C=np.inf), X, y)
axes[0].set_title("hard margin")
for ax, C in zip(axes[1:], (10, 0.1)):
    draw(ax, SVC("linear", C=C), X_disturbed, y_disturbed)
    ax.set_title(f"soft margin, C = {C}")
plt.show()
