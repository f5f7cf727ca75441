"""
What more rows bring, and what they cost
========================================

Twice the rows: how much better, and how much longer? That depends on the machine as much as on the
rows. Before a long fit, :func:`~mercer.growth.foretell` estimates its time and memory from short
ones.
"""

# %%
# A cubic boundary, learned from ever more rows.

from time import perf_counter

import matplotlib.pyplot as plt
from sklearn.preprocessing import StandardScaler

from mercer import SVC, KernelClassifier
from mercer.datasets import make_margins
from mercer.growth import PowerLaw, foretell

X, y = make_margins(20_000, random_state=0)
X = StandardScaler().fit_transform(X)
X_new, y_new = X[16_000:], y[16_000:]
machines = {
    "soft margin": SVC("gaussian(gamma=0.05)", C=10),
    "kernel logistic, 200 landmarks": KernelClassifier("gaussian(gamma=0.05)", lam=1e-4, rank=200),
}
sizes = [250, 500, 1000, 2000, 4000, 8000]

# %%
# The fit of all 16 000 rows is foretold from fits of some of them, and then made.

figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.8))
for (name, machine), colour in zip(machines.items(), ("C0", "C1")):
    foretold = foretell(machine, X[:8000], y[:8000], n=16_000)
    errors, seconds = [], []
    for n in [*sizes, 16_000]:
        begin = perf_counter()
        machine.fit(X[:n], y[:n])
        seconds.append(perf_counter() - begin)
        errors.append(100 * (1 - machine.score(X_new, y_new)))
    law = PowerLaw.fitted({"n": sizes[2:]}, seconds[2:-1])
    print(f"{name}: about {law} seconds")
    print(f"  16 000 rows: {foretold.seconds:.2f} s foretold, {seconds[-1]:.2f} s taken")
    left.plot([*sizes, 16_000], errors, marker="o", markersize=4, color=colour, label=name)
    right.plot([*sizes, 16_000], seconds, marker="o", markersize=4, color=colour)
    right.plot(16_000, foretold.seconds, "*", color=colour, markersize=13, markeredgecolor="k")
right.plot([], [], "*", color="white", markersize=13, markeredgecolor="k", label="foretold")
left.set(title="error on new rows, %", ylim=(0, None))
right.set(title="seconds of a fit", yscale="log")
for ax in (left, right):
    ax.set(xscale="log", xlabel="training rows")
    ax.set_xticks([250, 1000, 4000, 16_000], ["250", "1000", "4000", "16 000"])
    ax.minorticks_off()
    ax.legend()
plt.show()

# %%
# Landmarks make the cost of a row nearly constant. Their price is an error that stops falling: two
# hundred of them cannot draw every boundary. Up to 16 000 such rows they lose in error at every
# size, and mostly in time as well (how clearly, depends on the computer): they pay where the exact
# fit no longer does.
