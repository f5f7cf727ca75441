"""Model files: arrays in the safetensors format with a JSON text beside them. Data only, never code.

The text says what the file is (``about``) and what the machine is made of (``model``, see ``packing.py``). A checksum
over text and arrays tells a damaged file from a whole one. A kernel machine is made of some of its training rows, so
its file holds them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as load_arrays
from safetensors.numpy import save as save_arrays

from .. import __version__
from ..io.sources import raw_bytes
from ..io.table import DataError
from ..io.writing import write_whole
from .packing import Packer, Unpacker
from .saved_types import pack_object, unpack_object

__all__ = ["FORMAT", "ModelFile", "load", "open_model", "save"]

#: The number of the file format; raised whenever an older mercer could not read what this one writes.
FORMAT = 1
_LONGEST_TEXT = 64 * 2**20


@dataclass(frozen=True)
class ModelFile:
    """What a model file holds: the fitted estimator, and what was written about it."""

    estimator: Any
    about: dict[str, Any] = field(repr=False)


def save(model: Any, path: str | Path, about: Mapping[str, Any] | None = None) -> None:
    """Write a fitted model to a file.

    Parameters
    ----------
    model : estimator
        A machine of mercer, or a pipeline of such with steps of :mod:`mercer.preprocess`.
    path : str or Path
        Usually ending in ``.safetensors``. An existing file is replaced whole, or not at all.
    about : mapping, optional
        What to remember besides: the target's name, where the training rows came from, … Anything JSON can say.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from mercer import SVC
    >>> from mercer import load, save
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "xor.safetensors"
    >>> save(SVC("gaussian", C=10).fit([[0, 0], [0, 1], [1, 0], [1, 1]], [0, 1, 1, 0]), path)
    >>> load(path).predict([[0, 1], [1, 1]]).tolist()
    [1, 0]
    """
    packer = Packer(pack_object)
    content = {"format": FORMAT, "mercer": __version__, "about": dict(about or {}), "model": packer.pack(model)}
    try:
        text = json.dumps(content, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ValueError(f"save: what is written about a model must be JSON: {error}.") from None
    metadata = {"mercer": text, "sha256": _checksum(text, packer.arrays)}
    write_whole(path, save_arrays(packer.arrays, metadata=metadata))


def load(path: str | Path, max_bytes: int = 4 * 10**9) -> Any:
    """The fitted model in a file, which predicts exactly as it did when it was saved.

    Parameters
    ----------
    path : str or Path
    max_bytes : int, default=4·10⁹

    Returns
    -------
    estimator

    Raises
    ------
    DataError
        Where the file is damaged, of another kind, or written by a newer mercer.
    """
    return open_model(path, max_bytes).estimator


def open_model(path: str | Path, max_bytes: int = 4 * 10**9) -> ModelFile:
    """As :func:`load`, with what was written about the model."""
    shown = repr(Path(path).name)
    text, arrays = _parts(raw_bytes(str(path), max_bytes, shown), shown)
    try:
        content = json.loads(text)
        version = content["format"]
        if not isinstance(version, int) or version > FORMAT:
            raise DataError(f"{shown} was written by a newer mercer (file format {version!r}); update mercer.")
        estimator = Unpacker(arrays, unpack_object).unpack(content["model"])
        if not hasattr(estimator, "predict"):
            raise ValueError("it holds no machine")
        about = {**content["about"], "mercer": content["mercer"]}
    except DataError:
        raise
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError, MemoryError) as error:
        reason = str(error).splitlines()[0][:150].rstrip(".") if str(error) else type(error).__name__
        raise DataError(f"{shown} is not a whole mercer model: {reason}.") from None
    return ModelFile(estimator, about)


def _parts(data: bytes, shown: str) -> tuple[str, dict[str, Any]]:
    """The text and the arrays, after the checksum was found right."""
    foreign = DataError(f"{shown} is not a mercer model; models are written by mercer.save or 'mercer train'.")
    length = int.from_bytes(data[:8], "little")
    if len(data) < 10 or data[8:9] != b"{" or length > min(_LONGEST_TEXT, len(data) - 8):
        cut = DataError(f"{shown} is cut off or damaged; copy it again from where it was written, or train it anew.")
        raise cut if b'"sha256"' in data[:2048] else foreign
    try:
        metadata = json.loads(data[8 : 8 + length]).get("__metadata__")
        text, checksum = metadata["mercer"], metadata["sha256"]
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        raise foreign from None
    try:
        arrays = load_arrays(data)
        whole = isinstance(text, str) and checksum == _checksum(text, arrays)
    except (SafetensorError, ValueError, TypeError, KeyError, AttributeError):
        whole = False
    if not whole:
        raise DataError(f"{shown} is damaged: its checksum is wrong; fetch or train the model again.")
    return text, arrays


def _checksum(text: str, arrays: Mapping[str, Any]) -> str:
    digest = hashlib.sha256(text.encode())
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"\n{name} {array.dtype.str} {array.shape}\n".encode())
        digest.update(array.tobytes())
    return digest.hexdigest()
