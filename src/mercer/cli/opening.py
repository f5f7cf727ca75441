"""Looking into fitted models: the machine at the end of all steps, and the columns that reach it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

__all__ = ["feature_names", "known_words", "machine_of"]


def _layers(model: Any) -> Iterator[Any]:
    """A model, what it wraps or ends with, and so on to the machine."""
    from sklearn.pipeline import Pipeline

    while True:
        yield model
        if hasattr(model, "best_estimator_"):
            model = model.best_estimator_
        elif hasattr(model, "estimator_"):
            model = model.estimator_
        elif isinstance(model, Pipeline):
            model = model.steps[-1][1]
        else:
            return


def machine_of(model: Any) -> Any:
    """The machine at the end of all steps of a fitted model."""
    *_, last = _layers(model)
    return last


def feature_names(model: Any) -> list[str]:
    """The names of the columns that reach the machine of a fitted model; none where they have no names."""
    from sklearn.pipeline import Pipeline

    names: Any = None
    for layer in _layers(model):
        for _, step in layer.steps[:-1] if isinstance(layer, Pipeline) else ():
            try:
                names = step.get_feature_names_out(names)
            except (AttributeError, ValueError):
                return []
    return [] if names is None else [str(name) for name in names]


def known_words(model: Any) -> dict[str, list[Any]]:
    """For each column of words, the words that a fitted model has seen in it."""
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import Pipeline

    found: dict[str, list[Any]] = {}
    for layer in _layers(model):
        steps = [step for _, step in layer.steps[:-1]] if isinstance(layer, Pipeline) else []
        steps += [part for step in steps if isinstance(step, Pipeline) for _, part in step.steps]
        for step in steps:
            for name, part, columns in step.transformers_ if isinstance(step, ColumnTransformer) else ():
                if name == "words":
                    found |= {column: list(words) for column, words in zip(columns, part.categories_, strict=True)}
    return found
