"""Models that LIBSVM has written, as machines of mercer that predict the same."""

from __future__ import annotations

import math
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from .._runtime.compile import Array
from ..estimators import SVC, SVR, NuSVC, NuSVR, OneClassSVM
from ..estimators.model import KernelModel, LinearModel
from ..estimators.pair_votes import laid_out
from ..io.sources import as_text, raw_bytes
from ..io.table import DataError
from ..kernels import Gaussian, Kernel, Linear, Polynomial, Precomputed, Sigmoid
from .libsvm_layout import pair_coefficients

__all__ = ["read_libsvm"]

_MACHINES = {"c_svc": SVC, "nu_svc": NuSVC, "one_class": OneClassSVM, "epsilon_svr": SVR, "nu_svr": NuSVR}
_KERNELS: dict[str, tuple[Any, tuple[str, ...]]] = {
    "linear": (Linear, ()),
    "polynomial": (Polynomial, ("degree", "coef0", "gamma")),
    "rbf": (Gaussian, ("gamma",)),
    "sigmoid": (Sigmoid, ("gamma", "coef0")),
    "precomputed": (Precomputed, ()),
}
_WORDS = ("svm_type", "kernel_type", "degree", "gamma", "coef0", "nr_class", "total_sv", "rho", "label", "probA",
          "probB", "prob_density_marks", "nr_sv")  # fmt: skip
#: More classes than LIBSVM's pairs have room for in memory.
_MOST_CLASSES = 2000
#: Features are counted by a 32-bit number; as many of all rows together may stand in a dense array.
_MOST_FEATURES, _MOST_NUMBERS = 2**31 - 2, 20_000_000


def read_libsvm(path: str | Path, n_features: int | None = None, max_bytes: int = 4 * 10**9) -> Any:
    """The model in a file of LIBSVM (``svm_save_model``, ``svm-train``), as a fitted machine.

    Parameters
    ----------
    path : str or Path
    n_features : int, optional
        How many columns rows have; by default as many as the largest number of a feature in the file says.
    max_bytes : int, default=4·10⁹

    Returns
    -------
    SVC, NuSVC, OneClassSVM, SVR or NuSVR
        With decision values as LIBSVM has them, but for signs: here they are positive for the second of two classes.
        Where several classes win as many pairs, LIBSVM answers the first of them and mercer the one by more. What the
        file says about probabilities is left out.

    Raises
    ------
    DataError
        Where the file is damaged, or no model of LIBSVM.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> from mercer import SVC
    >>> from mercer.exports import export, read_libsvm
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "xor.libsvm"
    >>> _ = export(SVC("rbf", C=10).fit([[0, 0], [0, 1], [1, 0], [1, 1]], [-1, 1, 1, -1]), path, to="libsvm")
    >>> read_libsvm(path).predict([[0, 1], [1, 1]]).tolist()
    [1, -1]
    """
    shown = repr(Path(path).name)
    text = as_text(raw_bytes(str(path), max_bytes, shown), shown)
    try:
        return _machine(text, n_features)
    except DataError:
        raise
    except (ValueError, OverflowError, KeyError) as error:
        raise DataError(f"{shown} is no whole model of LIBSVM: {str(error)[:150].rstrip('.')}.") from None


def _machine(text: str, n_features: int | None) -> Any:
    """The machine of a text; whatever is wrong with it is a ``ValueError``."""
    lines = text.splitlines()
    head = _head(lines)
    svm, kernel = _known(head, "svm_type", _MACHINES), _kernel(head)
    cls, classes = _MACHINES[svm], _whole(head, "nr_class", 2, _MOST_CLASSES)
    count = _whole(head, "total_sv", 0, len(lines))
    labelled = svm in ("c_svc", "nu_svc")
    coef, rows = _rows(lines[lines.index("SV") + 1 :], count, classes - 1 if labelled else 1, kernel, n_features)
    attributes: dict[str, Any] = {}
    if labelled:
        labels = np.array([_integer(word, "a label") for word in _several(head, "label", classes)])
        counts = np.array([_integer(word, "nr_sv") for word in _several(head, "nr_sv", classes)])
        if len(set(labels.tolist())) < classes or counts.min() < 0 or counts.sum() != count:
            raise ValueError("its labels or numbers of rows do not fit together")
        coef, plus, rows, counts = _in_order(coef, _numbers(head, "rho", classes * (classes - 1) // 2), rows, labels,
                                             counts)  # fmt: skip
        attributes["classes_"] = np.sort(labels)
        attributes["n_support_"] = counts
    else:
        plus = -_numbers(head, "rho", 1)
        if svm == "one_class":
            attributes["offset_"] = -float(plus[0])
    return _fitted(cls, kernel, coef, plus, rows, attributes, n_features)


# -- the head -----------------------------------------------------------------------------------------------------


def _head(lines: list[str]) -> dict[str, list[str]]:
    """The words of each line before the rows."""
    found: dict[str, list[str]] = {}
    for line in lines:
        if line == "SV":
            return found
        word, *values = line.split()[: 2 + _MOST_CLASSES**2] or [""]
        if word not in _WORDS:
            raise ValueError(f"there is no {word[:40]!r} in such files")
        if word in found:
            raise ValueError(f"it says {word} twice")
        found[word] = values
    raise ValueError("its rows are missing")


def _several(head: dict[str, list[str]], word: str, count: int) -> list[str]:
    values = head.get(word)
    if values is None or len(values) != count:
        raise ValueError(f"{word} should have {count} values, it has {0 if values is None else len(values)}")
    return values


def _known(head: dict[str, list[str]], word: str, names: Any) -> str:
    (value,) = _several(head, word, 1)
    if value not in names:
        raise ValueError(f"{word} {value[:40]!r} is not known; {', '.join(names)} are")
    return value


def _integer(word: str, what: str) -> int:
    if not word.lstrip("-").isdecimal() or len(word) > 12 or not word.isascii():
        raise ValueError(f"{what} is {word[:40]!r}, which is no whole number")
    return int(word)


def _whole(head: dict[str, list[str]], word: str, low: int, high: int) -> int:
    value = _integer(_several(head, word, 1)[0], word)
    if not low <= value <= high:
        raise ValueError(f"{word} is {value}, which is not between {low} and {high}")
    return value


def _number(word: str, what: str) -> float:
    try:
        value = float(word) if "_" not in word else math.nan
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise ValueError(f"{what} is {word[:40]!r}, which is no finite number")
    return value


def _numbers(head: dict[str, list[str]], word: str, count: int) -> Array:
    return np.array([_number(value, word) for value in _several(head, word, count)])


def _kernel(head: dict[str, list[str]]) -> Kernel:
    cls, parameters = _KERNELS[_known(head, "kernel_type", _KERNELS)]
    named: dict[str, Any] = {name: float(_numbers(head, name, 1)[0]) for name in parameters}
    if "degree" in named:
        named["degree"] = _whole(head, "degree", 1, 100)
    kernel: Kernel = cls(**named)
    kernel.check()
    return kernel


# -- the rows -----------------------------------------------------------------------------------------------------


def _rows(lines: list[str], count: int, width: int, kernel: Kernel, n_features: int | None) -> tuple[Array, Any]:
    """Coefficients, a line for each score, and the rows: numbers, or the places of training rows."""
    while lines and not lines[-1].strip():
        lines.pop()
    if len(lines) != count:
        raise ValueError(f"it should have {count} rows, it has {len(lines)}")
    coef = np.empty((width, count))
    indices, values, ends = [], [], [0]
    for row, line in enumerate(lines):
        words = line.split()
        if len(words) < width:
            raise ValueError(f"row {row + 1} has {len(words)} coefficients, {width} are needed")
        coef[:, row] = [_number(word, f"a coefficient of row {row + 1}") for word in words[:width]]
        last = -1
        for word in words[width:]:
            index, colon, value = word.partition(":")
            place = _integer(index, f"a feature of row {row + 1}")
            if not colon or not last < place <= _MOST_FEATURES:
                raise ValueError(f"row {row + 1} has {word[:40]!r}; features are NUMBER:VALUE in increasing order")
            indices.append(place)
            values.append(_number(value, f"feature {place} of row {row + 1}"))
            last = place
        ends.append(len(indices))
    if kernel.precomputed:
        return coef, _serials(indices, values, ends)
    if indices and min(indices) < 1:
        raise ValueError("features are counted from 1")
    largest = max(indices, default=0)
    if n_features is not None and n_features < largest:
        raise DataError(f"the model has a feature {largest}, more than n_features={n_features}; give as many or none.")
    shape = (count, max(1, n_features or largest))
    rows = sparse.csr_array((np.array(values), np.array(indices, np.int64) - 1, np.array(ends)), shape=shape)
    return coef, rows.toarray() if shape[0] * shape[1] <= _MOST_NUMBERS else rows


def _serials(indices: list[int], values: list[float], ends: list[int]) -> Array:
    """Places of training rows, from their numbers behind feature 0."""
    first = np.array(ends[:-1], np.int64)
    if any(np.diff(ends) < 1) or any(indices[place] != 0 for place in first):
        raise ValueError("rows of a precomputed kernel begin with 0:NUMBER")
    serial = np.array([values[place] for place in first])
    if (serial < 1).any() or (serial != np.floor(serial)).any() or (serial > _MOST_FEATURES).any():
        raise ValueError("numbers of training rows are whole and at least 1")
    return serial.astype(np.int64) - 1


def _in_order(coef: Array, rho: Array, rows: Any, labels: Array, counts: Array) -> tuple[Array, Array, Any, Array]:
    """Machines of pairs in the order of sorted labels, each positive for its second class; rows class by class."""
    of_pairs, order = pair_coefficients(coef, counts), np.argsort(labels)
    rank = np.argsort(order)
    pairs = {pair: place for place, pair in enumerate(combinations(range(labels.size), 2))}
    z, plus = np.zeros_like(of_pairs), np.zeros(len(rho))
    for (first, second), place in pairs.items():
        a, b = rank[first], rank[second]
        sign = 1.0 if a < b else -1.0
        z[pairs[min(a, b), max(a, b)]] = sign * of_pairs[place]
        plus[pairs[min(a, b), max(a, b)]] = sign * rho[place]
    ends = np.cumsum([0, *counts])
    moved = np.concatenate([np.arange(ends[k], ends[k + 1]) for k in order])
    return z[:, moved], plus, rows[moved], counts[order]


def _fitted(cls: Any, kernel: Kernel, coef: Array, plus: Array, rows: Any, attributes: dict[str, Any],
            n_features: int | None) -> Any:  # fmt: skip
    """The machine."""
    count = coef.shape[1]
    model: LinearModel | KernelModel
    if kernel.precomputed:
        attributes["n_features_in_"] = max(n_features or 0, int(rows.max(initial=0)) + 1)
        model = KernelModel(kernel, rows, None, coef, plus)
    else:
        attributes["n_features_in_"] = rows.shape[1]
        if isinstance(kernel, Linear):
            model = LinearModel(np.asarray(coef @ rows), plus)
        else:
            model = KernelModel(kernel, np.arange(count), rows, coef, plus)
    if "classes_" in attributes and len(plus) > 1:  # as in scikit-learn, a pair speaks for its first class
        codes = np.repeat(np.arange(attributes["classes_"].size), attributes["n_support_"])
        attributes |= {"dual_coef_": laid_out(coef, codes, attributes["classes_"].size), "intercept_": 0.0 - plus}
        attributes |= {"coef_": 0.0 - model.coef} if isinstance(model, LinearModel) else {}
    strategy = {"strategy": "ovo"} if "classes_" in attributes else {}
    return cls.from_fitted_state(
        {"parameters": {"kernel": kernel, **strategy}, "attributes": attributes, "model": model}
    )
