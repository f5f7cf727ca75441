"""Classes from tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import column_or_1d

from ..calibration.calibrated import SigmoidMap
from ..checks import schema
from ..checks.labels import combine_weights, encode
from ..estimators import KernelClassifier
from ..runtime.compile import Array
from .base import TableMachine

__all__ = ["TableClassifier"]


def _rising(scores: Array, positive: Array, weight: Array) -> SigmoidMap:
    """The sigmoid of scores, flat where it would fall.

    Where nothing can be learned, each row is told the mean of all others, in which its own class counts for less: these
    scores say the opposite of the truth, and those of new rows say nothing.
    """
    found = SigmoidMap.of(scores, positive, weight)
    return found if found.slope >= 0 else SigmoidMap.of(np.zeros_like(scores), positive, weight)


def _softmax(scores: Array, codes: Array, weight: Array) -> list[SigmoidMap]:
    """One slope for the scores of all classes and a level for each, of whose softmax the log loss is least.

    Targets are what the rows say together with one more row, which is of every class as often as they are: the least
    is then finite also where scores separate the classes.
    """
    total, classes = weight.sum(), scores.shape[1]
    rates = np.bincount(codes, weight, classes) / total
    targets = (np.eye(classes)[codes] * total + rates) / (total + 1)
    share = weight / total

    def loss(values: Array) -> tuple[float, Array]:
        logarithms = log_softmax(values[0] * scores + values[1:], axis=1)
        slopes = share[:, None] * (np.exp(logarithms) - targets)
        return -float(share @ (targets * logarithms).sum(axis=1)), np.r_[(slopes * scores).sum(), slopes.sum(axis=0)]

    start = np.r_[0.0, np.log(np.maximum(rates, np.finfo(np.float64).tiny))]
    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=[(0, None), *[(None, None)] * classes]).x
    return [SigmoidMap(float(found[0]), float(level)) for level in found[1:]]


class TableClassifier(ClassifierMixin, TableMachine):
    """Classes from a table as it is: an exact kernel machine whose kernel, weights of columns and λ it chooses itself.

    Columns of numbers are standardised, missing ones get the median and a column that says so, words become columns,
    dates and texts numbers. The kernel is ``exp(−Σⱼ wⱼ·|xⱼ − zⱼ|/length)`` or a Gaussian, with weights of columns
    that are learned by how much scores change with them; its length and λ are tried one by one. All of that is
    judged by the squared error of the scores of each row under the machine of all others, which is known exactly
    from one factorisation. Of up to 4000 rows the kernel is the mean of the best of each kind, with weights and
    without, unless that is worse than the best alone by more than a standard error.
    Probabilities come from these scores too, by a sigmoid or, of three classes and more, by a softmax.

    Parameters
    ----------
    metric : {"learned", None}, default="learned"
        ``None``: all columns count the same.
    kernels : sequence of {"laplacian", "gaussian"}, default=("laplacian", "gaussian")
        What is tried.
    kinds : dict, optional
        What columns hold that are not what they look like, as in :func:`mercer.read`: "number", "category", "date" (or
        how dates are written, "date:%d.%m.%Y"), "text", "keep" or "ignore". Columns without a name are x1, x2, ....
        Of frames, all others are looked at: those that number or name the rows, and those of one value, are left out.
    class_weight : dict or "balanced", optional
    memory : int or str, default="2GB"
        What matrices may take. The choice is made on up to 4000 rows, and up to ten thousand are left out one by one,
        as far as two matrices of them have room; all others are told by a machine of these, which ``tried_`` says. The
        machine learns from all rows, by conjugate gradients where they are many.
    time_limit : float, optional
        Seconds from the call of ``fit``. What was not tried is in ``tried_``, and so is how many rows the machine had
        time for, where these are not all.
    random_state : int, RandomState or None, default=0
        Draws the rows that weights are learned on, where there are more than some thousand.

    Attributes
    ----------
    classes_ : array
    machine_ : KernelClassifier
        The machine of all prepared rows, with its certificate.
    maps_ : list of SigmoidMap
        From scores to probabilities: the sigmoid of two classes; of more, the slope and the intercept of each class's
        score in a softmax.
    preparation_ : Pipeline
        The steps before the machine.
    kinds_, ignored_ : dict
        The kind of each column that is learned from, and why others are not.
    loo_predictions_ : array of shape (n_rows,) or (n_rows, n_classes)
        The decision values of each training row by the machine of all others.
    loo_score_ : float
        The share of rows that these answer rightly.
    groups_ : array of shape (n_rows,) or None
        The number of each row's group.
    tried_ : dict of arrays
        What was tried: family, round of weights, length over the median distance, λ, rows, the leave-one-out error
        over the variance of the targets, and a note on what was not; ``pandas.DataFrame(model.tried_)`` is a table.
    feature_importances_ : array of shape (n_columns,)
        How much scores change over the spread of each column of the table, as parts of 1.
    objective_, duality_gap_, status_, converged_, n_iter_
        Those of ``machine_``.
    n_features_in_, feature_names_in_

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer import TableClassifier
    >>> frame = pd.DataFrame({"wind": ["calm", "storm", None] * 20, "sail": ["small", "large"] * 30})
    >>> model = TableClassifier().fit(frame, (frame["wind"] == "storm") & (frame["sail"] == "large"))
    >>> model.predict(frame[:3]).tolist()
    [False, True, False]
    """

    fields: ClassVar = {
        **TableMachine.fields,
        "machine_": schema.instance(KernelClassifier),
        "classes_": schema.labels("classes"),
        "maps_": schema.list_of(schema.instance(SigmoidMap, words="a map")),
        "loo_predictions_": schema.numbers("rows") | schema.numbers("rows", "classes"),
    }

    def __init__(
        self,
        metric: str | None = "learned",
        *,
        kernels: Sequence[str] = ("laplacian", "gaussian"),
        kinds: Mapping[str, str] | None = None,
        class_weight: Any = None,
        memory: int | str = "2GB",
        time_limit: float | None = None,
        random_state: Any = 0,
    ) -> None:
        self.metric = metric
        self.kernels = kernels
        self.kinds = kinds
        self.class_weight = class_weight
        self.memory = memory
        self.time_limit = time_limit
        self.random_state = random_state

    def _encoded(self, y: Any, sample_weight: Any, X: Any) -> tuple[Any, Array, Array | None]:
        labels = column_or_1d(y, warn=True)
        self.classes_, codes = encode(labels, type(self).__name__)
        weight = combine_weights(sample_weight, self.class_weight, np.zeros((len(labels), 1)), labels)
        places = [1] if self.classes_.size == 2 else range(self.classes_.size)
        return labels, np.column_stack([np.where(codes == place, 1.0, -1.0) for place in places]), weight

    def _machine(self, kernel: Any, lam: float) -> KernelClassifier:
        return KernelClassifier(kernel, loss="squared", lam=lam, memory=self.memory)

    def _publish(self, targets: Any, predictions: Array, weight: Array | None) -> None:
        codes = np.searchsorted(self.classes_, targets)
        counts = np.ones(len(codes)) if weight is None else weight
        if self.classes_.size == 2:
            self.maps_ = [_rising(predictions[:, 0], codes == 1, counts)]
        else:
            self.maps_ = _softmax(predictions, codes, counts)
        self.loo_predictions_ = predictions[:, 0] if predictions.shape[1] == 1 else predictions
        answers = self.probabilities_of(self.loo_predictions_).argmax(axis=1)
        self.loo_score_ = float(np.average(answers == codes, weights=weight))

    def probabilities_of(self, decisions: Array) -> Array:
        """The probabilities that belong to decision values."""
        if self.classes_.size == 2:
            second = self.maps_[0].probabilities(decisions)
            return np.column_stack([1 - second, second])
        slopes, levels = (np.array([getattr(each, name) for each in self.maps_]) for name in ("slope", "intercept"))
        return np.asarray(softmax(slopes * decisions + levels, axis=1))

    def decision_function(self, X: Any) -> Array:
        """The score of each row, positive for the second class; for three classes or more, a column for each.

        Parameters
        ----------
        X : frame or array of shape (n_rows, n_columns)

        Returns
        -------
        array of shape (n_rows,) or (n_rows, n_classes)
        """
        rows = self._rows(X)
        return self.machine_.decision_function(rows)

    def predict_proba(self, X: Any) -> Array:
        """The probability of each class, in the order of ``classes_``.

        Parameters
        ----------
        X : frame or array of shape (n_rows, n_columns)

        Returns
        -------
        array of shape (n_rows, n_classes)
        """
        return self.probabilities_of(self.decision_function(X))

    def predict_log_proba(self, X: Any) -> Array:
        """The logarithm of each probability."""
        return np.log(np.maximum(self.predict_proba(X), np.finfo(np.float64).tiny))

    def predict(self, X: Any) -> Array:
        """The most probable label of each row.

        Parameters
        ----------
        X : frame or array of shape (n_rows, n_columns)

        Returns
        -------
        array of labels
        """
        probabilities = self.predict_proba(X)
        return self.classes_[probabilities.argmax(axis=1)]
