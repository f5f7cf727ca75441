"""
Landmarks: error against rank
=============================

With ``rank=r`` a machine compares all rows with r landmarks in place of each other: memory for n·r
numbers, not n². What landmarks leave out of the kernel matrix is a number, ``missing_trace_``,
known before the first test row.
"""

# %%
# The exact machine is the yardstick.

import matplotlib.pyplot as plt
from sklearn.preprocessing import StandardScaler

from mercer import KernelClassifier
from mercer.datasets import make_margins

X, y = make_margins(5000, random_state=0)
X = StandardScaler().fit_transform(X)
train, test = slice(0, 2000), slice(2000, None)
kernel, lam = "gaussian(gamma=0.05)", 1e-4
exact = KernelClassifier(kernel, lam=lam).fit(X[train], y[train])
exact_error = 100 * (1 - exact.score(X[test], y[test]))

# %%
# Three ways to choose them: by randomly pivoted Cholesky, which looks at what is still missing;
# far from each other; or with equal chances.

ranks = [10, 20, 40, 80, 160, 320, 640]
ways = {"pivoted": ("C0", "o-"), "farthest": ("C2", "s--"), "uniform": ("C1", "^-.")}
figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.8))
for way, (colour, style) in ways.items():
    models = [
        KernelClassifier(kernel, lam=lam, rank=r, landmarks=way).fit(X[train], y[train])
        for r in ranks
    ]
    left.plot(
        ranks,
        [100 * model.missing_trace_ for model in models],
        style,
        color=colour,
        markersize=4,
        label=way,
    )
    errors = [100 * (1 - model.score(X[test], y[test])) for model in models]
    right.plot(ranks, errors, style, color=colour, markersize=4, label=way)
right.axhline(exact_error, color="k", linewidth=0.9, linestyle=":", label="exact, 2000 rows")
left.set(title="left out of the matrix, % of its trace", ylim=(0, None))
right.set(title="error on test rows, %", ylim=(0, None))
for ax in (left, right):
    ax.set(xscale="log", xlabel="landmarks")
    ax.set_xticks(ranks, ranks)
    ax.minorticks_off()
    ax.legend()
plt.show()

# %%
# Errors are those of the exact machine long before the matrix is complete: what is missing matters
# little to this boundary.
