"""Classification by Gaussian processes: probabilities that average over all functions that the labels allow."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..checks import schema
from ..checks.parameters import choice
from ..kernels import Kernel, entry_slopes
from ..kernels.engine.tiles import length
from ..problems import Status
from ..rows import in_memory
from ..runtime.compile import Array
from ..solvers.laplace import Laplace, averaged, factor_of, laplace, variances
from .classifier import Classifier
from .gaussian_process import GaussianProcess, learned, starts_of
from .model import KernelModel, kernel_model
from .training import Training

#: Matrices of all rows by all rows beside the factors of the classes.
_AT_ONCE = 5
#: The variance of f that a descent begins with: scores of ±2 are probabilities of .12 and .88.
_VARIANCE = 4.0


class GPClassifier(Classifier, GaussianProcess):
    """Gaussian process classification by Laplace's approximation.

    Behind the labels stands a function f ~ N(0, k) with p(y | x) = σ(y·f(x)). Its most likely form is that of kernel
    logistic regression (:class:`KernelClassifier`, λ = 1/n, no intercept); what a Gaussian process adds is how far f
    may be from it, over which probabilities are averaged, and how likely the labels are for a kernel, whose numbers are
    learned. Of three classes or more each has a function of its own against all others, with one kernel for all.

    Parameters
    ----------
    kernel : kernel, text, callable or None, default="gaussian"
        As in :class:`GPRegressor`: a kernel alone stands for variance·kernel with a length for each column.
    tune : {"likelihood"} or None, default="likelihood"
        ``None`` takes the kernel as it is.
    own_lengths : bool, default=True
    fixed : sequence of str, default=()
    prior : float or None, default=1.5
        As in :class:`GPRegressor`, and narrower: of labels that a function separates, any large variance is as likely,
        and Laplace's approximation is at its worst.
    restarts : int, default=0
    class_weight : dict, "balanced" or None, default=None
    memory : int or str, default="1GB"
        What matrices of all rows may take.
    time_limit : float, optional
    random_state : int, RandomState or None, default=0

    Attributes
    ----------
    classes_, kernel_, support_, support_vectors_, dual_coef_
        The learned kernel; the most likely f(x) = Σⱼ dual_coef_[0, j]·k(xⱼ, x), a row for each class of three or more.
    log_marginal_likelihood_value_ : float
        Laplace's approximation of log p(y), the sum over classes.
    curvatures_ : array of shape (n_scores, n_rows)
        W, how much each label says.
    residual_ : float
        How far the slope at the most likely f is from zero.
    lengths_, theta_, theta_names_, n_iter_, status_, converged_

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import GPClassifier
    >>> X = np.linspace(-3, 3, 40)[:, None]
    >>> model = GPClassifier().fit(X, X[:, 0] > 0)
    >>> near, far, unseen = model.predict_proba([[0.1], [2.0], [50.0]])[:, 1]
    >>> bool(near < far), round(float(unseen), 2)
    (True, 0.5)
    """

    fields: ClassVar = {
        "curvatures_": schema.numbers("scores", "support", low=0),
        "residual_": schema.number(0),
    }

    def __init__(
        self,
        kernel: Any = "gaussian",
        *,
        tune: str | None = "likelihood",
        own_lengths: bool = True,
        fixed: Sequence[str] = (),
        prior: float | None = 1.5,
        restarts: int = 0,
        class_weight: Any = None,
        memory: int | str = "1GB",
        time_limit: float | None = None,
        random_state: Any = 0,
    ) -> None:
        self.kernel = kernel
        self.tune = tune
        self.own_lengths = own_lengths
        self.fixed = fixed
        self.prior = prior
        self.restarts = restarts
        self.class_weight = class_weight
        self.memory = memory
        self.time_limit = time_limit
        self.random_state = random_state

    def _check(self) -> None:
        super()._check()
        choice(self, "tune", ("likelihood", None))

    def learn(self, data: Training) -> KernelModel:
        """Find the numbers of the kernel, and the most likely function of each class."""
        process = _Labels(self, data)
        self._refuse_too_many(len(process.weight), len(process.signs) + _AT_ONCE)
        parameters, rng = process.parameters, self._rng()

        def function(theta: Array, rows: Array | None) -> tuple[float, Array]:
            value, slope = process.likelihood(theta, rows)
            return -value, -slope

        starts = [each[:-1] for each in starts_of(parameters, rng, int(self.restarts))]
        starts = [each for k, each in enumerate(starts) if not any((each == other).all() for other in starts[:k])]
        found = learned(function, starts, len(process.weight), self.prior, rng, data.run.seconds_left())
        kernel = parameters.kernel(found.theta)
        solved = process.solved(kernel, None)[1]
        if not all(each.converged for each in solved):
            found = replace(found, status=Status.worst([found.status, Status.NOT_CONVERGED]))
        self.log_marginal_likelihood_value_ = sum(each.log_likelihood for each in solved)
        self.curvatures_ = np.stack([each.curvature for each in solved])
        self.residual_ = max(each.residual for each in solved)
        self._publish_learned(found, parameters.names, kernel, data.kernel)
        self._factors = [each.factor for each in solved]
        coef = np.stack([each.g for each in solved])
        return kernel_model(replace(data, kernel=kernel), process.places, coef, np.zeros(len(coef)))

    # -- predictions ----------------------------------------------------------------------------------------------

    def _refuse_probabilities(self) -> None:
        """It has some."""

    def _factors_of(self, model: KernelModel) -> list[Array]:
        """The factors of the training rows; made anew where the model came from a file."""
        if "_factors" not in self.__dict__:
            K = np.asarray(model.kernel.matrix(model.items, model.items), dtype=np.float64)
            self._factors = [factor_of(K, each) for each in self.curvatures_]
        return self._factors

    def latent(self, X: Any) -> tuple[Array, Array]:
        """Mean and standard deviation of f at each row, a column for each class of three or more.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_rows, n_features), or a collection of the kernel's items

        Returns
        -------
        mean, std : arrays of shape (n_rows,) or (n_rows, n_classes)
        """
        check_is_fitted(self, "_model")
        model: Any = self._model
        if model.items is None:
            raise ValueError(
                "GPClassifier: a precomputed matrix does not say how far new rows are from themselves, which "
                "probabilities need; give GPClassifier the kernel and the rows themselves."
            )
        X = in_memory(X)
        mean, items = self.decision_function(X), self._items_to_score(X)
        items = items.astype(np.float64, copy=False) if model.kernel.on_rows else items
        own = np.asarray(model.kernel.diag(items), dtype=np.float64)
        out = np.empty((length(items), len(model.coef)))
        factors = self._factors_of(model)
        for rows in model.blocks(items, self.memory, 3 * model.support.size):
            similarities = model.kernel.matrix(items[rows], model.items)
            for k, (factor, curvature) in enumerate(zip(factors, self.curvatures_, strict=True)):
                out[rows, k] = variances(factor, curvature, similarities, own[rows])
        return mean, np.sqrt(out[:, 0] if mean.ndim == 1 else out)

    def predict_proba(self, X: Any) -> Array:
        """The probability of each class, in the order of ``classes_``, averaged over f.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_rows, n_features), or a collection of the kernel's items

        Returns
        -------
        array of shape (n_rows, n_classes)
        """
        mean, std = self.latent(X)
        probabilities = averaged(mean, std)
        if mean.ndim == 1:
            return np.column_stack([averaged(-mean, std), probabilities])
        return probabilities / probabilities.sum(axis=1, keepdims=True)

    def predict_log_proba(self, X: Any) -> Array:
        """The logarithm of each probability."""
        return np.log(self.predict_proba(X))


class _Labels:
    """The training rows with their labels, and how likely these are for some θ."""

    def __init__(self, machine: GPClassifier, data: Training) -> None:
        n = length(data.items)
        weight = np.ones(n) if data.weight is None else data.weight
        self.places = np.flatnonzero(weight > 0)
        self.weight = weight[self.places]
        self.precomputed = data.kernel.precomputed
        self.items = self._some(data.items, self.places) if self.places.size < n else data.items
        signs = [data.signs(position, machine.classes_.size) for position in machine._positions()]
        self.signs = [each[self.places] for each in signs]
        kernel = machine.starting_kernel(data.kernel, self.items, self.weight, _VARIANCE)
        self.parameters = machine.free_numbers(kernel)
        #: Coefficients found last, by the number of rows: where the next search of a mode begins.
        self._last: dict[int, list[Array]] = {}

    def _some(self, items: Any, rows: Array) -> Any:
        return items[np.ix_(rows, rows)] if self.precomputed else items[rows]

    def solved(self, kernel: Kernel, rows: Array | None) -> tuple[Array, list[Laplace]]:
        """The kernel matrix, and the approximation of each class."""
        items = self.items if rows is None else self._some(self.items, rows)
        some = slice(None) if rows is None else rows
        K = np.array(kernel.matrix(items, items), dtype=np.float64)
        if not np.isfinite(K).all():
            raise FloatingPointError("the kernel matrix is not finite.")
        starts = self._last.get(len(K), [None] * len(self.signs))
        found = [laplace(K, y[some], self.weight[some], start) for y, start in zip(self.signs, starts, strict=True)]
        self._last[len(K)] = [each.g for each in found]
        return K, found

    def likelihood(self, theta: Array, rows: Array | None) -> tuple[float, Array]:
        """The log likelihood, and its slopes by θ."""
        kernel = self.parameters.kernel(theta)
        kernel.check()
        items = self.items if rows is None else self._some(self.items, rows)
        K, found = self.solved(kernel, rows)
        V = np.sum([each.slopes(K) for each in found], axis=0)
        slopes = entry_slopes(kernel, items, items, lambda i, j: V[i, j], symmetric=True)
        return sum(each.log_likelihood for each in found), self.parameters.slopes(theta, slopes)
