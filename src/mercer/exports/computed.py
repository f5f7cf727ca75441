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

from .._validation.wording import enumeration
from ..calibration import Calibrated, TunedThreshold
from ..calibration.isotonic_map import IsotonicMap
from ..calibration.sigmoid_map import SigmoidMap
from ..estimators.base import KernelMachine
from ..estimators.classifier import Classifier
from ..estimators.cost_matrix import cost_matrix
from ..estimators.kernel_quantiles import KernelQuantiles
from ..estimators.model import KernelModel, LinearModel
from ..estimators.one_class import SVDD, NoveltyMachine
from ..estimators.regressor import Regressor
from ..intervals import Conformal
from ..io.table import DataError
from ..kernels import Kernel
from ..kernels.categories import Categories
from ..kernels.on_columns import columns_named
from ..kernels.symbols import Symbol
from ..preprocess import WithoutOutliers
from ..preprocess.target_transform import TARGET_TRANSFORMS
from ..tables import TableClassifier, TableRegressor
from .computation import Answer, Computation, Node, numbers_of
from .input_columns import Cell, Cells, Inputs, numbered
from .nodes import (
    Beside,
    Coupled,
    Exponentials,
    Interpolated,
    KernelSum,
    Linear,
    Logarithms,
    Logistic,
    Ones,
    OwnSimilarity,
    PairVotes,
    PathVote,
    Picked,
    Softmax,
    Sorted,
    Staircase,
    ToOne,
)
from .preparation_steps import changes_nothing, columns_before, prepared
from .similarities import own_similarity, similarity

__all__ = ["computed"]


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
    """All that a fitted model computes.

    Parameters
    ----------
    model : estimator
        A machine of mercer; a pipeline, a search, :class:`mercer.Calibrated` or :class:`mercer.TunedThreshold` with
        one inside.

    Returns
    -------
    Computation

    Examples
    --------
    >>> from mercer import SVC
    >>> found = computed(SVC("linear").fit([[0.0, 1.0], [1.0, 0.0]], ["no", "yes"]))
    >>> [column.name for column in found.columns], found.classes, found.answer.kind
    (['x0', 'x1'], ['no', 'yes'], 'class')
    """
    try:
        seen = Inputs()
        _outcome(model, None, seen)
        inputs = Inputs(seen.in_order())  # which columns are used is known now, and each has its place
        found = _outcome(model, None, inputs)
    except NotFittedError:
        raise DataError(f"{type(model).__name__} is not fitted yet; only fitted models can be exported.") from None
    title = f"{type(_innermost(model)).__name__} with the kernel {_innermost(model).kernel_}"
    return Computation(
        inputs.columns, found.scores, found.probabilities, found.answer, found.classes, found.flat, title
    )


def _innermost(model: Any) -> Any:
    from .._validation.unwrapped import machine_of

    return machine_of(model)


@singledispatch
def _outcome(model: Any, given: Node | Cells | None, inputs: Inputs) -> _Outcome:
    """What a model makes of what is given; ``None``: of the columns that it knows itself."""
    if hasattr(model, "best_estimator_"):
        return _outcome(model.best_estimator_, given, inputs)
    name = f"{type(model).__module__.partition('.')[0]}.{type(model).__name__}"
    known = enumeration(cls.__name__ for cls in (Pipeline, Calibrated, TunedThreshold, WithoutOutliers))
    raise DataError(f"a {name} cannot be exported; machines of mercer can, alone or in a {known}.")


@_outcome.register
def _(model: Conformal, given: Node | Cells | None, inputs: Inputs) -> _Outcome:
    raise DataError("the intervals of Conformal cannot be exported; its .estimator_, which predicts the numbers, can.")


@_outcome.register
def _(model: Pipeline, given: Node | Cells | None, inputs: Inputs) -> _Outcome:
    check_is_fitted(model)
    steps = [step for _, step in model.steps[:-1] if not changes_nothing(step)]
    for step in steps:
        given = inputs.begin(columns_before(step)) if given is None else given
        given = prepared(step, given, inputs)
    return _outcome(model.steps[-1][1], given, inputs)


@_outcome.register
def _(model: WithoutOutliers, given: Node | Cells | None, inputs: Inputs) -> _Outcome:
    check_is_fitted(model)
    return _outcome(model.estimator_, given, inputs)


@_outcome.register
def _(model: TransformedTargetRegressor, given: Node | Cells | None, inputs: Inputs) -> _Outcome:
    check_is_fitted(model)
    functions = (model.func, model.inverse_func)
    if model.transformer is not None or functions not in TARGET_TRANSFORMS.values():
        raise DataError("a TransformedTargetRegressor can be exported where its func is numpy's log or log1p.")
    inside = _outcome(model.regressor_, given, inputs)
    scores: Node = Exponentials(inside.scores)
    if functions == TARGET_TRANSFORMS["log1p"]:
        scores = Linear(scores, np.eye(scores.width), np.full(scores.width, -1.0))
    return replace(inside, scores=scores, answer=Answer("numbers", scores))


# -- machines -----------------------------------------------------------------------------------------------------


def _scores(machine: Any, given: Node | Cells | None, inputs: Inputs) -> tuple[Node, Node | Cells]:
    """The scores of the machines, and what they are given."""
    check_is_fitted(machine, "_model")
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


@_outcome.register
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


@_outcome.register
def _(machine: Regressor, given: Node | Cells | None, inputs: Inputs) -> _Outcome:
    raw, _ = _scores(machine, given, inputs)
    quantiles = isinstance(machine, KernelQuantiles)
    scores = Sorted(raw) if quantiles else raw
    flat = np.ndim(machine.quantiles) == 0 if quantiles else machine.target_shape_ == ()
    return _Outcome(raw, scores, None, Answer("numbers", scores), [], flat)


@_outcome.register
def _(machine: NoveltyMachine, given: Node | Cells | None, inputs: Inputs) -> _Outcome:
    scores, given = _scores(machine, given, inputs)
    if isinstance(machine, SVDD):
        # −‖φ(x) − c‖² + R² = 2⟨c, φ(x)⟩ − k(x, x) − ‖c‖² + R², R² being −offset
        own = own_similarity(machine.kernel_, inputs.rows(given) if machine.kernel_.on_rows else given,
                             getattr(machine._model, "items", np.zeros((1, 1))), inputs)  # fmt: skip
        constant = -machine.centre_square_ - machine.offset_
        if isinstance(own, Symbol):
            both = Beside((scores, OwnSimilarity(own)))
            scores = Linear(both, np.array([[2.0], [-1.0]]), np.array([constant]))
        else:
            scores = Linear(scores, np.array([[2.0]]), np.array([constant - own]))
    return _Outcome(scores, scores, None, Answer("usual", scores), [])


@_outcome.register
def _(machine: KernelMachine, given: Node | Cells | None, inputs: Inputs) -> _Outcome:
    raise DataError(f"a {type(machine).__name__} is neither a classifier, a regressor nor a detector of outliers.")


# -- probabilities and thresholds ---------------------------------------------------------------------------------


def _both(second: Node) -> Node:
    """The probabilities of both classes from that of the second."""
    return Linear(second, np.array([[-1.0, 1.0]]), np.array([1.0, 0.0]))


def _cheapest(owner: Any, probabilities: Node) -> Answer:
    """The answer that is expected to cost least."""
    costs = cost_matrix(owner.costs, owner.classes_, type(owner).__name__)
    return Answer("class", Linear(probabilities, -costs, np.zeros(len(costs))))


@_outcome.register
def _(model: TableRegressor, given: Node | Cells | None, inputs: Inputs) -> _Outcome:
    return _outcome(model.estimator_, given, inputs)


@_outcome.register
def _(model: TableClassifier, given: Node | Cells | None, inputs: Inputs) -> _Outcome:
    inside = _outcome(model.estimator_, given, inputs)
    if len(model.classes_) == 2:
        probabilities = _both(_mapped(model.maps_, inside.scores))
    else:
        slopes, levels = (np.array([getattr(each, name) for each in model.maps_]) for name in ("slope", "intercept"))
        probabilities = Softmax(Linear(inside.scores, np.diag(slopes), levels))
    return replace(inside, probabilities=probabilities, answer=Answer("class", probabilities))


@_outcome.register
def _(model: Calibrated, given: Node | Cells | None, inputs: Inputs) -> _Outcome:
    check_is_fitted(model, "maps_")
    inside = _outcome(model.estimator_, given, inputs)
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


@_outcome.register
def _(model: TunedThreshold, given: Node | Cells | None, inputs: Inputs) -> _Outcome:
    check_is_fitted(model, "estimator_")
    inside = _outcome(model.estimator_, given, inputs)
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
