"""The exact support vector machine as a scikit-learn classifier."""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import combinations
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from .. import solvers
from .._compile import Array
from .._parallel import bytes_of, for_each, one_blas_thread
from ..certificate import MarginCertificate, certify_margin
from ..grams import Dense, Features, Gram, Lazy
from ..kernels import Linear, Normalised, Power, Product, Scaled, Sum
from ..kernels.thin import is_thin, near_origin
from ..losses import Hinge
from ..problem import Problem, Solution, Status
from ..solvers.certified import Certified, solve_certified
from ..solvers.coordinate import linear_start
from ..solvers.hard_margin import hard_margin, hull_is_small
from ..solvers.smo import Bench
from .base import KernelMachine, Training, choice, number
from .distinct import row_keys
from .indefinite import refuse_indefinite
from .model import KernelModel, LinearModel
from .progress import CallbackSupportMixin, reported, with_callbacks

#: A linear machine with more rows than this begins with passes over them.
_FEW = 1000
#: Steps for each item after which an interior point method finds a hard margin sooner.
_PATIENCE, _LEAST_PATIENCE = 20, 2000
#: Where there is no hard margin, the machine is that of a C which costs a mistake so many times the longest item.
_NEARLY_HARD = 1e3
#: Items whose scores tell, in a search, whether single precision can be trusted.
_SPOTS = 32
#: The largest self-similarity that single precision is used for.
_SINGLE = 1e30


class SVC(CallbackSupportMixin, KernelMachine):
    """The soft-margin support vector machine, solved exactly and with a certificate.

    It minimises ½‖w‖² + C·Σ max(0, 1 − y·f(x)) with an intercept that is not regularised, through its dual.

    Parameters
    ----------
    kernel : kernel, text, callable or None, default="gaussian"
        ``None`` learns a linear machine with ``coef_``.
    C : float, default=1
        What a violated margin costs. ``inf`` asks for the hard margin and says so where there is none.
    strategy : {"ovo", "ovr"}, default="ovo"
        For three classes or more: a machine for every pair of classes, or one for each class against the rest.
    tol : float, default=1e-3
        The largest violation of an optimality condition allowed.
    max_iter : int, default=10000000
        Steps at most (changes of a pair of coefficients), for each machine.
    time_limit : float, optional
        Seconds after which the best model so far is kept, with a warning.
    class_weight : dict or "balanced", optional
    warm_start : bool, default=False
        Begin where the last fit on the same rows ended, for example with another C.
    memory : int or str, default="1GB"
        What the parts of the kernel matrix that are kept may take. With less the fit is slower, not different.
    random_state : int, RandomState or None, default=0
        Which items are tried first. It does not change the result beyond the tolerance.

    Attributes
    ----------
    classes_ : array
    support_, support_vectors_, n_support_ : arrays
        The rows that the machine is made of, class by class.
    dual_coef_ : array of shape (n_classes − 1, n_support), or (n_classes, n_support) for "ovr"
        y·α, laid out as in scikit-learn.
    coef_ : array, where the kernel is linear
    intercept_ : array, one for each machine
    objective_ : array
        The primal objective of each machine.
    duality_gap_ : array
        How far at most each objective lies above the least possible one.
    kkt_violation_ : array
        The worst violation of an optimality condition, in each machine.
    status_ : str
        "converged", "not converged" (a limit was reached), "not separable" or "not found" (a hard margin, with or
        without a proof that there is none), or "interrupted".
    n_iter_ : array

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVC
    >>> X = np.array([[1.0, 1], [2, 2], [2, 0], [0, 0], [1, 0], [0, 1]])
    >>> model = SVC(kernel="linear", C=float("inf"), tol=1e-6).fit(X, [1, 1, 1, -1, -1, -1])
    >>> model.coef_.round(3), model.intercept_.round(3)
    (array([[2., 2.]]), array([-3.]))
    """

    path = "C"
    single = True

    def __init__(
        self,
        kernel: Any = "gaussian",
        *,
        C: float = 1.0,
        strategy: str = "ovo",
        tol: float = 1e-3,
        max_iter: int = 10_000_000,
        time_limit: float | None = None,
        class_weight: Any = None,
        warm_start: bool = False,
        memory: int | str = "1GB",
        random_state: Any = 0,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.strategy = strategy
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.class_weight = class_weight
        self.warm_start = warm_start
        self.memory = memory
        self.random_state = random_state

    def _check(self) -> None:
        if not (isinstance(self.C, (int, float, np.number)) and not isinstance(self.C, bool) and self.C > 0):
            raise ValueError(f"SVC: C must be a number greater than 0 (inf for the hard margin), got {self.C!r}.")
        number(self, "tol", 0)
        number(self, "max_iter", 1, whole=True, strict=False)
        if self.time_limit is not None:
            number(self, "time_limit", 0)
        choice(self, "strategy", ("ovo", "ovr"))

    def _make_gram(self, kernel: Any, rows: Any) -> Gram:
        """Rows in float32 are enough to find the solution; the certificate goes back to all digits."""
        if kernel is None or isinstance(kernel, Linear):
            return Features.around_mean(rows)
        if kernel.precomputed:
            return Dense(rows)
        return Lazy(kernel, self._gram_items(kernel, rows), self.memory)

    def _gram_items(self, kernel: Any, rows: Any) -> Any:
        return single_precision(kernel, rows)

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SVC:
        """Learn from rows and labels.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_rows, n_features)
        y : array of shape (n_rows,)
        sample_weight : array of shape (n_rows,), optional
            Multiplies C, row by row.

        Returns
        -------
        self
        """
        self._check()
        before = self._memory_of_fit() if self.warm_start else None
        data = self._training(X, y, sample_weight)
        refuse_indefinite(data.gram, data.kernel)
        machines = self._machines(data, before)
        solver, benches = self._solver(len(machines)), threading.local()
        seed = check_random_state(self.random_state).randint(2**31 - 1)

        def complete(machine: _Machine) -> None:
            benches.mine = getattr(benches, "mine", None) or Bench()
            machine.complete(solver, np.random.default_rng(seed), benches.mine, data.exact_gram())

        # Kernel matrices are computed by threads of ours; what is left for BLAS is small, and its idle threads, waiting
        # for more, take time from ours.
        with one_blas_thread(), reported(self, X, y, len(machines), "machine") as run:
            parts = list(enumerate(machines))
            threads = 1 if len(parts) == 1 else None
            for_each(lambda part: run(part[0], lambda: complete(part[1])), parts, threads)
        self._keep(data, machines)
        self._speak(machines)
        return self

    def _along(self, data: Training, values: list[Any], scores_of: Callable[[Any], Array]) -> Iterator[Array]:
        """With rising C, each machine goes on from its last solution; nothing is certified on the way."""
        refuse_indefinite(data.gram, data.kernel)
        previous: list[_Machine] = []
        bench, exact = data.bench or Bench(), data.exact_gram()
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        for C in values:
            self.C = C
            self._check()
            machines = self._machines(data, None)
            for machine, last in zip(machines, previous, strict=bool(previous)):
                machine.go_on_from(last)
            for machine in machines:
                machine.solve(self._solver(len(machines)), np.random.default_rng(seed), bench, exact)
            previous = machines
            reach = machines[0].solution.reach
            if len(machines) == 1 and reach is not None:
                yield reach[:, None] + machines[0].solution.b
            else:
                yield scores_of(_model_of(data, machines, *_support(data, machines)))

    def _solver(self, machines: int) -> solvers.SoftMargin:
        share = bytes_of(self.memory) // (1 if machines == 1 else 2)
        limit = np.inf if self.time_limit is None else float(self.time_limit) / machines
        return solvers.SoftMargin(float(self.tol), int(self.max_iter), limit, share)

    def _machines(self, data: Training, before: Any) -> list[_Machine]:
        """One for two classes, one for each pair of classes, or one for each class."""
        classes = self.classes_.size
        alive = np.ones(data.codes.size, bool) if data.weight is None else data.weight > 0
        made = []
        if classes == 2 or self.strategy == "ovo":
            for first, second in combinations(range(classes), 2):
                rows = np.flatnonzero(alive & ((data.codes == first) | (data.codes == second)))
                made.append(_Machine(self, data, rows, np.where(data.codes[rows] == second, 1.0, -1.0)))
        else:
            rows = np.flatnonzero(alive)
            made = [_Machine(self, data, rows, np.where(data.codes[rows] == k, 1.0, -1.0)) for k in range(classes)]
        if before is not None and before.shape == (len(made), data.codes.size):
            for machine, start in zip(made, before, strict=True):
                machine.start = start[machine.rows]
        return made

    def _memory_of_fit(self) -> Array | None:
        """The coefficients of the last fit, for every row of its data."""
        return getattr(self, "_last", None)

    def _keep(self, data: Training, machines: list[_Machine]) -> None:
        used, coef = _support(data, machines)
        self._last = None
        if self.warm_start:
            self._last = np.zeros((len(machines), data.codes.size))
            self._last[:, used] = coef
        model = _model_of(data, machines, used, coef)
        self._publish(model, data.given)
        if isinstance(model, LinearModel):
            self.support_, self.support_vectors_ = used, data.items[used]
        elif model.items is not None and isinstance(data.kernel, Linear):
            self.coef_ = np.asarray(coef @ model.items).reshape(len(machines), -1)
        self.dual_coef_ = self._laid_out(coef, data.codes[used])
        self.n_support_ = np.bincount(data.codes[used], minlength=self.classes_.size)
        self.n_iter_ = np.array([machine.solution.n_iter for machine in machines])
        certificates = [machine.certificate for machine in machines if machine.certificate is not None]
        self.objective_ = np.array([certificate.objective for certificate in certificates])
        self.duality_gap_ = np.array([certificate.gap for certificate in certificates])
        self.kkt_violation_ = np.array([certificate.violation for certificate in certificates])
        statuses = {machine.solution.status for machine in machines}
        self.status_ = str(next((s for s in list(Status)[::-1] if s in statuses), Status.CONVERGED))

    def _laid_out(self, coef: Array, codes: Array) -> Array:
        """Coefficients as scikit-learn lays them out: for "ovo", those of an item against each other class in turn."""
        classes = self.classes_.size
        if classes == 2 or self.strategy == "ovr":
            return coef
        out = np.zeros((classes - 1, coef.shape[1]))
        for machine, (first, second) in enumerate(combinations(range(classes), 2)):
            mine, others = codes == first, codes == second
            out[second - 1, mine] = 0.0 - coef[machine, mine]  # and not −0
            out[first, others] = 0.0 - coef[machine, others]
        return out

    def _speak(self, machines: list[_Machine]) -> None:
        """Warn of everything short of a solution."""
        if any(machine.solution.cramped for machine in machines):
            warnings.warn(
                f"SVC: memory={self.memory!r} is less than what is needed again and again, and some of it was computed "
                "several times; the result is the same, the fit slower. Raise memory if you can.",
                stacklevel=3,
            )
        if self.status_ in (str(Status.NOT_SEPARABLE), str(Status.NOT_FOUND)):
            twice = _contradictions(machines[0].data)
            why = (
                "no hard margin exists, the classes are not separable with this kernel"
                if self.status_ == str(Status.NOT_SEPARABLE)
                else "no hard margin was found; if there is one, it is too narrow for the precision of numbers"
            )
            soft = next(m for m in machines if m.solution.status in (Status.NOT_SEPARABLE, Status.NOT_FOUND))
            warnings.warn(
                f"SVC: {why}{f' ({twice} rows appear with more than one label)' if twice else ''}; the model and its "
                f"certificate are those of a soft margin with C={soft.finite_C():.3g}. Use a finite C.",
                ConvergenceWarning,
                stacklevel=3,
            )
        elif self.status_ == str(Status.INTERRUPTED):
            warnings.warn(
                f"SVC was interrupted; the model is the best so far, with a worst violation of "
                f"{self.kkt_violation_.max():.3g}.",
                ConvergenceWarning,
                stacklevel=3,
            )
        elif self.status_ != str(Status.CONVERGED):
            warnings.warn(
                f"SVC stopped before tol={self.tol:g} was reached: the worst violation is "
                f"{self.kkt_violation_.max():.3g}. Scale the columns, lower C, or raise max_iter or time_limit.",
                ConvergenceWarning,
                stacklevel=3,
            )

    # -- predictions ----------------------------------------------------------------------------------------------

    def decision_function(self, X: Any) -> Array:
        """The score of each row, positive for the second class; for more classes, a column for each.

        With ``strategy="ovo"`` a column counts the pairs that its class wins, and a fraction below ½ says by how much.
        """
        return super().decision_function(X)

    def _decision(self, scores: Array) -> Array:
        scores = self._shaped(scores)
        if self.classes_.size == 2 or self.strategy == "ovr":
            return scores
        pairs = list(combinations(range(self.classes_.size), 2))
        if scores.ndim == 1:
            scores = scores[:, None]
        votes = np.zeros((scores.shape[0], self.classes_.size))
        confidence = np.zeros_like(votes)
        for column, (first, second) in enumerate(pairs):
            wins = scores[:, column] >= 0
            votes[:, second] += wins
            votes[:, first] += ~wins
            confidence[:, second] += scores[:, column]
            confidence[:, first] -= scores[:, column]
        return votes + confidence / (3 * (np.abs(confidence) + 1))


def single_precision(kernel: Any, rows: Any) -> Any:
    """Rows of numbers in float32; dense rows of a kernel that sees only differences are moved to their mean first.

    Rows near the origin that are mostly zeros stay where they are, for the sake of the zeros.
    """
    if not kernel.on_rows or rows.dtype == np.float32 or not fits_single(kernel, rows):
        return rows
    if not sparse.issparse(rows) and kernel.moves and not (is_thin(rows) and near_origin(rows)):
        rows = rows - rows.mean(axis=0)
    return rows.astype(np.float32)


def fits_single(kernel: Any, rows: Any) -> bool:
    """Whether float32 can hold the rows, and their kernel values: |k(x, z)|² ≤ k(x, x)·k(z, z)."""
    largest = max(-float(rows.min()), float(rows.max())) if min(rows.shape) else 0.0
    return largest < np.sqrt(_SINGLE) and _in_range(kernel, rows)


def _in_range(kernel: Any, rows: Any) -> bool:
    """Whether self-similarities, and those of the parts that they come from, are neither too large nor too small."""
    values = kernel.diag(rows)
    seen = values[values > 0]
    if not (np.isfinite(values).all() and (not seen.size or (seen.max() < _SINGLE and seen.min() > 1 / _SINGLE))):
        return False
    parts = kernel.parts() if isinstance(kernel, (Normalised, Power, Product, Scaled, Sum)) else []
    return all(_in_range(part, rows) for part in parts)


def _contradictions(data: Training, rows: Array | None = None) -> int:
    """How many of the rows appear again with another label."""
    if not data.comparable:
        return 0
    rows = np.arange(data.codes.size) if rows is None else rows
    same = np.unique(row_keys(data.contents[rows], np.zeros(rows.size)), return_inverse=True)[1]
    pairs = np.unique(np.stack([same, data.codes[rows]], axis=1), axis=0)
    return int((np.bincount(pairs[:, 0]) > 1).sum())


def _support(data: Training, machines: list[_Machine]) -> tuple[Array, Array]:
    """The items that any machine uses, class by class, and their coefficients: a row for each machine."""
    mine = [np.flatnonzero(machine.solution.z) for machine in machines]
    support = [machine.rows[places] for machine, places in zip(machines, mine, strict=True)]
    used = np.unique(np.concatenate(support))
    used = used[np.argsort(data.codes[used], kind="stable")]
    column = np.empty(data.codes.size, np.int64)
    column[used] = np.arange(used.size)
    coef = np.zeros((len(machines), used.size))
    for row, machine, places, rows in zip(coef, machines, mine, support, strict=True):
        row[column[rows]] = machine.solution.z[places]
    return used, coef


def _model_of(data: Training, machines: list[_Machine], used: Array, coef: Array) -> LinearModel | KernelModel:
    intercept = np.array([machine.b for machine in machines])
    if isinstance(data.gram, Features):
        gram = data.gram.take(used)
        weights = np.stack(
            [gram.model(row) if m.solution.w is None else m.solution.w for row, m in zip(coef, machines, strict=True)]
        )
        intercept = intercept + gram.shift(weights)
        if data.kernel is None:
            return LinearModel(weights, intercept)
    assert data.kernel is not None
    return KernelModel(data.kernel, used, None if data.kernel.precomputed else data.items[used], coef, intercept)


class _Machine:
    """One two-class problem of a fit."""

    problem: Problem
    solution: Solution
    certificate: MarginCertificate | None = None
    #: The scores of ``start``, where they are known for all items of the matrix.
    scores: Array | None = None
    start: Array | None = None

    def __init__(self, owner: SVC, data: Training, rows: Array, y: Array) -> None:
        self.owner, self.data, self.rows, self.y = owner, data, rows, y
        self.owner_C = owner.C

    def _state(self, C: float) -> Problem:
        weight = None if self.data.weight is None else self.data.weight[self.rows]
        total = self.rows.size if weight is None else weight.sum()
        lam = 0.0 if np.isinf(C) else 1 / (C * total)
        gram = self._part(self.data.gram)
        return Problem(gram, self.y, Hinge(), lam, weight, intercept=True, free=True)

    def _part(self, gram: Gram) -> Gram:
        """The Gram of this machine's items."""
        return gram if self.rows.size == self.data.codes.size else gram.take(self.rows)

    def _begin(self, solver: solvers.SoftMargin, rng: np.random.Generator) -> Array | None:
        """Coefficients to begin with."""
        gram = self.problem.gram
        if self.start is None and isinstance(gram, Features) and self.problem.lam > 0 and self.rows.size > _FEW:
            return linear_start(self.problem, solver.tol, rng)
        return self.start

    def solve(self, solver: solvers.SoftMargin, rng: np.random.Generator, bench: Bench, exact: Gram) -> None:
        """Solve without a certificate, as long as single precision can be trusted."""
        self.problem = self._state(self.owner.C)
        if self.problem.lam > 0:
            start = self._begin(solver, rng)
            self.solution = solver.solve(self.problem, start, rng, scores=self.scores, bench=bench)
            if self._trusted(self._part(exact), solver.tol, rng):
                return
        self.complete(solver, rng, bench, exact)

    def _trusted(self, exact: Gram, tol: float, rng: np.random.Generator) -> bool:
        """Whether this is a solution as far as the exact scores of some items tell."""
        solution = self.solution
        if solution.status is not Status.CONVERGED or not np.isfinite(solution.z).all():
            return solution.status is Status.INTERRUPTED
        used, n = np.flatnonzero(solution.z), self.rows.size
        spots = np.sort(rng.choice(n, min(n, _SPOTS), replace=False))
        if not used.size:
            return True
        scores = exact.scores(spots, used, solution.z[used])
        return bool(np.abs(scores - np.asarray(solution.scores)[spots]).max() <= 10 * tol)

    def complete(self, solver: solvers.SoftMargin, rng: np.random.Generator, bench: Bench, exact: Gram) -> None:
        """Solve with a certificate in float64."""
        exact = self._part(exact)
        self.problem = self._state(self.owner.C)
        proven = None
        if self.problem.lam == 0:
            found = self._hard(solver, rng, bench, exact)
            if found.solution.status not in (Status.NOT_SEPARABLE, Status.NOT_FOUND):
                self.solution, self.certificate = found.solution, found.certificate
                return
            proven = found.solution.status
            # No model is hard enough: the one that is kept is soft, and its certificate is that of its own C.
            self.problem = self._state(_NEARLY_HARD / max(float(np.mean(exact.diag())), 1e-300))
        start = self._begin(solver, rng)
        linear = self.data.kernel is None
        found = solve_certified(self.problem, exact, solver, start, rng, self.scores, bench, by_weights=linear)
        self.solution, self.certificate = found.solution, found.certificate
        if proven is not None:
            self.solution = replace(self.solution, status=proven)

    def _hard(self, solver: solvers.SoftMargin, rng: np.random.Generator, bench: Bench, exact: Gram) -> Certified:
        """The hard margin, or why there is none."""
        exact, patience = self._features(exact), max(_LEAST_PATIENCE, _PATIENCE * self.rows.size)
        small = hull_is_small(exact)
        # Pairwise steps find a solution with few items where there are many; where it is hard to find they do not end.
        quick = replace(solver, max_iter=min(solver.max_iter, patience)) if small else solver
        found = solve_certified(
            self.problem, exact, quick, self.start, rng, self.scores, bench, self.data.kernel is None, not small
        )
        separates = float(np.min(self.y * (found.certificate.scores + found.certificate.intercept))) > 0
        status = found.solution.status if separates else Status.NOT_FOUND
        if small and status is not Status.CONVERGED and status is not Status.INTERRUPTED:
            by_weights, deadline = self.data.kernel is None, time.monotonic() + solver.time_limit
            solution = hard_margin(self.problem, exact, deadline, by_weights)
            found = Certified(solution, certify_margin(self.problem, exact, solution))
            status = solution.status
            if status is Status.CONVERGED and found.certificate.violation > solver.tol:
                status = Status.NOT_CONVERGED
        if status is Status.NOT_FOUND and _contradictions(self.data, self.rows):
            status = Status.NOT_SEPARABLE
        return replace(found, solution=replace(found.solution, status=status))

    def _features(self, exact: Gram) -> Gram:
        """The items' features, where the kernel has few: they tell more exactly than the matrix what is separable."""
        kernel = self.data.kernel
        if kernel is None or kernel.precomputed or isinstance(exact, Features) or not kernel.on_rows:
            return exact
        features = kernel.features(self.data.items[self.rows].astype(np.float64, copy=False))
        small = features is not None and features.shape[1] < self.rows.size and np.isfinite(features.sum())
        return Features(features) if small else exact

    def go_on_from(self, other: _Machine) -> None:
        """Begin with the solution of the same machine for a smaller C.

        Coefficients at their bound tend to stay there, so all of them grow by a factor: the one for which the dual
        s·zᵀt − s²/2·zᵀKz is largest, but no more than C does.
        """
        z, f = other.solution.z, np.asarray(other.solution.scores)
        gain, cost = float(z @ self.y), float(z @ f)
        growth = self.owner.C / other.owner_C if np.isfinite(self.owner.C) else 1.0
        s = min(max(gain / cost, 1.0), growth) if cost > 0 else 1.0
        self.start = s * z
        reach = other.solution.reach
        self.scores = None if reach is None else s * reach

    def finite_C(self) -> float:
        """The C of the problem that was solved in the end."""
        total = self.rows.size if self.problem.weight is None else self.problem.weight.sum()
        return 1 / (self.problem.lam * total)

    @property
    def b(self) -> float:
        return self.solution.b if self.certificate is None else self.certificate.intercept
