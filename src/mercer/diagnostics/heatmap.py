"""A kernel matrix as a picture: rows sorted by class, so that blocks show."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from .diagnosis import Diagnosis


def draw(found: Diagnosis, ax: Any = None) -> Any:
    """Draw the matrix of a diagnosis; classes are parted by lines and named along the left side."""
    import matplotlib.pyplot as plt

    if ax is None:
        _, ax = plt.subplots(figsize=(6, 5))
    order = np.arange(found.n) if found.y is None else np.argsort(found.y, kind="stable")
    picture = ax.imshow(found.matrix[np.ix_(order, order)], cmap="viridis", interpolation="nearest")
    ax.figure.colorbar(picture, ax=ax, label="similarity")
    ax.set_title(f"{found.name}: {found.verdict}")
    if found.within is None or found.y is None:
        return ax
    classes, sizes = np.unique(found.y, return_counts=True)
    ends = np.cumsum(sizes)
    for end in ends[:-1]:
        ax.axhline(end - 0.5, color="white", linewidth=1)
        ax.axvline(end - 0.5, color="white", linewidth=1)
    ax.set_yticks(ends - sizes / 2 - 0.5, [str(label) for label in classes])
    ax.set_xticks([])
    return ax
