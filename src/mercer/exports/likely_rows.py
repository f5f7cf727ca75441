"""Rows like those that a model was made for, where no others are at hand: near its support rows, in its ranges."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._runtime.compile import Array
from .computation import Computation, Node, Pair, leaves_of, nodes_of
from .nodes import Filled, Interpolated, Level, Numbers, Picked, Powered, Scaled, Staircase, TextCounts

__all__ = ["likely_rows"]

#: How far rows are from support rows, in units of the spread of each column.
_NEAR = 0.3


def likely_rows(computation: Computation, count: int, seed: int = 0) -> Any:
    """Rows for a model: an array, or a frame where columns have names or hold words.

    Numbers are drawn near support rows; where steps change them on the way, around what these take for the middle.
    Words are drawn from those that are known.

    Examples
    --------
    >>> from mercer import SVC
    >>> from mercer.exports.computed import computed
    >>> likely_rows(computed(SVC("rbf").fit([[0.0, 9.0], [1.0, 8.0]], [0, 1])), 3).round().tolist()
    [[1.0, 8.0], [1.0, 8.0], [1.0, 8.0]]
    """
    rng = np.random.default_rng(seed)
    numbers = rng.normal(size=(count, len(computation.columns)))
    words: dict[int, Any] = {}
    for node in nodes_of(computation.outputs):
        if isinstance(node, Level):
            known = [level for level in node.levels if level is not None]
            drawn = rng.integers(len(known), size=count)
            if computation.columns[node.place].words:
                words[node.place] = [known[place] for place in drawn]
            else:
                numbers[:, node.place] = np.array(known)[drawn]
        elif isinstance(node, TextCounts):
            words[node.place] = [" ".join(rng.choice(node.terms, 4)) for _ in range(count)]
        elif isinstance(node, Scaled) and (places := _places(node.source)):
            middle = node.minus - node.plus / node.times
            numbers[:, places] = middle + rng.normal(size=(count, node.width)) / node.times
        elif isinstance(node, (Interpolated, Staircase)) and (places := _places(node.source)):
            numbers[:, places[0]] = rng.choice(node.points, count) + 0.1 * np.ptp(node.points) * rng.normal(size=count)
        elif isinstance(node, Powered) and not node.both and (places := _places(node.source)):
            numbers[:, places] = np.exp(rng.normal(size=(count, node.width)))
        else:
            for places, support in _supports(node):
                spread = support.std(axis=0)
                near = support[rng.integers(len(support), size=count)]
                numbers[:, places] = near + _NEAR * spread * rng.normal(size=near.shape)
    names = [column.name for column in computation.columns]
    if names == [f"x{place}" for place in range(len(names))] and not words:
        return numbers
    import pandas as pd

    return pd.DataFrame({name: words.get(place, numbers[:, place]) for place, name in enumerate(names)})


def _places(node: Node) -> list[int]:
    """The columns that numbers are, where nothing has changed them but for gaps."""
    while isinstance(node, Filled):
        node = node.source
    if isinstance(node, Picked):
        before = _places(node.source)
        return [before[place] for place in node.places] if before else []
    return list(node.places) if isinstance(node, Numbers) else []


def _supports(node: Node) -> list[tuple[list[int], Array]]:
    """Support rows of a formula that compares columns as they are."""
    formula = getattr(node, "formula", None)
    leaves = [] if formula is None else [leaf for leaf in leaves_of(formula) if isinstance(leaf, Pair)]
    return [(places, leaf.support) for leaf in leaves if (places := _places(leaf.rows))]
