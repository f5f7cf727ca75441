"""Kernel ridge, Huber, quantile and support vector regression as a scikit-learn regressor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from .. import solvers
from ..checks import schema
from ..checks.parameters import is_number, shown
from ..losses import Pinball, ResidualLoss, Squared, as_residual_loss
from ..problems import Certificate, Iterate, Problem
from ..rows.guests import lazily
from ..runtime.compile import Array
from .regressor import Regression
from .training import Training

__all__ = ["KernelQuantiles", "rearranged"]


class KernelRegressor(Regression):
    """Regression with any loss of the residual: kernel ridge, Huber, quantile and support vector regression.

    It minimises λ/2·‖w‖² + mean loss(y − f(x)), f = w·φ(x) + b.

    Parameters
    ----------
    kernel : kernel, text, callable or None, default="gaussian"
        ``None`` or ``"linear"`` learns a linear model with ``coef_``.
    loss : {"squared", "huber", "epsilon_insensitive", "pinball"} or ResidualLoss, default="squared"
        A loss of :mod:`mercer.losses` where its parameter matters: ``Huber(delta=2)``, ``Pinball(tau=0.9)``.
    lam : float or "loo", default=1e-3
        "loo": chosen by the mean loss of each row under the machine of all others. Of ``loss="squared"`` this is known
        exactly from one factorisation. Of other losses it is approximate, by one step of Newton's method from the
        machine of all rows; the 20 rows that the step moves most are refitted for what was chosen, and
        ``loo_approximate_`` names the others.
    metric : {None, "learned", "learned-full"}, default=None
        "learned": each column gets a weight, by how much predictions change with it (the diagonal of the average
        gradient outer product); "learned-full": rows are multiplied by the root of all of it, so that directions count
        that are no columns. Both are learned by the squared loss and judged by exact leave-one-out, for the kernels
        "gaussian", "laplacian" and "matern", alone or in an expression or a mixture, where each learns its own. Their
        ``gamma`` or ``length`` is chosen too unless it is a number, as that of "matern" is by default
        (``matern(length=scale)``). ``kernel_`` has the weights.
    tol : float, optional
        As in :class:`KernelClassifier`. A tube or a quantile stops when no optimality condition is violated by more
        than this (but at least 1e-5), in units of the targets' standard deviation.
    max_iter : int, default=100
        Newton steps; steps of the solver of tubes and quantiles are counted in hundred thousands.
    fit_intercept : bool, default=True
        Tubes ("epsilon_insensitive") and quantiles ("pinball") always have one.
    memory : int or str, default="1GB"
    rank : int, optional
        Approximate: learn from at most so many landmarks, which the model keeps in place of the rows. The share of the
        kernel matrix's trace that they leave out is in ``missing_trace_``; the certificate is that of the approximate
        problem.
    landmarks : {"pivoted", "uniform", "farthest"}, default="pivoted"
        How they are chosen: by randomly pivoted Cholesky, with equal chances, or far from each other (k-means++).
    device : {None, "cuda"}, default=None
        "cuda" computes the kernel matrix on a graphics card, tile by tile and never as a whole, for kernels that are
        functions of dot products or distances; needs ``mercer[gpu]``. Predictions come from the card too, where the
        model is used on a machine that has one.
    time_limit : float, optional
        Seconds from the call of ``fit`` after which the best model so far is returned, with a warning.

    Attributes
    ----------
    kernel_, intercept_, coef_ or support_, dual_coef_
    objective_, duality_gap_ : float, or array with a number for each column of ``y``
        λ/2·‖w‖² + the mean loss, and how far at most it lies above the least possible. Where the weights of a mixture
        of kernels are learned for several columns together: one number, in units of their standard deviations.
    kkt_violation_ : float or array, of a tube or a quantile
        The worst violation of an optimality condition, in units of the targets.
    n_iter_, status_, converged_
    lam_ : float, with ``lam="loo"``
    tried_ : dict of arrays, where something was chosen
        What was tried, and its leave-one-out error.
    loo_predictions_ : array of the shape of ``y``, with ``lam="loo"``
        What each row is told by the machine of all others: of those with the kernel that was found for all rows. Of
        few rows with many columns a learned metric, and what it says of the rows it is from, is too good.
    loo_approximate_ : array of ints
        The rows of which that is approximate; none with the squared loss.
    loo_score_ : float
        R² of these.

    Notes
    -----
    Targets may have several columns, which are learned from one kernel matrix, each as it would be alone; predictions
    then have as many. With the squared loss one factorisation serves all columns.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelRegressor
    >>> X = np.linspace(0, 6, 50)[:, None]
    >>> round(KernelRegressor("gaussian", lam=1e-5).fit(X, np.sin(X[:, 0])).score(X, np.sin(X[:, 0])), 3)
    1.0
    """

    path = "lam"
    multi_output = True

    def __init__(
        self,
        kernel: Any = "gaussian",
        loss: Any = "squared",
        lam: float | str = 1e-3,
        *,
        metric: str | None = None,
        tol: float | None = None,
        max_iter: int = 100,
        fit_intercept: bool = True,
        memory: int | str = "1GB",
        rank: int | None = None,
        landmarks: str = "pivoted",
        device: str | None = None,
        time_limit: float | None = None,
    ) -> None:
        self.kernel = kernel
        self.loss = loss
        self.lam = lam
        self.metric = metric
        self.tol = tol
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept
        self.memory = memory
        self.rank = rank
        self.landmarks = landmarks
        self.device = device
        self.time_limit = time_limit

    def _losses(self, columns: int) -> list[ResidualLoss]:
        return [as_residual_loss(self.loss)] * columns

    def _ridge_targets(self, data: Training) -> list[Array] | None:
        return self._standardised(data) if as_residual_loss(self.loss) == Squared() else None

    def _publish_certificates(self, certificates: Sequence[Certificate]) -> None:
        """A number each for a target of one number, an array for several."""
        super()._publish_certificates(certificates)
        for name in ("objective_", "duality_gap_", "kkt_violation_"):
            if name in vars(self) and self.target_shape_ == ():
                setattr(self, name, float(getattr(self, name)[0]))


# Several quantiles of a target at once, which never cross.


def rearranged(quantiles: Array) -> Array:
    """Predicted quantiles of each row, in increasing order of their levels, sorted so that none crosses another.

    Of two levels τ < τ′ whose predictions have crossed, a > b, the loss ρ_τ(r) = τ·r + max(0, −r) of a target y is

        ρ_τ(y − a) + ρ_τ′(y − b) = τ·(y − a) + τ′·(y − b) + max(0, a − y) + max(0, b − y).

    Swapping them leaves the last two terms as they are together, and takes (τ′ − τ)·(a − b) > 0 off the first two.
    Sorting is a row of such swaps. So for every row and whatever its target turns out to be, the sum of the losses over
    all levels is never larger after sorting, and smaller by exactly that where quantiles had crossed. It is so for any
    set of levels, evenly spaced or not; the loss of one level alone may be larger, and so may a sum that counts levels
    differently. (Chernozhukov, Fernández-Val and Galichon 2010.)

    Examples
    --------
    >>> import numpy as np
    >>> rearranged(np.array([[1.0, 3.0, 2.0]]))
    array([[1., 2., 3.]])
    """
    return np.sort(quantiles, axis=1)


class KernelQuantiles(Regression):
    """Quantiles of a target given the row: the median with an interval around it, or any others, from one matrix.

    For each level τ it minimises λ/2·‖w‖² + mean pinball loss, f = w·φ(x) + b, exactly; the solution of one level is
    where that of the next begins. Predictions of a row are sorted, so that no quantile is below a lower one; the sum of
    their pinball losses is never larger for it (:func:`~mercer.estimators.kernel_regressor.rearranged`).

    Parameters
    ----------
    kernel : kernel, text, callable or None, default="gaussian"
        ``None`` or ``"linear"`` learns a linear model with ``coef_``.
    quantiles : float or increasing sequence of floats, default=(0.05, 0.5, 0.95)
        Levels between 0 and 1. As in ``numpy.quantile``, predictions have a column for each level of a sequence, and
        no columns for one number.
    lam : float or "loo", default=1e-3
        λ, the same for all levels; "loo" as in :class:`KernelRegressor`. The loss grows with the unit of the targets,
        and ‖w‖² with its square: for targets
        that are 1000 times as large, 1/1000 of λ gives the same quantiles.
    tol : float, default=1e-5
        The largest violation of an optimality condition (but at least 1e-5), in units of the targets' standard
        deviation.
    max_iter : int, default=100
        Changes of a pair of coefficients, in hundred thousands.
    memory : int or str, default="1GB"
    time_limit : float, optional
        Seconds after which the best model so far is returned, with a warning.

    Attributes
    ----------
    kernel_, intercept_, coef_ or support_, dual_coef_ : a row for each level
    quantiles_ : array
        The levels.
    objective_, duality_gap_, kkt_violation_ : arrays, or floats for one number
        Certificates of each level by itself, before predictions are sorted.
    n_iter_, status_, converged_

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import KernelQuantiles
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(0, 1, (500, 1))
    >>> y = X[:, 0] * rng.uniform(0, 1, 500)
    >>> model = KernelQuantiles(quantiles=(0.1, 0.9), lam=1e-3).fit(X, y)
    >>> model.predict([[0.8]]).round(1)
    array([[0.1, 0.7]])
    """

    path = "lam"
    fields: ClassVar = {"quantiles_": schema.numbers("scores", low=0, high=1, rising=True)}
    #: The solver of losses with a kink needs one.
    fit_intercept = True

    def __init__(
        self,
        kernel: Any = "gaussian",
        quantiles: Any = (0.05, 0.5, 0.95),
        lam: float | str = 1e-3,
        *,
        tol: float = 1e-5,
        max_iter: int = 100,
        memory: int | str = "1GB",
        time_limit: float | None = None,
    ) -> None:
        self.kernel = kernel
        self.quantiles = quantiles
        self.lam = lam
        self.tol = tol
        self.max_iter = max_iter
        self.memory = memory
        self.time_limit = time_limit

    def _levels(self) -> list[float]:
        """The levels, checked."""
        given = [self.quantiles] if is_number(self.quantiles) else self.quantiles
        values = list(given) if np.ndim(given) == 1 and not isinstance(given, (str, dict)) else []
        between = all(is_number(value) and 0 < value < 1 for value in values)
        if not values or not between or any(np.diff(values) <= 0):
            raise ValueError(
                "KernelQuantiles: quantiles must be one or more numbers between 0 and 1, each larger than the last; "
                f"got {shown(self.quantiles)}."
            )
        return [float(value) for value in values]

    # -- problem and solution -------------------------------------------------------------------------------------

    def _losses(self, columns: int) -> list[ResidualLoss]:
        return [Pinball(level) for level in self._levels()]

    def _columns(self, data: Training) -> list[Array]:
        return [data.targets] * len(self._levels())

    def _start(self, problem: Problem, found: list[solvers.Certified], seconds: float) -> Iterate | None:
        """The quantile below: most items are on the same side of both."""
        return found[-1].solution if found else None

    def _ridge_targets(self, data: Training) -> list[Array] | None:
        return None

    def n_scores(self) -> int:
        return self.quantiles_.size

    def _publish_certificates(self, certificates: Sequence[Certificate]) -> None:
        self.quantiles_ = np.array(self._levels())
        super()._publish_certificates(certificates)
        if is_number(self.quantiles):
            for name in ("objective_", "duality_gap_", "kkt_violation_"):
                setattr(self, name, float(getattr(self, name)[0]))

    # -- predictions ----------------------------------------------------------------------------------------------

    @lazily
    def predict(self, X: Any) -> Array:
        """The quantiles of each row, in increasing order.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_rows, n_features), or a collection of the kernel's items

        Returns
        -------
        array of shape (n_rows, n_quantiles), or (n_rows,) where ``quantiles`` is one number
        """
        return self.predictions_of(self.decisions_of(self._scores(X)))

    def predict_interval(self, X: Any) -> Array:
        """The lowest and the highest quantile of each row.

        A share of as much as lies between their levels is expected inside; :class:`mercer.Conformal` guarantees it.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_rows, n_features), or a collection of the kernel's items

        Returns
        -------
        array of shape (n_rows, 2)
        """
        if len(self._levels()) < 2:
            raise ValueError(
                f"KernelQuantiles: an interval needs two quantiles or more; quantiles={shown(self.quantiles)}."
            )
        return self.predict(X)[:, [0, -1]]

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """D²: the part of the pinball loss of constant quantiles that is explained, the mean over all levels.

        Parameters
        ----------
        X : rows
        y : array of shape (n_rows,)
        sample_weight : array of shape (n_rows,), optional

        Returns
        -------
        float
            1 at best, 0 for the quantiles of ``y`` itself whatever the row.
        """
        return self.score_of(y, self.predict(X), sample_weight)

    def score_of(self, y: Any, predictions: Array, sample_weight: Any = None) -> float:
        """What :meth:`score` makes of predictions."""
        from sklearn.metrics import d2_pinball_score

        columns = zip(self._levels(), predictions.reshape(len(predictions), -1).T, strict=True)
        scores = [d2_pinball_score(y, own, alpha=level, sample_weight=sample_weight) for level, own in columns]
        return float(np.mean(scores))

    def decisions_of(self, scores: Array, numbers: Array | None = None) -> Array:
        """The quantiles of each row, sorted."""
        self._refuse_nonfinite(scores, numbers)
        quantiles = rearranged(scores)
        return quantiles[:, 0] if is_number(self.quantiles) else quantiles
