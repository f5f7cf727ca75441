"""Several quantiles of a target at once, which never cross."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import solvers
from .._runtime.compile import Array
from .._validation.parameters import is_number, shown
from ..losses import Pinball, ResidualLoss
from ..problems import Certificate, Iterate, Problem
from .lazily import lazily
from .regression import Regression
from .training import Training

__all__ = ["KernelQuantiles", "rearranged"]


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
    their pinball losses is never larger for it (:func:`~mercer.estimators.kernel_quantiles.rearranged`).

    Parameters
    ----------
    kernel : kernel, text, callable or None, default="gaussian"
        ``None`` or ``"linear"`` learns a linear model with ``coef_``.
    quantiles : float or increasing sequence of floats, default=(0.05, 0.5, 0.95)
        Levels between 0 and 1. As in ``numpy.quantile``, predictions have a column for each level of a sequence, and
        no columns for one number.
    lam : float, default=1e-3
        λ, the same for all levels. The loss grows with the unit of the targets, and ‖w‖² with its square: for targets
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
    #: The solver of losses with a kink needs one.
    fit_intercept = True

    def __init__(
        self,
        kernel: Any = "gaussian",
        quantiles: Any = (0.05, 0.5, 0.95),
        lam: float = 1e-3,
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

    def _start(self, problem: Problem, found: list[solvers.Certified]) -> Iterate | None:
        """The quantile below: most items are on the same side of both."""
        return found[-1].solution if found else None

    def _ridge_targets(self, data: Training) -> list[Array] | None:
        return None

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
