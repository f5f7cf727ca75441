"""The exact support vector machine as a scikit-learn classifier."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from sklearn.utils import check_random_state

from ..checks import schema
from ..checks.parameters import bytes_of, is_number, shown, truth
from ..messages import guide
from ..problems import Iterate, Problem, Solution, Status
from ..runtime.compile import Array
from ..solvers import SoftMargin
from .choosing import Choosing, chosen
from .classifier import cost_matrix, pair_costs
from .margin_classifier import MarginClassifier, Plan, model_of_machines, support_of
from .pairs import BinaryMachine, contradictions
from .training import Mixed, Training, components_of, mixed

if TYPE_CHECKING:
    from ..mixtures import Components

#: The tolerance of a machine from which it is seen what others would say, as a part of the own.
_CLOSELY = 0.01


class SVC(MarginClassifier, Choosing):
    """The soft-margin support vector machine, solved exactly and with a certificate.

    It minimises ½‖w‖² + C·Σ max(0, 1 − y·f(x)) with an intercept that is not regularised, through its dual.

    Parameters
    ----------
    kernel : kernel, text, callable or None, default="gaussian"
        ``None`` or ``"linear"`` learns a linear machine with ``coef_``.
    C : float or "loo", default=1
        What a violated margin costs. ``inf`` asks for the hard margin and says so where there is none. "loo": chosen by
        the mean hinge loss of each row under the machine of all others, which is known from one fit: exactly for rows
        without a coefficient, approximately for others (as if these kept their sides), of which the 20 that are
        nearest to the boundary are refitted.
    metric : {None, "learned", "learned-full"}, default=None
        A weight for each column, or a matrix, as in :class:`KernelRegressor`, learned by the squared loss of labels ±1.
    strategy : {"ovo", "ovr"}, default="ovo"
        For three classes or more: a machine for every pair of classes, or one for each class against the rest.
    tol : float, default=1e-3
        The largest violation of an optimality condition allowed.
    max_iter : int, default=10000000
        Steps at most (changes of a pair of coefficients), for each machine; of a linear machine with many rows, first
        passes over them.
    time_limit : float, optional
        Seconds from the call of ``fit`` after which the best model so far is kept, with a warning.
    class_weight : dict or "balanced", optional
        Many labels have no classes, and refuse it.
    costs : array of shape (n_classes, n_classes) or dict, optional
        What it costs to answer class j where class i is true, ``costs[i, j]`` in the order of ``classes_`` with a
        diagonal of 0, or ``{(true, answered): cost}`` with 1 for all other mistakes. The machine of a pair weighs the
        rows of each of its classes with what the answer of the other costs, which says all; against the rest
        (``strategy="ovr"``) a row counts the mean cost of a mistake on its class.
    warm_start : bool, default=False
        Begin where the last fit ended, for example with another C. It should have been on the same rows; on as many
        others the result is the same, and the way there longer.
    memory : int or str, default="1GB"
        What the parts of the kernel matrix that are kept may take. With less the fit is slower, not different.
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
    C_ : float, with ``C="loo"``
    tried_ : dict of arrays, where something was chosen
        What was tried, and its leave-one-out error.
    loo_predictions_ : array, with ``C="loo"``
        The decision values of each row by the machine of all others.
    loo_approximate_ : array of ints
        The rows of which these are approximate.
    loo_score_ : float
        The share of rows that they answer rightly.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer import SVC
    >>> X = np.array([[1.0, 1], [2, 2], [2, 0], [0, 0], [1, 0], [0, 1]])
    >>> model = SVC(kernel="linear", C=float("inf"), tol=1e-6).fit(X, [1, 1, 1, -1, -1, -1])
    >>> model.coef_.round(3), model.intercept_.round(3)
    (array([[2., 2.]]), array([-3.]))
    """

    fields: ClassVar = {"C_": schema.optional(schema.number(0))}
    path = "C"
    keeps_C = True
    _softer = "lower C"
    learns_weights = True
    takes_many_labels = True

    def __init__(
        self,
        kernel: Any = "gaussian",
        *,
        C: float | str = 1.0,
        metric: str | None = None,
        strategy: str = "ovo",
        tol: float = 1e-3,
        max_iter: int = 10_000_000,
        time_limit: float | None = None,
        class_weight: Any = None,
        costs: Any = None,
        warm_start: bool = False,
        memory: int | str = "1GB",
        rank: int | None = None,
        landmarks: str = "pivoted",
        device: str | None = None,
        random_state: Any = 0,
    ) -> None:
        self.kernel = kernel
        self.C = C
        self.metric = metric
        self.strategy = strategy
        self.tol = tol
        self.max_iter = max_iter
        self.time_limit = time_limit
        self.class_weight = class_weight
        self.costs = costs
        self.warm_start = warm_start
        self.memory = memory
        self.rank = rank
        self.landmarks = landmarks
        self.device = device
        self.random_state = random_state

    def _check(self) -> None:
        super()._check()
        self._check_choices()
        truth(self, "warm_start")
        self._check_rank()

    def _check_hardness(self) -> None:
        if not (self._is_left_open or (is_number(self.C) and float(self.C) > 0)):
            raise ValueError(f"SVC: C must be a number greater than 0 (inf for the hard margin), got {shown(self.C)}.")

    def _machine(self, data: Training, rows: Array, y: Array) -> BinaryMachine:
        """The machine of some rows with labels ±1."""
        return BinaryMachine(float(self.C_ if self._is_left_open else self.C), data, rows, y)

    def learn(self, data: Training) -> None:
        super().learn(chosen(self, data))
        self._publish_left_out(data.run)

    # -- choices --------------------------------------------------------------------------------------------------

    def _set_path(self, data: Training, ridge: float, without: float) -> None:
        n = len(data.targets)
        self.C_ = n / (ridge * (n if data.weight is None else float(data.weight.sum())))

    def _stated(self, data: Training, ridge: float) -> list[tuple[Array, Problem]]:
        self._set_path(data, ridge, 0.0)
        return [(machine.rows, machine.problem) for machine in super()._machines(data)]

    def _quickly_solved(self, problem: Problem, start: Iterate | None, seconds: float) -> Solution:
        solver = SoftMargin(_CLOSELY * float(self.tol), int(self.max_iter), seconds, bytes_of(self.memory))
        return solver.solve(problem, start)

    # -- warm starts ----------------------------------------------------------------------------------------------

    def _machines(self, data: Training) -> list[BinaryMachine]:
        """Those that begin where the last fit on as many rows ended, where that is wanted."""
        made = super()._machines(data)
        last = getattr(self, "_last", None) if self.warm_start else None
        if last is not None and last.shape == (len(made), len(data.targets)):
            for machine, start in zip(made, last, strict=True):
                machine.start = Iterate(start[machine.rows])
        return made

    def _keep(self, data: Training, machines: list[BinaryMachine]) -> None:
        super()._keep(data, machines)
        self._last = None
        if self.warm_start:
            used, coef = support_of(data, machines)
            self._last = np.zeros((len(machines), len(data.targets)))
            self._last[:, used] = coef

    # -- costs ----------------------------------------------------------------------------------------------------

    def _weighed(self, codes: Array, weight: Array | None) -> Array | None:
        """Pairs of classes, where there are several, have weights of their own."""
        matrix = self._cost_matrix()
        if matrix is None or (self.strategy == "ovr" and self.classes_.size > 2):
            return super()._weighed(codes, weight)
        pair_costs(matrix, self.classes_, "SVC")
        return super()._weighed(codes, weight) if self.classes_.size == 2 else weight

    def _of_pair(self, data: Training, first: int, second: int) -> Training:
        """The training rows, weighed by what mistakes within a pair of classes cost."""
        if self.costs is None:
            return data
        matrix = cost_matrix(self.costs, self.classes_, "SVC")
        dear = np.where(data.targets == first, matrix[first, second], matrix[second, first])
        return replace(data, weight=dear if data.weight is None else data.weight * dear)

    # -- mixtures of kernels --------------------------------------------------------------------------------------

    def _plan(self, data: Training, seed: int) -> Plan:
        if not data.kernel.learns:
            return super()._plan(data, seed)
        return self._mixed_plan(data, components_of(data, self.placement), seed)

    def _mixed_plan(self, data: Training, components: Components, seed: int) -> Plan:
        """With the weights of a mixture, learned for all machines together.

        Machines begin with what was found on the way to the weights, with the tolerance that it took.
        """
        if not self._is_left_open and np.isinf(self.C):
            raise ValueError("SVC: the weights of a mixture are learned with a finite C; a hard margin has none.")
        machines = super()._machines(data)
        problems = [(machine.problem, machine.rows) for machine in machines]
        run, solver = data.run, self._solver(data.run, len(machines))
        with run.preparing():
            mixture: Mixed = mixed(data, problems, components, solver, run.seconds_left(), seed)
        machines = super()._machines(mixture.data)
        for machine, start in zip(machines, mixture.starts, strict=True):
            machine.start = start
        solver = replace(self._solver(run, len(machines)), tol=mixture.solver.tol)
        return Plan(mixture.data, machines, solver, mixture)

    def along(self, data: Training, values: list[Any], scores_of: Callable[[Any], Array]) -> Iterator[Array]:
        """With rising C; every C has weights of a mixture of its own, and what is shared are the kernels' matrices."""
        if not data.kernel.learns:
            yield from super().along(data, values, scores_of)
            return
        seed = check_random_state(self.random_state).randint(2**31 - 1)
        components = components_of(data, self.placement)
        for C in values:
            self.C = C
            self._check()
            plan = self._mixed_plan(data, components, seed)
            for machine in plan.machines:
                machine.solve(plan.solver, np.random.default_rng(seed), plan.data.exact_gram())
            yield scores_of(model_of_machines(plan.data, plan.machines))

    # -- what users read ------------------------------------------------------------------------------------------

    def _without_margin(self, machines: list[BinaryMachine]) -> str:
        """Why there is no margin of the kind that was asked for, and what the model is instead."""
        twice = contradictions(machines[0].data)
        rows = f"{twice} {'row appears' if twice == 1 else 'rows appear'}"
        why = (
            "no hard margin exists, the classes are not separable with this kernel"
            if self.status_ == str(Status.NOT_SEPARABLE)
            else "no hard margin was found; if there is one, it is too narrow for the precision of numbers"
        )
        soft = next(m for m in machines if m.solution.status in (Status.NOT_SEPARABLE, Status.NOT_FOUND))
        return (
            f"SVC: {why}{f' ({rows} with more than one label)' if twice else ''}; the model and its "
            f"certificate are those of a soft margin with C={soft.final_C:.3g}. Use a finite C "
            f"{guide('soft margin')}."
        )
