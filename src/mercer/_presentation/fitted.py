"""The learner inside a fitted estimator: at the end of a pipeline, inside a search or a filter, at any depth."""

from __future__ import annotations

from typing import Any

from sklearn.pipeline import Pipeline


def layers(estimator: Any) -> list[Any]:
    """A fitted estimator and what is inside it, from the outermost layer to the learner itself.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from mercer import Perceptron
    >>> [type(layer).__name__ for layer in layers(make_pipeline(StandardScaler(), Perceptron()))]
    ['Pipeline', 'Perceptron']
    """
    found = [estimator]
    while (inside := _inside(found[-1])) is not None:
        found.append(inside)
    return found


def _inside(estimator: Any) -> Any:
    if isinstance(estimator, Pipeline):
        return estimator.steps[-1][1]
    return getattr(estimator, "best_estimator_", getattr(estimator, "estimator_", None))


def transformers(estimator: Any) -> list[Pipeline]:
    """What rows pass on their way to the learner, in order: the pipelines before it, without their last step."""
    return [layer[:-1] for layer in layers(estimator) if isinstance(layer, Pipeline) and len(layer.steps) > 1]


def learner_of(estimator: Any) -> Any:
    """The learner itself."""
    return layers(estimator)[-1]


def reach_learner(estimator: Any, X: Any) -> tuple[Any, Any]:
    """The learner, and the rows as they reach it."""
    for steps in transformers(estimator):
        X = steps.transform(X)
    return learner_of(estimator), X
