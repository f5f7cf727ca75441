"""Model files that somebody made on purpose: whole by their checksum, and wrong in what they hold."""

from __future__ import annotations

import copy
import hashlib
import json
from typing import Any

import numpy as np
from safetensors.numpy import load, save

__all__ = ["TEXTS", "forged", "parts_of", "sealed"]

#: Kernels that would take for ever, or more memory than there is, or are none.
TEXTS = [
    "polynomial(degree=1000000000)", "polynomial(degree=1000)", "linear**1000000000", "(linear**100)**100",
    "linear**100",
    "weisfeilerlehman(h=1000000000)", "weisfeilerlehman(h=1000)", "spectrum(p=1000000000)", "spectrum(p=(1,1000000))",
    "spectrum(p=(1,1000))", "subsequence(k=1000000000)", "subsequence(k=1000)", "mismatch(k=1000,m=999)",
    "mismatch(k=30,m=15)", "mismatch(k=12,m=5,alphabet='ABCDEFGHIJKLMNOPQRSTUVWXYZ')", "graphlet(size=1000000)",
    "weighteddegree(k=1000000000)", "weighteddegree(k=1000)", "matern(nu=1e300)", "matern(nu=29.9,length=1e-300)",
    "gaussian(gamma=1e300)", "gaussian(gamma=1e-320)", "gaussian", "1e300*linear", "1e-320*gaussian(gamma=1)",
    "quadratic([[1,2],[3,4]])", "quadratic([[1e308,0,0],[0,1e308,0],[0,0,1e308]])", "sigmoid(gamma=1e308,coef0=1e308)",
    "mixture(" + ",".join(["gaussian(gamma=1)"] * 99) + ")", "+".join(["linear"] * 90), "*".join(["linear"] * 90),
    "mixture(linear,weights=[1e308],scales=[1e-308])", "mixture(linear,weights=[1],scales=[0])", "precomputed",
    "normalised(" * 50 + "linear" + ")" * 50, "randomwalk(decay=1e300)", "randomwalk(decay=0.9999999)",
    "localalignment(match=1e300)", "localalignment(gap_open=1e-300,gap_extend=1e-300)", "linear.on(1000000000000)",
    "gaussian(gamma=1).on('nowhere')", "equal.on('job')", "hamming.on(0)", "__import__('os').system('id')",
    "function(1)", "conformal(1)", "after(1,linear)", "kernel", "", "(" * 500, "linear\x1b[31m", "spectrum(p=0)",
    "shortestpath",
    "minmax", "tanimoto", "subsets", "diffusion((1000000000,[]))",
]  # fmt: skip
_SCALARS: list[Any] = [
    None, True, False, -1, 0, 1, 3, 2**31, 2**53, 2**63, 10**400, -(10**400), 1.5, -0.0, 1e308, -1e308, 5e-324, "", "x",
    "nan", "passthrough", "drop", "\x1b[31mred", "x" * 5000, [], {}, [[]], {"number": "nan"}, {"number": "inf"},
    {"number": "-inf"}, {"tuple": []}, {"pairs": []}, {"words": [], "fixed": True}, {"words": [None]},
    {"labels": [1, "a"]}, {"words": ["a", "a"], "fixed": False}, {"bytes": "ff"}, {"set": [1]}, {"kernel": "linear"},
    {"object": "SVC", "fields": {}},
    {"loss": "hinge", "parameters": {"pairs": []}}, {"loss": "huber", "parameters": {"pairs": [["delta", -1]]}},
]  # fmt: skip
_DTYPES = ["float16", "float32", "float64", "int8", "int32", "int64", "uint8", "uint64", "bool"]
_VALUES = [np.nan, np.inf, -np.inf, 0, -1, 1, 1e308, -1e308, 1e-320, 2**31, 2**62, -(2**62)]


def parts_of(data: bytes) -> tuple[dict[str, Any], dict[str, Any]]:
    """The JSON value and the arrays of a file."""
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    return json.loads(header["__metadata__"]["mercer"]), {name: each.copy() for name, each in load(data).items()}


def sealed(content: Any, arrays: dict[str, Any]) -> bytes:
    """A file with a right checksum, by its definition."""
    text = content if isinstance(content, str) else json.dumps(content)
    digest = hashlib.sha256(text.encode("utf-8", "surrogatepass"))
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        digest.update(f"\n{name} {array.dtype.str} {array.shape}\n".encode() + array.tobytes())
    return save({name: np.ascontiguousarray(each) for name, each in arrays.items()},
                metadata={"mercer": text, "sha256": digest.hexdigest()})  # fmt: skip


def forged(data: bytes, random: np.random.Generator, kinds: list[str]) -> bytes:
    """A file of which some things are other than they were, or should be."""
    content, arrays = parts_of(data)
    before = json.dumps(content)
    for _ in range(int(random.choice([1, 1, 1, 2, 3, 6]))):
        _pick(random, [_change_node, _change_array])(content, arrays, random, kinds)
    if random.random() < 0.1:
        _nest(content, random)
    if json.dumps(content) == before and not arrays:
        content["model"] = None
    return sealed(content, arrays)


def _pick(random: np.random.Generator, options: list[Any]) -> Any:
    return options[int(random.integers(len(options)))]


def _places(node: Any) -> list[tuple[Any, Any]]:
    """Every place in a JSON value: the container, and the key or position in it."""
    found, waiting = [], [node]
    while waiting:
        here = waiting.pop()
        keys = list(here) if isinstance(here, dict) else range(len(here)) if isinstance(here, list) else []
        for key in keys:
            found.append((here, key))
            waiting.append(here[key])
    return found


def _change_node(content: Any, arrays: dict[str, Any], random: np.random.Generator, kinds: list[str]) -> None:
    places = _places(content["model"]) if isinstance(content.get("model"), dict) else []
    if not places or random.random() < 0.03:
        content[_pick(random, ["format", "about", "mercer", "model"])] = copy.deepcopy(_pick(random, _SCALARS))
        return
    here, key = _pick(random, places)
    value = here[key]
    if isinstance(value, str) and random.random() < 0.6:
        telling = key == "kernel" or "(" in value
        here[key] = _pick(random, TEXTS) if telling else _pick(random, kinds) if key == "object" else value[::-1]
        return
    kind = int(random.integers(8))
    other_here, other_key = _pick(random, places)
    if kind == 0 and isinstance(here, dict):
        del here[key]
    elif kind == 1 and isinstance(here, list):
        here.insert(key, copy.deepcopy(value))
    elif kind == 2 and isinstance(here, list):
        here.pop(key)
    elif kind == 3:
        here[key] = copy.deepcopy(other_here[other_key])
    elif kind == 4:
        here[key], other_here[other_key] = copy.deepcopy(other_here[other_key]), copy.deepcopy(value)
    elif kind == 5 and isinstance(here, dict):
        here[_pick(random, ["object", "fields", "predict_", "__class__", "coef_", "classes_"])] = value
    elif kind == 6 and isinstance(value, (int, float)) and not isinstance(value, bool):
        here[key] = _pick(random, [value * 10**9, -value, value + 1, value - 1, float(value) / 3, 10**9])
    else:
        here[key] = copy.deepcopy(_pick(random, _SCALARS))


def _change_array(content: Any, arrays: dict[str, Any], random: np.random.Generator, kinds: list[str]) -> None:
    if not arrays:
        return
    name = _pick(random, sorted(arrays))
    array, kind = arrays[name], int(random.integers(11))
    with np.errstate(all="ignore"):
        if kind == 0:
            arrays[name] = array.astype(_pick(random, _DTYPES))
        elif kind == 1:
            arrays[name] = array[..., :-1] if array.ndim else array[None]
        elif kind == 2:
            arrays[name] = array.T if array.ndim > 1 else array[:, None] if array.ndim else array
        elif kind == 3:
            arrays[name] = np.repeat(array, 2, axis=0) if array.ndim else array
        elif kind == 4:
            arrays[name] = array[:0] if array.ndim else array
        elif kind == 5:
            arrays[name] = np.concatenate([array.ravel(), array.ravel()])[: max(1, array.size - 1)]
        elif kind == 6:
            del arrays[name]
        elif kind == 7:
            arrays[name] = arrays[_pick(random, sorted(arrays))]
        elif kind == 8:
            arrays[name] = random.permutation(array.ravel()).reshape(array.shape)
        elif array.size:
            changed = array.copy()
            some = int(random.integers(changed.size)) if kind == 9 else slice(None)
            changed.flat[some] = np.array(_pick(random, _VALUES)).astype(changed.dtype)
            arrays[name] = changed


def _nest(content: Any, random: np.random.Generator) -> None:
    """Steps inside steps, or lists inside lists."""
    depth = int(_pick(random, [1, 3, 7, 14, 30, 200]))
    if random.random() < 0.7:
        for _ in range(depth):
            inner = content["model"]
            content["model"] = {"object": "Pipeline", "fields": {"steps": [["a", inner]]}}
        return
    places = _places(content["model"]) if isinstance(content.get("model"), dict) else []
    if places:
        here, key = _pick(random, places)
        for _ in range(depth):
            here[key] = _pick(random, [[here[key]], {"tuple": [here[key]]}])
