"""How clearly rows are decided: a histogram of margins."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._presentation.canvas import Canvas
from .._runtime.compile import Array
from .._validation.unwrapped import machine_of
from ..estimators.decision_margins import decision_margins


class MarginHistogram(Canvas):
    """Margins of training and test rows, as shares of each set.

    Parameters
    ----------
    edges : array
        Ends of the bins; the first and last bin also hold what lies beyond them.
    train_counts, test_counts : arrays, the second may be ``None``
    support_share : float or None
        The share of training rows that the model is made of.

    Examples
    --------
    >>> display = MarginHistogram.from_predictions([2.0, 0.5, -1.0, 1.5], bins=3)
    >>> display.edges.tolist(), display.train_counts.tolist()
    ([-1.0, 0.0, 1.0, 2.0], [1, 1, 2])
    """

    def __init__(
        self, *, edges: Any, train_counts: Any, test_counts: Any = None, support_share: float | None = None
    ) -> None:
        self.edges = np.asarray(edges, dtype=np.float64)
        self.train_counts = np.asarray(train_counts)
        self.test_counts = None if test_counts is None else np.asarray(test_counts)
        self.support_share = support_share

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any, y: Any, X_test: Any = None, y_test: Any = None, *, bins: int = 40
    ) -> MarginHistogram:
        """Compute the margins of a fitted classifier on its training rows and, if given, on test rows."""
        train = _of_rows(estimator, X, y)
        test = None if X_test is None else _of_rows(estimator, X_test, y_test)
        support = getattr(machine_of(estimator), "support_", None)
        share = None if support is None else len(support) / len(train)
        return cls.from_predictions(train, test, bins=bins, support_share=share)

    @classmethod
    def from_predictions(
        cls, train: Any, test: Any = None, *, bins: int = 40, support_share: float | None = None
    ) -> MarginHistogram:
        """Count margins that are known already.

        The bins span the middle 99 % of the rows, and zero is an edge: no bin mixes right and wrong.
        """
        train = np.asarray(train, dtype=np.float64)
        test = None if test is None else np.asarray(test, dtype=np.float64)
        seen = train if test is None else np.concatenate([train, test])
        edges = _edges(seen, bins)
        count = lambda values: np.histogram(np.clip(values, edges[0], edges[-1]), edges)[0]  # noqa: E731
        return cls(
            edges=edges,
            train_counts=count(train),
            test_counts=None if test is None else count(test),
            support_share=support_share,
        )

    def plot(self, ax: Any = None) -> MarginHistogram:
        """Draw training margins filled, test margins as a line, and the boundary at zero."""
        ax = self._open(ax)
        share = lambda counts: 100 * counts / max(1, counts.sum())  # noqa: E731
        ax.stairs(share(self.train_counts), self.edges, fill=True, alpha=0.35, color="C0", label="training rows")
        if self.test_counts is not None:
            ax.stairs(share(self.test_counts), self.edges, color="C1", linewidth=1.4, label="test rows")
        ax.axvline(0.0, color=ax.xaxis.label.get_color(), linewidth=0.9)
        ax.set(xlabel="margin (wrong side below 0)", ylabel="% of rows")
        if self.support_share is not None:
            ax.set_title(f"{100 * self.support_share:.0f} % of the training rows are support vectors")
        ax.legend(loc="best")
        return self


def _of_rows(estimator: Any, X: Any, y: Any) -> Array:
    return decision_margins(estimator.decision_function(X), np.searchsorted(estimator.classes_, np.asarray(y)))


def _edges(values: Array, bins: int) -> Array:
    low, high = np.percentile(values, [0.5, 99.5]) if values.size > 200 else (values.min(), values.max())
    low, high = min(low, 0.0), max(high, 0.0)
    width = (high - low) / bins or 1.0
    below, above = int(np.ceil(-low / width - 1e-9)), int(np.ceil(high / width - 1e-9))
    return width * np.arange(-below, max(above, 1 - below) + 1)
