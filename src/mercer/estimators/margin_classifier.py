"""What support vector classifiers share: a machine for each pair of classes, each class or each label, and votes."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from itertools import combinations, compress
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.class_weight import compute_class_weight

from .. import solvers
from ..checks.parameters import bytes_of, choice, number, offered_if
from ..grams import Dense, Gram, Placement
from ..messages import guide
from ..problems import Iterate, Status
from ..runtime.compile import Array
from ..runtime.interrupts import keeps_best
from ..runtime.threads import for_each
from ..solvers.svm.nested_blocks import NestedBlocks
from ..solvers.svm.smo import Workspace
from ..solvers.svm.soft_margin import Workspaces
from .base import rescale
from .classifier import Classifier
from .model import KernelModel, LinearModel, kernel_model, model_of
from .pairs import BinaryMachine, Pairs, begin_pairs, laid_out, solve_small, votes
from .training import Mixed, Run, Training, refuse_undefined, warn

#: Machines for pairs of classes beyond this are worth a warning.
_MANY = 1000


def _has_pairs(machine: MarginClassifier) -> bool:
    if machine.strategy != "ovo":
        raise AttributeError(
            f"{type(machine).__name__} has no machines of pairs with strategy={machine.strategy!r}; use strategy='ovo'."
        )
    return True


class Plan(NamedTuple):
    """What is going to be solved: machines on training rows, and the mixture of kernels whose weights are known."""

    data: Training
    machines: list[BinaryMachine]
    solver: solvers.SoftMargin
    mixture: Mixed | None = None


class MarginClassifier(Classifier, named=False):
    """Base of :class:`SVC` and :class:`NuSVC`.

    A subclass has a parameter that says how hard margins are (:attr:`path`, :meth:`_check_hardness`), makes the machine
    of some rows with labels ±1 (:meth:`_machine`), and says what is wrong where there is no margin.
    """

    #: What makes margins softer, in words.
    _softer: ClassVar[str]
    strategy: str
    tol: float
    max_iter: int
    time_limit: float | None
    random_state: Any

    def _check(self) -> None:
        self._check_hardness()
        number(self, "tol", 0)
        number(self, "max_iter", 1, whole=True, strict=False)
        if self.time_limit is not None:
            number(self, "time_limit", 0)
        choice(self, "strategy", ("ovo", "ovr"))

    def _check_hardness(self) -> None:
        """Refuse a bad value of the path."""
        raise NotImplementedError

    @property
    def placement(self) -> Placement:
        """Rows in float32 are enough to find the solution; the certificate goes back to all digits."""
        return replace(super().placement, precision=np.float32, centred=True)

    # -- the way --------------------------------------------------------------------------------------------------

    def learn(self, data: Training) -> None:
        """Solve the machines of all pairs, classes or labels, and publish what they decide together."""
        if self.multilabel_:
            data = self._with_matrix(data)
        else:
            _warn_of_many(type(self).__name__, self.classes_.size, self.strategy)
        seed = _seed(self.random_state)
        data, machines, solver, mixture = self._plan(data, seed)
        with data.run.reported(len(machines), "machine") as part:
            try:
                if mixture is None:
                    solve_small(machines, data, solver, data.exact_gram())
                for number, machine in enumerate(machines):
                    if machine.certificate is not None:
                        part(number, _done)
                waiting = [number for number, machine in enumerate(machines) if machine.certificate is None]
                if waiting:
                    self._solve(data, machines, waiting, solver, seed, part)
            except KeyboardInterrupt:
                without = [machine for machine in machines if machine.certificate is None]
                if not keeps_best() or len(without) == len(machines):
                    raise
                for machine in without:
                    machine.leave_out(Status.INTERRUPTED)
        statuses = [machine.solution.status for machine in machines]
        if Status.NOT_CONVERGED in statuses:
            refuse_undefined(data.gram, data.kernel)
        self._keep(data, machines)
        if mixture is not None:
            self._certify_jointly(machines, mixture)
        self._speak(machines, mixed=mixture is not None)

    def _solve(
        self,
        data: Training,
        machines: list[BinaryMachine],
        waiting: list[int],
        solver: solvers.SoftMargin,
        seed: int,
        part: Callable[[int, Callable[[], Any]], Any],
    ) -> None:
        """Solve the machines with these numbers: first together what pairs share, then each by itself."""
        deadline, exact = time.monotonic() + data.run.seconds_left(), data.exact_gram()
        if self._votes:
            _begin(machines, data, solver, exact)
        waiting = [number for number in waiting if not machines[number].left_out]
        begun = [number for number in waiting if machines[number].begun is not None]
        left = [number for number in waiting if machines[number].begun is None]

        def complete(machine: BinaryMachine) -> None:
            if machine.one_sided:
                machine.leave_out(Status.CONVERGED)
            elif time.monotonic() > deadline and machine is not machines[0]:
                machine.leave_out(Status.NOT_CONVERGED)
            else:
                own = replace(solver, workspace=workspaces.mine)
                machine.solve(own, np.random.default_rng(seed), exact)

        with Workspaces() as workspaces:
            # What is left to do of those that have begun is so little that threads would wait for each other.
            for some, threads in ((begun, 1), (left, 1 if len(waiting) == 1 else None)):
                for_each(lambda number: part(number, partial(complete, machines[number])), some, threads)

    def beside(self, n: int) -> int:
        """The blocks that a solver copies out of a matrix in memory, where these are the larger part."""
        return max(super().beside(n), NestedBlocks.footprint(n))

    def _plan(self, data: Training, seed: int) -> Plan:
        """The machines of a fit."""
        machines = self._machines(data)
        return Plan(data, machines, self._solver(data.run, len(machines)))

    def along(self, data: Training, values: list[Any], scores_of: Callable[[Any], Array]) -> Iterator[Array]:
        """Each machine goes on from its last solution; nothing is certified on the way."""
        seed = _seed(self.random_state)
        previous: list[BinaryMachine] = []
        workspace, exact = data.workspace or Workspace(), data.exact_gram()
        pairs: Pairs | None = None
        for value in values:
            setattr(self, self.path, value)
            if previous:
                self._check_hardness()
                machines = self._machines_again(data, previous)
                for machine, last in zip(machines, previous, strict=True):
                    machine.go_on_from(last)
            else:
                self._check()
                machines = self._machines(data)
                solver = replace(self._solver(data.run, len(machines)), workspace=workspace)
                one_sided = [machine.one_sided for machine in machines]
            for machine in compress(machines, one_sided):
                machine.leave_out(Status.CONVERGED)
            left = [machine for machine in machines if not machine.left_out]
            if pairs is None and self._votes and not Pairs.refuses(left, data, solver):
                pairs = Pairs(data, exact, np.random.default_rng(seed))
            if pairs is not None and np.isfinite(value):
                left = pairs.solve(left, solver)
            for machine in left:
                machine.approximate(solver, np.random.default_rng(seed), exact)
            previous = machines
            scores = machines[0].solution.all_scores
            if len(machines) == 1 and scores is not None:
                yield scores[:, None] + machines[0].solution.b
            else:
                yield scores_of(model_of_machines(data, machines))

    def _with_matrix(self, data: Training) -> Training:
        """The same data with one kernel matrix for all labels, where its values cost much and have room in memory."""
        kernel, n = data.kernel, len(data.gram)
        if data.gram.ready or not data.gram.expensive or 2 * 4 * n * n > bytes_of(self.memory):
            return data
        rows = self.placement.rounded(kernel, data.items)
        return replace(data, gram=Dense(kernel.matrix(rows, rows).astype(np.float32, copy=False)))

    def _solver(self, run: Run, machines: int) -> solvers.SoftMargin:
        share = bytes_of(self.memory) // (1 if machines == 1 else 2)
        return solvers.SoftMargin(float(self.tol), int(self.max_iter), run.seconds_left() / machines, share)

    def _machines(self, data: Training) -> list[BinaryMachine]:
        """One for two classes, one for each pair of classes, or one for each class; one for each of many labels."""
        classes = self.classes_.size
        alive = np.ones(len(data.targets), bool) if data.weight is None else data.weight > 0
        made = []
        if self.multilabel_:
            rows = np.flatnonzero(alive)
            made = [self._machine(data, rows, signs[rows]) for signs in data.label_signs()]
        elif classes == 2 or self.strategy == "ovo":
            members = [np.flatnonzero(alive & (data.targets == k)) for k in range(classes)]
            for first, second in combinations(range(classes), 2):
                rows = np.sort(np.concatenate([members[first], members[second]]))
                own = data if classes == 2 else self._of_pair(data, first, second)
                made.append(self._machine(own, rows, np.where(data.targets[rows] == second, 1.0, -1.0)))
        else:
            rows = np.flatnonzero(alive)
            signs = [np.where(data.targets[rows] == k, 1.0, -1.0) for k in range(classes)]
            made = [self._machine(data, rows, y) for y in signs]
        return made

    def _machines_again(self, data: Training, last: list[BinaryMachine]) -> list[BinaryMachine]:
        """The same machines for another value of the path."""
        return [self._machine(each.data, each.rows, each.y) for each in last]

    def _machine(self, data: Training, rows: Array, y: Array) -> BinaryMachine:
        """The machine of some rows with labels ±1."""
        raise NotImplementedError

    def _of_pair(self, data: Training, first: int, second: int) -> Training:
        """The training rows as the machine of a pair of classes sees them."""
        return data

    # -- what users read ------------------------------------------------------------------------------------------

    def _keep(self, data: Training, machines: list[BinaryMachine]) -> None:
        used, coef = support_of(data, machines)
        self._publish(_model_of(data, machines, used, coef), data.given)
        self._publish_approximation(data)
        if data.gram.landmarks is not None:
            self.n_support_ = np.bincount(data.targets[self.support_].ravel(), minlength=self.classes_.size)
        else:
            self._publish_support(data, used, coef)
        self.n_iter_ = np.array([machine.solution.n_iter for machine in machines])
        self._publish_certificates([machine.certificate for machine in machines if machine.certificate is not None])
        self._publish_status(machine.solution.status for machine in machines)
        self.fit_status_ = int(not self.converged_)
        self.shape_fit_ = getattr(data.items, "shape", (len(data.gram),))
        if not self.multilabel_:
            self.class_weight_ = np.ones(self.classes_.size)
            if self.class_weight is not None:
                labels = self.classes_[data.targets]
                self.class_weight_ = compute_class_weight(self.class_weight, classes=self.classes_, y=labels)

    def _publish_support(self, data: Training, used: Array, coef: Array) -> None:
        """The items that the machines use, and their coefficients, as scikit-learn lays them out."""
        linear = isinstance(self._model, LinearModel)
        if linear:
            self.support_, self.support_vectors_ = used, data.items[used]
        self.dual_coef_ = laid_out(coef, data.targets[used], self.classes_.size) if self._votes else coef.copy()
        if self._votes:  # as in scikit-learn, a pair speaks for its first class
            self.intercept_ = 0.0 - self.intercept_
            if linear:
                self.coef_ = 0.0 - self.coef_
        if self.multilabel_:
            self.n_support_ = np.count_nonzero(coef, axis=1)
        else:
            self.n_support_ = np.bincount(data.targets[used], minlength=self.classes_.size)

    def n_scores(self) -> int:
        k = super().n_scores()
        return k * (k - 1) // 2 if self._votes else k

    @property
    def _votes(self) -> bool:
        """Whether there is a machine for each pair of three classes or more."""
        return self.strategy == "ovo" and self.classes_.size > 2 and not self.multilabel_

    def _certify_jointly(self, machines: list[BinaryMachine], mixture: Mixed) -> None:
        """One certificate for all machines and the weights that they share."""
        known = [machine.certificate for machine in machines if machine.certificate is not None]
        certificate = mixture.certificate([machine.solution for machine in machines], known)
        self.n_iter_ = np.array([machine.solution.n_iter for machine in machines]) + mixture.learned.n_iter
        self._publish_certificates([certificate])
        self._publish_status([*(machine.solution.status for machine in machines), mixture.status(certificate)])

    def _speak(self, machines: list[BinaryMachine], mixed: bool) -> None:
        """Warn of everything short of a solution; ``mixed`` says that weights of kernels were learned."""
        if any(machine.solution.cramped for machine in machines):
            warn(
                f"{type(self).__name__}: memory={self.memory!r} is less than what is needed again and again, and some "
                "of it was computed several times; the result is the same, the fit slower. Raise memory if you can "
                f"{guide('memory')}."
            )
        if self.status_ in (str(Status.NOT_SEPARABLE), str(Status.NOT_FOUND)):
            warn(self._without_margin(machines), ConvergenceWarning)
        elif self.status_ == str(Status.INTERRUPTED):
            warn(
                f"{type(self).__name__} was interrupted; the model is the best so far, with a worst violation of "
                f"{self.kkt_violation_.max():.3g}{_left_out(machines)}.",
                ConvergenceWarning,
            )
        elif self.status_ != str(Status.CONVERGED) and mixed and self.kkt_violation_.max() <= self.tol:
            warn(
                f"{type(self).__name__} stopped before the weights of the mixture were found: an objective of "
                f"{self.objective_[0]:.3g} has a duality gap of {self.duality_gap_[0]:.3g}. Try p > 1, "
                "another C, or more memory.",
                ConvergenceWarning,
            )
        elif self.status_ != str(Status.CONVERGED):
            warn(
                f"{type(self).__name__} stopped before tol={self.tol:g} was reached: the worst violation is "
                f"{self.kkt_violation_.max():.3g}, the largest duality gap {self.duality_gap_.max():.3g}"
                f"{_left_out(machines)}. Raise max_iter or time_limit, "
                f"{self._softer}, or {rescale(self.kernel_)} {guide('certificates')}.",
                ConvergenceWarning,
            )

    def _without_margin(self, machines: list[BinaryMachine]) -> str:
        """Why there is no margin of the kind that was asked for, and what the model is instead."""
        raise NotImplementedError

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
        return votes(scores, self.classes_.size) if self._votes else decisions


def _done() -> None:
    """The part of a machine in a fit that has been solved together with others."""


def _seed(random_state: Any) -> int:
    return _seed_of(random_state) if type(random_state) is int else _drawn(random_state)


def _drawn(random_state: Any) -> int:
    return check_random_state(random_state).randint(2**31 - 1)


#: What a number leads to, which takes a tenth of a small fit to find out.
_seed_of = functools.lru_cache(maxsize=64)(_drawn)


def _begin(machines: list[BinaryMachine], data: Training, solver: solvers.SoftMargin, exact: Gram) -> None:
    """Solve together what pairs share; after Ctrl-C, where the best is to be kept, the others are left out."""
    try:
        begin_pairs(machines, data, solver, exact)
    except KeyboardInterrupt:
        if not keeps_best() or all(machine.begun is None for machine in machines):
            raise
        for machine in machines:
            if machine.begun is None:
                machine.leave_out(Status.INTERRUPTED)


def _warn_of_many(name: str, classes: int, strategy: str) -> None:
    """Machines for all pairs of many classes take long: say so before they do."""
    pairs = classes * (classes - 1) // 2
    if strategy == "ovo" and pairs >= _MANY:
        warn(
            f"{name}: {classes} classes make {pairs} machines, one for each pair, which may take long; strategy='ovr' "
            f"makes {classes}."
        )


def _left_out(machines: list[BinaryMachine]) -> str:
    """How many machines were not reached, in words."""
    count = sum(machine.left_out and not machine.one_sided for machine in machines)
    if not count:
        return ""
    return f"; {count} of {len(machines)} machines were not reached and always decide for their larger class"


def support_of(data: Training, machines: list[BinaryMachine]) -> tuple[Array, Array]:
    """The items that any machine uses, class by class, and their coefficients: a row for each machine."""
    counts = np.zeros(len(data.targets), bool)
    for machine in machines:
        counts[machine.rows] |= machine.solution.z != 0
    used = np.flatnonzero(counts)
    if data.targets.ndim == 1:
        used = used[np.argsort(data.targets[used], kind="stable")]
    column = np.empty(len(data.targets), np.int64)
    column[used] = np.arange(used.size)
    coef = np.zeros((len(machines), used.size))
    for row, machine in zip(coef, machines, strict=True):
        mine = counts[machine.rows]
        row[column[machine.rows[mine]]] = machine.solution.z[mine]
    return used, coef


def model_of_machines(data: Training, machines: list[BinaryMachine]) -> LinearModel | KernelModel:
    """The model that machines make together."""
    return _model_of(data, machines, *support_of(data, machines))


def _model_of(data: Training, machines: list[BinaryMachine], used: Array, coef: Array) -> LinearModel | KernelModel:
    if not data.by_weights:
        return kernel_model(data, used, coef, np.array([machine.solution.b for machine in machines]))
    found = [Iterate(z, m.solution.b, w=m.solution.w) for m, z in zip(machines, coef, strict=True)]
    return model_of(data, found, used)
