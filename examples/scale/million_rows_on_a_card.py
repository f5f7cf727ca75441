"""
A million rows on a graphics card
=================================

The exact machine of a million rows: its kernel matrix would have a trillion numbers, 8 TB. With
``device="cuda"`` the matrix is computed tile by tile inside every product, by code that is
generated from the kernel's formula, and never written down. This needs a card and ``pip install
mercer[gpu]``, so it is shown here and not run; what it took on one card is in :doc:`another page
</gallery/scale/plot_measured_on_a_card>`.
"""

# %%
# Rows of 28 numbers, of which eight in a hundred have a wrong label.

from time import perf_counter

import numpy as np

from mercer import SVC, KernelClassifier

rng = np.random.default_rng(0)
n = 1_000_000
X = rng.standard_normal((n, 28), dtype=np.float32)
score = X[:, 0] * X[:, 1] + np.sin(2 * X[:, 2]) + 0.5 * X[:, 3] ** 2 - 0.5
y = (score > 0) ^ (rng.random(n) < 0.08)

# %%
# Kernel logistic regression by Newton's method, with landmarks as a preconditioner. The result is
# that of all rows: what landmarks leave out costs a few more products, not accuracy.

begin = perf_counter()
logistic = KernelClassifier("rbf", lam=1e-6, tol=1e-4, device="cuda").fit(X, y)
gap = logistic.duality_gap_[0] / logistic.objective_[0]
print(f"{perf_counter() - begin:.0f} s, gap {gap:.0e}")

# %%
# The exact soft margin, certified in double precision like every other.

begin = perf_counter()
margin = SVC("rbf", device="cuda", memory="64GB").fit(X, y)
gap = margin.duality_gap_[0] / margin.objective_[0]
print(f"{perf_counter() - begin:.0f} s, {len(margin.support_)} support vectors, gap {gap:.0e}")

# %%
# Models are ordinary models. They predict on the card where there is one, and without it
# elsewhere.

print(f"{np.mean(margin.predict(X[:10_000]) == y[:10_000]):.3f}")
