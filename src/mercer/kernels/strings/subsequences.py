"""The subsequences of a string one by one, each with the sum of its decays: the features of :class:`Subsequence`."""

from __future__ import annotations

import numpy as np
from scipy import special

from ..._runtime.compile import Array, jit
from ..engine.counts import Counts, few_enough
from ..engine.hash_table import doubled, empty_table, place_of, table_of
from ..engine.keys import chain
from ..readable import Name, NamedFeatures, quoted
from .string_collection import Strings

#: Subsequences that are listed at a time; they take a few gigabytes.
_MOST_SUBSEQUENCES = 2**26


def bound(lengths: Array, letters: Array, size: int) -> Array:
    """How many different subsequences of one size a string has at most: choices of places, or words of its letters."""
    return np.minimum(special.comb(lengths, size), letters.astype(np.float64) ** size)


def steps(lengths: Array, letters: Array, k: int) -> Array:
    """How many steps it takes at most to list the subsequences of size k of each string.

    Every letter of a string goes on from every different subsequence of less than k letters before it.
    """
    return lengths * sum(bound(lengths, letters, size) for size in range(k))


def can_list(lengths: Array, letters: Array, k: int, whole: bool) -> Array:
    """For each string whether its subsequences can be listed, with those of all others or of a few at a time."""
    return few_enough(bound(lengths, letters, k), _MOST_SUBSEQUENCES, whole)


def refuse_too_many(lengths: Array, letters: Array, k: int) -> None:
    most = bound(lengths, letters, k)
    if most.sum() > _MOST_SUBSEQUENCES:
        place = int(most.argmax())
        raise ValueError(
            f"Subsequence: string {place} may have {most[place]:.2g} different subsequences of length {k}, and these "
            f"{lengths.size} strings together {most.sum():.2g}, too many to list; use the kernel itself, a smaller k "
            "or fewer strings at a time."
        )


def subsequences(tokens: Array, starts: Array, k: int, decay: float) -> Counts:
    """For each string its different subsequences of length k, with Σ decay^stretch over the ways to pick each."""
    return Counts.listed(starts.size - 1, lambda first, stop: _list_subsequences(tokens, starts, k, decay, first, stop))


def named_subsequences(strings: Strings, kind: str, listed: Counts, k: int) -> NamedFeatures:
    """Subsequences that were listed, in words, with dots where letters may have been left out.

    A subsequence's key is the chain of its letters after k, so that a word and its key say the same.

    Examples
    --------
    >>> texts = Strings.of(["aab"])
    >>> [found] = named_subsequences(texts, "characters", subsequences(*texts.tokens("characters"), 2, 0.5), 2)
    >>> {name.text: value for name, value in found.items()}
    {"'a' … 'a'": 0.25, "'a' … 'b'": 0.375}
    """
    tokens, starts = strings.tokens(kind)
    out = []
    for place, own in enumerate(strings.token_lists(kind)):
        shown = [quoted([token] if kind == "words" else own[p : p + 1]) for p, token in enumerate(own)]
        # All different words of at most k letters, with the words that go on from them by one more letter.
        words: list[dict[int, str]] = [{k: ""}, *({} for _ in range(k))]
        for letter, text in zip(tokens[starts[place] : starts[place + 1]], shown, strict=True):
            for size in range(k, 0, -1):
                for key, word in words[size - 1].items():
                    words[size][int(chain(np.uint64(key), letter))] = f"{word} … {text}" if word else text
        mine = slice(listed.starts[place], listed.starts[place + 1])
        keys, values = listed.keys[mine].tolist(), listed.values[mine].tolist()
        out.append({Name(words[k][key]): value for key, value in zip(keys, values, strict=True)})
    return out


@jit
def _list_subsequences(
    tokens: Array, starts: Array, k: int, decay: float, first: int, stop: int
) -> tuple[Array, Array, Array]:
    sizes = np.zeros(stop - first, np.int64)
    all_keys, all_values, total = np.empty(1024, np.uint64), np.empty(1024), 0
    for i in range(first, stop):
        words, weights, lengths = np.empty(64, np.uint64), np.empty(64), np.empty(64, np.int64)
        done, phi = np.empty(64, np.uint64), np.empty(64)
        table, done_table = empty_table(128), empty_table(128)
        words[0], weights[0], lengths[0], n, finished = np.uint64(k), 1.0, 0, 1, 0
        for r in range(starts[i], starts[i + 1]):
            # One letter makes at most one new word of every word.
            while 2 * n > words.size:
                words, weights, lengths = doubled(words), doubled(weights), doubled(lengths)
                table = table_of(words, n, 2 * table.size)
            while finished + n > done.size:
                done, phi = doubled(done), doubled(phi)
                done_table = table_of(done, finished, 2 * done_table.size)
            n, finished = _read_letter(
                tokens[r], k, decay, words, weights, lengths, table, n, done, phi, done_table, finished
            )
        while total + finished > all_keys.size:
            all_keys, all_values = doubled(all_keys), doubled(all_values)
        all_keys[total : total + finished], all_values[total : total + finished] = done[:finished], phi[:finished]
        total += finished
        sizes[i - first] = finished
    return sizes, all_keys[:total].copy(), all_values[:total].copy()


@jit
def _read_letter(
    letter: int, k: int, decay: float, words: Array, weights: Array, lengths: Array, table: Array, n: int,
    done: Array, phi: Array, done_table: Array, finished: int,
) -> tuple[int, int]:  # fmt: skip
    # Let w[u] sum λ^(places from the first one picked to here) over the ways to pick u, a word of less than k letters,
    # from the letters read so far; nothing picked weighs w[""] = 1. One more letter x makes of it
    #   w[ux] ← λ·(w[ux] + w[u]),   and where ux has k letters   φ[ux] ← φ[ux] + λ·w[u].
    # A word comes after the word that it goes on from, so that in the order from the last to the first every word is
    # read before it is added to.
    for u in range(n - 1, -1, -1):
        key, weight = chain(words[u], letter), decay * weights[u]
        if u > 0:
            weights[u] *= decay
        if lengths[u] == k - 1:
            s = place_of(done_table, done, key)
            if done_table[s] < 0:
                done_table[s] = finished
                done[finished], phi[finished] = key, 0.0
                finished += 1
            phi[done_table[s]] += weight
        else:
            s = place_of(table, words, key)
            if table[s] < 0:
                table[s] = n
                words[n], weights[n], lengths[n] = key, 0.0, lengths[u] + 1
                n += 1
            weights[table[s]] += weight
    return n, finished
