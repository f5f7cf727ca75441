"""What all classifiers share: from the user's rows and labels to problems, and from solutions to predictions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import Tags
from sklearn.utils.validation import check_consistent_length, check_is_fitted, validate_data

from .._runtime.compile import Array
from .._validation.labels import combine_weights, encode, refuse_bad_labels
from .._validation.memory import bytes_of
from .._validation.objects import chosen
from .._validation.offered import offered_if
from .._validation.parameters import shown
from .._validation.tables import numbers_only, refuse_extreme, refuse_foreign, tidy_sparse
from ..grams import Features, Gram, Lazy, gram_of
from ..kernels import Function, Kernel, as_kernel
from ..kernels.engine.parts import length
from ..kernels.given import refuse_asymmetric
from ..problems.problem import Stage
from .alike import warn_if_alike
from .fingerprints import fingerprints
from .model import KernelModel, LinearModel, kernel_model

#: Rows on which a kernel from outside is tried before the whole matrix is computed.
_SAMPLE = 16


@dataclass(frozen=True)
class Training:
    """Training rows after all checks."""

    kernel: Kernel | None
    items: Any
    #: For each item, the number of its class, and its weight (``None``: all count the same).
    codes: Array
    weight: Array | None
    gram: Gram
    #: The items as the user gave them, where they are not rows of numbers.
    given: Any = None
    #: Memory that solvers have used before and may use again.
    bench: Any = None

    def signs(self, position: int, classes: int) -> Array:
        """Labels ±1 of the problem that scores class ``position`` against the rest (the second class, of two)."""
        return np.where(self.codes == (1 if classes == 2 else position), 1.0, -1.0)

    def exact_gram(self) -> Gram:
        """The kernel matrix in float64, never in memory as a whole."""
        if self.kernel is None or self.kernel.precomputed or isinstance(self.gram, Features):
            return self.gram
        rows = self.items.astype(np.float64, copy=False) if hasattr(self.items, "astype") else self.items
        return Lazy(self.kernel, rows)

    @cached_property
    def contents(self) -> Any:
        """Rows of numbers that are equal where items are; ``None`` where items do not tell."""
        if self.kernel is None or self.kernel.on_rows:
            return None if self.kernel is not None and self.kernel.precomputed else self.items
        return fingerprints(self.given)

    @property
    def comparable(self) -> bool:
        """Whether items tell by themselves whether they are equal."""
        return self.contents is not None


class RowMachine(BaseEstimator):
    """Base of all estimators: rows, kernels and the fitted model. Subclasses have ``kernel`` and ``memory``."""

    kernel: Any
    memory: Any
    _model: Any
    #: What rows of numbers may be kept in; others are converted to the first.
    precisions: ClassVar[tuple[type, ...]] = (np.float64, np.float32)

    def _kernel(self) -> Kernel | None:
        # A copy: the fitted model must not follow later changes of the user's kernel.
        return None if self.kernel is None else clone(as_kernel(self.kernel))

    def set_params(self, **params: Any) -> Any:
        """Set parameters; those of a kernel given as text can be set as well (``kernel__gamma=2``)."""
        if isinstance(self.kernel, str) and any(name.startswith("kernel__") for name in params):
            self.kernel = as_kernel(self.kernel)
        return super().set_params(**params)

    def _rows(
        self, X: Any, kernel: Kernel | None, y: Any = "no_validation", reset: bool = False, numeric: bool = False
    ) -> Any:
        """The items (and labels, or ``numeric`` targets) checked; ``reset`` where they are training items."""
        if kernel is not None and not kernel.on_rows:
            return self._structured_items(X, kernel, y, reset, numeric)
        refuse_foreign(X)
        options: dict[str, Any] = {
            "accept_sparse": False if kernel is not None and kernel.precomputed else "csr",
            "dtype": self.precisions,
            "order": "C",
            "ensure_all_finite": False,
            "reset": reset,
            "ensure_min_samples": 1 if reset else 0,
        }
        if numeric:
            options["y_numeric"] = True
        with numbers_only():
            checked = validate_data(self, X, y, **options)
        rows, labels = (checked, None) if isinstance(y, str) and y == "no_validation" else checked
        if sparse.issparse(rows):
            rows = tidy_sparse(rows)
        refuse_extreme(rows, columns=getattr(self, "feature_names_in_", None), tiny=reset)
        return rows if labels is None else (rows, labels)

    def _structured_items(self, X: Any, kernel: Kernel, y: Any, reset: bool, numeric: bool) -> Any:
        """As :meth:`_rows`, for items that are not rows of numbers: the kernel says what is wrong with them."""
        items = kernel.items(X)
        if reset:
            for name in ("n_features_in_", "feature_names_in_"):
                self.__dict__.pop(name, None)  # of an earlier fit on rows of numbers
            if length(items) == 0:
                raise ValueError(f"{type(self).__name__} cannot learn from no items: X holds 0 samples.")
        if isinstance(y, str) and y == "no_validation":
            return items
        labels = validate_data(self, "no_validation", y, reset=reset, **({"y_numeric": True} if numeric else {}))
        check_consistent_length(items, labels)
        return items, labels

    def _make_gram(self, kernel: Kernel | None, rows: Any) -> Gram:
        return gram_of(kernel, rows, self.memory)

    def _try_kernel(self, kernel: Kernel, rows: Any) -> None:
        """Refuse a matrix or function that cannot be a kernel, before the real work starts."""
        if kernel.precomputed:
            if rows.shape[0] != rows.shape[1]:
                raise ValueError(
                    f"kernel='precomputed' needs the square matrix of the training rows; X has shape {rows.shape}."
                )
            refuse_asymmetric(rows, kernel)
            return
        if any(isinstance(part, Function) for part in [kernel, *kernel.get_params().values()]):
            sample = rows[:_SAMPLE]
            refuse_asymmetric(kernel.matrix(sample, sample), kernel)
        elif not np.isfinite(kernel.diag(rows)).all():
            # |k(x, z)|² ≤ k(x, x)·k(z, z), so finite self-similarities are enough.
            remedy = "scale the columns first" if kernel.on_rows else "use normalised(...), or smaller parameters"
            raise ValueError(
                f"the kernel {kernel} overflows on these {'rows' if kernel.on_rows else 'items'}; {remedy}."
            )

    def _publish(self, model: LinearModel | KernelModel, given: Any = None) -> None:
        """Set the fitted attributes that users read; ``given`` are the training items as the user gave them."""
        for name in ("coef_", "kernel_", "support_", "dual_coef_", "support_vectors_"):
            if hasattr(self, name):  # of an earlier fit, perhaps of another kind of model
                delattr(self, name)
        self._model = model
        self.intercept_ = model.intercept
        if isinstance(model, LinearModel):
            self.coef_ = model.coef
        else:
            self.kernel_ = model.kernel
            self.support_ = model.support
            self.dual_coef_ = model.coef
            if model.items is not None:
                kept = model.kernel.on_rows or given is None
                self.support_vectors_ = model.items if kept else chosen(given, model.support)

    def _fitted_kernel(self) -> Kernel | None:
        return getattr(self, "kernel_", None)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        kernel = self.kernel.strip().lower() if isinstance(self.kernel, str) else self.kernel
        pairwise = kernel == "precomputed" or bool(getattr(kernel, "precomputed", False))
        tags.input_tags.sparse = not pairwise
        tags.input_tags.pairwise = pairwise
        if isinstance(kernel, Kernel) and not kernel.on_rows:
            tags.input_tags.two_d_array = tags.input_tags.sparse = False
        return tags


def _has_probabilities(machine: KernelMachine) -> bool:
    machine._refuse_probabilities()
    return True


def _has_checkpoints(machine: KernelMachine) -> bool:
    if not hasattr(machine, "checkpoints"):
        raise AttributeError(
            f"{type(machine).__name__} keeps no models of earlier stages; Perceptron and Pegasos with checkpoints do."
        )
    return True


class KernelMachine(ClassifierMixin, RowMachine):
    """Base of the classifiers. Subclasses also have the parameter ``class_weight``."""

    class_weight: Any
    _stage_models: Any
    #: The parameter along which a search shares work: fits with later values go on from fits with earlier ones.
    path: ClassVar[str] = ""
    #: Whether a kernel matrix in float32 is enough to learn from.
    single: ClassVar[bool] = False

    @property
    def shares_path(self) -> bool:
        """Whether fits along :attr:`path` are what fits one by one would be."""
        return True

    def _gram_items(self, kernel: Kernel, rows: Any) -> Any:
        """The items whose kernel matrix is learned from."""
        return rows

    def _learn(self, data: Training) -> None:
        """Learn from rows that have passed all checks."""
        raise NotImplementedError

    def _along(self, data: Training, values: list[Any], scores_of: Callable[[Any], Array]) -> Iterator[Array]:
        """The scores of all items of a search for each value of :attr:`path`, where ``scores_of`` asks a model."""
        for value in values:
            self.set_params(**{self.path: value})._learn(data)
            yield scores_of(self._model)

    def _training(self, X: Any, y: Any, sample_weight: Any) -> Training:
        """Check everything that ``fit`` was given, and build the Gram."""
        kernel = self._kernel()
        bytes_of(self.memory)
        refuse_bad_labels(y)
        rows, labels = self._rows(X, kernel, y, reset=True)
        classes, codes = encode(labels, type(self).__name__)
        weight = combine_weights(sample_weight, self.class_weight, rows, labels)
        if kernel is not None:
            kernel = kernel.resolved(rows, weight)
            self._try_kernel(kernel, rows)
        given = None if kernel is None or kernel.on_rows else X
        data = Training(kernel, rows, codes, weight, self._make_gram(kernel, rows), given)
        warn_if_alike(self, kernel, rows, data.gram)
        self.classes_ = classes
        return data

    # -- the fitted model -----------------------------------------------------------------------------------------

    def _assemble(self, data: Training, stages: list[Stage]) -> LinearModel | KernelModel:
        """The model of one solution for each class score."""
        intercept = np.array([stage.b for stage in stages])
        if isinstance(data.gram, Features):
            weights = np.stack([data.gram.model(stage.z) if stage.w is None else stage.w for stage in stages])
            intercept = intercept + data.gram.shift(weights)
            if data.kernel is None:
                return LinearModel(weights, intercept)
        assert data.kernel is not None
        return kernel_model(data.kernel, data.items, np.stack([stage.z for stage in stages]), intercept)

    def _problems(self) -> range:
        """One problem for two classes; one for each class against the rest where there are more."""
        return range(1 if self.classes_.size == 2 else self.classes_.size)

    # -- predictions ----------------------------------------------------------------------------------------------

    def decision_function(self, X: Any) -> Array:
        """The score of each row, positive for the second class; for three classes or more, a column for each.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_rows, n_features), or a collection of the kernel's items

        Returns
        -------
        array of shape (n_rows,) or (n_rows, n_classes)
        """
        check_is_fitted(self, "_model")
        scores = self._model.scores(self._rows(X, self._fitted_kernel()), self.memory)
        self._refuse_nonfinite(scores)
        return self._decision(scores)

    def predict(self, X: Any) -> Array:
        """The label of each row; a score of exactly zero goes to the second class.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_rows, n_features), or a collection of the kernel's items

        Returns
        -------
        array of labels
        """
        return self._labels_of(self.decision_function(X))

    @offered_if(_has_probabilities)
    def predict_proba(self, X: Any) -> Array:
        """The probability of each class, in the order of ``classes_``; only where the loss has probabilities.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_rows, n_features), or a collection of the kernel's items

        Returns
        -------
        array of shape (n_rows, n_classes)
        """
        return self._probabilities_of(self.decision_function(X))

    @offered_if(_has_probabilities)
    def predict_log_proba(self, X: Any) -> Array:
        """The logarithm of each probability, exact also where a probability is too small for a number."""
        return self._probabilities_of(self.decision_function(X), log=True)

    def _refuse_probabilities(self) -> None:
        """Raise ``AttributeError`` with advice where the loss has no probabilities."""
        raise AttributeError(
            f"{type(self).__name__} has no probabilities: its loss says nothing about them. Wrap the machine in "
            "sklearn.calibration.CalibratedClassifierCV, or use KernelClassifier(loss='logistic')."
        )

    def _probabilities_of(self, decision: Array, log: bool = False) -> Array:
        """The probabilities, or their logarithms, that belong to decision values."""
        raise NotImplementedError

    @offered_if(_has_checkpoints)
    def staged_decision_function(self, X: Any) -> Iterator[Array]:
        """As :meth:`decision_function`, for each of the ``checkpoints`` in turn."""
        check_is_fitted(self, "_model")
        rows = self._rows(X, self._fitted_kernel())
        for model in self._stage_models:
            scores = model.scores(rows, self.memory)
            self._refuse_nonfinite(scores)
            yield self._shaped(scores)

    @offered_if(_has_checkpoints)
    def staged_predict(self, X: Any) -> Iterator[Array]:
        """As :meth:`predict`, for each of the ``checkpoints`` in turn."""
        for scores in self.staged_decision_function(X):
            yield self._labels_of(scores)

    def _decision(self, scores: Array) -> Array:
        """What :meth:`decision_function` makes of a model's scores."""
        return self._shaped(scores)

    def _refuse_nonfinite(self, scores: Array, rows: Array | None = None) -> None:
        """A score that is no number says nothing, though a label could be made of it; ``rows`` are their numbers."""
        bad = np.flatnonzero(~np.isfinite(scores).all(axis=1))
        if bad.size:
            row = bad[0] if rows is None else rows[bad[0]]
            raise ValueError(
                f"{type(self).__name__}: the score of row {row} is not a finite number, so the row has no label; scale "
                "the columns, or use a kernel whose values are finite on these rows."
            )

    def _shaped(self, scores: Array) -> Array:
        return scores[:, 0] if scores.shape[1] == 1 else scores

    def _labels_of(self, scores: Array) -> Array:
        codes = (scores >= 0).astype(int) if scores.ndim == 1 else scores.argmax(axis=1)
        return self.classes_[codes]


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
