"""Features of strings that are more than their substrings, letter by letter."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from ..kernels import Strings
from ..kernels.strings.mismatch import Neighbours


def subsequences(tokens: Sequence[Any], k: int, decay: float) -> dict[tuple[Any, ...], float]:
    """Every subsequence of k tokens, with Σ decay^stretch over the ways to pick it.

    Examples
    --------
    >>> subsequences("aab", 2, 0.5)
    {('a', 'a'): 0.25, ('a', 'b'): 0.375}
    """
    # What has been picked so far weighs decay^(places from the first one picked to here); the next letter goes on from
    # all of it, or from nothing.
    picked: dict[tuple[Any, ...], float] = {}
    out: dict[tuple[Any, ...], float] = defaultdict(float)
    for token in tokens:
        longer = {(*word, token): decay * weight for word, weight in [*picked.items(), ((), 1.0)]}
        for word in picked:
            picked[word] *= decay
        for word, weight in longer.items():
            if len(word) == k:
                out[word] += weight
            else:
                picked[word] = picked.get(word, 0.0) + weight
    return dict(out)


def near_substrings(strings: Strings, near: Neighbours) -> list[dict[str, float]]:
    """For each string the texts that are near its substrings, with the number of substrings that each is near to.

    Examples
    --------
    >>> near_substrings(Strings.of(["AB"]), Neighbours(k=2, m=1, alphabet="AB"))
    [{'AA': 1.0, 'AB': 1.0, 'BB': 1.0}]
    """
    numbers, starts = near.numbers(strings)
    size, k = len(near.alphabet), near.k
    different, place = np.unique(numbers, return_inverse=True)
    digits = [(different // np.uint64(size ** (k - 1 - position))) % np.uint64(size) for position in range(k)]
    letters = np.array(list(near.alphabet))
    texts = ["".join(row) for row in letters[np.column_stack(digits).astype(np.int64)].tolist()]
    out = []
    for begin, end in pairwise(starts.tolist()):
        own, times = np.unique(place[begin:end], return_counts=True)
        out.append({texts[number]: float(count) for number, count in zip(own.tolist(), times.tolist(), strict=True)})
    return out
