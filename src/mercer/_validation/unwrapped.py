"""What an estimator is made of: the machine inside pipelines, searches and filters, and the steps before it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.pipeline import Pipeline

__all__ = [
    "feature_names",
    "inner",
    "layers",
    "learner_of",
    "machine_of",
    "parameter_prefix",
    "parts_of",
    "rows_at_machine",
    "steps_before",
]


def inner(estimator: Any) -> Any:
    """The estimator inside: the last step of a pipeline, what a search or a filter has fitted; ``None`` if none is."""
    if isinstance(estimator, Pipeline):
        return estimator.steps[-1][1]
    if hasattr(estimator, "estimators_"):  # several speak, and ``estimator_`` is what they were made from
        return None
    if isinstance(estimator, TransformedTargetRegressor):
        return getattr(estimator, "regressor_", estimator.regressor)
    return getattr(estimator, "best_estimator_", getattr(estimator, "estimator_", None))


def layers(estimator: Any) -> Iterator[Any]:
    """An estimator, the one inside it, and so on to the machine."""
    while estimator is not None:
        yield estimator
        estimator = inner(estimator)


def machine_of(estimator: Any) -> Any:
    """The machine inside all layers of an estimator.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from mercer import SVC
    >>> machine_of(make_pipeline(StandardScaler(), SVC("linear")))
    SVC(kernel='linear')
    """
    *_, machine = layers(estimator)
    return machine


def learner_of(estimator: Any) -> Any:
    """What answers inside all layers of an estimator: an estimator of tables as a whole, else the machine."""
    return next((layer for layer in layers(estimator) if hasattr(layer, "kinds")), machine_of(estimator))


def steps_before(estimator: Any) -> list[Any]:
    """The transformers that rows pass on their way to the machine, in that order."""
    pipelines = [layer for layer in layers(estimator) if isinstance(layer, Pipeline)]
    return [step for pipeline in pipelines for _, step in pipeline.steps[:-1] if step not in (None, "passthrough")]


def parts_of(step: Any) -> Iterator[Any]:
    """A transformer, and those inside it."""
    yield step
    if isinstance(step, Pipeline):
        inside = [part for _, part in step.steps]
    elif isinstance(step, ColumnTransformer):
        inside = [part for _, part, _ in step.transformers_]
    else:
        inside = []
    for part in inside:
        yield from parts_of(part)


def rows_at_machine(estimator: Any, X: Any) -> Any:
    """Rows as they reach the machine of a fitted estimator."""
    for step in steps_before(estimator):
        X = step.transform(X)
    return X


def feature_names(estimator: Any) -> list[str]:
    """The names of the columns that reach the machine of a fitted estimator; none where they have no names."""
    names: Any = None
    for step in steps_before(estimator):
        try:
            names = step.get_feature_names_out(names)
        except (AttributeError, ValueError):
            return []
    return [] if names is None else [str(name) for name in names]


def parameter_prefix(estimator: Any) -> str:
    """What stands before the parameters of the machine in ``set_params`` of an estimator, fitted or not.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from mercer import SVC
    >>> parameter_prefix(make_pipeline(StandardScaler(), SVC("linear")))
    'svc__'
    """
    if isinstance(estimator, Pipeline):
        name, last = estimator.steps[-1]
        return f"{name}__{parameter_prefix(last)}"
    if isinstance(estimator, TransformedTargetRegressor):
        return f"regressor__{parameter_prefix(estimator.regressor)}"
    wrapped = getattr(estimator, "estimator", None)
    return "" if wrapped is None else f"estimator__{parameter_prefix(wrapped)}"
