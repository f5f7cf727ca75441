"""The bytes of a model file: a safetensors file whose metadata are a text, a checksum and perhaps a signature.

    8 bytes                 the length of the header, the least significant byte first
    header                  JSON: {"__metadata__": {"mercer": text, "sha256": …}, name: {dtype, shape, data_offsets}, …}
    the numbers of all arrays

The checksum is over the text and, in the order of their names, over every array with its name, dtype and shape. It
tells damage, not forgery: whoever changes a file on purpose can compute it anew. Only a signature tells who wrote it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as load_arrays
from safetensors.numpy import save as save_arrays

from ..io.table import DataError

__all__ = ["Content", "checksum", "content_of", "file_of"]

_LONGEST_HEADER = 64 * 2**20
#: What a byte of the header may take in memory, at most, once it is read: "[]," is a list.
_GROWTH = 30


@dataclass(frozen=True)
class Content:
    """What is in a file, after the checksum was found right: text, arrays, and what was said in its metadata."""

    text: str
    arrays: dict[str, Any] = field(repr=False)
    metadata: dict[str, str] = field(repr=False)

    @property
    def checksum(self) -> str:
        return self.metadata["sha256"]


def file_of(text: str, arrays: Mapping[str, Any], more: Mapping[str, str] | None = None) -> bytes:
    """The bytes of a file; ``more`` is further metadata, such as a signature."""
    metadata = {"mercer": text, "sha256": checksum(text, arrays), **(more or {})}
    return _in_one_order(save_arrays(dict(arrays), metadata=metadata))


def _in_one_order(data: bytes) -> bytes:
    """A file with its metadata sorted: safetensors writes them in an order that chance decides."""
    length = int.from_bytes(data[:8], "little")
    entries = json.loads(data[8 : 8 + length])
    entries["__metadata__"] = dict(sorted(entries["__metadata__"].items()))
    header = json.dumps(entries, ensure_ascii=False, separators=(",", ":")).encode()
    header += b" " * (-len(header) % 8)
    return len(header).to_bytes(8, "little") + header + data[8 + length :]


def content_of(data: bytes, shown: str, max_bytes: int) -> Content:
    """The content of a file that messages call ``shown``, or ``DataError``."""
    foreign = DataError(f"{shown} is not a mercer model; models are written by mercer.save or 'mercer train'.")
    length = int.from_bytes(data[:8], "little")
    if len(data) < 10 or data[8:9] != b"{" or length > min(_LONGEST_HEADER, len(data) - 8):
        cut = DataError(f"{shown} is cut off or damaged; copy it again from where it was written, or train it anew.")
        raise cut if b'"sha256"' in data[:2048] else foreign
    needed = 2 * len(data) + _GROWTH * length
    if needed > max_bytes:
        raise DataError(f"{shown} may take {needed:,} bytes to load; max_bytes allows {max_bytes:,}: allow more.")
    try:
        metadata = json.loads(data[8 : 8 + length]).get("__metadata__")
        text, told = metadata["mercer"], metadata["sha256"]
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        raise foreign from None
    try:
        arrays = load_arrays(data)
        whole = isinstance(text, str) and told == checksum(text, arrays)
    except (SafetensorError, ValueError, TypeError, KeyError, AttributeError, OverflowError):
        whole = False
    if not whole:
        raise DataError(f"{shown} is damaged: its checksum is wrong; fetch or train the model again.")
    return Content(text, arrays, metadata)


def checksum(text: str, arrays: Mapping[str, Any]) -> str:
    """SHA-256 over a text and arrays, as 64 digits."""
    digest = hashlib.sha256(text.encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"\n{name} {array.dtype.str} {array.shape}\n".encode())
        digest.update(array.data if array.size else b"")
    return digest.hexdigest()
