"""What all classifiers share: labels, decision values, probabilities, models of earlier stages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags

from ..checks import schema
from ..checks.labels import combine_weights, encode, has_many_labels, indicators, plain_label, refuse_bad_labels
from ..checks.parameters import is_number, offered_if, shown
from ..grams import Gram
from ..messages import guide
from ..rows.guests import at_once, lazily
from ..runtime.compile import Array
from .base import KernelMachine
from .training import Run, Training, warn_of_constant_labels

__all__ = ["cheapest", "cost_matrix", "mean_costs", "pair_costs"]

# What mistakes cost: ``costs[i, j]`` for the answer j where the truth is i.
#
# A machine that knows probabilities p needs nothing else: the answer j costs Σᵢ pᵢ·costs[i, j] on average, and the
# least is the best answer. A machine that knows none is told by weights. For a pair of classes they say all: a mistake
# on a row of class i can only be the answer j, so its weight is costs[i, j]. Against all other classes at once a
# mistake may be any of several answers, and the weight is their mean cost.


def cost_matrix(costs: Any, classes: Array, owner: str) -> Array:
    """The costs as a matrix in the order of the classes, checked.

    Parameters
    ----------
    costs : array of shape (n_classes, n_classes), or dict
        A dict names what costs something else than 1: ``{(true, answered): cost}``.
    classes : array
    owner : str
        Who is asked, for messages.

    Returns
    -------
    array of shape (n_classes, n_classes)

    Examples
    --------
    >>> cost_matrix({("ill", "well"): 10}, np.array(["ill", "well"]), "SVC")
    array([[ 0., 10.],
           [ 1.,  0.]])
    """
    k = classes.size
    matrix = _of_pairs(costs, classes, owner) if isinstance(costs, Mapping) else _of_rows(costs, owner)
    if matrix.shape != (k, k):
        raise ValueError(
            f"{owner}: costs must have a row and a column for each of the {k} classes, shape ({k}, {k}), got "
            f"{matrix.shape}."
        )
    if not (np.isfinite(matrix) & (matrix >= 0)).all():
        i, j = np.argwhere(~(np.isfinite(matrix) & (matrix >= 0)))[0]
        raise ValueError(
            f"{owner}: costs must be finite numbers of at least 0, but costs[{i}, {j}] is {matrix[i, j]:g}."
        )
    if matrix.diagonal().any():
        i = int(np.argmax(matrix.diagonal() != 0))
        raise ValueError(
            f"{owner}: right answers cost nothing, but costs[{i}, {i}] is {matrix[i, i]:g}; set the diagonal to 0."
        )
    if not matrix.any():
        raise ValueError(f"{owner}: costs are all 0, so that any answer is as good as any other.")
    return matrix


def _of_rows(costs: Any, owner: str) -> Array:
    try:
        return np.asarray(costs, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError(
            f"{owner}: costs must be a square table of numbers or a dict {{(true, answered): cost}}, got "
            f"{shown(costs)}."
        ) from None


def _of_pairs(costs: Mapping, classes: Array, owner: str) -> Array:
    matrix = 1.0 - np.eye(classes.size)
    places = {plain_label(label): place for place, label in enumerate(classes)}
    for pair, cost in costs.items():
        labels = [plain_label(label) for label in pair] if isinstance(pair, tuple) else []
        if len(labels) != 2:
            raise ValueError(f"{owner}: costs as a dict have pairs (true, answered) as keys, got {shown(pair)}.")
        unknown = next((label for label in labels if label not in places), None)
        if unknown is not None:
            raise ValueError(f"{owner}: costs name {unknown!r}, which is none of the classes {shown(list(places))}.")
        if not is_number(cost):
            raise ValueError(f"{owner}: the cost of {shown(pair)} must be a number, got {shown(cost)}.")
        matrix[places[labels[0]], places[labels[1]]] = cost
    return matrix


def pair_costs(matrix: Array, classes: Array, owner: str) -> Array:
    """The costs as weights of pairs of classes, none of which may be 0."""
    free = (matrix == 0) & ~np.eye(len(matrix), dtype=bool)
    if free.any():
        i, j = (plain_label(classes[place]) for place in np.argwhere(free)[0])
        raise ValueError(
            f"{owner}: answering {j!r} where {i!r} is true costs nothing, and a machine learns nothing of rows without "
            "weight; give it a small cost, or use probabilities (KernelClassifier, Calibrated)."
        )
    return matrix


def mean_costs(matrix: Array, classes: Array, owner: str) -> Array:
    """What a mistake on each class costs on average over the wrong answers: 1, where all mistakes cost 1."""
    means = matrix.sum(axis=1) / (len(matrix) - 1)
    if not means.all():
        label = plain_label(classes[int(np.argmin(means))])
        raise ValueError(
            f"{owner}: mistakes on class {label!r} cost nothing, and a machine learns nothing of rows without weight; "
            "give them a small cost, or use probabilities (KernelClassifier, Calibrated)."
        )
    return means


def cheapest(probabilities: Array, matrix: Array) -> Array:
    """For each row of probabilities the number of the class whose answer is expected to cost least.

    Examples
    --------
    >>> cheapest(np.array([[0.2, 0.8], [0.01, 0.99]]), np.array([[0.0, 10.0], [1.0, 0.0]]))
    array([0, 1])
    """
    return (probabilities @ matrix).argmin(axis=1)


def _has_probabilities(machine: Classifier) -> bool:
    machine._refuse_probabilities()
    return True


def _has_checkpoints(machine: Classifier) -> bool:
    if not hasattr(machine, "checkpoints"):
        raise AttributeError(
            f"{type(machine).__name__} keeps no models of earlier stages; Perceptron and Pegasos with checkpoints do."
        )
    return True


class Classifier(ClassifierMixin, KernelMachine, named=False):
    """Base of the classifiers. Subclasses also have the parameter ``class_weight``."""

    target_kind = answers = "labels"
    fields: ClassVar = {
        "classes_": schema.labels("classes"),
        "multilabel_": schema.optional(schema.flag),
        "class_weight_": schema.optional(schema.numbers("", low=0)),
    }
    class_weight: Any
    #: What mistakes cost; a parameter of the machines that can tell.
    costs: Any = None
    _stage_models: Any
    #: Whether targets may have a column of 0 and 1 for each of many labels.
    takes_many_labels: ClassVar[bool] = False
    #: Whether the last targets were such.
    multilabel_: bool = False

    def _refuse_bad_targets(self, y: Any) -> None:
        refuse_bad_labels(y)
        if has_many_labels(y) and not self.takes_many_labels:
            raise ValueError(
                f"y should be a 1d array for {type(self).__name__}, which learns one class for each row, but got an "
                f"array of shape {np.shape(y)}; SVC and KernelClassifier learn many labels, a column of 0 and 1 each."
            )

    def _has_columns(self, y: Any) -> bool:
        return self.takes_many_labels and has_many_labels(y)

    def encoded(self, y: Any, sample_weight: Any, items: Any) -> tuple[Array, Array | None]:
        """The number of each item's class, or 0 and 1 for many labels; and the weight of each where they differ."""
        self.multilabel_ = self._has_columns(y)
        if not self.multilabel_:
            self.classes_, codes = encode(y, type(self).__name__)
            return codes, self._weighed(codes, combine_weights(sample_weight, self.class_weight, items, y))
        if self.class_weight is not None:
            raise ValueError(
                f"{type(self).__name__}: class_weight says what a class counts, and y has many labels instead; "
                "use sample_weight, or a machine for each label."
            )
        if self.costs is not None:
            raise ValueError(
                f"{type(self).__name__}: costs say what it costs to take one class for another, and y has many labels "
                "instead; use sample_weight, or a machine for each label."
            )
        self.name_classes(y)
        weight = combine_weights(sample_weight, None, items, np.zeros(y.shape[0]))
        return indicators(y, type(self).__name__, weight), weight

    def _training(
        self, X: Any, y: Any, sample_weight: Any, run: Run | None = None, gram: Gram | None = None
    ) -> Training:
        data = super()._training(X, y, sample_weight, run, gram)
        if self.multilabel_:
            warn_of_constant_labels(self, data)
        return data

    def name_classes(self, y: Any) -> None:
        """Take ``classes_`` from checked targets: the labels in their order, or the numbers of the columns."""
        self.multilabel_ = self._has_columns(y)
        self.classes_ = np.arange(y.shape[1]) if self.multilabel_ else np.unique(y)

    def _weighed(self, codes: Array, weight: Array | None) -> Array | None:
        """Weights that tell what mistakes cost, where the machine is told by weights."""
        matrix = self._cost_matrix()
        if matrix is None:
            return weight
        dear = mean_costs(matrix, self.classes_, type(self).__name__)[codes]
        return dear if weight is None else weight * dear

    def _cost_matrix(self) -> Array | None:
        """What mistakes cost, in the order of the classes; ``None`` where all cost the same."""
        return None if self.costs is None else cost_matrix(self.costs, self.classes_, type(self).__name__)

    def n_scores(self) -> int:
        k = len(self.classes_)
        if k < (1 if self.multilabel_ else 2):
            raise ValueError("its classes are no two")
        return 1 if k == 2 and not self.multilabel_ else k

    def _positions(self) -> range:
        """The scores: one for two classes; one for each class against the rest where there are more."""
        return range(1 if self.classes_.size == 2 else self.classes_.size)

    def _squared_targets(self, data: Training) -> list[Array]:
        """±1 for each class against the rest, or for each label."""
        if self.multilabel_:
            return list(data.label_signs())
        return [data.signs(position, self.classes_.size) for position in self._positions()]

    # -- predictions ----------------------------------------------------------------------------------------------

    @lazily
    def decision_function(self, X: Any) -> Array:
        """The score of each row, positive for the second class; for three classes or more, a column for each.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_rows, n_features), or a collection of the kernel's items

        Returns
        -------
        array of shape (n_rows,) or (n_rows, n_classes)
        """
        return self.decisions_of(self._scores(X))

    @lazily
    def predict(self, X: Any) -> Array:
        """The label of each row; a score of exactly zero goes to the second class.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_rows, n_features), or a collection of the kernel's items

        Returns
        -------
        array of labels
        """
        return self.predictions_of(self.decision_function(X))

    @offered_if(_has_probabilities)
    @lazily
    def predict_proba(self, X: Any) -> Array:
        """The probability of each class, in the order of ``classes_``; only where the loss has probabilities.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_rows, n_features), or a collection of the kernel's items

        Returns
        -------
        array of shape (n_rows, n_classes)
        """
        return self.probabilities_of(self.decision_function(X))

    @offered_if(_has_probabilities)
    @lazily
    def predict_log_proba(self, X: Any) -> Array:
        """The logarithm of each probability, exact also where a probability is too small for a number."""
        return self.probabilities_of(self.decision_function(X), log=True)

    @at_once
    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """The share of rows that are answered rightly.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_rows, n_features), or a collection of the kernel's items
        y : array of labels
        sample_weight : array of shape (n_rows,), optional

        Returns
        -------
        float
        """
        return super().score(X, y, sample_weight)

    def _refuse_probabilities(self) -> None:
        """Raise ``AttributeError`` with advice where the loss has no probabilities."""
        raise AttributeError(
            f"{type(self).__name__} has no probabilities: its loss says nothing about them. Wrap the machine in "
            "mercer.Calibrated or scikit-learn's CalibratedClassifierCV, or use KernelClassifier(loss='logistic') "
            f"{guide('probabilities')}."
        )

    @offered_if(_has_checkpoints)
    def staged_decision_function(self, X: Any) -> Iterator[Array]:
        """As :meth:`decision_function`, for each of the ``checkpoints`` in turn."""
        items = self._items_to_score(X)
        for model in self._stage_models:
            yield self.decisions_of(model.scores(items, self.memory))

    @offered_if(_has_checkpoints)
    def staged_predict(self, X: Any) -> Iterator[Array]:
        """As :meth:`predict`, for each of the ``checkpoints`` in turn."""
        for decisions in self.staged_decision_function(X):
            yield self.predictions_of(decisions)

    # -- from scores to predictions -------------------------------------------------------------------------------

    def decisions_of(self, scores: Array, numbers: Array | None = None) -> Array:
        """What :meth:`decision_function` makes of a model's scores; ``numbers`` are those of the rows scored.

        A score that is no number says nothing, though a label could be made of it.
        """
        super().decisions_of(scores, numbers)
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def predictions_of(self, decisions: Array) -> Array:
        """The labels that belong to decision values."""
        if self.multilabel_:
            return (decisions >= 0).astype(int)
        codes = (decisions >= 0).astype(int) if decisions.ndim == 1 else decisions.argmax(axis=1)
        return self.classes_[codes]

    def probabilities_of(self, decisions: Array, log: bool = False) -> Array:
        """The probabilities, or their logarithms, that belong to decision values."""
        raise NotImplementedError

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = self.takes_many_labels
        return tags


def checkpoints_of(owner: Any, name: str, last: int) -> tuple[int, ...]:
    """Check a list of checkpoints."""
    values = getattr(owner, name)
    if values is None:
        return ()
    points = np.atleast_1d(np.asarray(values))
    if points.dtype.kind not in "iu" or not points.size or points.min() < 1 or points.max() > last:
        raise ValueError(
            f"{type(owner).__name__}: {name} must be whole numbers between 1 and {last}, got {shown(values)}."
        )
    return tuple(sorted(set(points.tolist())))


# How clearly rows are decided, from decision values.


def decision_margins(scores: Any, codes: Any) -> Array:
    """How clearly each row is on its right side, from its decision values and the number of its class.

    For two classes y·f(x). For more, the score of the row's own class less the best score of another one: positive
    exactly where the prediction is right.

    Examples
    --------
    >>> decision_margins([2.0, -1.0], [1, 1])
    array([ 2., -1.])
    >>> decision_margins([[3.0, 1.0, 0.0], [3.0, 1.0, 0.0]], [0, 1])
    array([ 2., -2.])
    """
    scores, codes = np.asarray(scores, dtype=np.float64), np.asarray(codes)
    if scores.ndim == 1:
        return np.where(codes == 1, scores, -scores)
    rows = np.arange(len(codes))
    others = scores.copy()
    others[rows, codes] = -np.inf
    return scores[rows, codes] - others.max(axis=1)
