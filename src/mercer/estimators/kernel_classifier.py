"""Kernel logistic regression, smooth and squared-hinge machines as a scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy import special

from .. import solvers
from ..checks.parameters import choice
from ..grams import Gram
from ..losses import Logistic, Softmax, Squared, as_loss
from ..messages import guide
from ..problems import Iterate, Problem
from ..runtime.compile import Array
from .classifier import Classifier, cheapest
from .risk import RiskMinimiser
from .training import Training

#: A score whose logistic probability is 1 to the last digit.
_CERTAIN = 37.0


class KernelClassifier(RiskMinimiser, Classifier):
    """A classifier with any loss of the margin: kernel logistic regression, smooth and squared-hinge machines, …

    It minimises λ/2·‖w‖² + mean loss(y·f(x)), f = w·φ(x) + b, with an intercept that is not regularised.

    Parameters
    ----------
    kernel : kernel, text, callable or None, default="gaussian"
        ``None`` or ``"linear"`` learns a linear model with ``coef_``.
    loss : str or Loss, default="logistic"
        "logistic", "smooth_hinge", "squared_hinge", "squared"; with ``solver="gradient"`` any loss.
    lam : float or "loo", default=1e-3
        λ; C = 1/(λn). "loo": chosen by the mean loss of each row under the machine of all others, as in
        :class:`KernelRegressor`; the 20 rows that are refitted are those nearest to the boundary.
    solver : {"newton", "gradient"} or Solver, default="newton"
        Newton's method with conjugate gradients, plain (sub)gradient descent, or any solver of :mod:`mercer.solvers`,
        which then brings its own tolerance and limits.
    metric : {None, "learned", "learned-full"}, default=None
        Weights for columns, or a matrix, as in :class:`KernelRegressor`, by the squared loss of the labels ±1; the
        machine then has its own loss under this metric.
    tol : float, optional
        The part of its largest size that the gradient is to shrink to. By default 1e-11; 1e-4 where rows are passed
        over again and again (``rank`` with more rows than their features have room for): landmarks leave out more.
    max_iter : int, default=100
        Newton steps; gradient steps are counted in hundreds.
    fit_intercept : bool, default=True
    class_weight : dict or "balanced", optional
        Many labels have no classes, and refuse it.
    costs : array of shape (n_classes, n_classes) or dict, optional
        What it costs to answer class j where class i is true, ``costs[i, j]`` in the order of ``classes_`` with a
        diagonal of 0, or ``{(true, answered): cost}`` with 1 for all other mistakes. The logistic loss learns the same
        probabilities, and ``predict`` answers the class of least expected cost, which need not be the most probable.
        Machines with other losses are told by weights: each row counts the mean cost of a mistake on its class.
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
    classes_, multilabel_, kernel_, intercept_, coef_ or support_, dual_coef_ : as in the other machines
    objective_, duality_gap_ : arrays, one number for each problem solved (a softmax is one)
    n_iter_, status_, converged_
    lam_, tried_, loo_predictions_, loo_approximate_, loo_score_
        As in :class:`KernelRegressor`; predictions are decision values, the score is the share of right answers.

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from mercer import KernelClassifier
    >>> X, y = make_moons(200, noise=0.2, random_state=0)
    >>> model = KernelClassifier("gaussian(gamma=2)", lam=1e-3).fit(X, y)
    >>> model.predict_proba(X[:1]).round(2)
    array([[0.97, 0.03]])
    """

    path = "lam"
    takes_many_labels = True

    def __init__(
        self,
        kernel: Any = "gaussian",
        loss: Any = "logistic",
        lam: float | str = 1e-3,
        solver: Any = "newton",
        *,
        metric: str | None = None,
        tol: float | None = None,
        max_iter: int = 100,
        fit_intercept: bool = True,
        class_weight: Any = None,
        costs: Any = None,
        memory: int | str = "1GB",
        rank: int | None = None,
        landmarks: str = "pivoted",
        device: str | None = None,
        time_limit: float | None = None,
    ) -> None:
        self.kernel = kernel
        self.loss = loss
        self.lam = lam
        self.solver = solver
        self.metric = metric
        self.tol = tol
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept
        self.class_weight = class_weight
        self.costs = costs
        self.memory = memory
        self.rank = rank
        self.landmarks = landmarks
        self.device = device
        self.time_limit = time_limit

    @property
    def shares_path(self) -> bool:
        return self.solver == "newton" and super().shares_path

    def _check(self) -> None:
        super()._check()
        if not isinstance(self.solver, solvers.Solver):
            choice(self, "solver", ("newton", "gradient"))
        newton = self.solver == "newton" or isinstance(self.solver, solvers.Newton)
        if self._is_left_open and not newton and not self.has_squared_loss:
            raise ValueError("KernelClassifier: lam='loo' needs solutions to the last digit; use solver='newton'.")
        loss = as_loss(self.loss)
        if self.solver == "newton" and not loss.smooth:
            raise ValueError(
                f"KernelClassifier: loss={loss.name!r} has a kink, which Newton's method cannot pass; use SVC for the "
                "hinge, or solver='gradient'."
            )

    def _solver(self, seconds: float = np.inf, gram: Gram | None = None) -> Any:
        if isinstance(self.solver, solvers.Solver):
            return self.solver
        if self.solver == "newton":
            return self._newton(seconds, gram)
        return solvers.Gradient(max_iter=100 * int(self.max_iter), tol=self._tolerance(gram), time_limit=seconds)

    def _state(self, data: Training) -> list[Problem]:
        loss, lam, intercept = as_loss(self.loss), self._lam(), self._intercept()
        if loss == Logistic() and self.classes_.size > 2 and not self.multilabel_:
            own = np.equal(data.targets[:, None], np.arange(self.classes_.size)).astype(np.float64)
            return [Problem(data.gram, own, Softmax(), lam, data.weight, intercept)]
        return [Problem(data.gram, y, loss, lam, data.weight, intercept) for y in self._signs(data)]

    def _signs(self, data: Training) -> list[Array]:
        if self.multilabel_:
            return [y for y, known in zip(data.label_signs(), data.constant_labels(), strict=True) if not known]
        return [data.signs(position, self.classes_.size) for position in self._positions()]

    def _models(self, data: Training, found: Sequence[Iterate]) -> list[Iterate]:
        """One model for each class score: the columns, where one problem has them all.

        The same number added to every score of a softmax changes nothing: intercepts are given with a mean of zero.
        """
        models = [replace(each, b=each.b - each.b.mean()) if np.ndim(each.b) else each for each in found]
        found = [column for model in models for column in model.columns()]
        if not self.multilabel_:
            return found
        # A label that all items have needs no model: it is certain, as far as numbers can say so.
        waiting, nothing = iter(found), np.zeros(len(data.targets))
        labels = data.constant_labels()
        return [Iterate(nothing, _CERTAIN * known) if known else next(waiting) for known in labels]

    def _ridge_targets(self, data: Training) -> list[Array] | None:
        return self._signs(data) if as_loss(self.loss) == Squared() else None

    def _in_target_units(self, data: Training, scores: list[Array]) -> list[Array]:
        """With a column for each label that needs no problem."""
        if not self.multilabel_ or len(scores) == self.classes_.size:
            return scores
        waiting, labels = iter(scores), data.constant_labels()
        return [np.full(len(data.targets), _CERTAIN * known) if known else next(waiting) for known in labels]

    def _refuse_probabilities(self) -> None:
        if as_loss(self.loss) != Logistic():
            raise AttributeError(
                f"KernelClassifier has no probabilities with loss={self.loss!r}; use loss='logistic', or wrap it in "
                f"mercer.Calibrated {guide('probabilities')}."
            )

    def _weighed(self, codes: Array, weight: Array | None) -> Array | None:
        """A machine that knows probabilities needs no weights to know what a mistake costs."""
        if as_loss(self.loss) != Logistic():
            return super()._weighed(codes, weight)
        self._cost_matrix()  # which refuses what makes no sense
        return weight

    def predictions_of(self, decisions: Array) -> Array:
        """The labels that belong to decision values: with costs and probabilities, those expected to cost least."""
        matrix = self._cost_matrix()
        if matrix is None or as_loss(self.loss) != Logistic():
            return super().predictions_of(decisions)
        return self.classes_[cheapest(self.probabilities_of(decisions), matrix)]

    def probabilities_of(self, decisions: Array, log: bool = False) -> Array:
        """The probabilities, or their logarithms, that belong to decision values."""
        if self.multilabel_:
            return (special.log_expit if log else special.expit)(decisions)
        if decisions.ndim == 2:
            return (special.log_softmax if log else special.softmax)(decisions, axis=1)
        second = (special.log_expit if log else special.expit)(decisions)
        return np.column_stack([special.log_expit(-decisions) if log else 1 - second, second])
