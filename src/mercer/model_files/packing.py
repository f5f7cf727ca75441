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
    {"object": "SVC", "fields": {...}}    a machine or a step, see ``saved_machines.py``

Strings, sets and graphs are in ``packed_items.py``.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as load_arrays
from safetensors.numpy import save as save_arrays
from scipy import sparse

from ..checks.tables import tidy_sparse
from ..io.table import DataError
from ..kernels import Graphs, Kernel, Strings, parse
from ..kernels.columns import Categories
from ..kernels.engine.counts import Counts, KnownKeys
from ..kernels.engine.tiles import Parts, starts_of
from ..kernels.sets import Bags
from ..kernels.text_form import full_text
from ..losses import Loss, loss_named
from ..messages import guide
from ..runtime.compile import Array

__all__ = [
    "ITEM_KINDS",
    "Content",
    "Packer",
    "Unpacker",
    "checksum",
    "content_of",
    "file_of",
    "pack_items",
    "unpack_items",
]

# Strings, sets, graphs and categories as JSON and arrays, and back. A file is not trusted: all numbers are checked.
#
#     {"strings": [bytes, starts]}                            texts in UTF-8, one after the other, and where each starts
#     {"sets": [starts, numbers, counts], "names": [...]}     the number of each item among the names, and how often
#     {"graphs": [node_starts, edges, labels, labels], "names": [...]}
#                                                             node and edge labels as numbers of names, −1 for none
#     {"categories": codes, "levels": [[...], ...]}           for each column the number of each row's category
#     {"parts": [...]}                                        the same items in the forms of several kernels
#
# Keys of 64 bits, by which items are compared, are made anew from what they stand for.


#: Collections that a file can hold.
ITEM_KINDS = (Strings, Bags, Graphs, Categories, Parts)
_LARGEST = 2**53


def pack_items(packer: Packer, items: Any) -> dict[str, Any]:
    """The JSON node of a collection."""
    if isinstance(items, Strings):
        texts = [text.encode("utf-8", "surrogatepass") for text in items]
        return {"strings": [packer.pack(np.frombuffer(b"".join(texts), np.uint8)), packer.pack(_starts(texts))]}
    if isinstance(items, Bags):
        numbers, names = _numbered(items.counts.keys, items.names)
        owners = np.repeat(np.arange(len(items)), np.diff(items.counts.starts))
        order = np.lexsort((numbers, owners))  # sets tell their items in whichever order, a file in one
        parts = [items.counts.starts, numbers[order], items.counts.values[order]]
        return {"sets": [packer.pack(part) for part in parts], "names": packer.pack(names)}
    if isinstance(items, Graphs):
        return _pack_graphs(packer, items)
    if isinstance(items, Categories):
        used = [np.unique(column) for column in items.codes.T]
        codes = [np.searchsorted(own, column) for own, column in zip(used, items.codes.T, strict=True)]
        levels = [[list(known)[code] for code in own] for own, known in zip(used, items.levels, strict=True)]
        return {"categories": packer.pack(np.stack(codes, axis=1)), "levels": packer.pack(levels)}
    return {"parts": [packer.pack(form) for form in items.forms]}


def _starts(pieces: list[Any]) -> Array:
    return starts_of([len(piece) for piece in pieces])


def _numbered(keys: Array, names: Any) -> tuple[Array, list[Any]]:
    """For each key the number of its name among the names that occur."""
    used, numbers = np.unique(keys, return_inverse=True)
    return numbers.astype(np.int64), [names[key] for key in used.tolist()]


def _pack_graphs(packer: Packer, graphs: Graphs) -> dict[str, Any]:
    nodes = np.repeat(np.arange(graphs.node_starts[-1]), np.diff(graphs.starts))
    first = np.repeat(graphs.node_starts[:-1], graphs.sizes)
    others = graphs.neighbours + first[nodes]
    once = nodes < others
    labels = [graphs.node_labels, graphs.edge_labels[once]]
    labelled = [keys.size > 0 and int(keys[0]) in graphs.names for keys in labels]
    used = [keys for keys, known in zip(labels, labelled, strict=True) if known]
    numbers, names = _numbered(np.concatenate(used), graphs.names) if used else (np.empty(0, np.int64), [])
    pieces = iter(np.split(numbers, np.cumsum([keys.size for keys in used])[:-1]))
    parts = [graphs.node_starts, np.column_stack([nodes, others])[once]]
    parts += [next(pieces) if known else np.full(keys.size, -1) for keys, known in zip(labels, labelled, strict=True)]
    return {"graphs": [packer.pack(part) for part in parts], "names": packer.pack(names)}


def unpack_items(unpacker: Unpacker, node: dict[str, Any]) -> Any:
    """The collection of a JSON node; ``ValueError`` where its numbers do not fit together."""
    match node:
        case {"strings": [data, starts]}:
            return _strings(unpacker.unpack(data), unpacker.unpack(starts))
        case {"sets": [_, _, _] as parts, "names": names}:
            return _sets(*map(unpacker.unpack, [*parts, names]))
        case {"graphs": [_, _, _, _] as parts, "names": names}:
            return _graphs(*map(unpacker.unpack, [*parts, names]))
        case {"categories": codes, "levels": list(levels)}:
            return _categories(unpacker.unpack(codes), unpacker.unpack(levels))
        case {"parts": list(forms)} if forms:
            found = [unpacker.unpack(form) for form in forms]
            if len({len(form) for form in found}) > 1:
                raise ValueError("its support items have forms of different length")
            return Parts(found)
    raise ValueError(f"it holds an unknown part, {sorted(node)[:3]}")


def _cut(starts: Any, total: int, what: str) -> Array:
    """Places at which a flat array is cut into pieces."""
    starts = np.asarray(starts)
    fine = starts.ndim == 1 and starts.size > 0 and starts.dtype.kind in "iu"
    if not fine or starts[0] != 0 or starts[-1] != total or (np.diff(starts.astype(np.int64)) < 0).any():
        raise ValueError(f"its {what} do not fit together")
    return starts.astype(np.int64)


def _among(numbers: Any, total: int, what: str) -> Array:
    """Numbers of things of which there are so many."""
    numbers = np.asarray(numbers)
    if numbers.dtype.kind not in "iu" or (numbers.size and not 0 <= numbers.min() <= numbers.max() < total):
        raise ValueError(f"its {what} are out of range")
    return numbers.astype(np.int64)


def _strings(data: Any, starts: Any) -> Strings:
    if data.dtype != np.uint8 or data.ndim != 1:
        raise ValueError("its strings are no bytes")
    cuts, whole = _cut(starts, data.size, "strings").tolist(), data.tobytes()
    try:
        return Strings.of([whole[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(cuts)])
    except UnicodeDecodeError:
        raise ValueError("its strings are no text in UTF-8") from None


def _sets(starts: Any, numbers: Any, counts: Any, names: Any) -> Bags:
    known = KnownKeys()
    keys = known.of(names)[_among(numbers, len(names), "items of sets")]
    starts = _cut(starts, keys.size, "sets")
    counts = np.asarray(counts, dtype=np.float64)
    whole = counts.shape == keys.shape and ((counts >= 1) & (counts <= _LARGEST) & (counts == np.floor(counts))).all()
    owners = np.repeat(np.arange(starts.size - 1), np.diff(starts))
    order = np.lexsort((keys, owners))
    twice = (keys[order][1:] == keys[order][:-1]) & (owners[order][1:] == owners[order][:-1])
    if not whole or twice.any():
        raise ValueError("its counts of items do not fit its sets")
    return Bags(Counts(starts, keys, counts), {key: name for name, key in known.items()})


def _graphs(node_starts: Any, edges: Any, node_labels: Any, edge_labels: Any, names: Any) -> Graphs:
    total = np.asarray(node_labels).size
    node_starts = _cut(node_starts, total, "graphs")
    edges = _among(edges, total, "edges")
    if edges.ndim != 2 or edges.shape[1] != 2:
        raise ValueError("its edges are no pairs of nodes")
    graph = np.searchsorted(node_starts, edges, side="right")
    if (graph[:, 0] != graph[:, 1]).any():
        raise ValueError("its edges join different graphs")
    if np.asarray(edge_labels).shape != (len(edges),):
        raise ValueError("its edge labels do not fit its edges")
    return Graphs.from_edges(node_starts, edges, *(_named(labels, names) for labels in (node_labels, edge_labels)))


def _named(numbers: Any, names: Any) -> Array | None:
    """The labels of these numbers; ``None`` where nothing is labelled."""
    if (np.asarray(numbers) == -1).all():
        return None
    known = np.empty(len(names), dtype=object)
    known[:] = names
    return known[_among(numbers, len(names), "labels")]


def _categories(codes: Any, levels: list[Any]) -> Categories:
    codes = np.asarray(codes)
    if codes.ndim != 2 or codes.shape[1] != len(levels) or not levels:
        raise ValueError("its categories do not fit its columns")
    tables: list[dict[Any, int]] = []
    for column, names in zip(codes.T, levels, strict=True):
        _among(column, len(names), "categories")
        tables.append({name: number for number, name in enumerate(names)})
        if len(tables[-1]) != len(names):
            raise ValueError("it names a category twice")
    return Categories(codes.astype(np.int32), tables)


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
        raise DataError(
            f"the kernel {str(kernel)[:60]} has no text form, so a model with it cannot be saved; write its functions "
            f"as classes {guide('new kernel')}, or pickle the model."
        )
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


# The bytes of a model file: a safetensors file whose metadata are a text, a checksum and perhaps a signature.
#
#     8 bytes                 the length of the header, the least significant byte first
#     header                  JSON: {"__metadata__": {"mercer": text, "sha256": …},
#                             name: {dtype, shape, data_offsets}, …}
#     the numbers of all arrays
#
# The checksum is over the text and, in the order of their names, over every array with its name, dtype and shape. It
# tells damage, not forgery: whoever changes a file on purpose can compute it anew. Only a signature tells who wrote it.


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
