"""
From underfit to overfit: γ and C
=================================

A Gaussian machine has two knobs. γ says how quickly similarity fades with distance, C what a
violated margin costs. Small values of both give a boundary that is too plain, large ones a
boundary that follows the noise.
"""

# %%
# 150 rows are for learning, many more are for the truth.

import matplotlib.pyplot as plt
from sklearn.datasets import make_moons

from mercer import SVC
from mercer.displays import DecisionBoundary

X, y = make_moons(150, noise=0.3, random_state=4)
X_new, y_new = make_moons(4000, noise=0.3, random_state=5)

# %%
# Every panel is a fit of its own. Error on the training rows falls from the upper left to the
# lower right; error on new rows falls at first, and rises again.

gammas, costs = (0.03, 1, 100), (0.1, 10, 10_000)
figure, axes = plt.subplots(3, 3, figsize=(8.4, 7.4), sharex=True, sharey=True)
for row, C in zip(axes, costs):
    for ax, gamma in zip(row, gammas):
        machine = SVC(f"gaussian(gamma={gamma})", C=C).fit(X, y)
        DecisionBoundary.from_estimator(machine, X, y).plot(ax, legend=False)
        train, new = (100 * (1 - machine.score(*rows)) for rows in ((X, y), (X_new, y_new)))
        ax.set_title(f"γ = {gamma}, C = {C}: {train:.0f} % → {new:.1f} %", fontsize="medium")
        ax.set(xticks=[], yticks=[], xlabel="", ylabel="")
figure.suptitle("error on training rows → on new rows")
plt.show()

# %%
# No rule says where the best place is: that is what a search is for, see :doc:`a surface from one
# search </gallery/scale/plot_search_surface>`.
