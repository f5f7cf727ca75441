"""Regression by Gaussian processes: predictions that say how sure they are, and a kernel that the targets tune."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from scipy import special
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from ..checks import schema
from ..checks.parameters import bytes_of, choice, is_number, number, shown, size_in_words, truth
from ..kernels import Kernel
from ..kernels.engine.tiles import length
from ..messages import guide
from ..rows import in_memory
from ..rows.guests import lazily
from ..runtime.compile import Array
from ..solvers.evidence import Evidence, evidence, factorised
from ..solvers.landmark_evidence import Landmarked
from .gaussian_process import GaussianProcess, Learned
from .gp_targets import Process
from .model import KernelModel, kernel_model
from .regressor import Regressor
from .training import Training, warn

#: Similarities of all rows to the landmarks, and what is made of them: so many matrices at once.
_COLUMNS = 6
#: Residuals of the equations above this part of the targets are told.
_RESIDUAL = 1e-6


class GPRegressor(Regressor, GaussianProcess):
    """Gaussian process regression: a mean, its uncertainty, and a kernel whose numbers are learned.

    The targets are y = f(x) + ε with f ~ N(b, k) and ε ~ N(0, noise). Predictions are those of kernel ridge regression
    with λ = noise/n (:class:`KernelRegressor`); what a Gaussian process adds is the variance of f, and how likely the
    targets are for a kernel, which is differentiated by every number of the kernel and made the most of.

    Parameters
    ----------
    kernel : kernel, text, callable or None, default="gaussian"
        A kernel alone, such as "gaussian" or "matern(nu=2.5)", stands for variance·kernel with a length for each
        column, all of them learned. An expression is taken as it is written, and its numbers are where the descent
        begins: "4.0*gaussian(gamma=0.5) + linear". A mixture learns its weights.
    noise : "learned", float or array of shape (n_rows,), default="learned"
        The variance of the noise: learned, or given, one for all rows or one for each.
    tune : {"likelihood", "leave-one-out"} or None, default="likelihood"
        What the numbers of the kernel and the noise are to make the most of: the marginal likelihood of the targets, or
        the density of each target given all others. ``None`` takes kernel and noise as they are.
    own_lengths : bool, default=True
        Whether a kernel alone has a length for each column.
    fixed : sequence of str, default=()
        Parameters that stay as they are: "gamma" of all parts, or "left__gamma" of one.
    prior : float or None, default=3.0
        The logarithm of each number has a normal prior around its start, this wide. ``None`` has none.
    restarts : int, default=0
        Starts at random, beside those that the data suggest.
    fit_intercept : bool, default=True
        Whether the mean b of f is that of the targets; it is zero else.
    rank : int, optional
        Approximate: all rows are known through so many of them, the landmarks, chosen by pivoted Cholesky. What is made
        the most of is then a lower bound of the likelihood, which pays for what landmarks leave out
        (``missing_trace_``); descents begin on exact processes of fewer rows.
    memory : int or str, default="1GB"
        What matrices of all rows may take.
    time_limit : float, optional
        Seconds after which the best numbers so far are taken, with a warning.
    random_state : int, RandomState or None, default=0
        Draws the rows on which a descent begins, and restarts.

    Attributes
    ----------
    kernel_, intercept_, support_, support_vectors_, dual_coef_
        The learned kernel; f(x) = Σⱼ dual_coef_[0, j]·k(xⱼ, x) + intercept_[0].
    noise_ : float or array
        The variance of the noise, of each row where they differ.
    noise_floor_ : float
        The least noise with which the equations can be solved in float64. Less noise counts as this much, with a
        warning where it was given.
    log_marginal_likelihood_value_ : float
        log p(y) for the kernel and the noise that were found; with ``rank`` a lower bound of it.
    left_out_density_ : float
        Σ log p(yᵢ | all others).
    residual_ : float
        ‖y − b − (K + noise)·α‖/‖y − b‖, by products with the exact matrix: the certificate of the solution.
    missing_trace_ : float, with ``rank``
    lengths_ : array of shape (n_columns,), where columns have lengths of their own
    theta_, theta_names_ : arrays
        The logarithms of what was learned, the noise last.
    n_iter_ : int
        How often all rows were factorised.
    status_, converged_

    Notes
    -----
    A row of weight w stands for w rows with the same target, and counts as one with noise/w.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import GPRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = np.sort(rng.uniform(0, 10, 60))[:, None]
    >>> model = GPRegressor().fit(X, np.sin(X[:, 0]) + 0.1 * rng.normal(size=60))
    >>> mean, std = model.predict([[5.0], [20.0]], return_std=True)
    >>> bool(abs(mean[0] - np.sin(5)) < 0.1), bool(std[1] > 5 * std[0]), round(float(np.sqrt(model.noise_)), 1)
    (True, True, 0.1)
    """

    multi_output = True
    fields: ClassVar = {
        "noise_": schema.number(0) | schema.numbers("support", low=0),
        "noise_floor_": schema.number(0),
        "left_out_density_": schema.number(),
        "residual_": schema.number(0),
        "row_weights_": schema.optional(schema.numbers("support", low=0)),
        "landmark_factor_": schema.optional(schema.numbers("support", "support")),
    }

    def __init__(
        self,
        kernel: Any = "gaussian",
        noise: Any = "learned",
        *,
        tune: str | None = "likelihood",
        own_lengths: bool = True,
        fixed: Sequence[str] = (),
        prior: float | None = 3.0,
        restarts: int = 0,
        fit_intercept: bool = True,
        rank: int | None = None,
        memory: int | str = "1GB",
        time_limit: float | None = None,
        random_state: Any = 0,
    ) -> None:
        self.kernel = kernel
        self.noise = noise
        self.tune = tune
        self.own_lengths = own_lengths
        self.fixed = fixed
        self.prior = prior
        self.restarts = restarts
        self.fit_intercept = fit_intercept
        self.rank = rank
        self.memory = memory
        self.time_limit = time_limit
        self.random_state = random_state

    def _check(self) -> None:
        super()._check()
        choice(self, "tune", ("likelihood", "leave-one-out", None))
        truth(self, "fit_intercept")
        self._check_rank()
        if self.rank is not None and self.tune == "leave-one-out":
            raise ValueError(
                "GPRegressor: rows are left out of exact processes; leave rank out, or tune by likelihood."
            )
        if isinstance(self.noise, str):
            choice(self, "noise", ("learned",))
            if self.tune is None:
                raise ValueError("GPRegressor: tune=None learns nothing; give noise a number, such as noise=0.01.")
        elif is_number(self.noise):
            number(self, "noise", 0, strict=False)

    def given_noise(self, n: int) -> Array | None:
        """The noise of each row, where it is given."""
        if isinstance(self.noise, str):
            return None
        if is_number(self.noise):
            return np.full(n, float(self.noise))
        try:
            noise = np.asarray(self.noise, dtype=np.float64)
        except (TypeError, ValueError):
            noise = np.empty((0, 0))
        if noise.shape != (n,) or not (np.isfinite(noise) & (noise >= 0)).all():
            raise ValueError(
                f"GPRegressor: noise must be 'learned', a variance of at least 0, or one for each of the {n} rows; got "
                f"{shown(self.noise)}."
            )
        return noise

    # -- learning -------------------------------------------------------------------------------------------------

    def learn(self, data: Training) -> KernelModel:
        """Find the numbers of the kernel and the noise, and solve for them."""
        process = Process(self, data)
        if process.rank is None:
            self._refuse_too_many(len(process.targets))
        found = process.found(self._rng())
        kernel, noise = process.at(found.theta)
        for name in ("landmark_factor_", "row_weights_"):
            self.__dict__.pop(name, None)
        if process.rank is not None:
            return self._of_landmarks(data, process, found)
        solved = process.evidence(kernel, noise, None)
        alpha, residual = process.certified(kernel, solved)
        self._warn_of_noise(process, solved.floor, residual)
        self.noise_: Any = float(solved.noise[0]) if np.ptp(solved.noise) == 0 else solved.noise
        if (process.weight != 1).any():
            self.row_weights_ = process.weight
        self.log_marginal_likelihood_value_ = solved.log_likelihood + process.of_repeats(found.theta)
        self.left_out_density_ = solved.left_out_density
        self._publish_learned(found, process.names, kernel, process.given)
        model = kernel_model(replace(data, kernel=kernel), process.places, np.ascontiguousarray(alpha.T), process.mean)
        self._evidence: Evidence | Landmarked = replace(solved, alpha=alpha)
        return model

    def _of_landmarks(self, data: Training, process: Process, found: Learned) -> KernelModel:
        """The model of the landmarks, for the numbers that were found."""
        kernel, noise = process.at(found.theta)
        solved = process.bounded(kernel, noise)
        self._warn_of_noise(process, solved.floor, solved.residual)
        self.noise_ = float(np.mean(process.noise(found.theta)))
        self.log_marginal_likelihood_value_ = solved.bound + process.of_repeats(found.theta)
        self.left_out_density_ = solved.left_out_density
        self._publish_learned(found, process.names, kernel, process.given)
        self._evidence = solved.process
        self.landmark_factor_ = np.tril(solved.process.inner)
        self._missing = solved.missing
        support = process.places[process.landmarks]
        return kernel_model(replace(data, kernel=kernel), support, np.ascontiguousarray(solved.coef.T), process.mean)

    def _publish_approximation(self, data: Training) -> None:
        if hasattr(self, "landmark_factor_"):
            self.missing_trace_ = self._missing

    def _warn_of_noise(self, process: Process, least: float, residual: float) -> None:
        """Publish how exact the solution is, and say so where it is less so than one might think."""
        self.noise_floor_, self.residual_ = max(least, process.least), residual
        floor = self.noise_floor_
        raised = 0 if process.given_noise is None else int(np.count_nonzero(process.given_noise < floor))
        if raised:
            warn(
                f"GPRegressor: the noise of {raised} rows is less than what rounding leaves room for; it counts as "
                f"{floor:.3g} (noise_floor_). Give more noise, or let it be learned {guide('gaussian processes')}."
            )
        if residual > _RESIDUAL:
            warn(
                f"GPRegressor: the equations are solved to {residual:.2g} of the targets alone (residual_), as the "
                "noise is so small beside the kernel; give more noise, or let it be learned.",
                ConvergenceWarning,
            )

    def refuse_too_wide(self, n: int, rank: int, kernel: Kernel) -> None:
        if kernel.precomputed:
            raise ValueError("GPRegressor: landmarks are rows, and X is a matrix of similarities; leave rank out.")
        needed = _COLUMNS * 8 * n * rank
        if needed > bytes_of(self.memory) + 2**24:
            raise ValueError(
                f"GPRegressor: {rank} landmarks of {n} rows take {size_in_words(needed)}, more than "
                f"memory={self.memory!r}; raise memory, or lower rank {guide('memory')}."
            )

    # -- predictions ----------------------------------------------------------------------------------------------

    def _posterior(self) -> Evidence | Landmarked:
        """The factor of the training rows; made anew where the model came from a file."""
        check_is_fitted(self, "_model")
        known = self.__dict__.get("_evidence")
        if known is None:
            model = self._model
            self._refuse_unknown_rows()

            def matrix() -> Array:
                return np.array(model.kernel.matrix(model.items, model.items), dtype=np.float64)

            inner = self.__dict__.get("landmark_factor_")
            if inner is not None:
                self._evidence = Landmarked(factorised(matrix, np.zeros(len(inner)))[0], inner)
                return self._evidence
            alpha = np.ascontiguousarray(model.coef.T)
            noise = np.broadcast_to(np.asarray(self.noise_, dtype=np.float64), (len(alpha),))
            targets = model.kernel.product(model.items, model.items, alpha) + noise[:, None] * alpha
            self._evidence = known = replace(evidence(matrix, targets, noise), alpha=alpha)
        return known

    def _refuse_unknown_rows(self) -> None:
        if self._model.items is None:
            raise ValueError(
                "GPRegressor: a precomputed matrix does not say how far new rows are from themselves, which variances "
                "need; give GPRegressor the kernel and the rows themselves."
            )

    @lazily
    def _mean(self, X: Any) -> Array:
        return self.predictions_of(self.decisions_of(self._scores(X)))

    def predict(self, X: Any, return_std: bool = False, return_cov: bool = False, observed: bool = False) -> Any:
        """The mean of each row, and how sure it is where that is asked for.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_rows, n_features), or a collection of the kernel's items
        return_std : bool, default=False
            Also the standard deviation.
        return_cov : bool, default=False
            Also the covariance of all rows.
        observed : bool, default=False
            Whether these are of new targets, with noise, and not of f. Of rows with noise of their own, their mean.

        Returns
        -------
        mean : array of shape (n_rows,), or (n_rows, n_targets) as ``y`` was
        std : array of the same shape, with ``return_std``
        cov : array of shape (n_rows, n_rows), or (n_rows, n_rows, n_targets), with ``return_cov``

        Examples
        --------
        >>> from mercer import GPRegressor
        >>> model = GPRegressor("1.0*gaussian(gamma=0.5)", noise=0.25, tune=None).fit([[0.0]], [1.0])
        >>> [each.round(3).tolist() for each in model.predict([[0.0], [9.0]], return_std=True)]
        [[1.0, 1.0], [0.447, 1.0]]
        """
        if return_std and return_cov:
            raise ValueError("GPRegressor: ask for return_std or return_cov, not for both; std is √diag(cov).")
        if not (return_std or return_cov):
            return self._mean(X)
        X = in_memory(X)
        posterior, noise = self._posterior(), self._noise_of_new() if observed else 0.0
        self._refuse_unknown_rows()
        mean, items = np.asarray(self._mean(X)), self._in_double(X)
        if return_cov:
            model = self._model
            cov = posterior.covariance(model.kernel.matrix(items, model.items), model.kernel.matrix(items, items))
            cov[np.diag_indices_from(cov)] += noise
            return mean, cov if mean.ndim == 1 else np.repeat(cov[:, :, None], mean.shape[1], axis=2)
        std = np.sqrt(self._variances(items, posterior) + noise)
        return mean, std if mean.ndim == 1 else np.repeat(std[:, None], mean.shape[1], axis=1)

    def _in_double(self, X: Any) -> Any:
        items = self._items_to_score(X)
        return items.astype(np.float64, copy=False) if self.kernel_.on_rows else items

    def _noise_of_new(self) -> float:
        """The noise of a new target, whose weight is 1; of rows with noise of their own, their mean."""
        return float(np.mean(self.noise_ * self.__dict__.get("row_weights_", 1.0)))

    def _variances(self, items: Any, posterior: Evidence | Landmarked) -> Array:
        """The variance of f at some items, some at a time."""
        model = self._model
        out = np.empty(length(items))
        own = np.asarray(model.kernel.diag(items), dtype=np.float64)
        for rows in model.blocks(items, self.memory, 3 * model.support.size):
            out[rows] = posterior.variances(model.kernel.matrix(items[rows], model.items), own[rows])
        return out

    def predict_interval(self, X: Any, level: float = 0.9) -> Array:
        """The interval in which a new target of each row is, with this probability.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_rows, n_features), or a collection of the kernel's items
        level : float, default=0.9

        Returns
        -------
        array of shape (n_rows, 2), or (n_rows, n_targets, 2)
        """
        if not is_number(level) or not 0 < level < 1:
            raise ValueError(f"GPRegressor: level must be a number between 0 and 1, got {shown(level)}.")
        mean, std = self.predict(X, return_std=True, observed=True)
        reach = std * special.ndtri(0.5 + level / 2)
        return np.stack([mean - reach, mean + reach], axis=-1)

    def sample_y(self, X: Any, n_samples: int = 1, random_state: Any = 0) -> Array:
        """Functions drawn from the posterior, at some rows.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_rows, n_features), or a collection of the kernel's items
        n_samples : int, default=1
        random_state : int, RandomState or None, default=0

        Returns
        -------
        array of shape (n_rows, n_samples), or (n_rows, n_targets, n_samples)
        """
        mean, cov = self.predict(X, return_cov=True)
        # cov = Q·diag(e)·Qᵀ, and Q·√e·u has this covariance for u ~ N(0, 1); rounding may leave e below zero.
        values, vectors = np.linalg.eigh(cov if cov.ndim == 2 else cov[:, :, 0])
        drawn = check_random_state(random_state).normal(size=(n_samples, *mean.shape[1:], len(mean)))
        paths = drawn @ (vectors * np.sqrt(np.maximum(values, 0.0))).T
        return mean[..., None] + np.moveaxis(paths, 0, -1).reshape(*mean.shape[1:], len(mean), n_samples).swapaxes(
            0, -2
        )

    def log_marginal_likelihood(self, theta: Any = None, eval_gradient: bool = False) -> Any:
        """log p(y) of the training rows for other numbers of the kernel and the noise.

        Parameters
        ----------
        theta : array, optional
            As ``theta_`` has them; what was learned by default.
        eval_gradient : bool, default=False
            Whether the slopes by ``theta`` are asked for too.

        Returns
        -------
        float, or (float, array)
        """
        check_is_fitted(self, "_model")
        if theta is None and not eval_gradient:
            return self.log_marginal_likelihood_value_
        known = self._posterior()
        if isinstance(known, Landmarked):
            raise ValueError(
                "GPRegressor: a model of landmarks keeps these alone, and not the rows that a likelihood needs; "
                "log_marginal_likelihood_value_ is that of what was learned."
            )
        process = Process.of_fitted(self, known)
        theta = self.theta_ if theta is None else np.asarray(theta, dtype=np.float64)
        if theta.shape != self.theta_.shape or not np.isfinite(theta).all():
            raise ValueError(f"GPRegressor: theta has {self.theta_.size} numbers, {', '.join(self.theta_names_)}.")
        value, slope = process.likelihood(theta, None, "likelihood")
        return (value, slope) if eval_gradient else value
