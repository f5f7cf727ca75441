"""Features that can be read: the substrings of a text, the items of a set, the surroundings of a graph's nodes.

For a kernel with a readable feature map, k(x, z) = Σ φ(x)·φ(z) over names, :meth:`Kernel.named_features` gives for each
item a mapping from names to φ.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import Any, NamedTuple


class Name(NamedTuple):
    """A feature: what to show, and what tells it from features of the same name in other parts of an expression."""

    text: str
    mark: Hashable = ()


class InColumns(tuple[tuple[int, str], ...]):
    """The mark of a feature that is the values of some columns: the number of each column, and what it is there."""

    def text(self, names: Sequence[Any] | None = None) -> str:
        """The feature by the names of columns; without names, column 2 is x2."""
        return ", ".join(f"{f'x{k}' if names is None else names[k]}{value}" for k, value in self)

    @classmethod
    def name(cls, values: Iterable[tuple[int, str]]) -> Name:
        mark = cls(values)
        return Name(mark.text(), mark)


#: The features of each item; ``None`` where a kernel has none, or none that anybody could read.
NamedFeatures = list[dict[Name, float]] | None


def renamed(features: NamedFeatures, rename: Callable[[Name], Name]) -> NamedFeatures:
    return features and [{rename(name): value for name, value in each.items()} for each in features]


def rescaled(features: NamedFeatures, factors: Iterable[Any]) -> NamedFeatures:
    """The features of each item times a factor of its own."""
    return features and [
        {name: float(factor) * value for name, value in each.items()}
        for factor, each in zip(factors, features, strict=True)
    ]


def quoted(tokens: Any) -> str:
    """Some tokens of a string as they are shown: a text, bytes, or a list of words."""
    return repr(" ".join(tokens)) if isinstance(tokens, list) else repr(tokens)
