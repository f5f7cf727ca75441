"""
Quantiles: a band for nine of ten
=================================

A mean says nothing about how far off it may be. Quantiles do: half of the values lie below the
median, and nine of ten between the 5 % and the 95 % quantile, also where the noise is wide in one
place, narrow in another and lopsided.
"""

# %%
# Waiting times that get longer and more uncertain during the day. They cannot be negative, so they
# scatter upwards.

import matplotlib.pyplot as plt
import numpy as np

from mercer import KernelQuantiles

rng = np.random.default_rng(0)


def waiting_times(n):
    hour = np.sort(rng.uniform(8, 20, n))
    typical = 5 + 10 * np.exp(-0.5 * (hour - 12) ** 2) + 12 * np.exp(-0.3 * (hour - 17.5) ** 2)
    return hour[:, None], typical * rng.gamma(4, 0.25, n)


X, y = waiting_times(600)
X_new, y_new = waiting_times(5000)

# %%
# All levels are learned from one kernel matrix, each to its exact optimum, and predictions never
# cross.

machine = KernelQuantiles(
    "gaussian(gamma=0.5)", quantiles=(0.05, 0.25, 0.5, 0.75, 0.95), lam=1e-4
).fit(X, y)
low, quarter, median, three_quarters, high = machine.predict(X_new).T
for level, said in zip(machine.quantiles_, machine.predict(X_new).T):
    below = 100 * np.mean(y_new <= said)
    print(f"{below:4.1f} % of new values lie below the {100 * level:.0f} % quantile")

# %%
# The band is narrow in the morning and wide in the rush hour.

figure, ax = plt.subplots(figsize=(7.6, 4))
ax.fill_between(X_new[:, 0], low, high, color="C0", alpha=0.18, linewidth=0, label="5 % to 95 %")
ax.fill_between(
    X_new[:, 0], quarter, three_quarters, color="C0", alpha=0.3, linewidth=0, label="25 % to 75 %"
)
ax.plot(X_new, median, color="C0", label="median")
ax.scatter(X, y, s=7, color="0.35", linewidths=0, label="training rows")
ax.set(xlabel="hour", ylabel="minutes waited", ylim=(0, None))
ax.legend(loc="upper left")
plt.show()
