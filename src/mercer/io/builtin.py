"""Tables that need no file."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..runtime.arrays import Array
from .assemble import Origin, assemble
from .table import DataError, Table

if TYPE_CHECKING:
    from .table import Options


@dataclass(frozen=True)
class Builtin:
    """A table that is built in. ``rows``: how many, unless asked for otherwise; ``None`` where that is fixed."""

    title: str
    rows: int | None
    make: Callable[[int | None], tuple[Any, Array, str]]


def _frame(X: Array, names: list[str]) -> Any:
    import pandas as pd

    return pd.DataFrame(X, columns=names)


def _margins(rows: int | None) -> tuple[Any, Array, str]:
    from ..datasets import make_margins

    X, y = make_margins(rows or 1000, random_state=0)
    return _frame(X, [f"x{k}" for k in range(1, 11)]), y, "y"


def _xor(rows: int | None) -> tuple[Any, Array, str]:
    from ..datasets import make_xor

    X, y = make_xor(rows or 1000, random_state=0)
    return _frame(X, ["x1", "x2"]), y, "same"


def _moons(rows: int | None) -> tuple[Any, Array, str]:
    from sklearn.datasets import make_moons

    X, y = make_moons(rows or 1000, noise=0.2, random_state=0)
    return _frame(X, ["x1", "x2"]), np.where(y == 1, "lower", "upper"), "moon"


def _circles(rows: int | None) -> tuple[Any, Array, str]:
    from sklearn.datasets import make_circles

    X, y = make_circles(rows or 1000, noise=0.1, factor=0.5, random_state=0)
    return _frame(X, ["x1", "x2"]), np.where(y == 1, "inner", "outer"), "circle"


def _breast_cancer(rows: int | None) -> tuple[Any, Array, str]:
    from sklearn.datasets import load_breast_cancer

    data = load_breast_cancer()
    return _frame(data.data, [str(n) for n in data.feature_names]), data.target_names[data.target], "diagnosis"


def _waves(rows: int | None) -> tuple[Any, Array, str]:
    from ..datasets import make_waves

    X, y = make_waves(rows or 600, random_state=0)
    return _frame(X, ["x1", "x2", "x3", "x4"]), y, "height"


def _diabetes(rows: int | None) -> tuple[Any, Array, str]:
    from sklearn.datasets import load_diabetes

    data = load_diabetes(scaled=False)
    return _frame(data.data, list(data.feature_names)), data.target, "progression"


def _digits(rows: int | None) -> tuple[Any, Array, str]:
    from sklearn.datasets import load_digits

    data = load_digits()
    return _frame(data.data, list(data.feature_names)), data.target, "digit"


#: Every built-in table, by name.
BUILTIN: dict[str, Builtin] = {
    "margins": Builtin("ten features, a cubic surface between two classes", 1000, _margins),
    "moons": Builtin("two half moons", 1000, _moons),
    "circles": Builtin("a circle inside another", 1000, _circles),
    "xor": Builtin("four clouds: is the sign of both features the same?", 1000, _xor),
    "breast_cancer": Builtin("569 tumours, 30 measurements, malignant or benign", None, _breast_cancer),
    "waves": Builtin("four features, the height of a choppy sea: numbers, not classes", 600, _waves),
    "diabetes": Builtin("442 patients, 10 measurements, the progression of a disease in numbers", None, _diabetes),
    "digits": Builtin("1797 pictures of 8 by 8 pixels, ten digits", None, _digits),
}  # fmt: skip


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
    frame, y, target = known.make(rows)
    digest = hashlib.sha256(np.ascontiguousarray(frame.to_numpy()).tobytes() + y.tobytes()).hexdigest()
    columns = {**{column: frame[column].to_numpy() for column in frame}, target: y}
    if options.target is None:
        options = replace(options, target=target)
    options = replace(options, kinds={**dict.fromkeys(frame, "number"), **options.kinds})
    return assemble(columns, Origin(repr(text), name, f"built in: {text}", digest), options)
