"""The features of an item in words: the substrings of a text, the items of a set, the surroundings of a graph's nodes.

For a kernel with a readable feature map, k(x, z) = Σ φ(x)·φ(z) over names. :func:`named_features` gives, for each item,
a mapping from names to φ. A kernel that has no such map, or none that anybody could read, gives ``None``; a sum gives
the features of those of its parts that have some.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..kernels import (
    Equal,
    Graphlet,
    Hamming,
    Intersection,
    Kernel,
    Linear,
    Mismatch,
    Normalised,
    OnColumns,
    Product,
    Scaled,
    ShortestPath,
    Spectrum,
    Strings,
    Subsequence,
    Sum,
    WeightedDegree,
    WeisfeilerLehman,
    WeisfeilerLehmanAssignment,
)
from ..kernels.engine.parts import part_of
from .named_graphs import graphlet, paths, subtrees
from .named_strings import near_substrings, subsequences


class Name(NamedTuple):
    """A feature: what to show, and what tells it from features of the same name in other parts of an expression."""

    text: str
    mark: Hashable = ()


Features = list[dict[Name, float]] | None


@singledispatch
def named_features(kernel: Kernel, items: Any) -> Features:
    """The features of each item, for items in the form that the kernel works on.

    Examples
    --------
    >>> from mercer.kernels import Spectrum
    >>> kernel = Spectrum(p=2)
    >>> [{name.text: value for name, value in each.items()} for each in named_features(kernel, kernel.items(["abab"]))]
    [{"'ab'": 2.0, "'ba'": 1.0}]
    """
    return None


def _renamed(features: Features, rename: Callable[[Name], Name]) -> Features:
    return features and [{rename(name): value for name, value in each.items()} for each in features]


def _scaled(features: Features, scale: Any) -> Features:
    return features and [
        {name: s * value for name, value in each.items()} for s, each in zip(scale, features, strict=True)
    ]


@named_features.register
def _(kernel: Sum, items: Any) -> Features:
    left, right = named_features(kernel.left, part_of(items, 0)), named_features(kernel.right, part_of(items, 1))
    parts = [
        _renamed(left, lambda name: Name(name.text, ("left", name.mark))),
        _renamed(right, lambda name: Name(name.text, ("right", name.mark))),
    ]
    known = [part for part in parts if part is not None]
    return [{**each[0], **each[-1]} for each in zip(*known, strict=True)] if known else None


@named_features.register
def _(kernel: Product, items: Any) -> Features:
    left, right = (named_features(part, part_of(items, k)) for k, part in enumerate((kernel.left, kernel.right)))
    if left is None or right is None:
        return None
    return [
        {Name(f"{a.text} and {b.text}", (a.mark, b.mark)): u * v for a, u in one.items() for b, v in other.items()}
        for one, other in zip(left, right, strict=True)
    ]


@named_features.register
def _(kernel: Scaled, items: Any) -> Features:
    features = named_features(kernel.kernel, items)
    return features and _scaled(features, [np.sqrt(kernel.scale)] * len(features))


@named_features.register
def _(kernel: Normalised, items: Any) -> Features:
    return _scaled(named_features(kernel.kernel, items), kernel._inverse_lengths(items))


@named_features.register
def _(kernel: OnColumns, items: Any) -> Features:
    columns = kernel.names
    features = named_features(kernel.kernel, part_of(items, 0))
    if isinstance(kernel.kernel, (Linear, Equal, Hamming)):  # their features begin with the number of a column
        return _renamed(features, lambda name: Name(_with_columns(name, columns), name.mark))
    return _renamed(features, lambda name: Name(f"{name.text} in {columns[0]}", name.mark))


def _with_columns(name: Name, columns: list[Any]) -> str:
    return ", ".join(f"{columns[column]}{value}" for column, value in name.mark)  # type: ignore[attr-defined]


@named_features.register
def _(kernel: Linear, items: Any) -> Features:
    rows = sparse.csr_array(items)
    return [
        {Name(f"x{k}", ((int(k), ""),)): float(value) for k, value in zip(row.indices, row.data, strict=True)}
        for row in (rows[[i]] for i in range(rows.shape[0]))
    ]


def _categories(items: Any) -> list[list[tuple[int, str]]]:
    """For each row its categories as (column, " = category")."""
    names = [[f" = {value}" for value in known] for known in items.levels]
    return [[(column, names[column][code]) for column, code in enumerate(row)] for row in items.codes.tolist()]


@named_features.register
def _(kernel: Equal, items: Any) -> Features:
    return [{Name(", ".join(f"x{k}{value}" for k, value in row), tuple(row)): 1.0} for row in _categories(items)]


@named_features.register
def _(kernel: Hamming, items: Any) -> Features:
    return [
        {Name(f"x{k}{value}", ((k, value),)): float(1 / np.sqrt(len(row))) for k, value in row}
        for row in _categories(items)
    ]


@named_features.register
def _(kernel: Spectrum, items: Any) -> Features:
    sizes = [(float(np.sqrt(weight)), statistic.size) for weight, statistic in kernel._weighted()]
    out = []
    for tokens in _tokens(items, kernel.tokens):
        own: dict[Name, float] = defaultdict(float)
        for root, size in sizes:
            for begin in range(len(tokens) - size + 1):
                own[Name(_shown(tokens[begin : begin + size]), size)] += root
        out.append(dict(own))
    return out


@named_features.register
def _(kernel: WeightedDegree, items: Any) -> Features:
    k = int(kernel.k)
    roots = [float(np.sqrt(2 * (k - d + 1) / (k * (k + 1)))) for d in range(1, k + 1)]
    return [
        {
            Name(f"{_shown(tokens[begin : begin + d])} at {begin}"): roots[d - 1]
            for begin in range(len(tokens))
            for d in range(1, min(k, len(tokens) - begin) + 1)
        }
        for tokens in _tokens(items, kernel.tokens)
    ]


@named_features.register
def _(kernel: Intersection, items: Any) -> Features:
    # Σ min(a, b) is the dot product of the counts in unary: the first egg, the second egg, …
    bags: list[Counter[Any]] = list(items)
    return [{Name(str(item), level): 1.0 for item, times in bag.items() for level in range(times)} for bag in bags]


@named_features.register
def _(kernel: Mismatch, items: Any) -> Features:
    return [
        {Name(_shown(text)): value for text, value in each.items()}
        for each in near_substrings(items, kernel._statistic)
    ]


@named_features.register
def _(kernel: Subsequence, items: Any) -> Features:
    return [
        {Name(_gapped(word)): value for word, value in subsequences(tokens, int(kernel.k), float(kernel.decay)).items()}
        for tokens in _tokens(items, kernel.tokens)
    ]


@named_features.register
def _(kernel: WeisfeilerLehman, items: Any) -> Features:
    return [{Name(*tree): float(times) for tree, times in subtrees(graph, int(kernel.h)).items()} for graph in items]


@named_features.register
def _(kernel: WeisfeilerLehmanAssignment, items: Any) -> Features:
    # Nodes that look alike are paired one by one: Σ min(a, b) is the dot product of the counts in unary.
    return [
        {
            Name(text, (level, k)): 1.0
            for (text, level), times in subtrees(graph, int(kernel.h)).items()
            for k in range(times)
        }
        for graph in items
    ]


@named_features.register
def _(kernel: ShortestPath, items: Any) -> Features:
    return [{Name(text): float(times) for text, times in paths(graph).items()} for graph in items]


@named_features.register
def _(kernel: Graphlet, items: Any) -> Features:
    names = [Name(graphlet(kernel.size, edges)) for edges in kernel.kinds()]
    return [
        {name: float(value) for name, value in zip(names, row, strict=True) if value} for row in kernel.features(items)
    ]


def _tokens(items: Strings, kind: str) -> list[Any]:
    if kind == "words":
        return [text.split() for text in items]
    return [text.encode("utf-8", "surrogateescape") for text in items] if kind == "bytes" else list(items)


def _shown(tokens: Any) -> str:
    return repr(" ".join(tokens)) if isinstance(tokens, list) else repr(tokens)


def _gapped(word: tuple[Any, ...]) -> str:
    """A subsequence with dots where letters may have been left out."""
    return " … ".join(_shown(letter if isinstance(letter, str) else bytes([letter])) for letter in word)
