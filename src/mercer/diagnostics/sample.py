"""Some of many items, and their labels."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._runtime.compile import Array
from .._validation.labels import refuse_bad_labels
from .._validation.objects import chosen
from ..kernels.engine.parts import length


def drawn(total: int, sample: int, random: np.random.Generator) -> Array:
    """The places of all items, or of ``sample`` of them drawn at random, in order."""
    if total < 2:
        raise ValueError(f"two items or more are needed to compare any, got {total}.")
    return np.arange(total) if total <= sample else np.sort(random.choice(total, size=sample, replace=False))


def looked_at(number: int, total: int) -> str:
    """How many items were looked at, in words."""
    return f"{total} items" if number == total else f"{number} of {total} items, drawn at random"


def some_items(X: Any, sample: int, random: np.random.Generator) -> tuple[Any, Array, int]:
    """The items to look at, their places, and of how many they are."""
    if not hasattr(X, "shape") and not hasattr(X, "__len__"):
        raise ValueError(f"expected an array, frame or list of items, got {type(X).__name__}.")
    total = length(X)
    index = drawn(total, sample, random)
    return (X if index.size == total else chosen(X, index)), index, total


def labels_of(y: Any, total: int, index: Array) -> Array | None:
    """The labels of the items in these places."""
    if y is None:
        return None
    refuse_bad_labels(y)
    labels = np.asarray(y)
    if labels.shape != (total,):
        raise ValueError(f"y must hold one label for each of the {total} items, got shape {labels.shape}.")
    return labels[index]
