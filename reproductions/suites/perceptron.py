"""The tests of the Perceptron."""

from __future__ import annotations

from typing import Any

import mercer

NAME = "perceptron"
MODULE = "sklearn.linear_model.tests.test_perceptron"

MEANT: dict[str, str] = {}
ABSENT = {"test_perceptron_l1_ratio": "the Perceptron has no penalty on its weights"}


class Perceptron(mercer.Perceptron):
    """``max_iter`` are the epochs, ``eta0`` the rate; without a mistake it stops, so that ``tol`` is not needed."""

    def __init__(
        self,
        *,
        max_iter: int = 1000,
        tol: float | None = 1e-3,
        shuffle: bool = True,
        eta0: float = 1.0,
        fit_intercept: bool = True,
        class_weight: Any = None,
        random_state: Any = 0,
    ) -> None:
        order = "random" if shuffle else "file"
        super().__init__(
            epochs=max_iter,
            rate=eta0,
            order=order,
            fit_intercept=fit_intercept,
            class_weight=class_weight,
            random_state=random_state,
        )
        self.max_iter = max_iter
        self.tol = tol
        self.shuffle = shuffle
        self.eta0 = eta0


def patches() -> dict[str, Any]:
    return {"sklearn.linear_model.Perceptron": Perceptron}
