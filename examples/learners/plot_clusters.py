"""
Clusters: near a mean, or across a gap
======================================

Without labels there are two ideas of a cluster. Kernel k-means wants items near to their mean in
feature space; spectral clustering wants parts of a graph between which there is little. How many
there are is asked of the rows as well.
"""

# %%
# Two sets on a plane: four clouds, and two rings inside each other. Kernel k-means with a wide
# Gaussian finds the clouds, and its bound says that no other clustering is much better. Rings share
# their mean; a narrow Gaussian makes a graph of neighbours, in which they are apart.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_blobs, make_circles

from mercer import KernelKMeans, SpectralClustering
from mercer.clusters import neighbour_kernel, number_of_clusters

clouds, _ = make_blobs(400, centers=4, cluster_std=1.2, random_state=3)
rings, _ = make_circles(400, noise=0.05, factor=0.4, random_state=0)
near = KernelKMeans("gaussian(gamma=0.05)", n_clusters=4).fit(clouds)
apart = SpectralClustering(neighbour_kernel(rings), n_clusters=2).fit(rings)
print(f"at most {100 * (near.cost_ / near.cost_bound_ - 1):.1f} % above the best possible cost")

# %%
# New rows have clusters too: here each point of the plane has the colour of its own. What speaks
# for each number of clusters is below.

figure, axes = plt.subplots(2, 2, figsize=(9, 7.5), layout="constrained")
for (plane, numbers), rows, model in zip(axes.T, (clouds, rings), (near, apart)):
    low, high = rows.min(axis=0) - 0.3, rows.max(axis=0) + 0.3
    a, b = np.meshgrid(*(np.linspace(*ends, 80) for ends in zip(low, high)))
    answer = model.predict(np.column_stack([a.ravel(), b.ravel()])).reshape(a.shape)
    plane.pcolormesh(a, b, answer, cmap="tab10", vmin=0, vmax=9, alpha=0.25, shading="nearest")
    plane.scatter(*rows.T, c=model.labels_, cmap="tab10", vmin=0, vmax=9, s=8)
    plane.set(title=type(model).__name__, xticks=[], yticks=[])
    number_of_clusters(model, rows, most=7, repeats=3).plot(numbers)
plt.show()
