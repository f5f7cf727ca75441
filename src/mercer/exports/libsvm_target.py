"""A fitted model in the text format of LIBSVM.

The format has room for a machine, not for the steps before it. Steps that change nothing in whole rows (columns that
are chosen, gaps that would be filled) are left out; where rows are scaled column by column, a second file tells
LIBSVM's svm-scale how.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from .._validation.unwrapped import layers, machine_of, steps_before
from ..calibration import Calibrated
from ..calibration.sigmoid_map import SigmoidMap
from ..estimators import NuSVC, NuSVR
from ..estimators.base import KernelMachine
from ..estimators.classifier import Classifier
from ..estimators.model import LinearModel
from ..estimators.one_class import SVDD, NoveltyMachine
from ..estimators.regressor import Regressor
from ..io.table import DataError
from ..kernels import Gaussian, Kernel, Polynomial, Precomputed, Sigmoid
from ..kernels import Linear as LinearKernel
from .computation import leaves_of, nodes_of
from .computed import computed
from .libsvm_layout import Layout, pairs_layout
from .nodes import Clipped, Filled, KernelSum, Linear, Numbers, Picked, Scaled

__all__ = ["libsvm_files"]

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
    scores = next(node for node in nodes_of([computation.scores]) if isinstance(node, (KernelSum, Linear)))
    rows = scores.source if isinstance(scores, Linear) else leaves_of(scores.formula)[0].rows  # type: ignore[union-attr]
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
        notes.append("values far outside those of the training rows are drawn in by the model, and not by svm-scale")
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
    if isinstance(machine, SVDD):
        if not isinstance(machine.kernel_, Gaussian):
            raise DataError("LIBSVM has a ball only where it is a half space, with the gaussian; export to onnx or c.")
        # 2⟨c, φ(x)⟩ − k(x, x) − ‖c‖² + R² with k(x, x) = 1
        coef, rho = 2 * coef, 1.0 + machine.centre_square_ + machine.offset_ + 2 * rho
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
