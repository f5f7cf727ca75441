"""Weights of columns by the average gradient outer product, each step judged by exact leave-one-out.

A machine of the squared loss is fitted; how much its predictions change with a column, in the mean over the rows, is
the weight that the column gets in the next round (Radhakrishnan, Beaglehole, Pandit and Belkin, 2024; here the diagonal
alone, unless a matrix is asked for). The kernel's length, in units of the median distance, and λ are looked for in
every round, down from where they were best in the last. Of all that was tried, the setting with the least leave-one-out
error is the best.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields, replace

import numpy as np

from ..kernels import Kernel
from ..runtime.compile import Array
from ..runtime.numerics import product
from .gradients import FAMILIES, Family
from .leave_one_out import LeftOut, groups_left_out, left_out

__all__ = [
    "RIDGES",
    "ROUNDS",
    "SCALES",
    "Clock",
    "Judge",
    "LearnedMetric",
    "Mean",
    "Setting",
    "Tried",
    "descended",
    "kept_apart",
    "learned_metric",
    "rounded",
    "sampled",
    "tried_table",
    "weighed",
]

#: Lengths in units of that of the median distance, and values of ρ: steps of √10.
SCALES = tuple(10.0 ** (k / 2) for k in range(-3, 4))
RIDGES = tuple(10.0 ** (k / 2) for k in range(-8, 6))
_FIRST = SCALES.index(1.0), RIDGES.index(0.1)
#: Changes of both that are tried: ρ alone, and a length with the ρ that leaves as much to the noise.
_MOVES = ((0, -1), (0, 1), (1, -1), (-1, 1))
#: Rounds of weights, and those without a gain that are the last.
ROUNDS, _PATIENCE = 5, 2
#: Rows that weights are learned on, and differences of two numbers in the distances of all pairs of them.
LEARNED_ON, _DIFFERENCES = 1500, 2e9
#: Multiplications of gradients.
_PRODUCTS = 2e9
#: Rows that weights were not learned on, by which families are compared.
_OTHERS = 500
#: Digits of a weight: more say nothing, and are read and written.
_DIGITS = 3


@dataclass(frozen=True)
class Tried:
    """A setting and its leave-one-out error: the mean square, over the variance of the targets where these have one."""

    family: str
    round: int
    scale: float
    lam: float
    rows: int
    error: float
    note: str = ""


def tried_table(tried: Sequence[Tried]) -> dict[str, Array]:
    """What was tried, a column for each of its parts: ``pandas.DataFrame`` makes a table of it."""
    return {each.name: np.array([getattr(one, each.name) for one in tried]) for each in fields(Tried)}


@dataclass(frozen=True)
class Setting:
    """A kernel that is to be judged: its family, the weights of columns, and its length over the median distance's."""

    family: Family
    round: int
    weights: Array | None
    scale: float
    ridge: float
    median: float
    error: float = np.inf

    @property
    def gamma(self) -> float:
        """The kernel's γ."""
        return self.family.rate(self.scale, self.median)

    @property
    def kernel(self) -> Kernel:
        """The kernel as a whole."""
        return self.family.kernel_of(self.gamma, self.weights)

    @property
    def name(self) -> str:
        """What it is called in a table of what was tried."""
        return self.family.name

    def matrix(self, rows: Array, others: Array | None = None) -> Array:
        """The kernel of all pairs of rows; of rows and others, where these are given."""
        others = None if others is None else weighed(others, self.weights)
        return self.family.values(self.family.distances(weighed(rows, self.weights), others), self.gamma)

    def gradients(self, rows: Array, items: Array, z: Array) -> Array:
        """The gradients at some rows of the model with these coefficients, (rows, columns, targets)."""
        return self._gradients(rows, items, self.matrix(rows, items), z)

    def _gradients(self, rows: Array, items: Array, K: Array, z: Array) -> Array:
        """Those at some rows, of which the matrix of rows and items is known."""
        W = self.weights
        if W is None or W.ndim == 1:
            return self.family.gradients(rows, items, np.ones(rows.shape[1]) if W is None else W, self.gamma, K, z)
        found = self.family.gradients(weighed(rows, W), weighed(items, W), np.ones(len(W)), self.gamma, K, z)
        return np.ascontiguousarray(np.einsum("kj,rkt->rjt", W, found))


def weighed(rows: Array, weights: Array | None) -> Array:
    """Rows whose columns are multiplied by weights, or that are multiplied by a matrix."""
    if weights is None:
        return rows
    return rows * weights if weights.ndim == 1 else np.ascontiguousarray(product(rows, np.ascontiguousarray(weights.T)))


@dataclass(frozen=True)
class Mean:
    """The mean of several kernels, and ρ.

    Which of them is the best few rows do not know: of new rows their mean knows more, unless it is clearly worse.
    """

    parts: tuple[Setting, ...]
    ridge: float
    error: float = np.inf
    round: int = 0
    scale: float = np.nan
    name = "mean of all"

    @property
    def kernel(self) -> Kernel:
        """The kernel as a whole."""
        total = self.parts[0].kernel
        for part in self.parts[1:]:
            total = total + part.kernel
        return (1 / len(self.parts)) * total

    def matrix(self, rows: Array, others: Array | None = None) -> Array:
        """The kernel of all pairs of rows; of rows and others, where these are given."""
        total = self.parts[0].matrix(rows, others)
        for part in self.parts[1:]:
            total += part.matrix(rows, others)
        total /= len(self.parts)
        return total

    def gradients(self, rows: Array, items: Array, z: Array) -> Array:
        """The gradients at some rows of the model with these coefficients, (rows, columns, targets)."""
        return np.mean([part.gradients(rows, items, z) for part in self.parts], axis=0)


@dataclass
class LearnedMetric:
    """What was tried, and the best of it."""

    best: Setting
    plain: Setting
    #: Which rows it was learned on, and the seconds that a setting took there.
    numbers: Array
    pace: float
    #: Of each family the best without and the best with weights.
    parts: tuple[Setting, ...]
    tried: list[Tried] = field(default_factory=list)

    @property
    def rows(self) -> int:
        """How many rows it was learned on."""
        return self.numbers.size

    def best_on_others(self, judge: Judge) -> Setting:
        """The part that errs least on rows that no weights were learned on, of those that a judge has.

        Weights that were learned from a row's own target flatter its leave-one-out error, those of a family with more
        freedom more than others.
        """
        others = ~np.isin(judge.numbers, self.numbers)
        if len(self.parts) < 2 or np.count_nonzero(others) < _OTHERS:
            return self.best
        errors = []
        for part in self.parts:
            setting, distances = judge.begun(part.family, part.round, part.weights)
            _, found = judge.judge(replace(setting, scale=part.scale, ridge=part.ridge), distances)
            squares = np.square(judge.targets - found.predictions).mean(axis=1)[others]
            counted = None if judge.weight is None or not judge.weight[others].any() else judge.weight[others]
            errors.append(float(np.average(squares, weights=counted)))
            if judge.clock.over:
                break
        return self.parts[int(np.argmin(errors))] if len(errors) == len(self.parts) else self.best


class Clock:
    """How much time is left."""

    def __init__(self, seconds: float = np.inf) -> None:
        self.end = time.monotonic() + seconds

    @property
    def left(self) -> float:
        """Seconds."""
        return max(0.0, self.end - time.monotonic())

    @property
    def over(self) -> bool:
        """Whether there is none."""
        return self.left == 0


def descended(
    error: Callable[[tuple[int, int]], float], start: tuple[int, int], sizes: tuple[int, int], clock: Clock
) -> tuple[int, int]:
    """The place of a table from which no neighbour leads further down."""
    best, least, known = start, error(start), {start}
    going = True
    while going:
        going = False
        for move in _MOVES:
            while not clock.over:
                place = best[0] + move[0], best[1] + move[1]
                if place in known or not all(0 <= each < size for each, size in zip(place, sizes, strict=True)):
                    break
                known.add(place)
                value = error(place)
                if not value < least * (1 - 1e-4):
                    break
                best, least, going = place, value, True
    return best


class Judge:
    """Leave-one-out errors of settings on some rows."""

    def __init__(
        self,
        rows: Array,
        targets: Array,
        weight: Array | None,
        intercept: bool,
        clock: Clock,
        gamma: float | None = None,
        lam: float | None = None,
        numbers: Array | None = None,
        groups: Array | None = None,
        full: bool = False,
    ) -> None:
        self.rows, self.targets = np.ascontiguousarray(rows, dtype=np.float64), targets
        self.weight = None if weight is None else weight * (weight.size / weight.sum())
        self.intercept, self.clock, self.groups = intercept, clock, groups
        self.gamma, self.lam = gamma, lam
        #: Whether weights are a matrix.
        self.full = full
        #: Which of somebody's rows these are, and the most seconds that a setting took.
        self.numbers, self.pace = np.arange(len(rows)) if numbers is None else numbers, 1e-3
        centre = np.average(targets, axis=0, weights=weight) if intercept else 0.0
        variance = float(np.average(np.square(targets - centre).mean(axis=1), weights=weight))
        self.unit = variance if variance > 0 else 1.0
        self.tried: list[Tried] = []

    @property
    def n(self) -> int:
        return len(self.rows)

    def begun(self, family: Family, round: int, weights: Array | None) -> tuple[Setting, Array]:
        """A kernel with these weights, of no length yet, and its distances."""
        distances = family.distances(weighed(self.rows, weights))
        return Setting(family, round, weights, 1.0, 0.1, family.median(distances)), distances

    def left_out(self, matrix: Array, ridge: float) -> LeftOut:
        """What rows are told by the model without them, or without their group."""
        if self.groups is None:
            return left_out(matrix, self.targets, ridge, self.intercept, self.weight)
        return groups_left_out(matrix, self.targets, ridge, self.groups, self.intercept, self.weight)

    def judge(self, setting: Setting, distances: Array) -> tuple[float, LeftOut]:
        """The leave-one-out error of a setting, and what it came from."""
        began = time.monotonic()
        matrix = setting.family.values(distances, setting.gamma)
        found = self.left_out(matrix, setting.ridge)
        self.pace = max(self.pace, time.monotonic() - began)
        error = found.error(self.targets, self.weight) / self.unit
        lam = setting.ridge / max(1, self.n - 1)
        self.tried.append(Tried(setting.family.name, setting.round, setting.scale, lam, self.n, error))
        return error, found

    def best(
        self, setting: Setting, distances: Array, start: tuple[int, int], along: bool = False
    ) -> tuple[Setting, tuple[int, int], LeftOut]:
        """The best length and ρ for the weights of a setting, from a place of the table on.

        Parameters
        ----------
        along : bool
            Look for ρ alone.
        """
        scales: Sequence[float] = SCALES
        ridges: Sequence[float] = RIDGES
        if self.gamma is not None:
            scales, start = (
                [(setting.family.power * self.gamma * setting.median) ** (-1 / setting.family.power)],
                (0, start[1]),
            )
        elif along:
            scales, start = [scales[start[0]]], (0, start[1])
        if self.lam is not None:
            ridges, start = [self.lam * max(1, self.n - 1)], (start[0], 0)
        known: dict[tuple[int, int], tuple[float, LeftOut | None]] = {}

        def error(place: tuple[int, int]) -> float:
            known[place] = self.judge(replace(setting, scale=scales[place[0]], ridge=ridges[place[1]]), distances)
            least = min(known, key=lambda each: known[each][0])
            for other in known:  # what others came from takes memory
                if other != least and known[other][1] is not None:
                    known[other] = known[other][0], None
            return known[place][0]

        descended(error, start, (len(scales), len(ridges)), self.clock)
        place = min(known, key=lambda each: known[each][0])
        value, found = known[place]
        assert found is not None
        return replace(setting, scale=scales[place[0]], ridge=ridges[place[1]], error=value), place, found

    def mean(self, parts: Sequence[Setting]) -> tuple[Mean, LeftOut]:
        """The mean of kernels with the best ρ, looked for from the harmonic mean of theirs."""
        harmonic = len(parts) / sum(1 / part.ridge for part in parts)
        start = int(np.argmin(np.abs(np.log(np.array(RIDGES) / harmonic))))
        matrix = Mean(tuple(parts), harmonic).matrix(self.rows)
        known: dict[tuple[int, int], tuple[float, LeftOut]] = {}

        def error(place: tuple[int, int]) -> float:
            ridge = RIDGES[place[1]]
            found = self.left_out(matrix.copy(), ridge)
            known[place] = found.error(self.targets, self.weight) / self.unit, found
            self.tried.append(Tried(Mean.name, 0, np.nan, ridge / max(1, self.n - 1), self.n, known[place][0]))
            return known[place][0]

        descended(error, (0, start), (1, len(RIDGES)), self.clock)
        place = min(known, key=lambda each: known[each][0])
        return Mean(tuple(parts), RIDGES[place[1]], known[place][0]), known[place][1]

    def on_these(self, chosen: Setting | Mean) -> LeftOut:
        """What was chosen on other rows, on these."""
        found = self.left_out(chosen.matrix(self.rows), chosen.ridge)
        error, lam = found.error(self.targets, self.weight) / self.unit, chosen.ridge / max(1, self.n - 1)
        self.tried.append(Tried(chosen.name, chosen.round, chosen.scale, lam, self.n, error))
        return found

    def doubt(self, found: LeftOut) -> float:
        """The standard error of a leave-one-out error."""
        squares = np.square(self.targets - found.predictions).mean(axis=1)
        squares = squares if self.weight is None else (squares * self.weight)[self.weight > 0]
        return float(np.std(squares) / np.sqrt(squares.size)) / self.unit

    def next_weights(self, setting: Setting, distances: Array, found: LeftOut) -> Array | None:
        """The weights that the gradients of a model give to columns, the largest 1; none where nothing changes."""
        most = int(_PRODUCTS / (self.n * self.rows.shape[1] * self.targets.shape[1]))
        some = np.arange(self.n) if most >= self.n else np.linspace(0, self.n - 1, max(most, 100)).astype(int)
        matrix = setting.family.values(distances[some], setting.gamma)
        gradients = setting._gradients(self.rows[some], self.rows, matrix, found.z)
        counted = None if self.weight is None else self.weight[some]
        if counted is not None and not counted.any():
            return None
        if self.full:
            # The root of the average gradient outer product: of k(Wx, Wz) it is WᵀW that learns.
            counted = np.ones(len(some)) if counted is None else counted
            flat = (np.sqrt(counted / counted.sum())[:, None, None] * gradients).transpose(1, 0, 2)
            flat = flat.reshape(len(flat), -1)
            values, vectors = np.linalg.eigh(product(flat, flat.T))
            new = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
        else:
            new = np.sqrt(np.average(np.square(gradients).sum(axis=2), axis=0, weights=counted))
        largest = float(np.abs(new).max(initial=0.0))
        return rounded(new / largest) if np.isfinite(largest) and largest > 0 else None


def rounded(weights: Array) -> Array:
    """Weights with few digits; what is next to nothing is nothing."""
    few = [float(f"{value:.{_DIGITS}g}") if abs(value) > 1e-6 else 0.0 for value in weights.ravel()]
    return np.reshape(few, weights.shape)


def sampled(n: int, columns: int, weight: Array | None, random_state: int) -> Array:
    """The rows that weights are learned on, in their order."""
    most = int(min(LEARNED_ON, max(200, np.sqrt(_DIFFERENCES / max(1, columns)))))
    counted = np.arange(n) if weight is None else np.flatnonzero(weight)
    if counted.size <= most:
        return counted
    return np.sort(np.random.default_rng(random_state).choice(counted, most, replace=False))


def learned_metric(
    rows: Array,
    targets: Array,
    weight: Array | None = None,
    *,
    families: Sequence[str | Family] = ("laplacian",),
    gamma: float | None = None,
    lam: float | None = None,
    intercept: bool = True,
    rounds: int = ROUNDS,
    seconds: float = np.inf,
    random_state: int = 0,
    groups: Array | None = None,
    full: bool = False,
) -> LearnedMetric:
    """Learn the weights of columns.

    Parameters
    ----------
    rows : array of shape (n_rows, n_columns)
    targets : array of shape (n_rows, n_targets)
    weight : array of shape (n_rows,), optional
    families : sequence of {"laplacian", "gaussian"} or Family, default=("laplacian",)
        The kernels that are tried, each with weights of its own.
    gamma : float, optional
        The kernel's rate, where it is not to be chosen. Weights leave the median distance as it is.
    lam : float, optional
        λ, where it is not to be chosen.
    intercept : bool, default=True
    rounds : int, default=5
        0 learns no weights.
    seconds : float, optional
    random_state : int, default=0
        Draws the rows that weights are learned on, where there are many.
    groups : array of shape (n_rows,), optional
        Rows of a group are left out together.
    full : bool, default=False
        A matrix W in the place of weights, by the average gradient outer product as a whole: k(Wx, Wz).

    Returns
    -------
    LearnedMetric
    """
    some = sampled(len(rows), rows.shape[1], weight, random_state)
    clock = Clock(seconds)
    own, together = (None if each is None else each[some] for each in (weight, groups))
    judge = Judge(rows[some], targets[some], own, intercept, clock, gamma, lam, groups=together, full=full)
    best = plain = None
    parts: list[Setting] = []
    start = _FIRST
    for family in (FAMILIES[each] if isinstance(each, str) else each for each in families):
        name = family.name
        if clock.over and best is not None:
            judge.tried.append(Tried(name, 0, np.nan, np.nan, judge.n, np.nan, "not tried: the time was over"))
            continue
        setting, distances = judge.begun(family, 0, None)
        setting, place, found = judge.best(setting, distances, start)
        plain = setting if plain is None or setting.error < plain.error else plain
        parts.append(setting)
        weighted: Setting | None = None
        weights = judge.next_weights(setting, distances, found)
        best = setting if best is None or setting.error < best.error else best
        least, since = setting.error, 0
        for k in range(1, rounds + 1):
            if weights is None or since >= _PATIENCE:
                break
            if clock.over:
                judge.tried.append(Tried(name, k, np.nan, np.nan, judge.n, np.nan, "not tried: the time was over"))
                break
            if gamma is not None:
                weights = kept_apart(judge, family, weights)
            setting, distances = judge.begun(family, k, weights)
            setting, place, found = judge.best(setting, distances, place)
            weighted = setting if weighted is None or setting.error < weighted.error else weighted
            best = setting if setting.error < best.error else best
            least, since = (setting.error, 0) if setting.error < least else (least, since + 1)
            weights = judge.next_weights(setting, distances, found)
        parts += [] if weighted is None else [weighted]
        start = place
    assert best is not None
    assert plain is not None
    return LearnedMetric(best, plain, some, judge.pace, tuple(parts), judge.tried)


def kept_apart(judge: Judge, family: Family, weights: Array) -> Array:
    """The weights in the unit in which the median distance is that without weights."""
    plain = family.median(family.distances(judge.rows))
    apart = family.median(family.distances(weighed(judge.rows, weights)))
    return rounded(weights * (plain / apart) ** (1 / family.power))
