"""
Bayesian optimisation in twenty lines
=====================================

Each measurement costs an hour, and the best setting is to be found with few of them. A Gaussian
process knows where it is not sure, and the next measurement is made where the most can be hoped
for.
"""

# %%
# What nobody knows: how good a setting is. It can be measured, with a little noise.

import matplotlib.pyplot as plt
import numpy as np
from scipy.stats import norm

from mercer import GPRegressor

rng = np.random.default_rng(0)


def measured(setting):
    return (
        np.sin(3 * setting) - 0.2 * (setting - 1.5) ** 2 + 0.02 * rng.normal(size=np.shape(setting))
    )


# %%
# Three measurements, then seven more. The expected improvement weighs how much better than the
# best so far a setting may be with how likely that is.

settings = np.linspace(-2, 4, 400)[:, None]
tried = np.array([-1.5, 0.2, 3.5])
found = measured(tried)
for _ in range(7):
    model = GPRegressor().fit(tried[:, None], found)
    mean, std = model.predict(settings, return_std=True)
    hope = (mean - found.max()) / std
    improvement = std * (hope * norm.cdf(hope) + norm.pdf(hope))
    best = settings[np.argmax(improvement), 0]
    tried, found = np.append(tried, best), np.append(found, measured(best))
print(f"the best of {len(tried)} measurements is {found.max():.2f} at {tried[found.argmax()]:.2f}")

# %%
# Where nothing was measured the band is wide; near the best it is narrow.

mean, std = GPRegressor().fit(tried[:, None], found).predict(settings, return_std=True)
figure, ax = plt.subplots(figsize=(7.6, 4))
ax.fill_between(settings[:, 0], mean - 2 * std, mean + 2 * std, color="C0", alpha=0.2, linewidth=0)
ax.plot(settings[:, 0], mean, color="C0", label="mean ± 2 standard deviations")
ax.plot(
    settings[:, 0],
    np.sin(3 * settings[:, 0]) - 0.2 * (settings[:, 0] - 1.5) ** 2,
    "--",
    color="0.6",
    label="truth",
)
ax.scatter(
    tried, found, c=np.arange(len(tried)), cmap="viridis", zorder=3, label="measured, in this order"
)
ax.set(xlabel="setting", ylabel="how good it is")
ax.legend(loc="lower right")
plt.show()
