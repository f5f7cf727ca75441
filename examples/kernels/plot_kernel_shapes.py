"""
What each kernel calls similar
==============================

The similarity of every point of the plane to one point, for eight kernels. Lines join points of
equal similarity; a machine is a sum of such hills, one for each support vector.
"""

# %%
# Kernels are described in text or as objects, which may be added and multiplied; all of them are
# called alike.

import matplotlib.pyplot as plt
import numpy as np

from mercer.kernels import parse

texts = [
    "linear",
    "polynomial(degree=3)",
    "cosine",
    "linear*gaussian(gamma=0.5)",
    "gaussian(gamma=1)",
    "laplacian(gamma=1)",
    "matern(nu=1.5, length=0.7)",
    "gaussian(gamma=1).on(0)",
]
centre = np.array([[0.8, 0.5]])
side = np.linspace(-2, 2, 121)
plane = np.column_stack([axis.ravel() for axis in np.meshgrid(side, side)])

# %%
# In the first row directions count; a product asks for both of its factors, a like direction and a
# small distance. In the second row distances count alone. A kernel that is bound to a column by
# ``.on`` sees no other.

figure, axes = plt.subplots(2, 4, figsize=(10.2, 5.4), sharex=True, sharey=True)
for ax, text in zip(axes.flat, texts):
    similarity = parse(text)(plane, centre).reshape(len(side), len(side))
    reach = np.abs(similarity).max()
    ax.contourf(side, side, similarity, levels=np.linspace(-reach, reach, 22), cmap="PuOr")
    ax.contour(side, side, similarity, levels=8, colors="k", linewidths=0.4, alpha=0.6)
    ax.plot(*centre[0], "k*", markersize=9)
    ax.set(title=text, aspect="equal", xticks=[], yticks=[])
figure.suptitle("similarity to the star: purple is alike, orange is the opposite")
plt.show()
