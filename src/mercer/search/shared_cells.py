"""All cells of a search, computed in the order in which they share most.

The order is, from outside in: how the rows are prepared (once for all folds where nothing is fitted to them, else fold
by fold), the kernel (few matrices alive at a time, made from statistics that all kernels share; one for all folds where
its parameters are known, else one for each), and then lines: settings that differ in one parameter alone, along which a
machine goes on from its last solution. A line on a fold is the unit of work: units are independent of each other, run
on all cores, and give the same answer in any order.
"""

from __future__ import annotations

import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any, Self

import numpy as np
from sklearn import config_context, get_config
from sklearn.base import clone
from sklearn.utils import _safe_indexing
from sklearn.utils.metaestimators import _safe_split

from ..checks.labels import checked_weights
from ..checks.parameters import in_all
from ..estimators.model import KernelModel
from ..estimators.training import Training, fold_of, refuse_unusable
from ..grams import Dense, Placement, is_linear
from ..kernels import Kernel
from ..kernels.engine.statistics import Statistic
from ..kernels.engine.tiles import Pairing, Tile, length, matrix_block, shared_dtype
from ..runtime.compile import Array
from ..runtime.interrupts import all_or_nothing, keeps_best, until
from ..runtime.threads import for_each, give_back, one_blas_thread, thread_count
from ..solvers.svm.smo import Workspace
from .journal import Journal
from .keys import (
    Line,
    Outcome,
    Rows,
    Space,
    fold_key,
    learned_targets,
    peel,
    prepared,
    shareable,
    spaces_of,
    target_functions,
)

# Kernel matrices of several parameters from one computation of what they share.


#: Rows of a matrix that are made from known statistics at a time; whole rows need no transposing.
_STRIP = 32


class _Raw(Kernel, named=False):
    """A statistic itself, as if it were a kernel: its matrix is computed as every other."""

    def __init__(self, statistic: Statistic) -> None:
        self.statistic = statistic

    def statistics(self):
        return Counter([self.statistic])

    def evaluate(self, tile: Tile) -> Array:
        return tile.compute(self.statistic)


class SharedStatistics:
    """The statistics of one collection of items, computed once and kept for all kernels that are functions of them.

    Parameters
    ----------
    items : collection
        Items that have passed :meth:`Kernel.items` of every kernel asked for.
    memory : int
        Bytes that statistics and kernel matrices may take together.
    keep : bool, default=True
        Whether statistics are kept, for more than one matrix.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.kernels import Gaussian
    >>> shared = SharedStatistics(np.array([[0.0], [2.0]]), memory=10**6)
    >>> shared.matrix(Gaussian(gamma=0.25)).round(4)
    array([[1.    , 0.3679],
           [0.3679, 1.    ]])
    """

    def __init__(self, items: Any, memory: int, keep: bool = True) -> None:
        self.items, self.keep = items, keep
        self._memory, self._size = memory, max(1, length(items) ** 2 * shared_dtype(items, items).itemsize)
        #: Matrices by their place.
        self._out: dict[int, Array] = {}
        self._known: dict[Statistic, Array] = {}

    @property
    def fits(self) -> bool:
        """Whether one kernel matrix fits into the memory."""
        return self._memory >= self._size

    @property
    def nbytes(self) -> int:
        """What statistics and matrices take now."""
        return sum(array.nbytes for array in (*self._known.values(), *self._out.values()))

    def at_once(self, spare: int) -> int:
        """How many matrices have room at a time beside the statistics, with so many bytes to spare."""
        return max(1, (self._memory - spare) // self._size - len(self._known))

    def matrix(self, kernel: Kernel, place: int = 0) -> Array:
        """The matrix of a kernel on the items, in the memory of the last one with the same place."""
        pairing = Pairing(kernel, self.items, self.items)
        kernel = pairing.kernel
        if kernel.splits:
            for statistic in kernel.statistics() if self.keep else ():
                alive = max(len(self._out), place + 1)
                if statistic not in self._known and len(self._known) + alive < self._memory // self._size:
                    raw = _Raw(statistic)
                    self._known[statistic] = matrix_block(Pairing(raw, self.items, self.items, pairing.dtype))
            pairing.known = self._known
        n = length(self.items)
        if place not in self._out:
            self._out[place] = np.empty((n, n), pairing.dtype)
        out = self._out[place]
        if kernel.splits and set(kernel.statistics()) <= set(self._known):

            def fill(begin: int) -> None:
                strip = slice(begin, min(begin + _STRIP, n))
                out[strip] = kernel.evaluate(pairing.tile(strip, slice(0, n)))

            pairing.warm()
            for_each(fill, range(0, n, _STRIP))
        else:
            matrix_block(pairing, out=out)
        return out.view()  # another object, so that nobody takes the new matrix for the old one


# The kernel matrices of a search: one at a time, of which the Grams of all folds are views.


class SharedMatrices:
    """Kernel matrices of all items, made from statistics that kernels share.

    Parameters
    ----------
    memory : int
        Bytes that statistics and matrices may take together.
    matrices : int, default=2
        How many will be asked for at most: what they share is not kept for one alone.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams import Placement
    >>> from mercer.kernels import Gaussian
    >>> matrices = SharedMatrices(memory=10**6)
    >>> matrices.matrix(Gaussian(gamma=0.25), np.array([[0.0], [2.0]]), Placement()).round(4)
    array([[1.    , 0.3679],
           [0.3679, 1.    ]])
    """

    def __init__(self, memory: int, matrices: int = 2) -> None:
        self.memory, self.matrices = memory, matrices
        #: Those of one kind of items at a time: the memory is for all of them.
        self._shared: dict[Any, SharedStatistics] = {}

    @property
    def nbytes(self) -> int:
        """What statistics and matrices take now."""
        return sum(shared.nbytes for shared in self._shared.values())

    def at_once(self, spare: int) -> int:
        """How many matrices like the last one have room at a time, with so many bytes to spare."""
        return min((shared.at_once(spare) for shared in self._shared.values()), default=1)

    def matrix(
        self, kernel: Kernel, items: Any, placement: Placement, reader: Kernel | None = None, place: int = 0
    ) -> Array | None:
        """The matrix of a kernel on all items, in double precision where they are few; ``None`` where it does not fit,
        where features take its place, where it is computed on a graphics card, or where a machine is to learn the
        weights of the kernel.

        ``reader`` is the kernel that read the items, where that is another: one whose parameters were open then. The
        next matrix with the same ``place`` is made in the memory of this one.
        """
        if is_linear(kernel) or kernel.learns or placement.rank is not None or placement.device is not None:
            return None
        single = placement.single and not placement.is_small(kernel, items)
        if kernel.precomputed:
            matrix = items
        else:
            rounded = placement.rounded(kernel, items) if single else items
            # Rows of numbers serve every kernel that wants them in this form; other items serve the one that read them.
            key = (str(rounded.dtype), kernel.translation_invariant) if kernel.on_rows else (reader or kernel)
            if key not in self._shared:
                self._shared.clear()
                self._shared[key] = SharedStatistics(rounded, self.memory, keep=self.matrices > 1)
            if not self._shared[key].fits:
                return None
            matrix = self._shared[key].matrix(kernel, place)
        return matrix.astype(np.float32, copy=False) if single else matrix


#: Kernel matrices that a fold has at once: statistics of a kernel, the matrix itself, and the part of a working set.
_MATRICES = 3
#: Bytes of the tiles that each further thread works with.
_TILES = 16_000_000
#: Items that are scored at a time.
_ROWS = 512
#: The part of the largest score that rounding may make wrong.
_NOISE = 1e-3

#: A fold: its training rows, and the rows whose decision values are wanted (sorted).
Fold = tuple[Array, Array]


class SharedCells:
    """Cells of a search on the same rows, computed together.

    Parameters
    ----------
    estimator : estimator
    X, y : rows and targets as the user gave them
    targets : array of shape (n_rows,)
        The targets as the machine reads them.
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
        targets: Array,
        weight: Array | None = None,
        memory: int = 10**9,
        deadline: float = np.inf,
        tell: Callable[[int], None] | None = None,
    ) -> None:
        self.estimator, self.X, self.y, self.targets, self.weight = estimator, X, y, targets, weight
        self.memory, self.deadline = memory, deadline
        #: The machine inside the estimator, and what is done to targets before it learns them.
        self.machine, self.functions = peel(estimator)[1], target_functions(estimator)
        self.journal: Journal | None = None
        self.tell = tell or (lambda cells: None)
        #: What is kept of the scores of a cell's rows.
        self.keep_of: Callable[[Any, Array, Array], Array] = _decisions
        #: The kernel matrix of all items, kept for one more fit where somebody wants it and there is only one.
        self.keep_matrix = False
        #: How many matrices are wanted of rows prepared in one way, where these cells are but a part of a search.
        self.matrices: int | None = None
        self.matrix: Array | None = None
        self.size = length(X)
        self.outcomes: dict[tuple[str, str], Outcome] = {}
        #: Whether all cells have been asked for: fits from now on are real ones.
        self.over = False
        self._workspaces = threading.local()
        #: What scikit-learn wants to know of the estimator; its rows are numbers of rows here.
        self.tags = estimator.__sklearn_tags__()
        self.tags.input_tags.pairwise = False
        #: Why cells could not be fitted, as far as they were asked for.
        self.refusals: Counter[str] = Counter()
        #: Why the work ended early, if it did.
        self.stopped: str | None = None

    @classmethod
    def of(
        cls, estimator: Any, X: Any, y: Any, weight: Any = None, memory: int = 10**9, deadline: float = np.inf
    ) -> Self | None:
        """The cells of an estimator on these rows; ``None`` where each must be a fit of its own.

        That is so for estimators other than machines of ours, and for targets or weights that ``fit`` would refuse.
        """
        if not shareable(estimator) or y is None:
            return None
        layers, machine = peel(estimator)
        if weight is not None and any(isinstance(layer, Rows) for layer in layers[:-1]):
            return None  # a pipeline inside takes no weights under this name
        if np.ndim(y) != 1 and target_functions(estimator):
            return None
        try:
            targets = machine.read_targets(learned_targets(estimator, y))
            if weight is not None:
                weight = checked_weights(weight, np.zeros((length(X), 1)))
        except (TypeError, ValueError):
            return None
        return cls(estimator, X, y, targets, weight, memory, deadline)

    def keep(self, journal: Journal) -> None:
        """Take over what a journal knows, and write what is found to it."""
        self.journal = journal
        self.outcomes.update(journal.known)
        if journal.damage:
            warnings.warn(journal.damage, stacklevel=2)

    def close_journal(self) -> int | None:
        """Let go of the journal, if there is one; how many cells it had lost."""
        if self.journal is None:
            return 0
        self.journal.close()
        if self.journal.failure is not None:
            warnings.warn(
                f"the journal {str(self.journal.path)!r} ended early, for it could not be written: "
                f"{self.journal.failure.strerror}. The search itself has lost nothing by that.",
                stacklevel=2,
            )
        return self.journal.lost_cells

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
            key = fold_key(train)
            before = wanted.get(key, (train, rows))[1]
            wanted[key] = train, np.union1d(before, rows)
        try:
            with all_or_nothing():
                self._run(settings, list(wanted.values()))
        except KeyboardInterrupt:
            if not keeps_best():
                raise
            self.stopped = "interrupted"
        finally:
            give_back()

    def _late(self) -> bool:
        """Whether no new work should be begun."""
        if self.stopped is None and time.monotonic() > self.deadline:
            self.stopped = "time_limit"
        return self.stopped is not None

    def _run(self, settings: list[dict[str, Any]], folds: list[Fold]) -> None:
        with warnings.catch_warnings():  # here and not in a unit: filters belong to all threads together
            warnings.simplefilter("ignore")
            for space in spaces_of(self.estimator, settings):
                if space.layers:
                    self._run_folds(space, folds)
                else:
                    self._run_space(space, self.X, folds, [train for train, _ in folds], self.memory)

    def _run_folds(self, space: Space, folds: list[Fold]) -> None:
        """Folds side by side, as many as have room for their matrices.

        Steps that are fitted to rows make each fold a world of its own, and small fits gain nothing from threads inside
        them. Folds that are left over when all threads have had as many as each other have all threads inside them.
        """
        abreast = max(1, min(thread_count(), self.memory // (_MATRICES * 8 * self.size**2)))
        config = get_config()  # scikit-learn's, which every thread has for itself

        def run_fold(fold: Fold) -> None:
            with config_context(**config):
                self._run_prepared(space, fold, self.memory // abreast)

        even = len(folds) - len(folds) % abreast
        for_each(run_fold, folds[:even], abreast)
        for fold in folds[even:]:
            self._run_prepared(space, fold, self.memory)

    def _run_prepared(self, space: Space, fold: Fold, memory: int) -> None:
        """All lines on a fold, with rows prepared as its training rows say."""
        if self.stopped or not self._missing(space.lines, [fold]):
            return
        try:
            X, kept = prepared(space.layers, self.X, learned_targets(self.estimator, self.y), fold[0])
        except Exception:  # plain fits say what is wrong, and whether their rows have to do with it
            return
        self._run_space(space, X, [fold], [kept], memory)

    def _missing(self, lines: list[Line], folds: list[Fold]) -> bool:
        return any((key, fold_key(train)) not in self.outcomes for line in lines for key in line.keys
                   for train, _ in folds)  # fmt: skip

    @staticmethod
    def matrices_of(space: Space, folds: list[Fold]) -> int:
        """How many kernel matrices are wanted of rows that are prepared in one way."""
        groups = space.by_matrix()
        alone = len(groups) == 1 and groups[0][0].kernel.is_resolved
        return 1 if alone else len(groups) * (1 if space.layers else len(folds))

    # -- the work -------------------------------------------------------------------------------------------------

    def _run_space(self, space: Space, X: Any, folds: list[Fold], kept: list[Array], memory: int) -> None:
        """All lines on rows that are prepared in one way; ``kept`` are the training rows that stay in each fold.

        Where there is room, as many matrices are alive as there are threads: of an odd number of folds two threads have
        one left over, and lines of the next matrix to go on with.
        """
        with in_all(memory):
            beside = space.lines[0].machine.beside(max((train.size for train in kept), default=0))
            matrices = SharedMatrices(max(0, memory - beside), self.matrices or self.matrices_of(space, folds))
            units: list[tuple[Any, ...]] = []
            alive = 0
            for lines, items, some in self._parts(space, X, list(zip(folds, kept, strict=True))):
                made = self._matrix(matrices, lines, items, some, alive)
                if made is None:
                    continue
                units += [(items, *made, line, *part) for part in some for line in lines]
                alive += 1
                at_once = 1 if made[1] is None else matrices.at_once((thread_count() - 1) * beside)
                if alive >= min(thread_count(), at_once):
                    # Without a matrix each of them has one of its own.
                    self._run_units(units, beside, 0 if made[1] is None else memory - matrices.nbytes)
                    units, alive = [], 0
            self._run_units(units, beside, memory - matrices.nbytes)

    def _parts(
        self, space: Space, X: Any, folds: list[tuple[Fold, Array]]
    ) -> Iterator[tuple[list[Line], Any, list[tuple[Fold, Array]]]]:
        """Lines that learn from the same kernel matrix, their items, and the folds whose training rows give it the same
        parameters."""
        for lines in space.by_matrix():
            if self.stopped or not self._missing(lines, [fold for fold, _ in folds]):
                continue
            for line in lines:
                line.kernel = line.kernel.suited(X)
            machine, kernel = clone(lines[0].machine), lines[0].kernel
            try:
                items = machine.read_items(X, kernel, reset=True)
            except Exception:  # plain fits say what is wrong, and whether their rows have to do with it
                continue
            # Parameters that the data decide differ from fold to fold, and so do matrices; statistics do not.
            for some in [folds] if kernel.is_resolved else [[pair] for pair in folds]:
                yield lines, items, some

    def _matrix(
        self, matrices: SharedMatrices, lines: list[Line], items: Any, folds: list[tuple[Fold, Array]], place: int
    ) -> tuple[Kernel, Dense | None] | None:
        """The kernel of some lines and folds and its matrix, if it has one; ``None`` where plain fits must do."""
        placement, reader = lines[0].machine.placement, lines[0].kernel
        try:
            kernel = reader if reader.is_resolved else self._resolved(reader, items, folds[0][1])
            kernel.check()
            refuse_unusable(kernel, items)
            K = matrices.matrix(kernel, items, placement, reader, place)
            if K is None:
                return kernel, None
            gram = Dense(K.astype(np.float32), double=K) if placement.single and K.dtype == np.float64 else Dense(K)
            if not np.isfinite(gram.K @ np.ones(len(gram), gram.K.dtype)).all():
                return None  # solvers may stop anywhere; plain fits are asked for scores, which show it
        except Exception:  # plain fits say what is wrong, and whether their rows have to do with it
            return None
        if self.keep_matrix and reader.is_resolved:
            self.matrix = K
        return kernel, gram

    def _run_units(self, units: list[tuple[Any, ...]], beside: int, room: int) -> None:
        """Lines on folds, as many side by side as have room for what they work with."""
        abreast = max(1, min(thread_count(), 1 + (room - beside) // (beside + _TILES)))
        for_each(lambda unit: self._run_line(room // abreast, *unit), units, abreast)

    def _resolved(self, kernel: Kernel, items: Any, train: Array) -> Kernel:
        """With the parameters that the training items of a fold decide."""
        return kernel.resolved(items[train], None if self.weight is None else self.weight[train])

    def _run_line(
        self, room: int, items: Any, kernel: Kernel, gram: Dense | None, line: Line, fold: Fold, train: Array
    ) -> None:
        """One line on one fold, with so much room beside the matrix."""
        key = fold_key(fold[0])
        if all((setting, key) in self.outcomes for setting in line.keys) or self._late():
            return
        machine, values = clone(line.machine), line.ordered()
        begin = time.perf_counter()
        found: dict[Any, Array | str] = {}

        def follow(values: list[Any]) -> None:
            setattr(machine, machine.path, values[0])
            own = None if gram is None else Dense(gram.K, train, room, gram.double)
            data = self._training(machine, kernel, items, own, train)
            K = None if gram is None else gram.exact().K
            along = machine.along(data, values, lambda model: _scores(model, items, K, train, fold[1], machine.memory))
            for value, scores in zip(values, along, strict=True):
                found[value] = self.keep_of(machine, scores[fold[1]], fold[1])
                if self._late():
                    break

        try:
            with one_blas_thread(), until(self.deadline):
                try:
                    follow(values)
                except Exception:  # whose fault it is shows when they are tried one by one
                    for value in values:
                        if self._late():
                            break
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

    def _training(self, machine: Any, kernel: Kernel, items: Any, gram: Dense | None, train: Array) -> Training:
        weight = None if self.weight is None else self.weight[train]
        given = None if kernel.on_rows else _safe_indexing(self.X, train)
        self._workspaces.mine = getattr(self._workspaces, "mine", None) or Workspace()
        return fold_of(machine, kernel, items[train], self.targets[train], weight, given, gram, self._workspaces.mine)

    def _store(self, cells: dict[tuple[str, str], Outcome]) -> None:
        if self.journal is not None:
            self.journal.write(cells)
        self.outcomes.update(cells)
        self.tell(len(cells))


def _decisions(machine: Any, scores: Array, rows: Array) -> Array:
    return machine.decisions_of(scores, rows)


def _outcome(rows: Array, result: Array | str, seconds: float) -> Outcome:
    if isinstance(result, str):
        return Outcome(np.empty(0, np.int64), np.empty(0), seconds, result)
    return Outcome(rows, result, seconds)


def _scores(model: Any, items: Any, K: Array | None, train: Array, wanted: Array, memory: int | str) -> Array:
    """The scores that a model gives to all items; where few are wanted, those of the others are left zero."""
    if K is None or not isinstance(model, KernelModel):
        return model.scores(items, memory)
    support, coef = train[model.support], model.coef.T
    if 2 * wanted.size > K.shape[0]:
        z = np.zeros((K.shape[0], coef.shape[1]))
        np.add.at(z, support, coef)
        scores = Dense(K).model(z)
    else:
        scores, rounded = np.zeros((K.shape[0], coef.shape[1])), coef.astype(K.dtype)
        for begin in range(0, wanted.size, _ROWS):
            some = wanted[begin : begin + _ROWS]
            scores[some] = K[np.ix_(some, support)] @ rounded
    # Kernel values that are rounded to eps leave sums of them wrong by about eps·√Σz², times the largest value.
    noise = np.finfo(K.dtype).eps * np.linalg.norm(coef, axis=0) * float(np.abs(K.diagonal()).max(initial=0.0))
    if (noise > _NOISE * np.abs(scores).max(axis=0, initial=0.0)).any():
        return model.scores(items, memory)
    return scores + model.intercept
