"""What stands between the rows and the machine of a search: steps of a pipeline, filters of outliers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.compose import TransformedTargetRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import _safe_indexing, get_tags

from .._runtime.compile import Array
from ..estimators.base import KernelMachine
from ..preprocess.outliers import OutlierFilter, WithoutOutliers, without
from .content_keys import content_key


@dataclass(frozen=True)
class Columns:
    """Transformers, fitted on training rows and applied to all."""

    steps: Any

    @property
    def key(self) -> str:
        return content_key(self.steps)

    def apply(self, X: Any, y: Any, train: Array) -> tuple[Any, Array]:
        # A pipeline is fitted when its last step says so, which a step that learns nothing need not do.
        own = clone(self.steps)
        steps = Pipeline([*own.steps, ("the rows as they are", FunctionTransformer())], memory=own.memory)
        rows, labels = _safe_indexing(X, train), _safe_indexing(y, train)
        rest = np.setdiff1d(np.arange(len(y)), train)
        if train.size + rest.size > len(y):  # rows that are there twice
            return steps.fit(rows, labels).transform(X), train
        # What a step makes of the rows it was fitted to may differ from what it makes of others.
        inside = steps.fit_transform(rows, labels)
        parts = [inside, steps.transform(_safe_indexing(X, rest))] if rest.size else [inside]
        back = np.argsort(np.concatenate([train, rest]), kind="stable")
        return _safe_indexing(_stacked(parts), back), train


@dataclass(frozen=True)
class Rows:
    """A filter that takes training rows out."""

    filter: Any

    @property
    def key(self) -> str:
        return content_key(self.filter)

    def apply(self, X: Any, y: Any, train: Array) -> tuple[Any, Array]:
        _, kept = without(self.filter, _safe_indexing(X, train), _safe_indexing(y, train))
        return X, train[kept]


Layer = Columns | Rows


def _stacked(parts: list[Any]) -> Any:
    if sparse.issparse(parts[0]):
        return sparse.vstack(parts, format="csr")
    if hasattr(parts[0], "iloc"):
        import pandas as pd

        return pd.concat(parts)
    if hasattr(parts[0], "vstack"):  # a frame of polars
        return reduce(lambda above, below: above.vstack(below), parts)
    return np.concatenate([np.asarray(part) for part in parts])


def peel(estimator: Any) -> tuple[list[Layer], Any]:
    """The layers around the machine of an estimator, outermost first, and the machine itself.

    Classes that are derived from a layer's may do anything, so they count as machines.
    """
    if type(estimator) is Pipeline:
        layers, machine = peel(estimator.steps[-1][1])
        return ([Columns(estimator[:-1])] if len(estimator.steps) > 1 else []) + layers, machine
    if type(estimator) is WithoutOutliers and type(estimator.filter) is OutlierFilter:
        layers, machine = peel(estimator.estimator)
        return [Rows(estimator.filter), *layers], machine
    if _transforms_target(estimator):
        return peel(estimator.regressor)
    return [], estimator


def _transforms_target(estimator: Any) -> bool:
    """Whether an estimator learns a function of the targets that is the same for all rows, whatever their fold."""
    return (
        type(estimator) is TransformedTargetRegressor
        and estimator.transformer is None
        and estimator.func is not None
        and estimator.inverse_func is not None
    )


def target_functions(estimator: Any) -> list[tuple[Any, Any]]:
    """What is done to targets on their way to the machine, and to its predictions on the way back; outermost first."""
    if type(estimator) is Pipeline:
        return target_functions(estimator.steps[-1][1])
    if type(estimator) is WithoutOutliers:
        return target_functions(estimator.estimator)
    if _transforms_target(estimator):
        return [(estimator.func, estimator.inverse_func), *target_functions(estimator.regressor)]
    return []


def learned_targets(estimator: Any, y: Any) -> Any:
    """Targets as the machine inside an estimator learns them."""
    with np.errstate(all="ignore"):  # what is no number then is refused by the machine
        for there, _ in target_functions(estimator):
            y = there(np.asarray(y, dtype=np.float64))
    return y


def shareable(estimator: Any) -> bool:
    """Whether the cells of an estimator can be computed together: is it a machine of ours, with layers around it?

    A class that names its path says that fits along it are what plain fits are; a class derived from it says nothing.
    A square matrix belongs to a pair of rows: layers would see the columns of rows that they must not know.
    """
    layers, machine = peel(estimator)
    if not isinstance(machine, KernelMachine) or "path" not in vars(type(machine)):
        return False
    return not layers or not (get_tags(machine).input_tags.pairwise or get_tags(estimator).input_tags.pairwise)


def prepared(layers: list[Layer], X: Any, y: Any, train: Array) -> tuple[Any, Array]:
    """All rows as the machine sees them with layers fitted on training rows, and the training rows that stay."""
    for layer in layers:
        X, train = layer.apply(X, y, train)
    return X, train


def weight_name(estimator: Any) -> str:
    """The name under which ``fit`` of an estimator takes the weights of its machine."""
    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        return f"{name}__{weight_name(last)}"
    if isinstance(estimator, TransformedTargetRegressor):
        return weight_name(estimator.regressor)
    return "sample_weight"
