"""Tables that need no file."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import datasets
from ..runtime.arrays import Array
from .assemble import Origin, assemble
from .table import DataError, Options, Table

#: Rows, the names of their columns, targets, and what these are called.
Made = tuple[Array, list[str], Array, str]


@dataclass(frozen=True)
class Builtin:
    """A table that is built in. ``rows``: how many, unless asked for otherwise; ``None`` where that is fixed."""

    title: str
    rows: int | None
    make: Callable[[int | None], Made]


def _drawn(name: str, columns: list[str], target: str, labels: Sequence[str] | None = None, **options: Any) -> Any:
    """What draws rows by a generator of mercer's or scikit-learn's, whose classes get these labels."""

    def make(rows: int | None) -> Made:
        from sklearn import datasets as others

        X, y = (getattr(datasets, name, None) or getattr(others, name))(rows, random_state=0, **options)
        return X, columns, y if labels is None else np.array(labels)[y], target

    return make


def _loaded(name: str, target: str, **options: Any) -> Any:
    """What loads a data set of scikit-learn's."""

    def make(rows: int | None) -> Made:
        from sklearn import datasets as others

        data = getattr(others, name)(**options)
        y = data.target_names[data.target] if "target_names" in data else data.target
        return data.data, list(map(str, data.feature_names)), y, target

    return make


_MARGINS = _drawn("make_margins", [f"x{k}" for k in range(1, 11)], "y")
_MOONS = _drawn("make_moons", ["x1", "x2"], "moon", ("upper", "lower"), noise=0.2)
_CIRCLES = _drawn("make_circles", ["x1", "x2"], "circle", ("outer", "inner"), noise=0.1, factor=0.5)
_XOR = _drawn("make_xor", ["x1", "x2"], "same")
_WAVES = _drawn("make_waves", ["x1", "x2", "x3", "x4"], "height")
_TUMOURS = _loaded("load_breast_cancer", "diagnosis")
_DIABETES = _loaded("load_diabetes", "progression", scaled=False)
#: Every built-in table, by name.
BUILTIN: dict[str, Builtin] = {
    "margins": Builtin("ten features, a cubic surface between two classes", 1000, _MARGINS),
    "moons": Builtin("two half moons", 1000, _MOONS),
    "circles": Builtin("a circle inside another", 1000, _CIRCLES),
    "xor": Builtin("four clouds: is the sign of both features the same?", 1000, _XOR),
    "breast_cancer": Builtin("569 tumours, 30 measurements, malignant or benign", None, _TUMOURS),
    "waves": Builtin("four features, the height of a choppy sea: numbers, not classes", 600, _WAVES),
    "diabetes": Builtin("442 patients, 10 measurements, the progression of a disease in numbers", None, _DIABETES),
    "digits": Builtin("1797 pictures of 8 by 8 pixels, ten digits", None, _loaded("load_digits", "digit")),
}


def is_builtin(source: Any) -> bool:
    """Whether this names a built-in table."""
    return isinstance(source, str) and source.partition(":")[0] in BUILTIN


def builtin(text: str, options: Options) -> Table:
    """A built-in table by its name; generated ones take a number of rows after a colon.

    Examples
    --------
    >>> from mercer import read
    >>> read("xor:20").n_rows
    20
    """
    name, _, wanted = text.partition(":")
    known, rows = BUILTIN[name], None
    if wanted:
        if known.rows is None:
            raise DataError(f"the built-in table {name!r} has a fixed number of rows; write {name!r} alone.")
        if not wanted.isascii() or not wanted.isdigit() or not 1 <= int(wanted[:9]) <= 10_000_000:
            raise DataError(f"{text!r}: after the colon comes a number of rows up to 10 million, as in '{name}:500'.")
        rows = int(wanted)
    X, names, y, target = known.make(rows or known.rows)
    digest = hashlib.sha256(np.ascontiguousarray(X).tobytes() + y.tobytes()).hexdigest()
    columns = {**dict(zip(names, X.T, strict=True)), target: y}
    if options.target is None:
        options = replace(options, target=target)
    options = replace(options, kinds={**dict.fromkeys(names, "number"), **options.kinds})
    return assemble(columns, Origin(repr(text), name, f"built in: {text}", digest), options)
