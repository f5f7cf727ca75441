"""What an estimator is composed of: layers around a machine, and the steps that rows pass before it.

Files, exports, explanations, searches, pictures and commands all look into pipelines, searches, calibrations, filters
and the like through here.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from sklearn.compose import ColumnTransformer, TransformedTargetRegressor
from sklearn.pipeline import FeatureUnion, Pipeline

__all__ = [
    "Branch",
    "branches",
    "feature_names",
    "layers",
    "layers_as_made",
    "learner_of",
    "machine_of",
    "parameter_prefix",
    "parts_before",
    "parts_of",
    "plain_steps",
    "rows_at_machine",
    "steps_before",
]

# -- layers -------------------------------------------------------------------------------------------------------


def layers_as_made(estimator: Any) -> Iterator[tuple[str, Any]]:
    """An estimator, the one that it was made around, and so on, fitted or not; each with its name in the one before."""
    name = ""
    while estimator is not None:
        yield name, estimator
        if isinstance(estimator, Pipeline):
            name, estimator = estimator.steps[-1]
        elif isinstance(estimator, TransformedTargetRegressor):
            name, estimator = "regressor", estimator.regressor
        else:
            name, estimator = "estimator", getattr(estimator, "estimator", None)


def _fitted_inside(estimator: Any) -> Any:
    """The last step of a pipeline, what a search or a filter has fitted; ``None`` if there is none."""
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
        estimator = _fitted_inside(estimator)


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
    return "".join(f"{name}__" for name, _ in layers_as_made(estimator) if name)


# -- steps --------------------------------------------------------------------------------------------------------


class Branch(NamedTuple):
    """A transformer beside others: what it is given, and the factor of what it makes."""

    step: Any
    #: The columns as they were named, and their places; ``None`` for all.
    columns: Any
    places: list[int] | None
    weight: float | None


def branches(step: Any) -> list[Branch]:
    """What a fitted transformer is made of, where its parts work side by side."""
    if not isinstance(step, (ColumnTransformer, FeatureUnion)):
        return []
    weights = step.transformer_weights or {}
    if isinstance(step, FeatureUnion):
        return [Branch(part, None, None, weights.get(name)) for name, part in step.transformer_list if part != "drop"]
    places = step._transformer_to_input_indices
    return [
        Branch(part, columns, [int(place) for place in places.get(name, [])], weights.get(name))
        for name, part, columns in step.transformers_
        if not (isinstance(part, str) and part == "drop")
    ]


def steps_before(estimator: Any) -> list[Any]:
    """The transformers that rows pass on their way to the machine, in that order."""
    pipelines = [layer for layer in layers(estimator) if isinstance(layer, Pipeline)]
    return [step for pipeline in pipelines for _, step in pipeline.steps[:-1] if step not in (None, "passthrough")]


def plain_steps(estimator: Any) -> list[Any]:
    """As :func:`steps_before`, with the steps of a pipeline in its place."""
    found: list[Any] = []
    waiting = steps_before(estimator)
    while waiting:
        step = waiting.pop(0)
        if isinstance(step, Pipeline):
            waiting = [part for _, part in step.steps] + waiting
        else:
            found.append(step)
    return found


def parts_of(step: Any, columns: Any = None) -> Iterator[tuple[Any, Any]]:
    """A transformer and those inside it, each with the columns that it was named for, if it was for some."""
    yield step, columns
    if isinstance(step, Pipeline):
        for _, part in step.steps:
            yield from parts_of(part, columns)
    for branch in branches(step):
        yield from parts_of(branch.step, columns if branch.columns is None else branch.columns)


def parts_before(estimator: Any) -> Iterator[tuple[Any, Any]]:
    """Every transformer before the machine, also those inside others, with the columns that it was named for."""
    for step in steps_before(estimator):
        yield from parts_of(step)


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
