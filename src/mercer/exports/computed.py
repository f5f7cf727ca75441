"""One walk over a fitted model: from the columns of the input to what is answered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import singledispatch
from typing import Any

import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import Pipeline
from sklearn.utils.validation import check_is_fitted

from ..calibration import Calibrated, IsotonicMap, SigmoidMap, TunedThreshold
from ..composition import layers, machine_of, steps_before
from ..estimators import (
    Classifier,
    Clustering,
    KernelMachine,
    KernelModel,
    KernelQuantiles,
    LinearModel,
    NoveltyMachine,
    Regressor,
    SpectralClustering,
    Transformer,
    cost_matrix,
)
from ..intervals import Conformal
from ..io import DataError
from ..kernels import (
    AGREEMENT,
    Categories,
    Equal,
    Kernel,
    Mixture,
    Normalised,
    OfStatistic,
    OnColumns,
    Power,
    Product,
    Quadratic,
    ScaledColumns,
    Sum,
    Symbol,
    Untraceable,
    columns_named,
    traced,
)
from ..kernels import Scaled as ScaledKernel
from ..kernels.engine import DISTANCE, DOT, MANHATTAN, SQUARED_DISTANCE, part_of
from ..messages import enumeration
from ..preprocess import TARGET_TRANSFORMS, WithoutOutliers
from ..runtime import Array
from ..tables import TableClassifier
from .computation import (
    Answer,
    Beside,
    Computation,
    Coupled,
    Exponentials,
    Interpolated,
    KernelSum,
    Linear,
    Logarithms,
    Logistic,
    Node,
    OfSupport,
    Ones,
    Own,
    OwnSimilarity,
    Pair,
    PairVotes,
    PathVote,
    Picked,
    Scaled,
    Softmax,
    Sorted,
    Staircase,
    ToOne,
    numbers_of,
)
from .inputs import Cell, Cells, Inputs, numbered
from .preparation import changes_nothing, columns_before, prepared

# The formula of a kernel between a row and the support rows of a model.
#
# Kernels that are functions of one statistic say it themselves: their ``apply`` is given a symbol in the place of
# numbers. The others are rules that join the formulas of their parts.


_STATISTICS = {DOT: "dot", SQUARED_DISTANCE: "squared_distance", DISTANCE: "distance", MANHATTAN: "manhattan"}

Given = Node | Cells


def _refusal(kernel: Any, reason: str = "") -> DataError:
    return DataError(
        f"the kernel {kernel} cannot be exported: {reason}kernels on rows of numbers and on categories can, if they "
        "are functions of dot products or distances, and sums, products and powers of such, normalised or on columns; "
        "keep this model as a model file (mercer.save)."
    )


def _traced(kernel: OfStatistic, leaf: Any) -> Symbol:
    """The formula that a kernel makes of its statistic."""
    start: Any = Symbol("leaf", leaf)
    try:
        found: Any = traced(kernel.apply, start)
    except Untraceable as error:
        raise _refusal(kernel, f"{error}; ") from None
    if not isinstance(found, Symbol):
        raise _refusal(kernel)
    return found


@singledispatch
def similarity(kernel: Kernel, given: Given, items: Any, inputs: Inputs, itself: bool = False) -> Any:
    """The formula of k(x, z) for a row x of the input and the support items z; with ``itself``, of k(x, x).

    Where k(x, x) is the same for all rows, it is a number.
    """
    raise _refusal(kernel)


@similarity.register
def _(kernel: OfStatistic, given: Given, items: Any, inputs: Inputs, itself: bool = False) -> Any:
    if kernel.statistic is not AGREEMENT and kernel.statistic not in _STATISTICS:
        raise _refusal(kernel)
    if itself and kernel.statistic is DOT:
        return _traced(kernel, Own(inputs.rows(given)))
    if itself:
        return float(kernel.diag(items[:1])[0])  # of a distance of nothing, or of categories that are the same
    if kernel.statistic is AGREEMENT:
        levels, codes = _categories(given, items, inputs)
        if isinstance(kernel, Equal):
            return Symbol("leaf", Pair("equal", levels, codes))
        return _traced(kernel, Pair("agreement", levels, codes))
    rows, statistic = inputs.rows(given), _STATISTICS[kernel.statistic]
    _, leaf = inputs.once((statistic, rows, id(items)), lambda: (items, Pair(statistic, rows, numbers_of(items))))
    return _traced(kernel, leaf)


def _categories(given: Given, items: Categories, inputs: Inputs) -> tuple[Node, Array]:
    """The numbers of the categories of a row, and of the support items."""
    if not isinstance(given, Cells):
        raise DataError("a kernel on categories sees columns as they are; this one comes after steps that change them.")
    columns = zip(given.cells, items.levels, strict=True)
    return Beside(tuple(inputs.level(cell, list(known)) for cell, known in columns)), numbers_of(items.codes)


@similarity.register
def _(kernel: OnColumns, given: Given, items: Any, inputs: Inputs, itself: bool = False) -> Any:
    return similarity(kernel.kernel, inputs.chosen(given, kernel.names), part_of(items, 0), inputs, itself)


@similarity.register
def _(kernel: Sum, given: Given, items: Any, inputs: Inputs, itself: bool = False) -> Any:
    left = similarity(kernel.left, given, part_of(items, 0), inputs, itself)
    return left + similarity(kernel.right, given, part_of(items, 1), inputs, itself)


@similarity.register
def _(kernel: Product, given: Given, items: Any, inputs: Inputs, itself: bool = False) -> Any:
    left = similarity(kernel.left, given, part_of(items, 0), inputs, itself)
    return left * similarity(kernel.right, given, part_of(items, 1), inputs, itself)


@similarity.register
def _(kernel: ScaledKernel, given: Given, items: Any, inputs: Inputs, itself: bool = False) -> Any:
    return float(kernel.scale) * similarity(kernel.kernel, given, items, inputs, itself)


@similarity.register
def _(kernel: Power, given: Given, items: Any, inputs: Inputs, itself: bool = False) -> Any:
    return similarity(kernel.kernel, given, items, inputs, itself) ** int(kernel.exponent)


@similarity.register
def _(kernel: Normalised, given: Given, items: Any, inputs: Inputs, itself: bool = False) -> Any:
    own = similarity(kernel.kernel, given, items, inputs, itself=True)
    if not isinstance(own, Symbol):
        inverse: Any = 1 / np.sqrt(own) if own > 0 else 0.0
        if itself:
            return float(own > 0)
    else:
        inverse = Symbol("inverse_length", own)
        if itself:
            return own * (inverse * inverse)
    value = similarity(kernel.kernel, given, items, inputs)
    return value * Symbol("leaf", OfSupport(numbers_of(kernel._inverse_lengths(items)))) * inverse


@similarity.register
def _(kernel: Mixture, given: Given, items: Any, inputs: Inputs, itself: bool = False) -> Any:
    terms = [
        factor * similarity(each, given, kernel._part(items, place), inputs, itself)
        for place, each, factor in kernel._active()
    ]
    if not terms:
        raise _refusal(kernel)
    return sum(terms[1:], terms[0])


@similarity.register
def _(kernel: Quadratic, given: Given, items: Any, inputs: Inputs, itself: bool = False) -> Any:
    directions = numbers_of(kernel.features(np.eye(len(kernel.B))))
    mapped = Linear(inputs.rows(given), directions, np.zeros(directions.shape[1]))
    return Symbol("leaf", Own(mapped) if itself else Pair("dot", mapped, numbers_of(kernel.features(items))))


@similarity.register
def _(kernel: ScaledColumns, given: Given, items: Any, inputs: Inputs, itself: bool = False) -> Any:
    weights, rows = np.asarray(kernel.weights, dtype=np.float64), inputs.rows(given)
    if weights.ndim == 2:
        weighted: Node = Linear(rows, weights, np.zeros(len(weights)))
    else:
        weighted = Scaled(rows, np.zeros(weights.size), weights, np.zeros(weights.size))
    return similarity(kernel.kernel, weighted, kernel.part_items(items)[0], inputs, itself)


@dataclass(frozen=True)
class _Outcome:
    """What an estimator makes of rows: the scores of its machines, decision values, probabilities, an answer."""

    machines: Node
    scores: Node
    probabilities: Node | None
    answer: Answer
    classes: list[Any]
    flat: bool = False


def computed(model: Any) -> Computation:
    """All that a fitted machine of mercer computes, also in a pipeline, a search, a calibration or a tuned threshold.

    Examples
    --------
    >>> from mercer import SVC
    >>> found = computed(SVC("linear").fit([[0.0, 1.0], [1.0, 0.0]], ["no", "yes"]))
    >>> [column.name for column in found.columns], found.classes, found.answer.kind
    (['x0', 'x1'], ['no', 'yes'], 'class')
    """
    try:
        seen = Inputs()
        _computed(model, seen)
        inputs = Inputs(seen.in_order())  # which columns are used is known now, and each has its place
        found = _computed(model, inputs)
    except NotFittedError:
        raise DataError(f"{type(model).__name__} is not fitted yet; only fitted models can be exported.") from None
    machine = machine_of(model)
    title = f"{type(machine).__name__} with the kernel {machine.kernel_}"
    return Computation(
        inputs.columns, found.scores, found.probabilities, found.answer, found.classes, found.flat, title
    )


def _computed(model: Any, inputs: Inputs) -> _Outcome:
    """What the steps before the machine make of the columns, the machine of that, and each layer around it in turn."""
    *around, machine = layers(model)
    for layer in (*around, machine):
        if isinstance(layer, Conformal):
            raise DataError(
                "the intervals of Conformal cannot be exported; its .estimator_, which predicts the numbers, can."
            )
        check_is_fitted(layer)
    given: Node | Cells | None = None
    for step in steps_before(model):
        if not changes_nothing(step):
            given = prepared(step, inputs.begin(columns_before(step)) if given is None else given, inputs)
    found = _of_machine(machine, given, inputs)
    for layer in reversed(around):
        found = _around(layer, found)
    return found


@singledispatch
def _around(layer: Any, inside: _Outcome) -> _Outcome:
    """What an estimator makes of the answers of the one inside it; pipelines, searches and filters change nothing."""
    return inside


@_around.register
def _(model: TransformedTargetRegressor, inside: _Outcome) -> _Outcome:
    functions = (model.func, model.inverse_func)
    if model.transformer is not None or functions not in TARGET_TRANSFORMS.values():
        raise DataError("a TransformedTargetRegressor can be exported where its func is numpy's log or log1p.")
    scores: Node = Exponentials(inside.scores)
    if functions == TARGET_TRANSFORMS["log1p"]:
        scores = Linear(scores, np.eye(scores.width), np.full(scores.width, -1.0))
    return replace(inside, scores=scores, answer=Answer("numbers", scores))


# -- machines -----------------------------------------------------------------------------------------------------


def _scores(machine: Any, given: Node | Cells | None, inputs: Inputs) -> tuple[Node, Node | Cells]:
    """The scores of the machines, and what they are given."""
    model = machine._model
    if given is None:
        given = inputs.begin(columns_before(machine) or _columns_compared(model.kernel, model.items))
    if getattr(machine, "variant", None) == "voted":
        return Beside(tuple(_vote(voter, given, inputs) for voter in machine._voters)), given
    if isinstance(model, LinearModel):
        return Linear(inputs.rows(given), numbers_of(model.coef.T), numbers_of(model.intercept)), given
    return _kernel_sum(model, given, inputs), given


def _columns_compared(kernel: Kernel, items: Any) -> Cells:
    """The columns of a kernel that sees a table as it is: those that it names, or all columns of categories."""
    named = columns_named(kernel)
    if named:
        positions = [name for name in named if not isinstance(name, str)]
        words = sorted(name for name in named if isinstance(name, str))
        return Cells(tuple(map(Cell, words))) if words else numbered(max(positions) + 1)
    return numbered(len(items.levels) if isinstance(items, Categories) else 0)


def _kernel_sum(model: KernelModel, given: Node | Cells, inputs: Inputs) -> Node:
    coef, plus = numbers_of(model.coef.T), numbers_of(model.intercept)
    if model.kernel.precomputed:
        return Linear(Picked(inputs.rows(given), tuple(model.support.tolist())), coef, plus)
    if not len(coef):  # no support row: the same score for all
        if model.kernel.on_rows:
            inputs.rows(given)
        return Linear(Ones(), np.zeros((1, plus.size)), plus)
    return KernelSum(similarity(model.kernel, given, model.items, inputs), coef, plus)


def _vote(voter: Any, given: Node | Cells, inputs: Inputs) -> Node:
    model, total = voter.model, voter.survival.sum()
    if total == 0 or not voter.column.size:
        inputs.rows(given)
        return Linear(Ones(), np.zeros((1, 1)), np.zeros(1))
    if model.kernel.precomputed:
        raise DataError("the vote of a Perceptron on a precomputed kernel cannot be exported; variant='averaged' can.")
    formula = similarity(model.kernel, given, model.items, inputs)
    coefficient, bias = numbers_of(voter.coefficient), numbers_of(voter.bias)
    return PathVote(formula, voter.column, coefficient, bias, voter.survival / total)


@singledispatch
def _of_machine(machine: Any, given: Node | Cells | None, inputs: Inputs) -> _Outcome:
    """What a machine makes of what is given; ``None``: of the columns that it knows itself."""
    name = f"{type(machine).__module__.partition('.')[0]}.{type(machine).__name__}"
    known = enumeration(cls.__name__ for cls in (Pipeline, Calibrated, TunedThreshold, WithoutOutliers))
    raise DataError(f"a {name} cannot be exported; machines of mercer can, alone or in a {known}.")


@_of_machine.register
def _(machine: Classifier, given: Node | Cells | None, inputs: Inputs) -> _Outcome:
    raw, _ = _scores(machine, given, inputs)
    classes = machine.classes_.tolist()
    scores = PairVotes(raw, len(classes)) if getattr(machine, "_votes", False) else raw
    several = machine.multilabel_
    probabilities: Node | None = None
    if hasattr(machine, "predict_proba"):
        if several or len(classes) == 2:
            one = Logistic(scores, np.ones(scores.width), np.zeros(scores.width), 0.0)
            probabilities = one if several else _both(one)
        else:
            probabilities = Softmax(scores)
    answer = Answer("labels" if several else "class", scores)
    if probabilities is not None and machine.costs is not None:
        answer = _cheapest(machine, probabilities)
    return _Outcome(raw, scores, probabilities, answer, classes)


@_of_machine.register
def _(machine: Regressor, given: Node | Cells | None, inputs: Inputs) -> _Outcome:
    raw, _ = _scores(machine, given, inputs)
    quantiles = isinstance(machine, KernelQuantiles)
    scores = Sorted(raw) if quantiles else raw
    flat = np.ndim(machine.quantiles) == 0 if quantiles else machine.target_shape_ == ()
    return _Outcome(raw, scores, None, Answer("numbers", scores), [], flat)


@_of_machine.register
def _(machine: NoveltyMachine, given: Node | Cells | None, inputs: Inputs) -> _Outcome:
    scores, given = _scores(machine, given, inputs)
    times, own_times, plus = machine.decision_terms
    if own_times:
        own = similarity(machine.kernel_, inputs.rows(given) if machine.kernel_.on_rows else given,
                         getattr(machine._model, "items", np.zeros((1, 1))), inputs, itself=True)  # fmt: skip
        if isinstance(own, Symbol):
            both = Beside((scores, OwnSimilarity(own)))
            scores = Linear(both, np.array([[times], [own_times]]), np.array([plus]))
        else:
            scores = Linear(scores, np.array([[times]]), np.array([plus + own_times * own]))
    return _Outcome(scores, scores, None, Answer("outliers", scores), [])


@_of_machine.register
def _(machine: Transformer, given: Node | Cells | None, inputs: Inputs) -> _Outcome:
    scores, _ = _scores(machine, given, inputs)
    return _Outcome(scores, scores, None, Answer("numbers", scores), [])


@_of_machine.register
def _(machine: Clustering, given: Node | Cells | None, inputs: Inputs) -> _Outcome:
    scores, _ = _scores(machine, given, inputs)
    if isinstance(machine, SpectralClustering):
        scores = Linear(scores, numbers_of(machine.readout_.T), np.zeros(len(machine.readout_)))
    places = (0, 0) if scores.width == 1 else (0, 1)
    return _Outcome(scores, scores, None, Answer("class", scores, places), list(range(scores.width)))


@prepared.register
def _(step: Clustering, given: Node | Cells, inputs: Inputs) -> Node:
    raise DataError(
        f"a {type(step).__name__} before a machine cannot be exported; it can alone, or as the last step of a Pipeline."
    )


@prepared.register
def _(step: Transformer, given: Node | Cells, inputs: Inputs) -> Node:
    return _scores(step, given, inputs)[0]


@_of_machine.register
def _(machine: KernelMachine, given: Node | Cells | None, inputs: Inputs) -> _Outcome:
    raise DataError(
        f"a {type(machine).__name__} cannot be exported: what it makes of scores, {machine.answers}, is neither labels "
        "nor numbers nor components; keep it as a model file (mercer.save)."
    )


# -- probabilities and thresholds ---------------------------------------------------------------------------------


def _both(second: Node) -> Node:
    """The probabilities of both classes from that of the second."""
    return Linear(second, np.array([[-1.0, 1.0]]), np.array([1.0, 0.0]))


def _cheapest(owner: Any, probabilities: Node) -> Answer:
    """The answer that is expected to cost least."""
    costs = cost_matrix(owner.costs, owner.classes_, type(owner).__name__)
    return Answer("class", Linear(probabilities, -costs, np.zeros(len(costs))))


@_around.register
def _(model: TableClassifier, inside: _Outcome) -> _Outcome:
    if len(model.classes_) == 2:
        probabilities = _both(_mapped(model.maps_, inside.scores))
    else:
        slopes, levels = (np.array([getattr(each, name) for each in model.maps_]) for name in ("slope", "intercept"))
        probabilities = Softmax(Linear(inside.scores, np.diag(slopes), levels))
    return replace(inside, probabilities=probabilities, answer=Answer("class", probabilities))


@_around.register
def _(model: Calibrated, inside: _Outcome) -> _Outcome:
    k, machines = len(model.classes_), inside.machines if model.pairs_ else inside.scores
    found = _mapped(model.maps_, machines)
    probabilities: Node = _both(found) if k == 2 else Coupled(found, k) if model.pairs_ else ToOne(found)
    answer = Answer("class", probabilities) if model.costs is None else _cheapest(model, probabilities)
    scores = answer.node if model.costs is not None else Logarithms(probabilities)
    if k == 2:
        scores = Linear(scores, np.array([[-1.0], [1.0]]), np.zeros(1))
    return _Outcome(inside.machines, scores, probabilities, answer, model.classes_.tolist())


def _mapped(maps: Sequence[Any], scores: Node) -> Node:
    """Probabilities, each by a map of its own from a score."""
    sigmoids = [each for each in maps if isinstance(each, SigmoidMap)]
    if len(sigmoids) == len(maps):
        slope, level = ([getattr(each, name) for each in sigmoids] for name in ("slope", "intercept"))
        return Logistic(scores, numbers_of(slope), numbers_of(level), float(np.finfo(np.float64).eps))
    found: list[Node] = []
    for place, each in enumerate(maps):
        column = Picked(scores, (place,))
        if isinstance(each, IsotonicMap):
            found.append(Interpolated(column, numbers_of(each.scores), numbers_of(each.values)))
        else:
            low, high = each.values.T
            found.append(Staircase(column, numbers_of(each.scores), numbers_of(high / (1 - low + high))))
    return Beside(tuple(found))


@_around.register
def _(model: TunedThreshold, inside: _Outcome) -> _Outcome:
    positive = model._curve_scorer._get_pos_label()
    second = positive is None or positive == model.classes_[1]
    by_probabilities = model.response_method == "predict_proba" or (
        model.response_method == "auto" and inside.probabilities is not None
    )
    if by_probabilities:
        assert inside.probabilities is not None
        value: Node = Picked(inside.probabilities, (1 if second else 0,))
    else:
        value = inside.scores
    sign = 1.0 if second or by_probabilities else -1.0
    beyond = Linear(value, np.array([[sign]]), np.array([-float(model.best_threshold_)]))
    return replace(inside, answer=Answer("class", beyond, (0, 1) if second else (1, 0)))
