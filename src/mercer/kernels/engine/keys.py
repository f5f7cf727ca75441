"""Keys of 64 bits for tokens, set items and labels.

A key depends on the thing it stands for and on nothing else: the same word has the same key in every batch, process and
machine, so nothing has to be fitted or remembered. Among a million different things, two share a key with probability
3·10⁻⁸.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..._runtime.compile import Array, jit

_FIRST = np.uint64(0xBF58476D1CE4E5B9)
_SECOND = np.uint64(0x94D049BB133111EB)
_STEP = np.uint64(0x9E3779B97F4A7C15)
_30, _27, _31 = np.uint64(30), np.uint64(27), np.uint64(31)


@jit
def mix(x: Any) -> Any:
    """A bijection of 64-bit numbers after which every bit depends on every bit (the finaliser of SplitMix64)."""
    x = np.uint64(x) + _STEP
    x = (x ^ (x >> _30)) * _FIRST
    x = (x ^ (x >> _27)) * _SECOND
    return x ^ (x >> _31)


@jit
def chain(key: Any, value: Any) -> Any:
    """The key of a sequence with one more value at its end."""
    return mix(mix(key) ^ np.uint64(value))


@jit
def number_keys(numbers: Array) -> Array:
    """The keys of whole numbers."""
    out = np.empty(numbers.size, np.uint64)
    for i in range(numbers.size):
        out[i] = mix(np.uint64(numbers[i]))
    return out


def key_of(value: Any) -> int:
    """The key of a text, a number, or a tuple or frozen set of such.

    Numbers that are equal in Python (``1``, ``1.0``, ``True``) have the same key.
    """
    if isinstance(value, str):
        return _digest(b"text", value.encode("utf-8", "surrogatepass"))
    if isinstance(value, bytes):
        return _digest(b"bytes", value)
    if isinstance(value, (bool, int, np.integer, np.bool_)):
        whole = int(value)
        if -(2**63) <= whole < 2**63:
            return int(number_keys(np.array([whole]))[0])
        return _digest(b"whole", str(whole).encode())
    if isinstance(value, (float, np.floating)):
        if not np.isfinite(value):
            raise ValueError(f"{value!r} is not an item; drop it first.")
        return key_of(int(value)) if value == int(value) else _digest(b"real", float(value).hex().encode())
    if isinstance(value, (tuple, frozenset)):
        keys = [key_of(part) for part in value]
        kind = b"tuple" if isinstance(value, tuple) else b"set"
        ordered = keys if isinstance(value, tuple) else sorted(keys)
        return _digest(kind, np.array(ordered, dtype="<u8").tobytes())
    raise ValueError(
        f"an item must be text, a number, or a tuple of these; got {value!r:.60} ({type(value).__name__})."
    )


def _digest(kind: bytes, data: bytes) -> int:
    return int.from_bytes(hashlib.blake2b(data, digest_size=8, person=kind).digest(), "little")


class KnownKeys(dict[Any, int]):
    """Keys of the values met so far: each different value is digested once."""

    def __missing__(self, value: Any) -> int:
        key = self[value] = key_of(value)
        return key

    def of(self, values: Iterable[Any], count: int = -1) -> Array:
        return np.fromiter(map(self.__getitem__, values), np.uint64, count)
