"""Python values as JSON and arrays, and back. Nothing in a file is ever run or imported by name.

JSON keeps numbers, words and lists as they are. What it has no word for becomes an object with one telling key:

    {"array": "7"}                        the array of that name
    {"words": [...]}                      an array of texts (null: a missing one)
    {"sparse": [data, indices, indptr], "shape": [n, d]}
    {"number": "inf"}                     a number that JSON does not have
    {"tuple": [...]}, {"pairs": [[key, value], ...]}
    {"kernel": "gaussian(gamma=0.5)"}     a kernel, in its text form
    {"loss": "hinge", "parameters": {...}}
    {"set": [...]}, {"bytes": "ff00"}     what may be an item of a set or a label in a graph
    {"object": "SVC", ...}                a machine or a step, see ``steps.py``

Strings, sets and graphs are in ``packed_items.py``.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from .. import losses
from .._validation.tables import tidy_sparse
from ..io.table import DataError
from ..kernels import Kernel, parse
from ..losses.margins import Loss, as_loss
from ..losses.residuals import EpsilonInsensitive, Huber, ResidualLoss, SquaredError
from .packed_items import ITEM_KINDS, pack_items, unpack_items

__all__ = ["Packer", "Unpacker"]

_RESIDUALS = {kind.__name__: kind for kind in (SquaredError, Huber, EpsilonInsensitive)}
#: Lists inside lists inside lists: no model needs more.
_DEEPEST = 60


class Packer:
    """Turns values into JSON nodes, and collects the arrays they need. ``pack_object`` knows machines and steps."""

    def __init__(self, pack_object: Callable[[Packer, Any], dict[str, Any]]) -> None:
        self.arrays: dict[str, Any] = {}
        self._pack_object = pack_object

    def pack(self, value: Any) -> Any:
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, (bool, int, str)):
            return value
        if isinstance(value, float):
            return value if math.isfinite(value) else {"number": repr(value)}
        if isinstance(value, np.ndarray):
            return self._array(value)
        if sparse.issparse(value):
            rows = value.tocsr()
            parts = [self._array(part) for part in (rows.data, rows.indices, rows.indptr)]
            return {"sparse": parts, "shape": list(rows.shape)}
        if isinstance(value, list):
            return [self.pack(item) for item in value]
        if isinstance(value, tuple):
            return {"tuple": [self.pack(item) for item in value]}
        if isinstance(value, dict):
            return {"pairs": [[self.pack(key), self.pack(item)] for key, item in value.items()]}
        if isinstance(value, frozenset):
            return {"set": [self.pack(item) for item in value]}
        if isinstance(value, bytes):
            return {"bytes": value.hex()}
        if isinstance(value, ITEM_KINDS):
            return pack_items(self, value)
        if isinstance(value, Kernel):
            return {"kernel": _kernel_text(value)}
        if isinstance(value, Loss):
            _refuse_unknown_loss(value)
            return {"loss": value.name}
        if isinstance(value, ResidualLoss):
            _refuse_unknown_loss(value)
            return {"residual": type(value).__name__, "parameters": self.pack(vars(value))}
        return self._pack_object(self, value)

    def _array(self, value: np.ndarray) -> Any:
        if value.dtype.kind in "OU":
            items = [None if item is None or item != item else item for item in value.tolist()]
            if not all(item is None or isinstance(item, str) for item in items):
                return {"labels": [self.pack(item) for item in items]}
            return {"words": items, "fixed": value.dtype.kind == "U"}
        if value.dtype.kind not in "fiub":
            raise DataError(f"an array of {value.dtype} cannot be saved.")
        name = str(len(self.arrays))
        self.arrays[name] = np.ascontiguousarray(value)
        return {"array": name}


def _refuse_unknown_loss(loss: Loss | ResidualLoss) -> None:
    """A file names its loss, and only those of the library are found by name."""
    if getattr(losses, type(loss).__name__, None) is not type(loss):
        raise DataError(f"{loss!r} is no loss of mercer.losses, so a model with it cannot be saved; pickle it instead.")


def _kernel_text(kernel: Kernel) -> str:
    text = str(kernel)
    try:
        same = str(parse(text)) == text
    except ValueError:
        same = False
    if not same:
        raise DataError(f"the kernel {text[:60]} has no text form, so a model with it cannot be saved.")
    return text


class Unpacker:
    """Turns JSON nodes back into values."""

    def __init__(self, arrays: dict[str, Any], unpack_object: Callable[[Unpacker, dict[str, Any]], Any]) -> None:
        self._arrays = arrays
        self._unpack_object = unpack_object
        self._depth = 0

    def unpack(self, node: Any) -> Any:
        if self._depth > _DEEPEST:
            raise ValueError("it is nested too deeply")
        self._depth += 1
        try:
            return self._unpack(node)
        finally:
            self._depth -= 1

    def _unpack(self, node: Any) -> Any:
        if isinstance(node, list):
            return [self.unpack(item) for item in node]
        if not isinstance(node, dict):
            return node
        match node:
            case {"array": str(name)}:
                return self._arrays[name]
            case {"words": list(items)}:
                if node.get("fixed"):
                    return np.array([str(item) for item in items], dtype=np.str_)
                return np.array([np.nan if item is None else str(item) for item in items], dtype=object)
            case {"labels": list(items)}:
                return np.array([self.unpack(item) for item in items], dtype=object)
            case {"sparse": [data, indices, indptr], "shape": [int(rows), int(columns)]}:
                parts = [self.unpack(part) for part in (data, indices, indptr)]
                matrix = sparse.csr_matrix(tuple(parts), shape=(rows, columns))
                matrix.check_format(full_check=True)
                return tidy_sparse(matrix)
            case {"number": "inf" | "-inf" | "nan" as text}:
                return float(text)
            case {"tuple": list(items)}:
                return tuple(self.unpack(item) for item in items)
            case {"set": list(items)}:
                return frozenset(self.unpack(item) for item in items)
            case {"bytes": str(text)}:
                return bytes.fromhex(text)
            case {"pairs": list(pairs)}:
                return {self.unpack(key): self.unpack(value) for key, value in pairs}
            case {"kernel": str(text)}:
                return parse(text)
            case {"loss": str(name)}:
                return as_loss(name)
            case {"residual": str(name), "parameters": parameters}:
                return _RESIDUALS[name](**self.unpack(parameters))
            case {"object": str()}:
                return self._unpack_object(self, node)
        return unpack_items(self, node)
