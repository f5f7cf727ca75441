"""How LIBSVM lays out a model: rows with coefficients, and a sum that each pair of classes reads off them.

For classes i < j in the order of its labels, LIBSVM decides by

    Σ coef[j − 1]·k(x, z) over the rows z of class i  +  Σ coef[i]·k(x, z) over those of class j  −  rho,

positive for i. A machine of a pair is positive for its second class here, so signs are turned round. Where rows do not
belong to classes that way (weights of a linear machine, landmarks), each pair has rows of its own, in its first class:
row z of the pair (i, j) has one coefficient, at j − 1, which no other pair reads.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.preprocessing import MinMaxScaler
from sklearn.utils.validation import check_is_fitted

from ..calibration import Calibrated, SigmoidMap
from ..composition import layers, machine_of, steps_before
from ..estimators import (
    SVC,
    SVR,
    Classifier,
    KernelMachine,
    KernelModel,
    LinearModel,
    NoveltyMachine,
    NuSVC,
    NuSVR,
    OneClassSVM,
    Regressor,
    laid_out,
)
from ..io import DataError, as_text, raw_bytes
from ..kernels import Gaussian, Kernel, Linear, Polynomial, Precomputed, Sigmoid
from ..kernels import Linear as LinearKernel
from ..runtime import Array
from .computation import Clipped, Filled, KernelSum, Numbers, Picked, Scaled, leaves_of, nodes_of
from .computation import Linear as LinearNode
from .computed import computed


@dataclass(frozen=True)
class Layout:
    """Which of the rows are written in which order, their coefficients, and how many are of each class."""

    rows: Array
    coef: Array
    counts: Array


def pairs_layout(coef: Array, counts: Array | None) -> Layout:
    """The layout of machines for pairs of classes, whose coefficients are positive for the second class of a pair.

    ``counts`` say how many rows are of each class, one class after the other, where rows belong to classes.

    Examples
    --------
    >>> import numpy as np
    >>> pairs_layout(np.array([[2.0, -1.0]]), np.array([1, 1]))
    Layout(rows=array([0, 1]), coef=array([[-2.,  1.]]), counts=array([1, 1]))
    """
    pairs, rows = coef.shape
    classes = int((1 + np.sqrt(1 + 8 * pairs)) / 2)
    if counts is not None and counts.size == classes and counts.sum() == rows:
        codes = np.repeat(np.arange(classes), counts)
        laid = -coef if classes == 2 else laid_out(coef, codes, classes)
        if np.array_equal(pair_coefficients(laid, counts), coef):
            return Layout(np.arange(rows), laid, counts)
    places, columns, sizes = [], [], np.zeros(classes, np.int64)
    for machine, (first, second) in enumerate(combinations(range(classes), 2)):
        own = np.flatnonzero(coef[machine])
        column = np.zeros((classes - 1, own.size))
        column[second - 1] = -coef[machine, own]
        places.append(own)
        columns.append(column)
        sizes[first] += own.size
    return Layout(np.concatenate(places), np.hstack(columns), sizes)


def pair_coefficients(laid: Array, counts: Array) -> Array:
    """The coefficients of each pair's machine, positive for its second class, from LIBSVM's layout.

    Examples
    --------
    >>> import numpy as np
    >>> pair_coefficients(np.array([[-2.0, 1.0]]), np.array([1, 1]))
    array([[ 2., -1.]])
    """
    ends = np.cumsum([0, *counts])
    pairs = list(combinations(range(len(counts)), 2))
    out = np.zeros((len(pairs), laid.shape[1]))
    for machine, (first, second) in enumerate(pairs):
        one, other = slice(ends[first], ends[first + 1]), slice(ends[second], ends[second + 1])
        out[machine, one] = 0.0 - laid[second - 1, one]
        out[machine, other] = 0.0 - laid[first, other]
    return out


# The file in which LIBSVM's svm-scale keeps how it scales columns, as a step before a machine.
#
# Its lines are ``x``, the ends ``low high`` that columns are brought to, and ``feature least largest`` for each. A
# feature that it does not name had one value only, and svm-scale leaves it out of every row: it becomes 0.


#: Such files have a line for each feature.
_LARGEST = 10**9


def read_range(path: str | Path, n_features: int) -> MinMaxScaler:
    """The scaling of rows with so many features.

    Parameters
    ----------
    path : str or Path
        As ``svm-scale -s`` wrote it, or :func:`mercer.export` beside a model.
    n_features : int

    Returns
    -------
    MinMaxScaler, fitted

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "range"
    >>> _ = path.write_text("x\\n-1 1\\n1 0 10\\n")
    >>> read_range(path, 2).transform([[5.0, 7.0], [10.0, 8.0]])
    array([[0., 0.],
           [1., 0.]])
    """
    shown = repr(Path(path).name)
    lines = as_text(raw_bytes(str(path), _LARGEST, shown), shown).split("\n")
    try:
        if lines[0].strip() != "x":
            raise ValueError("it does not begin with x (labels that are scaled, y, are not for here)")
        low, high = (float(word) for word in lines[1].split())
        scale, least = np.zeros(n_features), np.zeros(n_features)
        for line in filter(str.strip, lines[2:]):
            feature, begin, end = line.split()
            place = int(feature) - 1
            if not 0 <= place < n_features:
                raise ValueError(f"it scales feature {feature[:20]}, and the model has {n_features}")
            scale[place] = (high - low) / (float(end) - float(begin))
            least[place] = low - float(begin) * scale[place]
        if not (low < high and np.isfinite([scale, least]).all()):
            raise ValueError("its ends are no finite numbers in increasing order")
    except (ValueError, IndexError, ZeroDivisionError, OverflowError) as error:
        raise DataError(f"{shown} is no file of svm-scale: {str(error)[:150]}.") from None
    step = MinMaxScaler(feature_range=(low, high))
    step.scale_, step.min_ = scale, least
    step.n_features_in_, step.n_samples_seen_ = n_features, 1
    step.data_min_, step.data_max_, step.data_range_ = (np.zeros(n_features) for _ in range(3))
    return step


# Models that LIBSVM has written, as machines of mercer that predict the same.


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
        return _machine_read(text, n_features)
    except DataError:
        raise
    except (ValueError, OverflowError, KeyError) as error:
        raise DataError(f"{shown} is no whole model of LIBSVM: {str(error)[:150].rstrip('.')}.") from None


def _machine_read(text: str, n_features: int | None) -> Any:
    """The machine of a text; whatever is wrong with it is a ``ValueError``."""
    lines = text.splitlines()
    head = _head(lines)
    svm, kernel = _known(head, "svm_type", _MACHINES), _kernel(head)
    cls, classes = _MACHINES[svm], _whole(head, "nr_class", 2, _MOST_CLASSES)
    count = _whole(head, "total_sv", 0, len(lines))
    labelled = svm in ("c_svc", "nu_svc")
    coef, rows = _rows_read(lines[lines.index("SV") + 1 :], count, classes - 1 if labelled else 1, kernel, n_features)
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


def _rows_read(lines: list[str], count: int, width: int, kernel: Kernel, n_features: int | None) -> tuple[Array, Any]:
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


# A fitted model in the text format of LIBSVM.
#
# The format has room for a machine, not for the steps before it. Steps that change nothing in whole rows (columns that
# are chosen, gaps that would be filled) are left out; where rows are scaled column by column, a second file tells
# LIBSVM's svm-scale how.


_PARAMETERS = {
    LinearKernel: ("linear", ()),
    Polynomial: ("polynomial", ("degree", "gamma", "coef0")),
    Gaussian: ("rbf", ("gamma",)),
    Sigmoid: ("sigmoid", ("gamma", "coef0")),
    Precomputed: ("precomputed", ()),
}


def libsvm_files(model: Any) -> tuple[dict[str, str], list[str]]:
    """The files of a model by what is added to their name, and what is to be said about them.

    Examples
    --------
    >>> from mercer import SVC
    >>> print(libsvm_files(SVC("linear", C=10).fit([[0.0], [2.0]], [-1, 1]))[0][""])
    svm_type c_svc
    kernel_type linear
    nr_class 2
    total_sv 1
    rho -1
    label -1 1
    nr_sv 1 0
    SV
    -1 1:1
    <BLANKLINE>
    """
    machine = _machine(model)
    _refuse_layers(model)
    kernel_lines = _kernel_lines(machine.kernel_)
    scaling, notes = _preparation(model)
    head, layout, more = _classes(machine, model) if isinstance(machine, Classifier) else _one_sum(machine)
    lines = [head[0], *kernel_lines, f"nr_class {len(layout.counts) or 2}", f"total_sv {layout.coef.shape[1]}"]
    lines += [*head[1:], "SV", *_rows(machine._model, layout)]
    files = {"": "\n".join(lines) + "\n"}
    if scaling is not None:
        files[".range"] = scaling
        notes.append("the model takes scaled rows, which svm-scale -r makes with the .range file beside it")
    return files, [*notes, *more]


def _machine(model: Any) -> Any:
    machine = machine_of(model)
    if not isinstance(machine, KernelMachine):
        raise DataError(f"a {type(machine).__name__} cannot be exported; machines of mercer can.")
    try:
        check_is_fitted(machine, "_model")
    except NotFittedError:
        raise DataError(f"{type(machine).__name__} is not fitted yet; only fitted models can be exported.") from None
    return machine


# -- what there is no room for ------------------------------------------------------------------------------------


def _refuse_layers(model: Any) -> None:
    for layer in layers(model):
        if isinstance(layer, Calibrated) and not all(isinstance(each, SigmoidMap) for each in layer.maps_):
            raise DataError(
                f"LIBSVM's format has probabilities by a sigmoid alone, and these are by {layer.method}; use "
                "method='sigmoid', or export to onnx, c or python."
            )
        if isinstance(layer, Calibrated) and (layer.costs is not None or not _in_pairs(layer)):
            raise DataError(
                "LIBSVM's format has probabilities of pairs of classes and no costs; calibrate SVC(strategy='ovo') "
                "without costs, or export to onnx, c or python."
            )
        if hasattr(layer, "best_threshold_"):
            raise DataError("LIBSVM's format has no threshold but zero; export to onnx, c or python.")


def _in_pairs(model: Calibrated) -> bool:
    return model.pairs_ or len(model.classes_) == 2


def _preparation(model: Any) -> tuple[str | None, list[str]]:
    """The scaling of rows for svm-scale, where there is any, and which feature each column is.

    Refused, where steps do something else to whole rows.
    """
    if not steps_before(model):
        return None, []
    computation = computed(model)
    scores = next(node for node in nodes_of([computation.scores]) if isinstance(node, (KernelSum, LinearNode)))
    rows = scores.source if isinstance(scores, LinearNode) else leaves_of(scores.formula)[0].rows  # type: ignore[union-attr]
    if machine_of(model).kernel_.precomputed and isinstance(rows, Picked):
        rows = rows.source  # the columns of support rows
    found: list[Scaled] = []
    drawn_in = False
    while not isinstance(rows, Numbers):
        drawn_in |= isinstance(rows, Clipped)
        if isinstance(rows, Scaled):
            found.append(rows)
        elif not isinstance(rows, (Filled, Clipped)):
            raise DataError(
                "LIBSVM's format has no room for the steps before the machine, only for columns that are scaled; "
                "export to onnx, c or python."
            )
        rows = rows.source
    named = ", ".join(f"{k} is {computation.columns[place].name!r}" for k, place in enumerate(rows.places[:20], 1))
    notes = [f"features go by number: {named}{', and so on' if rows.width > 20 else ''}"]
    if drawn_in:
        notes.append("values outside those of the training rows are drawn in by the model, and not by svm-scale")
    if not found:
        return None, notes
    # x·times + shift, as svm-scale writes it: −1 + 2·(x − low)/(high − low).
    times, shift = np.ones(rows.width), np.zeros(rows.width)
    for step in reversed(found):
        times, shift = times * step.times, (shift - step.minus) * step.times + step.plus
    low = -(shift + 1) / times
    ranges = [f"{k} {_digits(a)} {_digits(a + 2 / t)}" for k, (a, t) in enumerate(zip(low, times, strict=True), 1)]
    return "\n".join(["x", "-1 1", *ranges]) + "\n", notes


def _kernel_lines(kernel: Kernel) -> list[str]:
    if type(kernel) not in _PARAMETERS:
        raise DataError(
            f"LIBSVM knows no kernel {kernel}, only linear, polynomial, gaussian, sigmoid and precomputed; export to "
            "onnx, c or python."
        )
    name, parameters = _PARAMETERS[type(kernel)]
    return [f"kernel_type {name}", *(f"{each} {_digits(getattr(kernel, each))}" for each in parameters)]


# -- machines -----------------------------------------------------------------------------------------------------


def _classes(machine: Classifier, model: Any) -> tuple[list[str], Layout, list[str]]:
    """Lines of the head, the layout of the rows, and notes, of a classifier."""
    labels = machine.classes_.tolist()
    if machine.multilabel_:
        raise DataError("LIBSVM's format has one class for each row, and this model many labels; export to onnx or c.")
    if len(labels) > 2 and not getattr(machine, "_votes", False):
        raise DataError(
            f"LIBSVM decides between {len(labels)} classes by machines of pairs, and {type(machine).__name__} has one "
            "for each class; train SVC(strategy='ovo'), or export to onnx, c or python."
        )
    if getattr(machine, "variant", None) == "voted":
        raise DataError("LIBSVM's format has no votes along a path; use variant='averaged', or export to c or python.")
    weights = machine._model
    counts = None if isinstance(weights, LinearModel) else getattr(machine, "n_support_", None)
    layout = pairs_layout(np.eye(len(weights.coef)) if isinstance(weights, LinearModel) else weights.coef, counts)
    numbers, notes = _numbered(labels)
    svm = "nu_svc" if isinstance(machine, NuSVC) else "c_svc"
    head = [f"svm_type {svm}", f"rho {_joined(weights.intercept)}", f"label {' '.join(map(str, numbers))}"]
    calibrated: Any = next((layer for layer in layers(model) if isinstance(layer, Calibrated)), None)
    if calibrated is not None:
        # p(second) = 1/(1 + exp(−(slope·f + level))), and LIBSVM's p(first) = 1/(1 + exp(A·(−f) + B)) is the rest.
        head.append(f"probA {_joined([-each.slope for each in calibrated.maps_])}")
        head.append(f"probB {_joined([each.intercept for each in calibrated.maps_])}")
        notes.append("svm-predict -b 1 answers by probabilities, as the model does")
    if len(labels) > 2:
        notes.append("where classes win as many pairs, LIBSVM answers the first of them, mercer the one by more")
    return [*head, f"nr_sv {' '.join(map(str, layout.counts))}"], layout, notes


def _numbered(labels: list[Any]) -> tuple[list[int], list[str]]:
    """Labels are whole numbers in LIBSVM; others get numbers from 0."""
    fit = all(isinstance(label, int) and not isinstance(label, bool) and abs(label) < 2**31 for label in labels)
    if fit:
        return labels, []
    whole = all(isinstance(label, float) and label == int(label) and abs(label) < 2**31 for label in labels)
    if whole:
        return [int(label) for label in labels], []
    names = ", ".join(f"{place} is {label!r}" for place, label in enumerate(labels))
    return list(range(len(labels))), [f"labels are whole numbers in LIBSVM: {names}"]


def _one_sum(machine: Any) -> tuple[list[str], Layout, list[str]]:
    """As of a classifier, of a machine with one score that is none."""
    model = machine._model
    if len(model.intercept) != 1:
        raise DataError(f"LIBSVM predicts one number a row, {type(machine).__name__} several; export to onnx or c.")
    coef = np.ones((1, 1)) if isinstance(model, LinearModel) else model.coef
    rho = -float(model.intercept[0])
    times, own, plus = machine.decision_terms
    if own and not isinstance(machine.kernel_, Gaussian):
        raise DataError("LIBSVM has a ball only where it is a half space, with the gaussian; export to onnx or c.")
    coef, rho = times * coef, times * rho - own - plus  # k(x, x) = 1
    if isinstance(machine, NoveltyMachine):
        svm = "one_class"
    elif isinstance(machine, Regressor):
        svm = "nu_svr" if isinstance(machine, NuSVR) else "epsilon_svr"
    else:
        raise DataError(f"LIBSVM has no machine like {type(machine).__name__}; export to onnx, c or python.")
    return [f"svm_type {svm}", f"rho {_digits(rho)}"], Layout(np.arange(coef.shape[1]), coef, np.zeros(0)), []


# -- rows ---------------------------------------------------------------------------------------------------------


def _rows(model: Any, layout: Layout) -> list[str]:
    """A line for each row: its coefficients, then its numbers that are not zero, counted from 1."""
    coefficients = [_joined(column) for column in layout.coef.T]
    if isinstance(model, LinearModel):
        items: Any = model.coef
    elif model.items is None:
        return [f"{coef} 0:{model.support[place] + 1}" for coef, place in zip(coefficients, layout.rows, strict=True)]
    else:
        items = model.items
    found = sparse.csr_array(items)
    lines = []
    for coef, place in zip(coefficients, layout.rows, strict=True):
        own = slice(found.indptr[place], found.indptr[place + 1])
        order = np.argsort(found.indices[own], kind="stable")
        numbers = zip(found.indices[own][order].tolist(), found.data[own][order].tolist(), strict=True)
        lines.append(" ".join([coef, *(f"{k + 1}:{_digits(value)}" for k, value in numbers)]))
    return lines


def _digits(value: Any) -> str:
    return f"{float(value):.17g}" if not isinstance(value, (int, np.integer)) else str(int(value))


def _joined(values: Any) -> str:
    return " ".join(map(_digits, values))
