"""
Which kernels matter
====================

Give a machine a kernel for every column, and let it find out which of them to use. A
:class:`~mercer.kernels.Mixture` is a sum of kernels whose weights are learned together with the
machine; with ``p=1`` those that do not help become zero or small, with a larger ``p`` weights stay
more alike.
"""

# %%
# Two columns say something together, in a curved way; one says something by its sign; five are
# noise.

import matplotlib.pyplot as plt
import numpy as np

from mercer import SVC
from mercer.explain import kernel_shares
from mercer.kernels import Gaussian, Mixture

rng = np.random.default_rng(0)
X = rng.normal(size=(1200, 8))
y = np.where(
    np.hypot(X[:, 0], X[:, 1]) + 0.6 * X[:, 2] + 0.15 * rng.normal(size=1200) > 1.2, "out", "in"
)
train, test = slice(0, 400), slice(400, None)
kernels = [Gaussian(gamma=0.5).on(0, 1), *(Gaussian(gamma=0.5).on(k) for k in range(2, 8))]
names = ["x0 and x1", *(f"x{k}" for k in range(2, 8))]

# %%
# One plain Gaussian of all columns has to listen to the noise. Mixtures find out who speaks.

plain = SVC(Gaussian(), C=1).fit(X[train], y[train])
machines = {p: SVC(Mixture(kernels, p=p), C=1).fit(X[train], y[train]) for p in (1, 1.5, 2)}
print(f"all columns in one kernel: {100 * plain.score(X[test], y[test]):.1f} % right")
for p, machine in machines.items():
    right = 100 * machine.score(X[test], y[test])
    print(f"mixture, p = {p}: {right:.1f} % right, gap {machine.duality_gap_[0]:.0e}")
print(kernel_shares(machines[1]))

# %%
# The gap above is a certificate of weights and machine together: no other weights make the
# objective smaller by more.

figure, ax = plt.subplots(figsize=(7.6, 3.4))
for offset, (p, machine) in zip((-0.27, 0, 0.27), machines.items()):
    weights = machine.kernel_.weights_ / machine.kernel_.weights_.sum()
    right = 100 * machine.score(X[test], y[test])
    ax.bar(
        np.arange(7) + offset,
        weights,
        width=0.25,
        label=f"p = {p}: {right:.1f} % of test rows right",
    )
ax.set_xticks(range(7), names)
ax.set(ylabel="share of the weights", xlabel="kernel of")
ax.axvspan(1.5, 6.5, color="0.93", zorder=0)
ax.annotate("noise", (4, 0.2), ha="center", color="0.4")
ax.legend(loc="upper right")
plt.show()
