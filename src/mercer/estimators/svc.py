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
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state

from .. import solvers
from .._runtime.compile import Array
from .._runtime.interrupts import kept
from .._runtime.parallel import for_each, one_blas_thread
from .._validation.memory import bytes_of
from .._validation.offered import offered_if
from .._validation.parameters import choice, is_number, number, shown, truth
from ..grams import Dense, Placement
from ..mixtures import Components, Part
from ..problems import Iterate, Status
from ..solvers.svm.smo import Workspace
from .binary_machine import BinaryMachine, contradictions
from .callbacks import FRAMES, CallbackSupportMixin, reported, with_callbacks
from .classifier import Classifier
from .cost_matrix import pair_costs
from .mixing import Mixed, components_of, mixed
from .model import KernelModel, LinearModel, model_of
from .pair_machines import solve_pairs
from .sanity import refuse_undefined
from .training import Training

#: Machines for pairs of classes beyond this are worth a warning.
_MANY = 1000


def _has_pairs(machine: SVC) -> bool:
    if machine.strategy != "ovo":
        raise AttributeError(f"SVC has no machines of pairs with strategy={machine.strategy!r}; use strategy='ovo'.")
    return True


class SVC(CallbackSupportMixin, Classifier):
    """The soft-margin support vector machine, solved exactly and with a certificate.

    It minimises ½‖w‖² + C·Σ max(0, 1 − y·f(x)) with an intercept that is not regularised, through its dual.

    Parameters
    ----------
    kernel : kernel, text, callable or None, default="gaussian"
        ``None`` or ``"linear"`` learns a linear machine with ``coef_``.
    C : float, default=1
        What a violated margin costs. ``inf`` asks for the hard margin and says so where there is none.
    strategy : {"ovo", "ovr"}, default="ovo"
        For three classes or more: a machine for every pair of classes, or one for each class against the rest.
    tol : float, default=1e-3
        The largest violation of an optimality condition allowed.
    max_iter : int, default=10000000
        Steps at most (changes of a pair of coefficients), for each machine; of a linear machine with many rows, first
        passes over them.
    time_limit : float, optional
        Seconds after which the best model so far is kept, with a warning.
    class_weight : dict or "balanced", optional
        Many labels have no classes, and refuse it.
    costs : array of shape (n_classes, n_classes) or dict, optional
        What it costs to answer class j where class i is true, ``costs[i, j]`` in the order of ``classes_`` with a
        diagonal of 0, or ``{(true, answered): cost}`` with 1 for all other mistakes. The machine of a pair weighs the
        rows of each of its classes with what the answer of the other costs, which says all; against the rest
        (``strategy="ovr"``) a row counts the mean cost of a mistake on its class.
    warm_start : bool, default=False
        Begin where the last fit on the same rows ended, for example with another C.
    memory : int or str, default="1GB"
        What the parts of the kernel matrix that are kept may take. With less the fit is slower, not different.
    random_state : int, RandomState or None, default=0
        Which items are tried first. The problem has one solution, so that this changes digits beyond the tolerance and
        no others; with a number, fits repeat to the last digit.

    Attributes
    ----------
    classes_ : array
        The labels in their order; the numbers of the columns where there are many labels.
    multilabel_ : bool
    support_, support_vectors_, n_support_ : arrays
        The rows that the machine is made of, class by class; with many labels in their order, and how many each has.
    dual_coef_ : array of shape (n_classes − 1, n_support), or (n_classes, n_support) for "ovr"
        y·α, laid out as in scikit-learn.
    coef_ : array, where the kernel is linear
    intercept_ : array, one for each machine
        With ``dual_coef_`` and ``coef_`` as in scikit-learn: a pair of classes, of three or more, speaks for its first.
    objective_ : array
        λ/2·‖w‖² + the mean loss of each machine, as all machines of the library count it: 1/(C·Σ weights) times
        ½‖w‖² + C·Σ loss, as λ = 1/(C·Σ weights). Of a hard margin ½‖w‖².
    duality_gap_ : array
        How far at most each objective lies above the least possible one.
    kkt_violation_ : array
        The worst violation of an optimality condition, in each machine.
    status_ : str
        "converged", "not converged" (a limit was reached), "not separable" or "not found" (a hard margin, with or
        without a proof that there is none), or "interrupted".
    converged_ : bool
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
    learns_weights = True
    takes_many_labels = True

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
        costs: Any = None,
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
        self.costs = costs
        self.warm_start = warm_start
        self.memory = memory
        self.random_state = random_state

    def _check(self) -> None:
        self._check_hardness()
        number(self, "tol", 0)
        number(self, "max_iter", 1, whole=True, strict=False)
        if self.time_limit is not None:
            number(self, "time_limit", 0)
        choice(self, "strategy", ("ovo", "ovr"))
        truth(self, "warm_start")

    def _check_hardness(self) -> None:
        if not (is_number(self.C) and self.C > 0):
            raise ValueError(f"SVC: C must be a number greater than 0 (inf for the hard margin), got {shown(self.C)}.")

    @property
    def placement(self) -> Placement:
        """Rows in float32 are enough to find the solution; the certificate goes back to all digits."""
        return Placement(self.memory, np.float32, centred=True)

    @with_callbacks
    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> SVC:
        """Learn from rows and labels.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_rows, n_features)
        y : array of shape (n_rows,), or (n_rows, n_labels)
            Labels of classes; or 0 and 1, dense or sparse, for each of many labels that a row may have or not.
        sample_weight : array of shape (n_rows,), optional
            Multiplies C, row by row.

        Returns
        -------
        self
        """
        self._check()
        before = self._last_coefficients() if self.warm_start else None
        data = self._training(X, y, sample_weight)
        if self.multilabel_:
            data = self._with_matrix(data)
        else:
            _warn_of_many(self.classes_.size, self.strategy)
        deadline = np.inf if self.time_limit is None else time.monotonic() + float(self.time_limit)
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        mixture = self._mixed(data, components_of(data, self.placement), seed) if data.kernel.learns else None
        data = data if mixture is None else mixture.data
        machines = self._machines(data, before)
        solver, workspaces = self._solver(len(machines)), threading.local()
        if mixture is not None:
            solver = self._go_on(machines, mixture, solver)

        def complete(machine: BinaryMachine) -> None:
            if machine.one_sided:
                machine.leave_out(Status.CONVERGED)
                return
            if time.monotonic() > deadline and machine is not machines[0]:
                machine.leave_out(Status.NOT_CONVERGED)
                return
            workspaces.mine = getattr(workspaces, "mine", None) or Workspace()
            own = replace(solver, workspace=workspaces.mine)
            machine.solve(own, np.random.default_rng(seed), data.exact_gram())

        # Kernel matrices are computed by threads of ours; what is left for BLAS is small, and its idle threads, waiting
        # for more, take time from ours.
        with one_blas_thread(), reported(self, X, y, len(machines), "machine") as run:
            parts = list(enumerate(machines))
            threads = 1 if len(parts) == 1 else None
            try:
                for_each(lambda part: run(part[0], lambda: complete(part[1])), parts, threads)
            except KeyboardInterrupt:
                left = [machine for machine in machines if machine.certificate is None]
                if not kept() or len(left) == len(machines):
                    raise
                for machine in left:
                    machine.leave_out(Status.INTERRUPTED)
        if any(machine.solution.status is Status.NOT_CONVERGED for machine in machines):
            refuse_undefined(data.gram, data.kernel)
        self._keep(data, machines)
        if mixture is not None:
            self._certify_jointly(machines, mixture)
        self._speak(machines)
        return self

    def _mixed(self, data: Training, components: Components, seed: int) -> Mixed:
        """The weights of a mixture, learned for all machines together."""
        if np.isinf(self.C):
            raise ValueError("SVC: the weights of a mixture are learned with a finite C; a hard margin has none.")
        machines = self._machines(data, None)
        parts = [Part(machine.problem, machine.rows) for machine in machines]
        seconds = np.inf if self.time_limit is None else float(self.time_limit)
        return mixed(data, parts, components, self._solver(len(machines)), seconds, seed)

    @staticmethod
    def _go_on(machines: list[BinaryMachine], mixture: Mixed, solver: solvers.SoftMargin) -> solvers.SoftMargin:
        """Let machines begin with what was found on the way to the weights, with the tolerance that it took."""
        for machine, start in zip(machines, mixture.starts, strict=True):
            machine.start = start
        return replace(solver, tol=mixture.solver.tol)

    def _certify_jointly(self, machines: list[BinaryMachine], mixture: Mixed) -> None:
        """One certificate for all machines and the weights that they share."""
        known = [machine.certificate for machine in machines if machine.certificate is not None]
        certificate = mixture.certificate([machine.solution for machine in machines], known)
        self.n_iter_ = np.array([machine.solution.n_iter for machine in machines]) + mixture.learned.n_iter
        self._publish_certificates([certificate])
        self._publish_status([*(machine.solution.status for machine in machines), mixture.status(certificate)])

    def along(self, data: Training, values: list[Any], scores_of: Callable[[Any], Array]) -> Iterator[Array]:
        """With rising C, each machine goes on from its last solution; nothing is certified on the way."""
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        if data.kernel.learns:
            yield from self._along_mixtures(data, values, scores_of, seed)
            return
        previous: list[BinaryMachine] = []
        workspace, exact = data.workspace or Workspace(), data.exact_gram()
        for value in values:
            setattr(self, self.path, value)
            self._check()
            machines = self._machines(data, None)
            for machine, last in zip(machines, previous, strict=bool(previous)):
                machine.go_on_from(last)
            solver = replace(self._solver(len(machines)), workspace=workspace)
            for machine in (machine for machine in machines if machine.one_sided):
                machine.leave_out(Status.CONVERGED)
            left = [machine for machine in machines if not machine.left_out]
            if self._votes:
                left = solve_pairs(left, data, solver, exact, np.random.default_rng(seed))
            for machine in left:
                machine.approximate(solver, np.random.default_rng(seed), exact)
            previous = machines
            scores = machines[0].solution.all_scores
            if len(machines) == 1 and scores is not None:
                yield scores[:, None] + machines[0].solution.b
            else:
                yield scores_of(_model_of(data, machines, *_support(data, machines)))

    def _along_mixtures(
        self, data: Training, values: list[Any], scores_of: Callable[[Any], Array], seed: int
    ) -> Iterator[Array]:
        """Every C has weights of its own; what is shared are the matrices of the kernels."""
        components = components_of(data, self.placement)
        for C in values:
            self.C = C
            self._check()
            mixture = self._mixed(data, components, seed)
            machines = self._machines(mixture.data, None)
            solver = self._go_on(machines, mixture, self._solver(len(machines)))
            for machine in machines:
                machine.solve(solver, np.random.default_rng(seed), mixture.data.exact_gram())
            yield scores_of(_model_of(mixture.data, machines, *_support(mixture.data, machines)))

    def _with_matrix(self, data: Training) -> Training:
        """The same data with one kernel matrix for all labels, where its values cost much and have room in memory."""
        kernel, n = data.kernel, len(data.gram)
        if data.gram.ready or not data.gram.expensive or 2 * 4 * n * n > bytes_of(self.memory):
            return data
        rows = self.placement.rounded(kernel, data.items)
        return replace(data, gram=Dense(kernel.matrix(rows, rows).astype(np.float32, copy=False)))

    def _solver(self, machines: int) -> solvers.SoftMargin:
        share = bytes_of(self.memory) // (1 if machines == 1 else 2)
        limit = np.inf if self.time_limit is None else float(self.time_limit) / machines
        return solvers.SoftMargin(float(self.tol), int(self.max_iter), limit, share)

    def _machines(self, data: Training, before: Any) -> list[BinaryMachine]:
        """One for two classes, one for each pair of classes, or one for each class; one for each of many labels."""
        classes = self.classes_.size
        alive = np.ones(len(data.targets), bool) if data.weight is None else data.weight > 0
        made = []
        if self.multilabel_:
            rows = np.flatnonzero(alive)
            made = [self._machine(data, rows, signs[rows]) for signs in data.label_signs()]
        elif classes == 2 or self.strategy == "ovo":
            for first, second in combinations(range(classes), 2):
                rows = np.flatnonzero(alive & ((data.targets == first) | (data.targets == second)))
                own = data if classes == 2 else self._weighed_pair(data, first, second)
                made.append(self._machine(own, rows, np.where(data.targets[rows] == second, 1.0, -1.0)))
        else:
            rows = np.flatnonzero(alive)
            signs = [np.where(data.targets[rows] == k, 1.0, -1.0) for k in range(classes)]
            made = [self._machine(data, rows, y) for y in signs]
        if before is not None and before.shape == (len(made), len(data.targets)):
            for machine, start in zip(made, before, strict=True):
                machine.start = Iterate(start[machine.rows])
        return made

    def _machine(self, data: Training, rows: Array, y: Array) -> BinaryMachine:
        """The machine of some rows with labels ±1."""
        return BinaryMachine(float(self.C), data, rows, y)

    def _weighed(self, codes: Array, weight: Array | None) -> Array | None:
        """Pairs of classes, where there are several, have weights of their own."""
        matrix = self._cost_matrix()
        if matrix is None or (self.strategy == "ovr" and self.classes_.size > 2):
            return super()._weighed(codes, weight)
        pair_costs(matrix, self.classes_, "SVC")
        return super()._weighed(codes, weight) if self.classes_.size == 2 else weight

    def _weighed_pair(self, data: Training, first: int, second: int) -> Training:
        """The training rows, weighed by what mistakes within a pair of classes cost."""
        matrix = self._cost_matrix()
        if matrix is None:
            return data
        dear = np.where(data.targets == first, matrix[first, second], matrix[second, first])
        return replace(data, weight=dear if data.weight is None else data.weight * dear)

    def _last_coefficients(self) -> Array | None:
        """The coefficients of the last fit, for every row of its data."""
        return getattr(self, "_last", None)

    def _keep(self, data: Training, machines: list[BinaryMachine]) -> None:
        used, coef = _support(data, machines)
        self._last = None
        if self.warm_start:
            self._last = np.zeros((len(machines), len(data.targets)))
            self._last[:, used] = coef
        model = _model_of(data, machines, used, coef)
        self._publish(model, data.given)
        if isinstance(model, LinearModel):
            self.support_, self.support_vectors_ = used, data.items[used]
        self.dual_coef_ = self._laid_out(coef, data.targets[used]) if self._votes else coef
        if self._votes:  # as in scikit-learn, a pair speaks for its first class
            self.intercept_ = 0.0 - self.intercept_
            if isinstance(model, LinearModel):
                self.coef_ = 0.0 - self.coef_
        if self.multilabel_:
            self.n_support_ = np.count_nonzero(coef, axis=1)
        else:
            self.n_support_ = np.bincount(data.targets[used], minlength=self.classes_.size)
        self.n_iter_ = np.array([machine.solution.n_iter for machine in machines])
        self._publish_certificates([machine.certificate for machine in machines if machine.certificate is not None])
        self._publish_status(machine.solution.status for machine in machines)

    @property
    def _votes(self) -> bool:
        """Whether there is a machine for each pair of three classes or more."""
        return self.strategy == "ovo" and self.classes_.size > 2 and not self.multilabel_

    def _laid_out(self, coef: Array, codes: Array) -> Array:
        """Coefficients as scikit-learn lays them out: for "ovo", those of an item against each other class in turn."""
        classes = self.classes_.size
        out = np.zeros((classes - 1, coef.shape[1]))
        for machine, (first, second) in enumerate(combinations(range(classes), 2)):
            mine, others = codes == first, codes == second
            out[second - 1, mine] = 0.0 - coef[machine, mine]  # and not −0
            out[first, others] = 0.0 - coef[machine, others]
        return out

    def _speak(self, machines: list[BinaryMachine]) -> None:
        """Warn of everything short of a solution."""
        if any(machine.solution.cramped for machine in machines):
            warnings.warn(
                f"{type(self).__name__}: memory={self.memory!r} is less than what is needed again and again, and some "
                "of it was computed several times; the result is the same, the fit slower. Raise memory if you can.",
                stacklevel=3 + FRAMES,
            )
        if self.status_ in (str(Status.NOT_SEPARABLE), str(Status.NOT_FOUND)):
            warnings.warn(self._without_margin(machines), ConvergenceWarning, stacklevel=3 + FRAMES)
        elif self.status_ == str(Status.INTERRUPTED):
            warnings.warn(
                f"{type(self).__name__} was interrupted; the model is the best so far, with a worst violation of "
                f"{self.kkt_violation_.max():.3g}{_left_out(machines)}.",
                ConvergenceWarning,
                stacklevel=3 + FRAMES,
            )
        elif self.status_ != str(Status.CONVERGED) and self.kkt_violation_.max() <= self.tol:
            warnings.warn(
                f"SVC stopped before the weights of the mixture were found: an objective of {self.objective_[0]:.3g} "
                f"has a duality gap of {self.duality_gap_[0]:.3g}. Lower C, or raise memory or time_limit.",
                ConvergenceWarning,
                stacklevel=3 + FRAMES,
            )
        elif self.status_ != str(Status.CONVERGED):
            warnings.warn(
                f"{type(self).__name__} stopped before tol={self.tol:g} was reached: the worst violation is "
                f"{self.kkt_violation_.max():.3g}{_left_out(machines)}. Scale the columns, lower {self.path}, or raise "
                "max_iter or time_limit.",
                ConvergenceWarning,
                stacklevel=3 + FRAMES,
            )

    def _without_margin(self, machines: list[BinaryMachine]) -> str:
        """Why there is no margin of the kind that was asked for, and what the model is instead."""
        twice = contradictions(machines[0].data)
        why = (
            "no hard margin exists, the classes are not separable with this kernel"
            if self.status_ == str(Status.NOT_SEPARABLE)
            else "no hard margin was found; if there is one, it is too narrow for the precision of numbers"
        )
        soft = next(m for m in machines if m.solution.status in (Status.NOT_SEPARABLE, Status.NOT_FOUND))
        return (
            f"SVC: {why}{f' ({twice} rows appear with more than one label)' if twice else ''}; the model and its "
            f"certificate are those of a soft margin with C={soft.final_C:.3g}. Use a finite C."
        )

    # -- predictions ----------------------------------------------------------------------------------------------

    def decision_function(self, X: Any) -> Array:
        """The score of each row, positive for the second class; for more classes or many labels, a column for each.

        With ``strategy="ovo"`` a column counts the pairs that its class wins, and a fraction below ½ says by how much.
        """
        return super().decision_function(X)

    @offered_if(_has_pairs)
    def pair_scores(self, X: Any) -> Array:
        """The score of each machine of ``strategy="ovo"``: a column for each pair of classes, positive for its second.

        Pairs are in the order of ``itertools.combinations``: (0, 1), (0, 2), …, (1, 2), ….
        """
        scores = self._scores(X)
        self._refuse_nonfinite(scores, None)
        return scores

    def decisions_of(self, scores: Array, numbers: Array | None = None) -> Array:
        """What :meth:`decision_function` makes of the scores of all machines."""
        decisions = super().decisions_of(scores, numbers)
        if not self._votes:
            return decisions
        pairs = combinations(range(self.classes_.size), 2)
        votes = np.zeros((scores.shape[0], self.classes_.size))
        confidence = np.zeros_like(votes)
        for column, (first, second) in enumerate(pairs):
            wins = scores[:, column] >= 0
            votes[:, second] += wins
            votes[:, first] += ~wins
            confidence[:, second] += scores[:, column]
            confidence[:, first] -= scores[:, column]
        return votes + confidence / (3 * (np.abs(confidence) + 1))


def _warn_of_many(classes: int, strategy: str) -> None:
    """Machines for all pairs of many classes take long: say so before they do."""
    pairs = classes * (classes - 1) // 2
    if strategy == "ovo" and pairs >= _MANY:
        warnings.warn(
            f"SVC: {classes} classes make {pairs} machines, one for each pair, which may take long; strategy='ovr' "
            f"makes {classes}.",
            UserWarning,
            stacklevel=3 + FRAMES,
        )


def _left_out(machines: list[BinaryMachine]) -> str:
    """How many machines were not reached, in words."""
    count = sum(machine.left_out and not machine.one_sided for machine in machines)
    if not count:
        return ""
    return f"; {count} of {len(machines)} machines were not reached and always decide for their larger class"


def _support(data: Training, machines: list[BinaryMachine]) -> tuple[Array, Array]:
    """The items that any machine uses, class by class, and their coefficients: a row for each machine."""
    mine = [np.flatnonzero(machine.solution.z) for machine in machines]
    support = [machine.rows[places] for machine, places in zip(machines, mine, strict=True)]
    used = np.unique(np.concatenate(support))
    if data.targets.ndim == 1:
        used = used[np.argsort(data.targets[used], kind="stable")]
    column = np.empty(len(data.targets), np.int64)
    column[used] = np.arange(used.size)
    coef = np.zeros((len(machines), used.size))
    for row, machine, places, rows in zip(coef, machines, mine, support, strict=True):
        row[column[rows]] = machine.solution.z[places]
    return used, coef


def _model_of(data: Training, machines: list[BinaryMachine], used: Array, coef: Array) -> LinearModel | KernelModel:
    found = [Iterate(z, m.solution.b, w=m.solution.w) for m, z in zip(machines, coef, strict=True)]
    return model_of(data, found, used)
