"""What a machine chooses by leaving out rows before it learns: a metric of its kernel, and λ or C."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from scipy import linalg
from sklearn.utils.validation import check_consistent_length, column_or_1d

from .. import metrics
from ..checks import schema
from ..checks.labels import checked_weights
from ..checks.parameters import bytes_of, choice, is_number, size_in_words
from ..grams import Dense
from ..kernels import Kernel, Matern
from ..losses import Squared
from ..problems import Iterate, Problem, Solution, Status
from ..rows import in_memory
from ..runtime.compile import Array
from .base import KernelMachine
from .classifier import decision_margins
from .training import Run, Training, with_callbacks

__all__ = ["BY_LEAVE_ONE_OUT", "METRICS", "TRIED", "Choosing", "chosen"]

#: What the parameter of regularisation may be in the place of a number, and ``metric``.
BY_LEAVE_ONE_OUT = "loo"
METRICS = (None, "learned", "learned-full")
#: Matrices of all items that a path has at once.
_PATH_MATRICES = 3
#: Values of ρ that may be tried, in units of the mean self-similarity, and the places of those that are tried first:
#: 0.1, 10⁻³, 10 and 10⁻⁵. Where all coefficients are at their bounds there is a valley of its own.
_PATH = tuple(10.0 ** (k / 2) for k in range(-20, 6))
_FIRST = (18, 14, 22, 10)
#: The part of the time that a choice may take.
_LEARNING = 0.4
#: Columns of which a matrix is learned: the text of its kernel has a number for each pair.
_WIDEST = 150
#: Rows, or groups, that decide and are refitted where what they are told is known approximately.
REFITTED = 20
#: A table of what was tried, a column for each of its parts.
TRIED = schema.mapping(
    schema.text, schema.numbers("tried", missing=True) | schema.wholes("tried") | schema.names("tried")
)
#: What was chosen in an earlier fit.
_FOUND = ("tried_", "loo_predictions_", "loo_score_", "loo_approximate_")


class Choosing(KernelMachine, named=False):
    """Base of machines whose kernel's metric, and whose λ or C, may be chosen by leaving out rows.

    A subclass says which problems belong to a ρ = λn (:meth:`_stated`), and solves one (:meth:`_quickly_solved`).
    """

    fields: ClassVar = {
        "tried_": schema.optional(TRIED),
        "loo_predictions_": schema.optional(schema.numbers("rows") | schema.numbers("rows", "scores")),
        "loo_approximate_": schema.optional(schema.wholes("chosen")),
        "loo_score_": schema.optional(schema.number()),
    }
    #: A search that is given groups means its own folds, unless it is told otherwise by ``set_fit_request``.
    __metadata_request__fit: ClassVar = {"groups": False}
    metric: str | None = None
    #: Whether C stays as it is where rows are left out, or λ does.
    keeps_C = False

    @property
    def shares_path(self) -> bool:
        """A metric is learned for each setting anew."""
        return self.metric is None

    @property
    def _is_left_open(self) -> bool:
        """Whether :attr:`path` is to be chosen."""
        value = getattr(self, self.path)
        return isinstance(value, str) and value == BY_LEAVE_ONE_OUT

    def _check_choices(self) -> None:
        """Refuse what is not to be had by leaving out rows."""
        choice(self, "metric", METRICS)
        if self._is_left_open and (self.rank is not None or self.device is not None):
            raise ValueError(
                f"{type(self).__name__}: {self.path}='loo' needs the whole matrix in memory; leave rank and device out."
            )

    @with_callbacks
    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> Self:
        """Learn from items and targets.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_rows, n_features), or a collection of the kernel's items
        y : array of shape (n_rows,), or (n_rows, n_targets)
            Labels for a classifier, real numbers for a regressor; machines that take many labels a row want a column
            of 0 and 1 for each, dense or sparse.
        sample_weight : array of shape (n_rows,), optional
            What each row counts.
        groups : array of shape (n_rows,), optional
            For what is chosen by leaving out rows: those of a group (a patient, a fold, a stretch of time) are left out
            together.

        Returns
        -------
        self
        """
        return self.fit_on(None, X, y, sample_weight, groups)

    # -- what a subclass says -------------------------------------------------------------------------------------

    def _stated(self, data: Training, ridge: float) -> list[tuple[Array, Problem]]:
        """The problems for a ρ = λn of all rows, and the rows of each."""
        raise NotImplementedError

    def _set_path(self, data: Training, ridge: float, without: float) -> None:
        """Take what belongs to a ρ from which so much weight is left out, for :attr:`path`."""
        raise NotImplementedError

    def _quickly_solved(self, problem: Problem, start: Iterate | None, seconds: float) -> Solution:
        """A solution without a certificate."""
        raise NotImplementedError

    def _in_target_units(self, data: Training, scores: list[Array]) -> list[Array]:
        """Scores of problems as they were stated, in the units of the user's targets."""
        return scores

    @property
    def has_squared_loss(self) -> bool:
        return getattr(self, "loss", None) in ("squared", Squared())

    # -- after fitting --------------------------------------------------------------------------------------------

    def _publish_left_out(self, run: Run) -> None:
        """What :meth:`score` says of predictions by machines without each row."""
        if "loo_predictions_" in vars(self):
            from sklearn.metrics import accuracy_score, r2_score

            usual = r2_score if self.target_kind == "numbers" else accuracy_score
            told = self.predictions_of(self.loo_predictions_)
            measure = getattr(self, "score_of", usual)
            self.loo_score_ = float(measure(in_memory(run.y), told, sample_weight=run.sample_weight))


def chosen(machine: Choosing, data: Training) -> Training:
    """The training items under the learned metric, where one is to be learned; and what belongs to :attr:`path`."""
    for name in (*_FOUND, f"{machine.path}_"):
        machine.__dict__.pop(name, None)
    name, groups = type(machine).__name__, _groups(machine, data)
    if machine.metric is None and not machine._is_left_open:
        if groups is not None:
            raise ValueError(
                f"{name}: groups are left out together where something is chosen so; ask for metric='learned' or "
                f"{machine.path}='loo', or leave groups out."
            )
        return data
    counted = len(data.targets) if data.weight is None else np.count_nonzero(data.weight)
    if counted < 2:
        raise ValueError(f"{name} leaves out one row after the other, and there is one sample (with a weight).")
    tried: list[metrics.Tried] = []
    if machine.metric is not None:
        data, tried = _under_learned_metric(machine, data, groups)
    if machine._is_left_open:
        tried = tried + _choose_path(machine, data, groups)
    machine.tried_ = metrics.tried_table(tried)
    return data


def _groups(machine: Choosing, data: Training) -> Array | None:
    """The number of each row's group."""
    if data.run.groups is None:
        return None
    import pandas

    values = column_or_1d(in_memory(data.run.groups))
    check_consistent_length(values, np.empty(len(data.targets)))
    if pandas.isna(values).any():
        raise ValueError(f"{type(machine).__name__}: a row has no group; say which it is of, or leave it out.")
    numbers = pandas.factorize(values)[0]
    if np.unique(numbers if data.weight is None else numbers[data.weight > 0]).size < 2:
        raise ValueError(
            f"{type(machine).__name__} leaves out one group after the other, and there is one group (with a weight); "
            "give two or more, or leave groups out."
        )
    return numbers


# A metric: every kernel of an expression that is of a known family gets weights, as if it was alone.


def _under_learned_metric(
    machine: Choosing, data: Training, groups: Array | None
) -> tuple[Training, list[metrics.Tried]]:
    name, tried = type(machine).__name__, list[metrics.Tried]()
    targets = np.column_stack(machine._squared_targets(data))

    def learned(kernel: Kernel, items: Any) -> Kernel:
        family = metrics.family_of(kernel)
        if family is None:
            forms = kernel.part_items(items) if kernel.parts() else []
            return kernel.with_parts([learned(*each) for each in zip(kernel.parts(), forms, strict=True)])
        if not isinstance(items, np.ndarray):
            raise ValueError(
                f"{name}: metric={machine.metric!r} needs dense rows in memory; pass X.toarray(), or leave metric out."
            )
        if machine.metric == "learned-full" and items.shape[1] > _WIDEST:
            raise ValueError(
                f"{name}: metric='learned-full' learns a matrix of up to {_WIDEST} columns, and there are "
                f"{items.shape[1]}; use metric='learned', a weight for each, or choose columns."
            )
        found = metrics.learned_metric(
            items.astype(np.float64, copy=False),
            targets,
            data.weight,
            families=(family,),
            gamma=_rate(kernel),
            lam=float(machine.lam) if machine.has_squared_loss and is_number(machine.lam) else None,
            intercept=bool(getattr(machine, "fit_intercept", True)),
            seconds=_LEARNING * data.run.seconds_left(),
            groups=groups,
            full=machine.metric == "learned-full",
        )
        tried.extend(found.tried)
        return found.best.kernel

    given = machine.read_kernel()
    kernel = learned(given, data.items)
    if not tried:
        raise ValueError(
            f"{name}: metric={machine.metric!r} is for the kernels 'gaussian', 'laplacian' and 'matern', alone or in "
            f"an expression, not for {data.kernel}."
        )
    weight = data.run.sample_weight
    kernel = kernel.resolved(data.items, None if weight is None else checked_weights(in_memory(weight), data.items))
    gram = machine.placement.gram(kernel, data.items, data.weight)
    return replace(data, kernel=kernel, gram=gram), tried


def _rate(kernel: Any) -> float | None:
    """γ, where it is a number."""
    value = getattr(kernel, kernel.rates[0])
    if isinstance(value, str):
        return None
    return 1 / float(value) if isinstance(kernel, Matern) else float(value)


# λ, or C: tried from one to the next, by what rows are told without them.


def _choose_path(machine: Choosing, data: Training, groups: Array | None) -> list[metrics.Tried]:
    """Try values of ρ = λn, down from one to the next."""
    n, name = len(data.gram), type(machine).__name__
    if data.kernel.learns:
        raise ValueError(
            f"{name}: {machine.path}='loo' is for a kernel that is known, and {data.kernel} learns its weights for "
            f"each {machine.path}; give the mixture weights, or search for {machine.path} (KernelSearchCV)."
        )
    if _PATH_MATRICES * 8 * n * n > bytes_of(machine.memory):
        raise ValueError(
            f"{name}: {machine.path}='loo' needs {size_in_words(_PATH_MATRICES * 8 * n * n)} for matrices of all {n} "
            f"rows, more than memory={machine.memory!r}; raise it, or search for {machine.path} (KernelSearchCV)."
        )
    weight = np.ones(n) if data.weight is None else data.weight * (n / data.weight.sum())
    without = 1.0 if groups is None else n / np.unique(groups[weight > 0]).size
    K = np.array(data.exact_gram().rows(np.arange(n)), dtype=np.float64)
    unit = (float(np.mean(np.einsum("ii->i", K))) or 1.0) * _growth(machine, data)
    clock = metrics.Clock(_LEARNING * data.run.seconds_left())
    known: dict[tuple[int, int], float] = {}
    by_steps = _BySteps(machine, data, K, groups, clock)
    own = np.column_stack(machine._squared_targets(data)) if machine.has_squared_loss else None

    def squared_error(ridge: float) -> float:
        assert own is not None
        given: tuple[Any, ...] = (bool(machine.fit_intercept), None if data.weight is None else weight)
        found: metrics.LeftOut = (
            metrics.left_out(K.copy(), own, ridge, *given)
            if groups is None
            else metrics.groups_left_out(K.copy(), own, ridge, groups, *given)
        )
        return found.error(own, data.weight)

    def error(place: tuple[int, int]) -> float:
        ridge = unit * _PATH[place[1]]
        try:
            known[place] = by_steps.error(ridge) if own is None else squared_error(ridge)
        except linalg.LinAlgError:  # ρ is nothing beside the rounding of the matrix
            known[place] = np.inf
        return known[place]

    for place in _FIRST:
        if not (known and clock.over):
            error((0, place))
    start = min(known, key=lambda each: known[each])
    metrics.descended(lambda place: known[place] if place in known else error(place), start, (1, len(_PATH)), clock)
    best = min(known, key=lambda each: known[each])
    ridge = unit * _PATH[best[1]]
    if own is None:
        machine.loo_predictions_, exact = by_steps.told(ridge, without)
        machine._set_path(data, ridge, without)
    else:
        machine._set_path(data, ridge, without)
        intercept = bool(machine.fit_intercept)
        unseen = metrics.exactly_left_out(K.copy, own, machine.lam_, intercept, data.weight, groups)
        decisions = np.column_stack(machine._in_target_units(data, list(unseen.T)))
        machine.loo_predictions_ = machine.decisions_of(decisions)
        exact = np.ones(n, dtype=bool)
    machine.loo_approximate_ = np.flatnonzero(~exact)
    found = [(unit * _PATH[place[1]] / (n - without), value) for place, value in known.items()]
    tried = [metrics.Tried(str(data.kernel)[:40], 0, 1.0, lam, n, value) for lam, value in found]
    if clock.over:
        tried.append(metrics.Tried(str(data.kernel)[:40], 0, 1.0, np.nan, n, np.nan, "not tried: the time was over"))
    return tried


def _growth(machine: Choosing, data: Training) -> float:
    """How a loss of numbers grows where residuals are as large as the targets' spread, beside the squared loss.

    λ in this unit says the same for targets of any unit: ‖w‖² grows with the square of the spread, a squared loss too,
    one of straight lines only with the spread itself.
    """
    if machine.target_kind != "numbers" or machine.has_squared_loss:
        return 1.0
    found = []
    for _, problem in machine._stated(data, 1.0):
        apart = problem.y - np.average(problem.y, weights=problem.weights)
        spread = np.sqrt(np.average(np.square(apart), weights=problem.weights))
        slope = np.average(np.abs(problem.loss.slopes(problem.y, problem.y - apart)), weights=problem.weights)
        own = problem.lam * len(problem.y)  # what a ρ of 1 is in the unit of the stated targets
        if slope > 0 and spread > 0:
            found.append(np.log(slope / spread / own))
    return float(np.exp(np.mean(found))) if found else 1.0


class _BySteps:
    """What rows are told by machines of any loss without them: by a step of Newton's method, then by refits."""

    def __init__(self, machine: Choosing, data: Training, K: Array, groups: Array | None, clock: metrics.Clock) -> None:
        self.machine, self.data, self.K, self.groups, self.clock = machine, data, K, groups, clock
        self.units: Array = np.arange(len(K)) if groups is None else groups
        self.last: list[Iterate] = []

    def solved(self, ridge: float) -> list[tuple[Array, Problem, Solution, Array]]:
        """The rows of each problem, the problem, its solution, and the matrix of its rows."""
        found = []
        for k, (rows, problem) in enumerate(self.machine._stated(self.data, ridge)):
            K = self.K if rows.size == len(self.K) else self.K[np.ix_(rows, rows)]
            problem = problem.on(Dense(K))
            model = self.solve(problem, self.last[k] if self.last else None)
            found.append((rows, problem, model, K))
        self.last = [model for _, _, model, _ in found]
        return found

    def solve(self, problem: Problem, start: Iterate | None) -> Solution:
        start = None if start is None else Iterate(start.z, start.b)
        found = self.machine._quickly_solved(problem, start, max(self.clock.left, 1.0))
        if found.status is not Status.CONVERGED and start is not None:  # a machine that is far away misleads
            found = self.machine._quickly_solved(problem, None, max(self.clock.left, 1.0))
        return found

    def unseen(self, rows: Array, problem: Problem, model: Solution, K: Array) -> metrics.Unseen:
        found = metrics.approximately_left_out(problem, model, K, None if self.groups is None else self.groups[rows])
        return (
            found if model.status is Status.CONVERGED else metrics.Unseen(found.scores, np.zeros(rows.size, dtype=bool))
        )

    def error(self, ridge: float) -> float:
        """The mean loss of rows by machines without them; of numbers beside that of their mean."""
        sizes, costs = [], []
        for rows, problem, model, K in self.solved(ridge):
            cost = problem.mean_cost(self.unseen(rows, problem, model, K).scores)
            if self.machine.target_kind == "numbers":
                middle = np.full(rows.size, np.average(problem.y, weights=problem.weights))
                cost /= problem.mean_cost(middle) or 1.0
            sizes.append(rows.size)
            costs.append(cost)
        return float(np.average(costs, weights=sizes))

    def told(self, ridge: float, without: float) -> tuple[Array, Array]:
        """Decision values, or predictions, of rows by machines without them; and which of them are exact."""
        solved, exact = self.solved(ridge), np.full(len(self.K), self.machine.keeps_C or self._is_even)
        fitted = [np.asarray(self.K[:, rows] @ model.z + model.b) for rows, _, model, _ in solved]
        told = [scores.copy() for scores in fitted]
        for scores, (rows, problem, model, K) in zip(told, solved, strict=True):
            unseen = self.unseen(rows, problem, model, K)
            scores[rows] = unseen.scores
            exact &= ~np.isin(self.units, self.units[rows[~unseen.exact]])
        margins = self._margins(self._decisions(told), self._decisions(fitted))
        for members in metrics.decisive(margins, exact, self.units, REFITTED):
            if self.clock.over:
                break
            exact[members] = True
            for scores, (rows, problem, model, _) in zip(told, solved, strict=True):
                rest = np.flatnonzero(~np.isin(rows, members))
                if rest.size < rows.size:
                    left = problem.weights[rest].sum() if self.machine.keeps_C else len(self.K) - without
                    again = metrics.refitted(problem, model, rest, problem.lam * rows.size / left, self.solve)
                    scores[members] = self.K[np.ix_(members, rows[rest])] @ again.z + again.b
                    exact[members] &= again.status is Status.CONVERGED
        return self._decisions(told), exact

    @property
    def _is_even(self) -> bool:
        """Whether what is left out weighs the same each time, so that λ stays the same beside ρ."""
        weight = np.ones(len(self.K)) if self.data.weight is None else self.data.weight
        return float(np.ptp(np.bincount(self.units, weight))) == 0

    def _decisions(self, scores: list[Array]) -> Array:
        """Decision values from the scores of all problems; those of a softmax have a mean of zero, as in a model."""
        level = [each - each.mean(axis=1, keepdims=True) if each.ndim == 2 else each for each in scores]
        columns = [column for each in level for column in each.reshape(len(self.K), -1).T]
        found: Array = self.machine.decisions_of(np.column_stack(self.machine._in_target_units(self.data, columns)))
        return found

    def _margins(self, decisions: Array, fitted: Array) -> Array:
        """How clearly rows are told something: numbers the less, the more the row itself has moved them."""
        n = len(decisions)
        if self.machine.target_kind == "numbers":
            moved = np.abs(decisions - fitted).reshape(n, -1).max(axis=1)
            return 1 / np.maximum(moved, np.finfo(np.float64).tiny)
        if self.data.targets.ndim == 2:
            return np.abs(decisions).min(axis=1)
        return np.abs(decision_margins(decisions, self.data.targets))
