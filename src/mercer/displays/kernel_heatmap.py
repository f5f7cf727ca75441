"""The kernel matrix as a picture: blocks by class are good, a bright diagonal alone is bad."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._presentation.canvas import Canvas, shorten
from .._runtime.compile import Array
from .._validation.objects import chosen
from .._validation.target_kind import is_measurement
from .._validation.unwrapped import machine_of, rows_at_machine
from ..kernels import as_kernel
from ..kernels.engine.parts import length


class KernelHeatmap(Canvas):
    """The similarities of rows sorted by class.

    Parameters
    ----------
    matrix : array of shape (n, n)
        Rows and columns in the order drawn.
    index : array
        Which of the user's rows each of them is.
    classes, sizes : lists
        The classes in order, and how many rows of each are drawn; empty where there are none.

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
        learner = machine_of(estimator)
        kernel = getattr(learner, "kernel_", None)
        if kernel is None or kernel.precomputed:
            raise ValueError(
                f"KernelHeatmap needs a machine fitted with a kernel of rows; this {type(learner).__name__} has none. "
                "Use KernelHeatmap.from_kernel."
            )
        return cls.from_kernel(kernel, rows_at_machine(estimator, X), y, **options)

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
        kept = np.sort(np.random.default_rng(random_state).permutation(length(X))[:max_rows])
        return cls.from_matrix(as_kernel(kernel)(chosen(X, kept)), np.asarray(y)[kept], order=order, index=kept)

    @classmethod
    def from_matrix(cls, matrix: Any, y: Any = None, *, order: str = "similarity", index: Any = None) -> KernelHeatmap:
        """Sort a matrix that is known already.

        Parameters
        ----------
        matrix : array of shape (n, n)
        y : array of labels or real targets, optional
            Rows are sorted by class, or along the target. Without it they are all of one kind.
        order : {"similarity", "file"}
            As in :meth:`from_kernel`, for rows of one class or kind.
        index : array, optional
            Which of the user's rows those of the matrix are.

        Examples
        --------
        >>> KernelHeatmap.from_matrix([[1.0, 0.5], [0.5, 1.0]], [2.5, 0.5]).index.tolist()
        [1, 0]
        """
        if order not in ("similarity", "file"):
            raise ValueError(f"KernelHeatmap: order must be 'similarity' or 'file', got {order!r}.")
        matrix = np.asarray(matrix, dtype=np.float64)
        targets = np.zeros(len(matrix), dtype=bool) if y is None else np.asarray(y)
        classes, codes = np.unique(targets, return_inverse=True)
        blocks = [np.flatnonzero(codes == code) for code in range(classes.size)]
        along_target = targets.dtype.kind in "iuf" and is_measurement(targets)
        if order == "similarity" and not along_target:
            blocks = [mine[_along_eigenvector(matrix[np.ix_(mine, mine)])] for mine in blocks]
        place = np.concatenate(blocks)
        named = y is not None and not along_target
        return cls(
            matrix=matrix[np.ix_(place, place)],
            index=place if index is None else np.asarray(index)[place],
            classes=classes.tolist() if named else [],
            sizes=[len(mine) for mine in blocks] if named else [],
        )

    def plot(self, ax: Any = None) -> KernelHeatmap:
        """Draw the matrix, a line between classes, and a colour bar."""
        ax = self._open(ax)
        picture = ax.imshow(self.matrix, cmap="cividis", interpolation="nearest", aspect="equal")
        self.figure_.colorbar(picture, ax=ax, shrink=0.8, label="similarity")
        if not self.classes:
            return self
        ends = np.cumsum(self.sizes)
        for end in ends[:-1]:
            ax.axhline(end - 0.5, color="white", linewidth=0.8)
            ax.axvline(end - 0.5, color="white", linewidth=0.8)
        middles = ends - np.asarray(self.sizes) / 2 - 0.5
        ax.set_yticks(middles, [shorten(label, 12) for label in self.classes], parse_math=False)
        ax.set_xticks([])
        return self


def _along_eigenvector(block: Array) -> Array:
    """The order of rows along the leading eigenvector of their centred block."""
    centred = block - block.mean(axis=0)
    centred = centred - centred.mean(axis=1, keepdims=True)
    leading = np.linalg.eigh(0.5 * (centred + centred.T))[1][:, -1]
    return np.argsort(leading if leading.sum() >= 0 else -leading, kind="stable")
