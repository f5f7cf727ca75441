"""All cells of a search, computed in the order in which they share most.

The order is, from outside in: how the rows are prepared (once for all folds where nothing is fitted to them, else fold
by fold), the kernel (one matrix alive at a time, made from statistics that all kernels share), and then lines: settings
that differ in one parameter alone, along which a machine goes on from its last solution. A line on a fold is the unit
of work: units are independent of each other, run on all cores, and give the same answer in any order.
"""

from __future__ import annotations

import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn import config_context, get_config
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.metaestimators import _safe_split

from .._runtime.compile import Array
from .._runtime.interrupts import kept, whole
from .._runtime.parallel import for_each, thread_count
from .._validation.labels import combine_weights, encode
from .._validation.parameters import is_number
from ..estimators.base import KernelMachine, Training
from ..estimators.model import KernelModel
from ..grams import Dense
from ..kernels import Kernel
from ..kernels.engine.parts import length
from ..kernels.engine.shared import SharedStatistics
from ..solvers.svm.smo import Workspace
from .journal import Journal
from .layers import Layer, peel, prepared, shareable
from .outcome import Outcome, content_key, fold_key, setting_key

#: Kernel matrices that a fold has at once: statistics of a kernel, the matrix itself, and the part of a working set.
_MATRICES = 3

#: A fold: its training rows, and the rows whose decision values are wanted (sorted).
Fold = tuple[Array, Array]


@dataclass
class _Line:
    """Machines that differ in their path parameter alone."""

    machine: KernelMachine
    kernel: Kernel | None
    values: list[Any] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)


class Study:
    """Cells of a search on the same rows.

    Parameters
    ----------
    estimator : estimator
    X, y : rows and labels as the user gave them
    labels : array of shape (n_rows,)
        The labels as the machine sees them.
    weight : array, optional
    memory : int
        Bytes that statistics and a kernel matrix may take.
    deadline : float
        When to stop, by ``time.monotonic``.
    tell : callable, optional
        Called with the number of cells after each unit of work.
    """

    def __init__(
        self,
        estimator: Any,
        X: Any,
        y: Any,
        labels: Array,
        weight: Array | None = None,
        memory: int = 10**9,
        deadline: float = np.inf,
        tell: Callable[[int], None] | None = None,
    ) -> None:
        self.estimator, self.X, self.y, self.labels, self.weight = estimator, X, y, labels, weight
        self.memory, self.deadline = memory, deadline
        self.journal: Journal | None = None
        self.tell = tell or (lambda cells: None)
        self.size = length(X)
        self.outcomes: dict[tuple[str, str], Outcome] = {}
        #: Whether all cells have been asked for: fits from now on are real ones.
        self.over = False
        self._benches = threading.local()
        #: What scikit-learn wants to know of the estimator; its rows are numbers of rows here.
        self.tags = estimator.__sklearn_tags__()
        self.tags.input_tags.pairwise = False
        #: Why cells could not be fitted, as far as they were asked for.
        self.refusals: Counter[str] = Counter()
        #: Why the study ended early, if it did.
        self.stopped: str | None = None

    def keep(self, journal: Journal) -> None:
        """Take over what a journal knows, and write what is found to it."""
        self.journal = journal
        self.outcomes.update(journal.known)

    def rows(self, estimator: Any, index: Array, train: Array) -> Any:
        """The user's rows with these numbers, as an estimator wants them: of a square matrix the training columns."""
        everything = np.arange(self.size)
        if np.array_equal(index, everything) and np.array_equal(train, everything):
            return self.X
        return _safe_split(estimator, self.X, None, index, train)[0]

    def outcome(self, setting: str, train: Array) -> Outcome | None:
        """What is known of a cell."""
        return self.outcomes.get((setting, fold_key(train)))

    # -- the plan -------------------------------------------------------------------------------------------------

    def run(self, settings: list[dict[str, Any]], folds: list[Fold]) -> None:
        """Compute all cells that are not known and that can share work; the others are left to plain fits."""
        wanted: dict[str, Fold] = {}
        for train, rows in folds:  # folds may differ in their test rows alone
            before = wanted.get(fold_key(train), (train, rows))[1]
            wanted[fold_key(train)] = train, np.union1d(before, rows)
        try:
            with whole():
                self._run(settings, list(wanted.values()))
        except KeyboardInterrupt:
            if not kept():
                raise
            self.stopped = "interrupted"

    def _late(self) -> bool:
        """Whether no new work should be begun."""
        if self.stopped is None and time.monotonic() > self.deadline:
            self.stopped = "time_limit"
        return self.stopped is not None

    def _run(self, settings: list[dict[str, Any]], folds: list[Fold]) -> None:
        with warnings.catch_warnings():  # here and not in a unit: filters belong to all threads together
            warnings.simplefilter("ignore")
            for layers, lines in self._spaces(settings):
                if not layers:
                    self._run_space(self.X, folds, [train for train, _ in folds], lines, self.memory)
                    continue
                self._run_folds(layers, lines, folds)

    def _run_folds(self, layers: list[Layer], lines: list[_Line], folds: list[Fold]) -> None:
        """Folds side by side, as many as have room for their matrices.

        Steps that are fitted to rows make each fold a world of its own, and small fits gain nothing from threads inside
        them.
        """
        abreast = max(1, min(thread_count(), self.memory // (_MATRICES * 8 * self.size**2)))
        config = get_config()  # scikit-learn's, which every thread has for itself

        def run_fold(fold: Fold) -> None:
            with config_context(**config):
                self._run_prepared(layers, lines, fold, self.memory // abreast)

        for_each(run_fold, folds, abreast)

    def _run_prepared(self, layers: list[Layer], lines: list[_Line], fold: Fold, memory: int) -> None:
        """All lines on a fold, with rows prepared as its training rows say."""
        if self.stopped or not self._missing(lines, [fold]):
            return
        try:
            X, kept = prepared(layers, self.X, self.y, fold[0])
        except Exception:  # plain fits say what is wrong, and whether their rows have to do with it
            return
        self._run_space(X, [fold], [kept], lines, memory)

    def _spaces(self, settings: list[dict[str, Any]]) -> Iterator[tuple[list[Layer], list[_Line]]]:
        """Lines, grouped by what is done to the rows before the machine sees them."""
        spaces: dict[str, tuple[list[Layer], dict[str, _Line]]] = {}
        for params in settings:
            estimator = clone(self.estimator).set_params(**clone(params, safe=False))
            layers, machine = peel(estimator)
            if not shareable(estimator) or not machine.shares_path:
                continue
            if not is_number(getattr(machine, machine.path)):
                continue
            try:
                kernel = machine._kernel()
            except Exception:  # a plain fit says what is wrong
                continue
            if kernel is not None and not kernel.is_resolved:  # the rows of each fold decide, in a plain fit
                continue
            space = spaces.setdefault("; ".join(layer.key for layer in layers), (layers, {}))
            own = machine.get_params(deep=False)
            value = own.pop(machine.path)
            line = space[1].setdefault(type(machine).__name__ + setting_key(own), _Line(machine, kernel))
            line.values.append(value)
            line.keys.append(setting_key(params))
        for layers, lines in spaces.values():
            yield layers, list(lines.values())

    def _missing(self, lines: list[_Line], folds: list[Fold]) -> bool:
        return any((key, fold_key(train)) not in self.outcomes for line in lines for key in line.keys
                   for train, _ in folds)  # fmt: skip

    # -- the work -------------------------------------------------------------------------------------------------

    def _run_space(self, X: Any, folds: list[Fold], kept: list[Array], lines: list[_Line], memory: int) -> None:
        """All lines on rows that are prepared in one way; ``kept`` are the training rows that stay in each fold."""
        by_kernel: dict[tuple[str, bool], list[_Line]] = {}
        for line in lines:
            by_kernel.setdefault((content_key(line.kernel), line.machine.single), []).append(line)
        shared: dict[Any, SharedStatistics] = {}  # one at a time: the memory is for all of them
        for same in by_kernel.values():
            if self.stopped or not self._missing(same, folds):
                continue
            machine, kernel = clone(same[0].machine), same[0].kernel
            try:
                rows = machine._rows(X, kernel, reset=True)
                if kernel is not None:
                    kernel.check()
                    machine._try_kernel(kernel, rows)
                K = self._matrix(machine, kernel, rows, shared, memory)
                if K is not None and not np.isfinite(K.sum(dtype=np.float64)):
                    continue  # solvers may stop anywhere; plain fits are asked for scores, which show it
            except Exception:  # plain fits say what is wrong, and whether their rows have to do with it
                continue
            units = [(rows, K, line, *part) for part in zip(folds, kept, strict=True) for line in same]
            for_each(lambda unit: self._run_line(*unit), units)

    def _matrix(
        self, machine: KernelMachine, kernel: Kernel | None, rows: Any, shared: dict[Any, SharedStatistics], memory: int
    ) -> Array | None:
        """The kernel matrix of all rows, or ``None`` where there is none or it does not fit."""
        if kernel is None:
            return None
        if kernel.precomputed:
            return rows.astype(np.float32) if machine.single else rows
        items = machine._gram_items(kernel, rows)
        # Rows of numbers serve every kernel; other items belong to the kernel that read them.
        key = (machine.single, kernel.translation_invariant, "" if kernel.on_rows else content_key(kernel))
        if key not in shared:
            shared.clear()
            shared[key] = SharedStatistics(items, memory)
        if not shared[key].fits:
            return None
        K = shared[key].matrix(kernel)
        return K.astype(np.float32, copy=False) if machine.single else K

    def _run_line(self, rows: Any, K: Array | None, line: _Line, fold: Fold, train: Array) -> None:
        """One line on one fold."""
        key = fold_key(fold[0])
        if all((setting, key) in self.outcomes for setting in line.keys) or self._late():
            return
        machine = clone(line.machine)
        values = sorted(set(line.values), reverse=machine.path == "lam")  # from the simplest model on
        begin = time.perf_counter()
        found: dict[Any, Array | str] = {}

        def follow(values: list[Any]) -> None:
            data = self._training(machine, line.kernel, rows, K, train)
            along = machine._along(data, values, lambda model: _scores(model, rows, K, train, machine.memory))
            for value, scores in zip(values, along, strict=True):
                machine._refuse_nonfinite(scores[fold[1]], fold[1])
                found[value] = machine._decision(scores[fold[1]])
                if self._late():
                    break

        try:
            follow(values)
        except Exception:  # whose fault it is shows when they are tried one by one
            for value in values:
                try:
                    follow([value])
                except ValueError as error:
                    found[value] = str(error)
                except Exception:  # a plain fit says what it is
                    found.pop(value, None)
        finally:  # what was done before Ctrl-C or the end of the time is done
            share = (time.perf_counter() - begin) / max(1, len(found))
            self._store({(setting, key): _outcome(fold[1], found[value], share)
                         for setting, value in zip(line.keys, line.values, strict=True) if value in found})  # fmt: skip

    def _training(
        self, machine: KernelMachine, kernel: Kernel | None, rows: Any, K: Array | None, train: Array
    ) -> Training:
        labels = self.labels[train]
        machine.classes_, codes = encode(labels, type(machine).__name__)
        items = rows[train]
        own = None if self.weight is None else self.weight[train]
        weight = combine_weights(own, machine.class_weight, items, labels)
        gram = machine._make_gram(kernel, items) if kernel is None or K is None else Dense(K, train)
        given = None if kernel is None or kernel.on_rows else _safe_indexing(self.X, train)
        self._benches.mine = getattr(self._benches, "mine", None) or Workspace()
        return Training(kernel, items, codes, weight, gram, given, self._benches.mine)

    def _store(self, cells: dict[tuple[str, str], Outcome]) -> None:
        if self.journal is not None:
            self.journal.write(cells)
        self.outcomes.update(cells)
        self.tell(len(cells))


def _outcome(rows: Array, result: Array | str, seconds: float) -> Outcome:
    if isinstance(result, str):
        return Outcome(np.empty(0, np.int64), np.empty(0), seconds, result)
    return Outcome(rows, result, seconds)


def _scores(model: Any, rows: Any, K: Array | None, train: Array, memory: int | str) -> Array:
    """The scores that a model gives to all rows."""
    if K is None or not isinstance(model, KernelModel):
        return model.scores(rows, memory)
    z = np.zeros((K.shape[0], model.coef.shape[0]))
    np.add.at(z, train[model.support], model.coef.T)
    return Dense(K).model(z) + model.intercept
