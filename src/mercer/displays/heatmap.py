"""The kernel matrix as a picture: blocks by class are good, a bright diagonal alone is bad."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import _safe_indexing

from .._runtime.compile import Array
from ..kernels import as_kernel
from ..kernels.engine.pairing import length
from ._canvas import Canvas, shorten
from ._fitted import reach_learner


class KernelHeatmap(Canvas):
    """The similarities of rows sorted by class.

    Parameters
    ----------
    matrix : array of shape (n, n)
        Rows and columns in the order drawn.
    index : array
        Which of the user's rows each of them is.
    classes, sizes : lists
        The classes in order, and how many rows of each are drawn.

    Examples
    --------
    >>> display = KernelHeatmap.from_kernel("linear", [[1.0], [-1.0], [2.0]], ["b", "a", "b"])
    >>> display.index.tolist(), display.matrix[0].tolist()
    ([1, 0, 2], [1.0, -1.0, -2.0])
    """

    def __init__(self, *, matrix: Any, index: Any, classes: Any, sizes: Any) -> None:
        self.matrix = np.asarray(matrix)
        self.index = np.asarray(index)
        self.classes, self.sizes = list(classes), list(sizes)

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, **options: Any) -> KernelHeatmap:
        """The matrix of a fitted machine's kernel, on the rows as they reach it. Options as in :meth:`from_kernel`."""
        learner, rows = reach_learner(estimator, X)
        kernel = getattr(learner, "kernel_", None)
        if kernel is None or kernel.precomputed:
            raise ValueError(
                f"KernelHeatmap needs a machine fitted with a kernel of rows; this {type(learner).__name__} has none. "
                "Use KernelHeatmap.from_kernel."
            )
        return cls.from_kernel(kernel, rows, y, **options)

    @classmethod
    def from_kernel(
        cls, kernel: Any, X: Any, y: Any, *, order: str = "similarity", max_rows: int = 400, random_state: Any = 0
    ) -> KernelHeatmap:
        """Compute the matrix of some rows.

        Parameters
        ----------
        kernel : kernel, text or callable
        X : array, sparse matrix, frame, or list of whatever the kernel compares
        y : array
        order : {"similarity", "file"}
            Within a class: along the leading eigenvector of the class's own block, which puts like beside like, or as
            the rows come.
        max_rows : int
            Rows drawn at random where there are more.
        random_state : int, RandomState or None
        """
        if order not in ("similarity", "file"):
            raise ValueError(f"KernelHeatmap: order must be 'similarity' or 'file', got {order!r}.")
        n = length(X)
        kept = np.sort(np.random.default_rng(random_state).permutation(n)[:max_rows])
        rows = np.asarray(X)[kept] if isinstance(X, list) else _safe_indexing(X, kept)
        matrix = np.asarray(as_kernel(kernel)(rows), dtype=np.float64)
        classes, codes = np.unique(np.asarray(y)[kept], return_inverse=True)
        by_class = [np.flatnonzero(codes == code) for code in range(classes.size)]
        if order == "similarity":
            by_class = [mine[_along_eigenvector(matrix[np.ix_(mine, mine)])] for mine in by_class]
        place = np.concatenate(by_class)
        return cls(
            matrix=matrix[np.ix_(place, place)],
            index=kept[place],
            classes=classes.tolist(),
            sizes=[len(mine) for mine in by_class],
        )

    def plot(self, ax: Any = None) -> KernelHeatmap:
        """Draw the matrix, a line between classes, and a colour bar."""
        ax = self._open(ax)
        picture = ax.imshow(self.matrix, cmap="cividis", interpolation="nearest", aspect="equal")
        ends = np.cumsum(self.sizes)
        for end in ends[:-1]:
            ax.axhline(end - 0.5, color="white", linewidth=0.8)
            ax.axvline(end - 0.5, color="white", linewidth=0.8)
        middles = ends - np.asarray(self.sizes) / 2 - 0.5
        ax.set_yticks(middles, [shorten(label, 12) for label in self.classes], parse_math=False)
        ax.set_xticks([])
        self.figure_.colorbar(picture, ax=ax, shrink=0.8, label="similarity")
        return self


def _along_eigenvector(block: Array) -> Array:
    """The order of rows along the leading eigenvector of their centred block."""
    centred = block - block.mean(axis=0)
    centred = centred - centred.mean(axis=1, keepdims=True)
    leading = np.linalg.eigh(0.5 * (centred + centred.T))[1][:, -1]
    return np.argsort(leading if leading.sum() >= 0 else -leading, kind="stable")
