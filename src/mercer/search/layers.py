"""What stands between the rows and the machine of a search: steps of a pipeline, filters of outliers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone
from sklearn.pipeline import Pipeline
from sklearn.utils import _safe_indexing

from .._compile import Array
from .outcome import setting_key


def _own_key(estimator: Any) -> str:
    """A text for an estimator and all of its parts, from the plain values among its parameters."""
    return setting_key({name: _without_parts(value) for name, value in estimator.get_params().items()})


def _without_parts(value: Any) -> Any:
    """A parameter with the names of classes in the place of estimators, whose parameters are listed by themselves."""
    if isinstance(value, (list, tuple)):
        return [_without_parts(part) for part in value]
    return type(value).__name__ if hasattr(value, "get_params") else value


@dataclass(frozen=True)
class Columns:
    """Transformers, fitted on training rows and applied to all."""

    steps: Any

    @property
    def key(self) -> str:
        return _own_key(self.steps)

    def apply(self, X: Any, y: Any, train: Array) -> tuple[Any, Array]:
        fitted = clone(self.steps).fit(_safe_indexing(X, train), _safe_indexing(y, train))
        return fitted.transform(X), train


@dataclass(frozen=True)
class Rows:
    """A filter that takes training rows out."""

    filter: Any

    @property
    def key(self) -> str:
        return _own_key(self.filter)

    def apply(self, X: Any, y: Any, train: Array) -> tuple[Any, Array]:
        rows = _safe_indexing(X, train)
        fitted = clone(self.filter).fit(rows, _safe_indexing(y, train))
        return X, train[np.asarray(fitted.keep(rows), dtype=bool)]


Layer = Columns | Rows


def peel(estimator: BaseEstimator) -> tuple[list[Layer], Any]:
    """The layers around the machine of an estimator, outermost first, and the machine itself."""
    if isinstance(estimator, Pipeline):
        layers, machine = peel(estimator.steps[-1][1])
        return ([Columns(estimator[:-1])] if len(estimator.steps) > 1 else []) + layers, machine
    if hasattr(estimator, "filter") and hasattr(getattr(estimator, "filter", None), "keep"):
        layers, machine = peel(estimator.estimator)
        return [Rows(estimator.filter), *layers], machine
    return [], estimator


def prepared(layers: list[Layer], X: Any, y: Any, train: Array) -> tuple[Any, Array]:
    """All rows as the machine sees them with layers fitted on training rows, and the training rows that stay."""
    for layer in layers:
        X, train = layer.apply(X, y, train)
    return X, train


def weight_name(estimator: BaseEstimator) -> str:
    """The name under which ``fit`` of an estimator takes the weights of its machine."""
    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        return f"{name}__{weight_name(last)}"
    return "sample_weight"
