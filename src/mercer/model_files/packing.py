"""Python values as JSON and arrays, and back. Nothing in a file is ever run or imported by name.

JSON keeps numbers, words and lists as they are. What it has no word for becomes an object with one telling key:

    {"array": "7"}                        the array of that name; no array is used twice
    {"words": [...], "fixed": true}       an array of texts (null: a missing one), each as wide as the longest or not
    {"labels": [...]}                     an array of numbers and truth values of several kinds
    {"sparse": [data, indices, indptr], "shape": [n, d]}
    {"number": "inf"}                     a number that JSON does not have
    {"tuple": [...]}, {"pairs": [[key, value], ...]}
    {"kernel": "gaussian(gamma=0.5)"}     a kernel, in its text form with all parameters
    {"loss": "hinge", "parameters": {...}}
    {"set": [...]}, {"bytes": "ff00"}     what may be an item of a set or a label in a graph
    {"object": "SVC", "fields": {...}}    a machine or a step, see ``saved_types.py``

Strings, sets and graphs are in ``packed_items.py``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from .._validation.tables import tidy_sparse
from ..io.table import DataError
from ..kernels import Kernel, parse
from ..kernels.text_form import full_text
from ..losses import Loss
from ..losses.named import loss_named
from .packed_items import ITEM_KINDS, pack_items, unpack_items

__all__ = ["Packer", "Unpacker"]

#: Lists inside lists inside lists, and steps inside steps inside steps: no model needs more.
_DEEPEST, _DEEPEST_STEP = 60, 14
#: What arrays of words that are all as wide as the longest may take together: few of one long word are many bytes.
_WIDE_WORDS = 2**28
#: Sparse rows are numbered by 32 bits.
_WIDEST = 2**31 - 1


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
            return {"set": sorted((self.pack(item) for item in value), key=json.dumps)}
        if isinstance(value, bytes):
            return {"bytes": value.hex()}
        if isinstance(value, ITEM_KINDS):
            return pack_items(self, value)
        if isinstance(value, Kernel):
            return {"kernel": _kernel_text(value)}
        if isinstance(value, Loss):
            if loss_named(value.name) is not type(value):
                raise DataError(f"another loss than {value!r} has the name {value.name!r}; rename yours to save it.")
            return {"loss": value.name, "parameters": self.pack(vars(value))}
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


def _kernel_text(kernel: Kernel) -> str:
    text = full_text(kernel)
    try:
        same = full_text(parse(text)) == text
    except ValueError:
        same = False
    if not same:
        raise DataError(f"the kernel {str(kernel)[:60]} has no text form, so a model with it cannot be saved.")
    return text


class Unpacker:
    """Turns JSON nodes back into values."""

    def __init__(self, arrays: dict[str, Any], unpack_object: Callable[[Unpacker, dict[str, Any]], Any]) -> None:
        self._arrays = dict(arrays)
        self._unpack_object = unpack_object
        self._depth = self._steps = self._wide = 0

    def refuse_unused(self) -> None:
        """Raise ``ValueError`` where there are arrays that no node has asked for."""
        if self._arrays:
            raise ValueError("it holds arrays that belong to nothing")

    def unpack(self, node: Any) -> Any:
        """The value of a node."""
        step = isinstance(node, dict) and "object" in node
        if self._depth > _DEEPEST or self._steps > _DEEPEST_STEP:
            raise ValueError("it is nested too deeply")
        self._depth += 1
        self._steps += step
        try:
            return self._unpack(node)
        finally:
            self._depth -= 1
            self._steps -= step

    def _unpack(self, node: Any) -> Any:
        if isinstance(node, list):
            return [self.unpack(item) for item in node]
        if not isinstance(node, dict):
            return node
        match node:
            case {"array": str(name)}:
                if name not in self._arrays:
                    raise ValueError(f"the array {name[:40]!r} is missing, or is used twice")
                return self._arrays.pop(name)
            case {"words": list(items)}:
                return self._words(items, node.get("fixed", False))
            case {"labels": list(items)}:
                return _of_objects([self.unpack(item) for item in items])
            case {"sparse": [data, indices, indptr], "shape": [int(rows), int(columns)]}:
                return _sparse([self.unpack(part) for part in (data, indices, indptr)], rows, columns)
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
            case {"loss": str(name), "parameters": parameters}:
                return loss_named(name)(**self.unpack(parameters))
            case {"object": str()}:
                return self._unpack_object(self, node)
        return unpack_items(self, node)

    def _words(self, items: list[Any], fixed: Any) -> Any:
        if not all(isinstance(item, str) or (item is None and not fixed) for item in items):
            raise ValueError("it has words that are none")
        if not fixed:
            return _of_objects([np.nan if item is None else item for item in items])
        self._wide += 4 * len(items) * max(map(len, items), default=0)
        if self._wide > _WIDE_WORDS:
            raise ValueError(f"its words, all as wide as the longest, would take more than {_WIDE_WORDS:,} bytes")
        return np.array(items, dtype=np.str_)


def _of_objects(items: list[Any]) -> Any:
    out = np.empty(len(items), dtype=object)
    out[:] = items
    return out


def _sparse(parts: list[Any], rows: int, columns: int) -> Any:
    one_dimensional = all(isinstance(part, np.ndarray) and part.ndim == 1 for part in parts)
    numbered = one_dimensional and all(part.dtype.kind in "iu" for part in parts[1:])
    if not numbered or parts[2].size != rows + 1 or not 0 <= columns <= _WIDEST:
        raise ValueError("its sparse rows do not fit together")
    matrix = sparse.csr_matrix(tuple(parts), shape=(rows, columns))
    matrix.check_format(full_check=True)
    return tidy_sparse(matrix)
