"""Outlier detectors, which learn from items without labels: a half space, or a ball, that holds most of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
from sklearn.base import OutlierMixin
from sklearn.utils.validation import check_is_fitted

from ..checks import schema
from ..checks.parameters import number
from ..grams import Gram, Placement
from ..kernels import Kernel
from ..losses import Shortfall
from ..problems import Certificate, Intercept, Iterate, NuProblem, Problem
from ..rows.guests import lazily
from ..runtime.compile import Array
from .dual_machine import DualMachine
from .training import Training, warn

#: Items from which the unit of scores is estimated.
_SAMPLE = 500
#: Rounding does not make an outlier: what is on the boundary, as many training rows are, is usual.
_ROUNDING = 1e-9
#: Scores, and squared distances, are differences of numbers that are rounded to this part of a self-similarity.
_CANCELLED = 1e-14
#: Similarities that differ by less than this part of the largest are as good as equal.
_ALIKE = 1e-12
#: A distance from the origin whose square is less than this part of the mean ‖φ(x)‖² is none.
_ORIGIN = 1e-7


class NoveltyMachine(OutlierMixin, DualMachine, named=False):
    """What :class:`OneClassSVM` and :class:`SVDD` share.

    Scores differ from item to item by as much as items do in feature space: σ² = mean k(x, x) − mean k(x, x′). The
    problem is solved in that unit, so that a tolerance means the same for every kernel.
    """

    nu: float
    answers = "outliers"
    fields: ClassVar = {"offset_": schema.number()}
    path_falls = True
    precisions = (np.float64,)  # many rows are on the boundary, to the last digit

    def __init__(
        self,
        kernel: Any = "gaussian",
        *,
        nu: float = 0.5,
        tol: float = 1e-4,
        max_iter: int = 10_000_000,
        time_limit: float | None = None,
        memory: int | str = "1GB",
        random_state: Any = 0,
    ) -> None:
        self.kernel = kernel
        self.nu = nu
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.memory = memory
        self.random_state = random_state

    @property
    def placement(self) -> Placement:
        """As for all machines with a dual; without an intercept features stay where they are."""
        return Placement(self.memory, np.float32)

    def _check(self) -> None:
        number(self, "nu", 0, 1)
        super()._check()

    # -- problem and solution -------------------------------------------------------------------------------------

    def _unit(self, data: Training) -> float:
        """σ², as a sample of the items that count tells it."""
        gram, weight = data.gram, data.weight
        counted = np.arange(len(gram)) if weight is None else np.flatnonzero(weight)
        some = np.sort(np.random.default_rng(0).permutation(counted)[:_SAMPLE])
        part = gram.take(some)
        K = np.asarray(part.rows(np.arange(some.size)), dtype=np.float64)
        spread = float(K.diagonal().mean() - K.mean())
        return max(spread, _ALIKE * float(np.abs(K).max())) or 1.0

    def _targets(self, gram: Gram) -> Array:
        """y of :class:`Shortfall`: what the score of an item has to exceed, but for the distance that is found."""
        raise NotImplementedError

    def _state(self, data: Training, gram: Gram) -> Problem:
        # Σz = ν/λ = 1/σ²: scores are means of similarities, in units of σ².
        unit = self._unit(data)
        targets = self._targets(gram) / unit
        return NuProblem(gram, targets, Shortfall(), unit * self.nu, data.weight, Intercept.NONE, float(self.nu))

    @staticmethod
    def _grown(problem: Problem, before: Problem, found: Iterate) -> Iterate:
        """Coefficients sum to the same whatever nu is."""
        return Iterate(found.z, scores=found.scores)

    # -- what users read ------------------------------------------------------------------------------------------

    def n_scores(self) -> int:
        return 1

    @lazily
    def decision_function(self, X: Any) -> Array:
        """How far each row is inside; negative for outliers.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_rows, n_features), or a collection of the kernel's items

        Returns
        -------
        array of shape (n_rows,)
        """
        return self.score_samples(X) - self.offset_

    def score_samples(self, X: Any) -> Array:
        """The score of each row, which is usual where it is ``offset_`` or more."""
        raise NotImplementedError

    @lazily
    def predict(self, X: Any) -> Array:
        """1 for each row that is usual, −1 for each that is not.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_rows, n_features), or a collection of the kernel's items

        Returns
        -------
        array of shape (n_rows,)
        """
        return self.predictions_of(self.decision_function(X))

    def decisions_of(self, scores: Array, numbers: Array | None = None) -> Array:
        """The one score of each row."""
        return super().decisions_of(scores, numbers)[:, 0]

    def predictions_of(self, decisions: Array) -> Array:
        """1 where a decision value is not negative, else −1."""
        return np.where(decisions >= 0, 1, -1)


class OneClassSVM(NoveltyMachine):
    """The half space, farthest from the origin of feature space, that holds all but a share ``nu`` of the items.

    It minimises ½‖w‖² + Σ max(0, ρ − w·φ(x)) − nu·n·ρ, through its dual; an item with w·φ(x) < ρ is an outlier.

    Parameters
    ----------
    kernel : kernel, text, callable or None, default="gaussian"
        ``None`` or ``"linear"`` learns a linear machine with ``coef_``.
    nu : float, default=0.5
        More than 0 and at most 1: an upper bound on the share of training rows that are outliers, and a lower bound on
        the share of support rows.
    tol : float, default=1e-4
        The largest violation of an optimality condition allowed, where scores are means of similarities in units of
        σ² = mean k(x, x) − mean k(x, x′), but at least 1e-12 of the largest similarity.
    max_iter, time_limit, memory, random_state
        As in :class:`SVR`.

    Attributes
    ----------
    offset_ : float
        ρ: the score from which on a row is usual.
    support_, support_vectors_, n_support_, dual_coef_, intercept_, coef_ (linear), kernel_
        As in scikit-learn.
    objective_ : float
        λ/2·‖w‖² + the mean of max(0, ρ − w·φ(x)) − nu·ρ, with λ = 1/Σ weights.
    duality_gap_ : float
        How far at most the objective lies above the least possible one.
    kkt_violation_ : float
        The worst violation of an optimality condition, in units of scores: at most tol·σ²·nu·Σ weights where converged.
    n_iter_, status_, converged_, fit_status_

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import OneClassSVM
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> OneClassSVM(nu=0.1).fit(X).predict([[0.0, 0.0], [5.0, 5.0]])
    array([ 1, -1])
    """

    path = "nu"  # by each class for itself, as a search asks for

    def _targets(self, gram: Gram) -> Array:
        return np.zeros(len(gram))

    def _growth(self, data: Training, problem: Problem) -> float:
        """What makes coefficients of a problem those of λ = 1/Σ weights, whose bounds are the weights."""
        return problem.lam * (len(data.gram) if data.weight is None else float(data.weight.sum()))

    def _model_of(self, data: Training, problem: Problem, found: Iterate) -> Iterate:
        # ‖w‖²/(Σz)² = zᵀKz/(Σz)² is the square of the distance from the origin to the nearest mean of items.
        square = max(0.0, float(found.z @ np.asarray(found.scores)) / float(found.z.sum()) ** 2)
        diagonal = np.asarray(problem.gram.diag(), dtype=np.float64)
        self._around_origin = square <= _ORIGIN * float(diagonal.mean())
        model = found.scaled(self._growth(data, problem))
        unit = float(model.z.sum())
        rounding = _ROUNDING * abs(model.width) + _CANCELLED * unit * float(diagonal.mean())
        if self._around_origin:  # w is 0 but for the tolerance: |w·φ| ≤ ‖w‖·‖φ‖ tells no row from another
            rounding += 2 * unit * float(np.sqrt(square * diagonal.max()))
        self.offset_ = model.width - rounding
        return replace(model, b=-self.offset_)

    def _in_users_units(self, data: Training, problem: Problem, certificate: Certificate) -> Certificate:
        return Certificate(*(self._growth(data, problem) * each for each in certificate if each is not None))

    def _warn_if_short(self) -> None:
        super()._warn_if_short()
        if self._around_origin:
            warn(
                "OneClassSVM: the origin of feature space lies among the rows, so that no half space has most of them "
                "on one side and the origin on the other; scores mean little. Use SVDD, or a kernel such as the "
                "Gaussian."
            )

    def score_samples(self, X: Any) -> Array:
        """w·φ(x) of each row, which is usual where it is ``offset_`` or more.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_rows, n_features), or a collection of the kernel's items

        Returns
        -------
        array of shape (n_rows,)
        """
        return self.decisions_of(self._scores(X)) + self.offset_


class SVDD(NoveltyMachine):
    """The smallest ball in feature space that holds all but a share ``nu`` of the items.

    It minimises R² + 1/(nu·n)·Σ max(0, ‖φ(x) − c‖² − R²) over centre c and radius R, through its dual. With a kernel
    for which k(x, x) is the same for all items, such as a Gaussian, it is the :class:`OneClassSVM`; with others, such
    as a linear one, it stays around the items where a half space does not.

    Parameters
    ----------
    kernel : kernel, text, callable or None, default="gaussian"
    nu, tol, max_iter, time_limit, memory, random_state
        As in :class:`OneClassSVM`.

    Attributes
    ----------
    radius_ : float
    offset_ : float
        −R²: scores are −‖φ(x) − c‖².
    centre_square_ : float
        ‖c‖².
    support_, support_vectors_, n_support_, kernel_
    dual_coef_ : array
        The centre is the mean of the support items with these weights, which sum to one.
    objective_, duality_gap_, kkt_violation_ : float
        In units of R²: R² + 1/(nu·n)·Σ max(0, ‖φ(x) − c‖² − R²); the violation is at most 2·tol·σ² where converged.
    n_iter_, status_, converged_, fit_status_

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVDD
    >>> X = np.array([[-1.0, 0.0], [1.0, 0.0], [0.0, 1.0], [0.0, 0.2]])
    >>> model = SVDD(None, nu=0.1, tol=1e-8).fit(X)
    >>> round(model.radius_, 4), model.predict([[0.5, 0.5], [2.0, 0.0]])
    (1.0, array([ 1, -1]))
    """

    path = "nu"  # by each class for itself, as a search asks for
    fields: ClassVar = {"radius_": schema.number(0), "centre_square_": schema.number()}

    def read_kernel(self) -> Kernel:
        kernel = super().read_kernel()
        if kernel.precomputed:
            raise ValueError(
                "SVDD needs the similarity of every item with itself, which the columns of a precomputed kernel matrix "
                "do not tell of new items; use OneClassSVM, or the kernel itself."
            )
        return kernel

    def _targets(self, gram: Gram) -> Array:
        # ‖φ − c‖² − R² = 2·(k(x, x)/2 − ⟨c, φ⟩ − (R² − ‖c‖²)/2): falling short of k(x, x)/2 + ρ, ρ = (‖c‖² − R²)/2
        return 0.5 * gram.diag()

    def _model_of(self, data: Training, problem: Problem, found: Iterate) -> Iterate:
        unit = problem.lam / float(self.nu)
        model = found.scaled(unit)
        scores = np.asarray(found.scores) * unit
        self.centre_square_ = float(model.z @ scores)
        self.radius_ = float(np.sqrt(max(0.0, self.centre_square_ - 2 * model.width)))
        self_similarity = float(np.mean(problem.gram.diag()))
        self.offset_ = -(self.radius_**2) * (1 + _ROUNDING) - _CANCELLED * self_similarity
        return model

    def _in_users_units(self, data: Training, problem: Problem, certificate: Certificate) -> Certificate:
        # λ = ν·u with the unit u, w = c/u: λ/2·‖w‖² − ν·ρ + mean loss = ν/(2u)·(‖c‖² − 2ρu + mean/ν)
        unit = problem.lam / float(self.nu)
        objective, gap, violation = certificate
        worst = None if violation is None else 2 * unit * violation
        return Certificate(2 * unit / float(self.nu) * objective, 2 * unit / float(self.nu) * gap, worst)

    def along(self, data: Training, values: list[Any], scores_of: Callable[[Any], Array]) -> Iterator[Array]:
        """Distances need the similarity of every item with itself, which models do not ask for."""
        raise NotImplementedError

    @property
    def shares_path(self) -> bool:
        return False

    @property
    def decision_terms(self) -> tuple[float, float, float]:
        """−‖φ(x) − c‖² + R² = 2⟨c, φ(x)⟩ − k(x, x) − ‖c‖² + R², R² being −offset."""
        return 2.0, -1.0, -self.centre_square_ - self.offset_

    def score_samples(self, X: Any) -> Array:
        """−‖φ(x) − c‖² of each row.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_rows, n_features), or a collection of the kernel's items

        Returns
        -------
        array of shape (n_rows,)
        """
        check_is_fitted(self, "_model")
        items = self.read_items(X, self.kernel_)
        scores = self.decisions_of(self._model.scores(items, self.memory))
        return 2 * scores - np.asarray(self.kernel_.diag(items), dtype=np.float64) - self.centre_square_
