"""Strings, stored as one array of code points."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._runtime.compile import Array
from ..._validation.objects import is_missing
from ..._validation.parameters import choice
from ..engine.collection import Collection, listed
from ..engine.flat import gather, starts_of
from ..engine.keys import KnownKeys

__all__ = ["Strings"]

#: What a string is a sequence of.
TOKENS = ("characters", "bytes", "words")
#: Strings of fewer different letters than this are sequences.
_SEQUENCE_LETTERS = 30


class Strings(Collection):
    """Texts as one array of code points, cut where each text starts.

    Parameters
    ----------
    codes : array of uint32
        The code points of all texts, one after the other.
    starts : array of int
        Where each text starts, and where the last one ends.

    Examples
    --------
    >>> from mercer.kernels import Strings
    >>> texts = Strings.of(["GATTACA", "", "naïve 🙂"])
    >>> len(texts), texts[2], list(texts[:2])
    (3, 'naïve 🙂', ['GATTACA', ''])
    """

    kind = "strings"

    def __init__(self, codes: Array, starts: Array) -> None:
        super().__init__()
        self.codes, self.starts = codes, starts

    @classmethod
    def of(cls, items: Any) -> Strings:
        """From a list, array or column of texts; a collection of strings is returned as it is."""
        if isinstance(items, Strings):
            return items
        texts = listed(items, "texts")
        if set(map(type, texts)) - {str}:
            texts = [_as_text(text, place) for place, text in enumerate(texts)]
        codes = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), np.uint32)
        return cls(codes, starts_of(list(map(len, texts))))

    def __len__(self) -> int:
        return self.starts.size - 1

    def take(self, index: Array) -> Strings:
        return Strings(*gather(self.codes, self.starts, index))

    def item(self, place: int) -> str:
        codes = self.codes[self.starts[place] : self.starts[place + 1]]
        return codes.tobytes().decode("utf-32-le", "surrogatepass")

    def tokens(self, kind: str) -> tuple[Array, Array]:
        """The characters, bytes or words of all strings as numbers, and where each string starts."""
        if kind == "characters" or (kind == "bytes" and self.codes.max(initial=0) < 128):
            return self.codes, self.starts
        return self.once(kind, self._bytes if kind == "bytes" else self._words)

    def token_lists(self, kind: str) -> list[Any]:
        """As :meth:`tokens`, in words: a text, bytes or a list of words for each string."""
        if kind == "words":
            return [text.split() for text in self]
        return [text.encode("utf-8", "surrogateescape") for text in self] if kind == "bytes" else list(self)

    @property
    def aligned(self) -> bool:
        """Whether all strings have one length, so that places can be compared."""
        sizes = np.diff(self.starts)
        return bool(sizes.size and sizes.min() == sizes.max() > 1)

    @property
    def alphabet(self) -> str:
        """Every character that occurs."""
        return "".join(map(chr, np.unique(self.codes).tolist()))

    @property
    def are_sequences(self) -> bool:
        """Whether the characters are few, as in sequences in which one may stand for another."""
        return 2 <= len(self.alphabet) < _SEQUENCE_LETTERS

    def _bytes(self) -> tuple[Array, Array]:
        encoded = self.token_lists("bytes")
        return np.frombuffer(b"".join(encoded), np.uint8).astype(np.uint32), starts_of(list(map(len, encoded)))

    def _words(self) -> tuple[Array, Array]:
        split = self.token_lists("words")
        known = KnownKeys()
        return known.of(word for words in split for word in words), starts_of(list(map(len, split)))


def _as_text(value: Any, place: int) -> str:
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bytes):  # bytes that are no text become lone surrogates, which turn into these bytes again
        return value.decode("utf-8", "surrogateescape")
    if is_missing(value):
        raise ValueError(f"text {place} is missing ({value!r}); drop it or fill it in first.")
    raise ValueError(f"item {place} is not a text but {value!r:.60} ({type(value).__name__}); turn it into text first.")


def check_tokens(kernel: Any) -> None:
    """Check the parameter that says what a string is a sequence of."""
    choice(kernel, "tokens", TOKENS)
