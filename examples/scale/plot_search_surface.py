"""
A surface from one search
=========================

Cross-validation over a grid of C and γ is many settings times five folds.
:class:`~mercer.KernelSearchCV` takes the arguments of ``GridSearchCV`` and gives the same scores
to the tolerance of its machines, but computes each kernel matrix once, shares distances between
all γ, and goes on from one C to the next.
"""

# %%
# The same grid and folds for both. The machine is the same; only the sharing differs.

from time import perf_counter

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.preprocessing import StandardScaler

from mercer import SVC, KernelSearchCV
from mercer.displays import SearchHeatmap

X, y = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X)
grid = {"C": np.geomspace(0.03, 1000, 8), "kernel__gamma": np.geomspace(1e-4, 1, 8)}
folds = StratifiedKFold(5, shuffle=True, random_state=0)
cells = 8 * 8 * 5


def timed(search):
    begin = perf_counter()
    search.fit(X, y)
    return search, 1000 * (perf_counter() - begin) / cells


SVC("gaussian").fit(X, y)  # the first fit of all compiles, or reads what was compiled
shared, shared_ms = timed(KernelSearchCV(SVC("gaussian"), grid, cv=folds))
refitted, refitted_ms = timed(GridSearchCV(SVC("gaussian"), grid, cv=folds))
scores, same = (each.cv_results_["mean_test_score"] for each in (shared, refitted))
print(f"shared: {shared_ms:.2f} ms a cell; fitted one by one: {refitted_ms:.2f} ms")
print(f"largest difference of a score: {np.abs(scores - same).max():.4f}")
print("best:", {name: f"{value:.3g}" for name, value in shared.best_params_.items()})

# %%
# The surface has a ridge: a larger C makes up for a smaller γ. Along it nearly all settings are as
# good as the best.

figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 4.4), width_ratios=(2.6, 1))
error = 100 * (1 - SearchHeatmap.from_search(shared, "kernel__gamma", "C").scores)
levels = np.linspace(2, 12, 11)
picture = left.contourf(
    grid["kernel__gamma"], grid["C"], error, levels=levels, cmap="viridis_r", extend="both"
)
left.plot(*np.meshgrid(grid["kernel__gamma"], grid["C"]), ".", color="k", markersize=2)
left.plot(
    shared.best_params_["kernel__gamma"], shared.best_params_["C"], "*", color="C4", markersize=16
)
left.set(xscale="log", yscale="log", xlabel="γ", ylabel="C", title="error on held-out folds, %")
figure.colorbar(picture, ax=left)
right.bar(["shared", "one by one"], [shared_ms, refitted_ms], color=["C0", "C1"], width=0.6)
right.set(title="milliseconds a cell")
plt.show()
