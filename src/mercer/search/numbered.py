"""The same search on row numbers: before scikit-learn asks for cells one by one, they are computed together."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from copy import copy
from itertools import groupby
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np
from joblib import effective_n_jobs, parallel_config
from joblib.parallel import get_active_backend
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.metrics import accuracy_score, r2_score
from sklearn.metrics._scorer import _BaseScorer
from sklearn.utils import Tags, _safe_indexing
from sklearn.utils._metadata_requests import _routing_enabled
from sklearn.utils.parallel import Parallel, delayed

from .. import __version__
from ..checks.folds import cv_of
from ..checks.parameters import bytes_of, offered_as
from ..runtime.compile import Array
from ..runtime.interrupts import progress
from ..runtime.threads import at_most
from .journal import Journal
from .keys import Outcome, Unrecognisable, fold_key, lasting_key, peel, setting_key, spaces_of, weight_name
from .loop import Loop, Split, _Asked
from .shared_cells import Fold, SharedCells

if TYPE_CHECKING:
    from .search_cv import KernelSearchCV

__all__ = ["Tasks", "threads_asked_for"]

# One setting of a search as scikit-learn sees it: an estimator on row numbers that looks its answers up.


class Cell(BaseEstimator):
    """Stands for the estimator of a search. Its X is a column of row numbers.

    ``fit`` looks the fold up in what was computed together; what is not there is fitted for real. A search makes a cell
    for every setting and fold, so a cell is light: the estimator is shared, and made with the cell's parameters only
    where it is needed.
    """

    def __init__(self, estimator: Any, shared_cells: SharedCells, params: dict[str, Any] | None = None) -> None:
        self.estimator = estimator
        self.shared_cells = shared_cells
        self.params = params or {}

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        return self.estimator.get_params(deep)

    def set_params(self, **params: Any) -> Cell:
        self.params = {**self.params, **params}
        return self

    def made(self) -> Any:
        """The estimator with the parameters of this cell, which stay as they are whatever becomes of it."""
        return clone(self.estimator).set_params(**clone(self.params, safe=False))

    def __sklearn_clone__(self) -> Cell:
        return Cell(self.estimator, self.shared_cells, dict(self.params))

    def __sklearn_tags__(self) -> Tags:
        return self.shared_cells.tags

    def fit(self, X: Any, y: Any, **fit_params: Any) -> Cell:
        train = _numbers(X)
        self.outcome_: Outcome | None = None
        if not self.shared_cells.over:  # else the winner is fitted
            self.outcome_ = self.shared_cells.outcome(setting_key(self.params), train)
        if self.outcome_ is None:
            self.fitted_, self.train_ = self.made(), train
            try:
                self.fitted_.fit(self._rows(X), y, **fit_params)
            except (ValueError, ImportError, RuntimeError) as error:  # of the last two, that there is no graphics card
                self.shared_cells.refusals[str(error)] += 1
                raise
            return self
        if self.outcome_.error is not None:
            self.shared_cells.refusals[self.outcome_.error] += 1
            raise ValueError(self.outcome_.error)
        return self.known(self.outcome_, self.machine(train))

    def machine(self, train: Array) -> Any:
        """A machine with the parameters of this cell that knows its classes, to say what becomes of decision values."""
        machine = copy(self.shared_cells.machine if self.silent else peel(self.made())[1])
        if is_classifier(self.estimator):
            machine.name_classes(self.shared_cells.targets[train])
        return machine

    @property
    def silent(self) -> bool:
        """Whether only path and kernel differ, which have no say in what becomes of decision values that are known."""
        spared = {self.shared_cells.machine.path, "kernel"}
        return all(not spared.isdisjoint(name.split("__")) for name in self.params)

    def known(self, outcome: Outcome, machine: Any) -> Cell:
        """The cell with what was computed of it."""
        self.outcome_, self.machine_ = outcome, machine
        return self

    @property
    def shared(self) -> bool:
        """Whether the cell was computed together with others."""
        return self.outcome_ is not None

    def _rows(self, X: Any) -> Any:
        return self.shared_cells.rows(self.fitted_, _numbers(X), self.train_)

    @property
    def classes_(self) -> Array:
        return self.fitted_.classes_ if self.outcome_ is None else self.machine_.classes_

    def predict(self, X: Any) -> Array:
        if self.outcome_ is None:
            return self.fitted_.predict(self._rows(X))
        return predicted(self.shared_cells.functions, self.machine_.predictions_of(self.outcome_.of(_numbers(X))))

    @offered_as(made)
    def decision_function(self, X: Any) -> Array:
        if self.outcome_ is None:
            return self.fitted_.decision_function(self._rows(X))
        return self.outcome_.of(_numbers(X))

    @offered_as(made)
    def predict_proba(self, X: Any) -> Array:
        if self.outcome_ is None:
            return self.fitted_.predict_proba(self._rows(X))
        return self.machine_.probabilities_of(self.outcome_.of(_numbers(X)))

    @offered_as(made)
    def predict_log_proba(self, X: Any) -> Array:
        if self.outcome_ is None:
            return self.fitted_.predict_log_proba(self._rows(X))
        return self.machine_.probabilities_of(self.outcome_.of(_numbers(X)), log=True)

    def score(self, X: Any, y: Any, **score_params: Any) -> float:
        if self.outcome_ is None:
            return self.fitted_.score(self._rows(X), y, **score_params)
        usual = accuracy_score if is_classifier(self.estimator) else r2_score
        own = usual if self.shared_cells.functions else getattr(self.machine_, "score_of", usual)
        return float(own(y, self.predict(X), **score_params))


class Accuracy:
    """The accuracy of shared cells, without the checks that cost more than a cell; of others, what the scorer says."""

    def __init__(self, scorer: Any) -> None:
        self.scorer = scorer

    def __call__(self, cell: Cell, X: Any, y: Any) -> float:
        if not cell.shared:
            return self.scorer(cell, X, y)
        return float(np.mean(cell.predict(X) == np.asarray(y)))


def predicted(functions: list[tuple[Any, Any]], predictions: Array) -> Array:
    """Predictions of the machine inside an estimator in the unit of the targets, by what was done to these."""
    for _, back in reversed(functions):
        predictions = back(predictions)
    return predictions


def _numbers(X: Any) -> Array:
    return np.asarray(X)[:, 0]


# The cells of a search as tasks for joblib: one for each kernel and fold, in other processes or on other machines.
#
# A task computes its kernel matrix itself, so that rows travel and matrices do not, and shares in it whatever the
# search would: the result is that of a search in one process, bit for bit. Journal, progress and limits stay with the
# caller, who is told of each task that is done.


def threads_asked_for(n_jobs: int | None) -> int | None:
    """How many threads ``n_jobs`` or ``joblib.parallel_config`` allow; ``None`` where neither says anything."""
    _, configured = get_active_backend()
    # Where nothing is configured, older versions of joblib say 1 and newer ones None.
    silent = n_jobs is None and configured in (None, 1)
    return None if silent else effective_n_jobs(n_jobs)


class Tasks(SharedCells):
    """Cells of a search that are computed by tasks. Parameters as those of :class:`SharedCells`."""

    def by(self, n_jobs: int | None) -> Tasks:
        """Have so many tasks done at once, by whom joblib is told to have them done."""
        self.backend, configured = get_active_backend()
        self.n_jobs = configured if n_jobs is None else n_jobs
        return self

    @staticmethod
    def asked_for(n_jobs: int | None) -> bool:
        """Whether joblib was told (``joblib.parallel_config``) to work where this process has no memory."""
        backend, configured = get_active_backend(prefer="threads")
        shared = getattr(backend, "supports_sharedmem", False)
        asked = configured if n_jobs is None else n_jobs
        return not shared and (backend.default_n_jobs if asked is None else asked) != 1

    def _run(self, settings: list[dict[str, Any]], folds: list[Fold]) -> None:
        # Where time is limited, a task is handed out when it can begin.
        ahead = "2*n_jobs" if self.deadline == np.inf else "n_jobs"
        parallel = Parallel(self.n_jobs, backend=self.backend, batch_size=1, pre_dispatch=ahead, return_as="generator")
        with warnings.catch_warnings():  # tasks may be threads of this process, whose filters belong to all of them
            warnings.simplefilter("ignore")
            for cells in parallel(self._tasks(settings, folds)):
                self._store(cells)

    def _tasks(self, settings: list[dict[str, Any]], folds: list[Fold]) -> Iterator[Any]:
        by_key = {setting_key(params): params for params in settings}
        for space in spaces_of(self.estimator, settings):
            matrices = self.matrices_of(space, folds)
            for lines in space.by_matrix():
                some = [by_key[key] for line in lines for key in line.keys]
                for fold in folds:
                    if not self._missing(lines, [fold]):
                        continue
                    if self._late():
                        return
                    yield delayed(_cells)(self.estimator, self.X, self.y, self.targets, self.weight, self.memory,
                                          self.deadline - time.monotonic(), matrices, some, fold)  # fmt: skip


def _cells(
    estimator: Any, X: Any, y: Any, targets: Array, weight: Array | None, memory: int, seconds: float, matrices: int,
    settings: list[dict[str, Any]], fold: Fold,
) -> dict[tuple[str, str], Outcome]:  # fmt: skip
    """All settings of one kernel on one fold, on one core."""
    cells = SharedCells(estimator, _plain(X), _plain(y), _plain(targets), weight, memory, time.monotonic() + seconds)
    cells.matrices = matrices
    # A step of a pipeline that hands tasks out itself, as scikit-learn's for columns do, would wait for workers that
    # are busy with tasks like this one.
    with at_most(1), parallel_config("sequential"):
        cells.run(settings, [fold])
    return cells.outcomes


def _plain(values: Any) -> Any:
    """joblib maps large arrays into the memory of its processes: here they are arrays like any other."""
    return np.asarray(values) if isinstance(values, np.memmap) else values


class Numbered(Loop):
    """The cells of a search, looked up among those that were computed together.

    Parameters
    ----------
    search : KernelSearchCV
    shared_cells : SharedCells
    params : dict
        What ``fit`` was given besides rows and labels.
    """

    def __init__(self, search: KernelSearchCV, shared_cells: SharedCells, params: dict[str, Any]) -> None:
        super().__init__(
            estimator=Cell(shared_cells.estimator, shared_cells),
            scoring=search.scoring,
            refit=search.refit,
            cv=_OnRows(cv_of(search.cv, shared_cells.y, classifier=is_classifier(search.estimator)), shared_cells.X),
            verbose=search.verbose,
            error_score=search.error_score,
            return_train_score=search.return_train_score,
        )
        self.search, self.shared_cells, self.params = search, shared_cells, params
        #: The training rows of folds, by their identity, and what they are known by.
        self._fold_keys: dict[int, tuple[Array, str]] = {}

    def __repr__(self, N_CHAR_MAX: int = 700) -> str:
        return repr(self.search)

    def _get_scorers(self) -> tuple[Any, Any]:
        """Those of the search: they are to ask a cell what they would ask the estimator."""
        scorers, metric = self.search._get_scorers()
        plain = self.scoring is None or (isinstance(self.scoring, str) and self.scoring == "accuracy")
        if (
            plain
            and is_classifier(self.search.estimator)
            and not set(self.params) - {"groups"}
            and np.ndim(self.shared_cells.y) == 1
        ):
            return Accuracy(scorers), metric
        return scorers, metric

    def _run_search(self, evaluate_candidates: Any) -> None:  # type: ignore[override]
        cells = self.shared_cells
        if self.search.journal is not None:
            about = (cells.X, cells.targets, cells.weight, self.cv.splits, _known_again(cells.estimator),
                     bool(self.return_train_score))  # fmt: skip
            fingerprint = f"{__version__} {joblib.hash([joblib.hash(part) for part in about])}"
            cells.keep(Journal(self.search.journal, fingerprint, cells.size))
        super()._run_search(evaluate_candidates)
        cells.over = True

    def _batches(self, asked: list[_Asked], splits: list[Split]) -> Iterator[list[_Asked]]:
        if self.search.journal is not None:
            _known_again([each.params for each in asked])
        total, verbose = len(asked) * len(splits), self.search.verbose
        if verbose:
            # scikit-learn says so as well, but only when it begins to ask.
            print(f"Fitting {len(splits)} folds for each of {len(asked)} candidates, totalling {total} fits")
        with progress("searching", total, unit="fits", shown=bool(verbose)) as watched:
            self.shared_cells.tell = watched.advance
            self.shared_cells.run([each.params for each in asked], [self._fold(*split) for split in splits])
        self.verbose = 0
        if self._at_once:
            yield asked
            return
        if self.shared_cells.stopped == "interrupted":  # work may have been left out, or rounds that would have come
            self._stopped = "interrupted"
        for known, batch in groupby(asked, lambda each: self._is_known(each, splits)):
            if known:
                yield from self._looked_up(list(batch))
            else:  # plain fits, where there is reason left to begin them
                self._stopped = self._stopped or self.shared_cells.stopped
                yield from super()._batches(list(batch), splits)

    def _looked_up(self, batch: list[_Asked]) -> Iterator[list[_Asked]]:
        """Settings that are known: the work has been done, and Ctrl-C while they are looked up takes none of it."""
        before = self._stopped
        yield batch
        if self._stopped != before:
            yield batch

    def _deadline_of(self, batch: list[_Asked], splits: list[Split]) -> float:
        """Settings that are known are only looked up, which is always worth the while."""
        deadline = super()._deadline_of(batch, splits)
        known = deadline == np.inf or all(self._is_known(each, splits) for each in batch)
        return np.inf if known else deadline

    def _left_to_score(self, batch: list[_Asked], splits: list[Split]) -> list[_Asked]:
        """Settings that are known are scored here; scikit-learn scores the first of them, to see what scores are.

        All are left to it where it has a line to print of each, or weights for the scorer; and where one could not be
        fitted, or scored: it is for scikit-learn to say what becomes of that.
        """
        if len(batch) == 1 or self.search.verbose > 1 or set(self.params) - {"groups"}:
            return batch
        found = [self._outcomes(each, splits) for each in batch]
        if any(one is None or one.error is not None for row in found for one in row):
            return batch
        scorer, _ = self._get_scorers()
        y, folds = self.shared_cells.y, []
        for train, test in splits:
            parts = {"test": (test[:, None], _safe_indexing(y, test))}
            if self.return_train_score:
                parts["train"] = train[:, None], _safe_indexing(y, train)
            folds.append((train, parts, self.estimator.machine(train)))
        cells: dict[int, list[dict[str, Any]]] = {}
        try:
            for each, outcomes in zip(batch, found, strict=True):
                cell = Cell(self.estimator.estimator, self.shared_cells, each.params)
                silent, own = cell.silent, []
                for outcome, (train, parts, machine) in zip(outcomes, folds, strict=True):
                    assert outcome is not None
                    cell.known(outcome, machine if silent else cell.machine(train))
                    begin = time.perf_counter()
                    scores = {f"{name}_scores": scorer(cell, *part) for name, part in parts.items()}
                    own.append({"fit_time": outcome.seconds, "score_time": time.perf_counter() - begin, **scores})
                cells[id(each.params)] = own
        except Exception:
            return batch
        self._cells |= cells
        return batch[:1]

    def _outcomes(self, asked: _Asked, splits: list[Split]) -> list[Outcome | None]:
        """What is known of the cells of a setting."""
        return [self.shared_cells.outcomes.get((asked.key, self._fold_key(train))) for train, _ in splits]

    def _fold_key(self, train: Array) -> str:
        """The key of a fold, made once for each."""
        known = self._fold_keys.get(id(train))
        if known is None or known[0] is not train:
            known = self._fold_keys[id(train)] = train, fold_key(train)
        return known[1]

    def _is_known(self, asked: _Asked, splits: list[Split]) -> bool:
        return None not in self._outcomes(asked, splits)

    def _fold(self, train: Array, test: Array) -> Split:
        wanted = np.union1d(train, test) if self.return_train_score else np.unique(test)
        return train, wanted

    def seconds(self) -> Iterator[list[float]]:
        """What the cells of each setting cost: of work that was shared, their share; nothing where they say so."""
        for asked in self._asked:
            known = [] if id(asked.params) in self._cells else self._outcomes(asked, self._splits)
            yield [cell.seconds for cell in known if cell is not None]


def _known_again(value: Any) -> str:
    """What a journal knows an estimator or a setting by."""
    try:
        return lasting_key(value)
    except Unrecognisable as error:
        raise ValueError(
            f"{error}, so this search cannot keep a journal; leave the journal out, or put a function or a plain value "
            "in its place."
        ) from None


class _OnRows:
    """A splitter that is asked with row numbers, and shown the rows."""

    def __init__(self, splitter: Any, X: Any) -> None:
        self.splitter, self.X = splitter, X

    def get_n_splits(self, X: Any = None, y: Any = None, **params: Any) -> int:
        return self.splitter.get_n_splits(self.X, y, **params)

    def split(self, X: Any, y: Any = None, **params: Any) -> Iterator[Any]:
        return self.splitter.split(self.X, y, **params)


def shared_cells_of(
    search: KernelSearchCV, estimator: Any, X: Any, y: Any, params: dict[str, Any]
) -> SharedCells | None:
    """The cells of a search on these rows, to be computed together; ``None`` where each must be a fit of its own.

    That is so for callbacks, which watch fits; for scorers written by hand, which may look at rows and model alike;
    for metadata that are routed, or that ``fit`` takes besides weights; for estimators other than machines of ours; and
    for targets or weights that ``fit`` would refuse.
    """
    name = weight_name(estimator)
    weight = params.get(name)
    machine = peel(estimator)[1]
    watched = any(getattr(each, "_skl_callbacks", None) for each in (search, estimator, machine))
    if type(search)._run_search is not Loop._run_search:
        return None  # a derived class that asks for settings by itself
    if watched or set(params) - {name, "groups"} or (params and _routing_enabled()):
        return None
    if not _of_labels(search.scoring):
        return None
    told = estimator, X, y, weight, bytes_of(search.memory), search._deadline
    if Tasks.asked_for(search.n_jobs):
        tasks = Tasks.of(*told)
        return None if tasks is None else tasks.by(search.n_jobs)
    return SharedCells.of(*told)


def _of_labels(scoring: Any) -> bool:
    """Whether scorers are known to look at predictions alone."""
    if isinstance(scoring, dict):
        return all(map(_of_labels, scoring.values()))
    if isinstance(scoring, (list, tuple, set)):
        return all(isinstance(name, str) for name in scoring)
    ours = isinstance(scoring, _BaseScorer) and type(scoring).__module__.startswith("sklearn.")
    return scoring is None or isinstance(scoring, str) or ours
