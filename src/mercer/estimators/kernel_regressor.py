"""Kernel ridge, Huber, quantile and support vector regression as a scikit-learn regressor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .._runtime.compile import Array
from ..losses import ResidualLoss, Squared, as_residual_loss
from ..problems import Certificate
from .regression import Regression
from .training import Training


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
        "loo": chosen by the error of each row under the machine of all others, which is known exactly from one
        factorisation; with ``loss="squared"``.
    metric : {None, "learned"}, default=None
        "learned": each column gets a weight, by how much predictions change with it (the average gradient outer
        product), judged by exact leave-one-out; for the kernels "gaussian" and "laplacian", whose ``gamma`` is chosen
        too unless it is a number. ``kernel_`` has the weights.
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
        What each row is told by the machine of all others.
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
