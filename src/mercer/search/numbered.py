"""The same search on row numbers: before scikit-learn asks for cells one by one, they are computed together."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import TYPE_CHECKING, Any

import joblib
import numpy as np
from sklearn.base import is_classifier
from sklearn.metrics._scorer import _BaseScorer
from sklearn.utils._metadata_requests import _routing_enabled

from .. import __version__
from .._runtime.compile import Array
from .._runtime.progress import progress
from .._validation.memory import bytes_of
from .._validation.rare_classes import cv_of
from .cell import Accuracy, Cell
from .content_keys import Unrecognisable, lasting_key, setting_key
from .journal import Journal
from .layers import peel, weight_name
from .loop import Loop, Split, _Asked
from .shared_cells import SharedCells
from .tasks import Tasks

if TYPE_CHECKING:
    from .search_cv import KernelSearchCV


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
        for known, batch in groupby(asked, lambda each: self._is_known(each.params, splits)):
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

    def _is_known(self, params: dict[str, Any], splits: list[Split]) -> bool:
        key = setting_key(params)
        return all(self.shared_cells.outcome(key, train) is not None for train, _ in splits)

    def _fold(self, train: Array, test: Array) -> Split:
        wanted = np.union1d(train, test) if self.return_train_score else np.unique(test)
        return train, wanted

    def seconds(self, params: dict[str, Any]) -> list[float]:
        """What the cells of a setting cost: of work that was shared, their share."""
        cells = [self.shared_cells.outcome(setting_key(params), train) for train, _ in self._splits]
        return [cell.seconds for cell in cells if cell is not None]


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
