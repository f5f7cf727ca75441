"""What all classifiers share: labels, decision values, probabilities, models of earlier stages."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils import Tags

from .._runtime.compile import Array
from .._validation.guide import guide
from .._validation.labels import combine_weights, encode, has_many_labels, indicators, refuse_bad_labels
from .._validation.offered import offered_if
from .._validation.parameters import shown
from .base import KernelMachine
from .cost_matrix import cost_matrix, mean_costs
from .lazily import at_once, lazily
from .sanity import warn_of_constant_labels
from .training import Training


def _has_probabilities(machine: Classifier) -> bool:
    machine._refuse_probabilities()
    return True


def _has_checkpoints(machine: Classifier) -> bool:
    if not hasattr(machine, "checkpoints"):
        raise AttributeError(
            f"{type(machine).__name__} keeps no models of earlier stages; Perceptron and Pegasos with checkpoints do."
        )
    return True


class Classifier(ClassifierMixin, KernelMachine):
    """Base of the classifiers. Subclasses also have the parameter ``class_weight``."""

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

    def _training(self, X: Any, y: Any, sample_weight: Any) -> Training:
        data = super()._training(X, y, sample_weight)
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

    def _positions(self) -> range:
        """The scores: one for two classes; one for each class against the rest where there are more."""
        return range(1 if self.classes_.size == 2 else self.classes_.size)

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
        self._refuse_nonfinite(scores, numbers)
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
