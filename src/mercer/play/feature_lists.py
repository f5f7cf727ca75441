"""Whether the features of some items can be written out: a product of kernels has more of them than memory."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import special

from ..kernels import Kernel, Power, Product
from ..kernels.graphs.graph_collection import Graphs
from ..kernels.graphs.refinement import WeisfeilerLehman
from ..kernels.strings.alignment import Subsequence
from ..kernels.strings.mismatch import Mismatch
from ..kernels.strings.positions import WeightedDegree
from ..kernels.strings.spectrum import Spectrum
from ..kernels.strings.string_collection import Strings
from .request_fields import leaves

__all__ = ["refuse_giants", "too_many_to_list"]

#: Letters of the names of all features of all items that are written out.
_MOST_LETTERS = 2e6
#: Neighbours of substrings that are counted.
_MOST_NEIGHBOURS = 3e6
#: A letter of a subsequence is written in quotes, with dots between it and the next.
_LETTER_WITH_DOTS = 6.0
#: What a feature takes that is a small part of a graph or a pair of its nodes.
_FEATURE = 100.0


def too_many_to_list(kernel: Kernel, items: Any) -> bool:
    """Whether the names of the features of these items would fill more letters than anybody can hold.

    Examples
    --------
    >>> from mercer.kernels import Spectrum
    >>> words = ["statistics", "computation"]
    >>> too_many_to_list(Spectrum(p=2), words), too_many_to_list(Spectrum(p=2) ** 9, words)
    (False, True)
    """
    return len(items) * _letters(kernel, kernel.items(items)) > _MOST_LETTERS


def refuse_giants(kernel: Kernel, items: Any) -> None:
    """Raise where a kernel would count more neighbours of substrings than fit into a moment."""
    for leaf in leaves(kernel):
        if isinstance(leaf, Mismatch):
            neighbours = leaf._statistic.ball * float(Strings.of(items).codes.size)
            if neighbours > _MOST_NEIGHBOURS:
                raise ValueError(
                    f"{leaf} gives these words {neighbours:.1g} neighbours; take a smaller k or m, or fewer words."
                )


def _letters(kernel: Kernel, items: Any) -> float:
    """At most so many letters stand in the names of the features of one of the items."""
    inner = [_letters(part, form) for part, form in zip(kernel.parts(), kernel.part_items(items))]
    if isinstance(kernel, Power):
        return inner[0] ** float(kernel.exponent)
    if isinstance(kernel, Product):
        return inner[0] * inner[1]
    return sum(inner) if inner else _letters_of_one(kernel, items)


def _letters_of_one(kernel: Kernel, items: Any) -> float:
    if isinstance(items, Strings):
        return _letters_of_words(kernel, float(np.diff(items.starts).max(initial=0)))
    if isinstance(kernel, WeisfeilerLehman):
        return max((_surroundings(items, graph, int(kernel.h)) for graph in range(len(items))), default=0.0)
    return _FEATURE * float(items.sizes.max(initial=0)) if isinstance(items, Graphs) else 0.0


def _letters_of_words(kernel: Kernel, longest: float) -> float:
    if isinstance(kernel, Spectrum):
        return longest * sum(statistic.size for _, statistic in kernel._weighted())
    if isinstance(kernel, Mismatch):
        return longest * kernel._statistic.ball * float(kernel.k)
    if isinstance(kernel, Subsequence):
        return float(special.comb(longest, kernel.k)) * _LETTER_WITH_DOTS * float(kernel.k)
    return longest * min(float(kernel.k), longest) ** 2 if isinstance(kernel, WeightedDegree) else 0.0


def _surroundings(graphs: Graphs, place: int, rounds: int) -> float:
    """The letters of the names of all surroundings of a graph's nodes: a name holds those of all neighbours, so that
    it grows by a factor in each round."""
    first, stop = graphs.node_starts[place], graphs.node_starts[place + 1]
    size = int(stop - first)
    joined = np.zeros((size, size))
    owner = np.repeat(np.arange(size), np.diff(graphs.starts[first : stop + 1]))
    joined[owner, graphs.neighbours[graphs.starts[first] : graphs.starts[stop]]] = 1.0
    names = np.full(size, 2.0)
    total = names.sum()
    for _ in range(rounds):
        names = names + 2.0 + joined @ (names + 1.0)
        total += names.sum()
    return float(total)
