"""
Two samples: do they differ, and where?
=======================================

Two samples with the same mean and the same spread, which differ in a small cloud. A test by
permutations finds it, and its witness function shows the rows that speak for it.
"""

# %%
# A tenth of the second sample has moved to a place of its own.

import matplotlib.pyplot as plt
import numpy as np

from mercer.statistics import mmd

rng = np.random.default_rng(0)
X = rng.normal(size=(300, 2))
Y = np.vstack([rng.normal(size=(270, 2)), 0.3 * rng.normal(size=(30, 2)) + [2.2, -1.5]])
found = mmd(X, Y)
print(found)

# %%
# The p-value is that of three Gaussians together. What each finds is compared with what it finds
# where the rows are divided at random: of the same table, with nothing to be found, one p-value is
# as likely as any other.

pvalues = []
for seed in range(200):
    order = rng.permutation(300)
    pvalues.append(mmd(X[order[:150]], X[order[150:]], permutations=99, random_state=seed).pvalue)

figure, (rows, levels) = plt.subplots(1, 2, figsize=(10.5, 4), layout="constrained")
rows.scatter(*X.T, s=8, c="0.75", label="X")
drawn = rows.scatter(*Y.T, s=14, c=found.witness.Y, cmap="viridis", label="Y")
figure.colorbar(drawn, label="witness of rows of Y")
rows.set_title(f"p = {found.pvalue:.3f}")
rows.legend(frameon=False)
levels.hist(pvalues, bins=10, range=(0, 1), color="C0", alpha=0.7)
levels.axhline(len(pvalues) / 10, color="0.3", linestyle=":")
levels.set(title="halves of X", xlabel="p", ylabel="how often")
plt.show()
