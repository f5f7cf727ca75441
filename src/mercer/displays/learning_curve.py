"""How the error falls while a learner learns."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._presentation.canvas import Canvas
from .._validation.unwrapped import machine_of, rows_at_machine


class LearningCurve(Canvas):
    """Errors after each checkpoint of one run: epochs of the Perceptron, steps T of Pegasos.

    Parameters
    ----------
    steps : array
    train_errors, test_errors : arrays, the second may be ``None``
    unit : str
        What is counted, "epochs" or "steps".

    Examples
    --------
    >>> from mercer import Perceptron
    >>> from mercer.datasets import make_margins
    >>> X, y = make_margins(300, random_state=0)
    >>> model = Perceptron(epochs=20, checkpoints=[1, 5, 20], random_state=0).fit(X, y)
    >>> LearningCurve.from_estimator(model, X, y).steps.tolist()
    [1, 5, 20]
    """

    def __init__(self, *, steps: Any, train_errors: Any, test_errors: Any = None, unit: str = "steps") -> None:
        self.steps = np.asarray(steps)
        self.train_errors = np.asarray(train_errors)
        self.test_errors = None if test_errors is None else np.asarray(test_errors)
        self.unit = unit

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, y: Any, X_test: Any = None, y_test: Any = None) -> LearningCurve:
        """Compute the errors of a learner that was fitted with ``checkpoints``, alone or at the end of a pipeline."""
        learner = machine_of(estimator)
        checkpoints = getattr(learner, "checkpoints", None)
        if checkpoints is None or not hasattr(learner, "staged_predict"):
            raise ValueError(
                f"LearningCurve needs a Perceptron or Pegasos fitted with checkpoints=[...]; "
                f"this {type(learner).__name__} keeps no stages."
            )
        return cls(
            steps=sorted({int(point) for point in np.atleast_1d(checkpoints)}),
            train_errors=_staged_errors(estimator, X, y),
            test_errors=None if X_test is None else _staged_errors(estimator, X_test, y_test),
            unit="epochs" if hasattr(learner, "epochs") else "steps",
        )

    def plot(self, ax: Any = None) -> LearningCurve:
        """Draw the errors over a logarithmic axis of steps."""
        from matplotlib.ticker import FuncFormatter, NullLocator

        ax = self._open(ax)
        ax.plot(self.steps, 100 * self.train_errors, marker="o", markersize=3, color="C0", label="training rows")
        if self.test_errors is not None:
            ax.plot(self.steps, 100 * self.test_errors, marker="o", markersize=3, color="C1", label="test rows")
        if len(self.steps) > 1 and self.steps.min() > 0:
            ax.set_xscale("log")
            ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}".replace(",", " ")))
            ax.xaxis.set_minor_locator(NullLocator())
        ax.set(xlabel=self.unit, ylabel="error, %")
        ax.set_ylim(bottom=0)
        ax.legend(loc="best")
        return self


def _staged_errors(estimator: Any, X: Any, y: Any) -> list[float]:
    y, rows = np.asarray(y), rows_at_machine(estimator, X)
    return [float(np.mean(labels != y)) for labels in machine_of(estimator).staged_predict(rows)]
