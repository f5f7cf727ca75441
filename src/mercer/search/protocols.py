"""How good is the result of a search? Nested cross-validation, and training, validation and test rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.model_selection import train_test_split
from sklearn.utils import _safe_indexing, check_random_state

from .._presentation.html import Markup, table_html
from .._runtime.compile import Array
from .._runtime.interrupts import kept, whole
from .._validation.rare_classes import cv_of, drawn_evenly

__all__ = ["NestedResult", "ProtocolResult", "nested_cross_validation", "train_validate_test"]


@dataclass(frozen=True)
class NestedResult:
    """The score of the whole procedure, search included, on rows that it never saw.

    ``stopped`` is "interrupted" where Ctrl-C left outer folds out (:func:`mercer.keep_best`), else ``None``.
    """

    scores: Array
    params: list[dict[str, Any]]
    searches: list[Any]
    stopped: str | None = None

    @property
    def mean(self) -> float:
        return float(np.mean(self.scores))

    @property
    def sd(self) -> float:
        return float(np.std(self.scores, ddof=1)) if len(self.scores) > 1 else 0.0

    def __str__(self) -> str:
        return f"{self.mean:.4f} ± {self.sd:.4f} over {len(self.scores)} outer folds" + (
            f" ({self.stopped} before the others)" if self.stopped else ""
        )

    def _repr_html_(self) -> Markup:
        folds = zip(self.scores, self.params, strict=True)
        rows = [
            [k, f"{score:.4f}", ", ".join(f"{name} = {value}" for name, value in params.items())]
            for k, (score, params) in enumerate(folds, 1)
        ]
        return table_html(self, rows, heads=["outer fold", "score", "parameters chosen"])


def nested_cross_validation(search: Any, X: Any, y: Any, *, cv: Any = 5, groups: Any = None) -> NestedResult:
    """Search inside each training part of an outer cross-validation, and score on what it left out.

    Parameters
    ----------
    search : KernelSearchCV
        Not fitted; a copy of it is fitted for each outer fold.
    X, y : rows and labels
    cv : int, splitter or iterable, default=5
        The outer folds.
    groups : array, optional

    Returns
    -------
    NestedResult

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from mercer import SVC
    >>> from mercer.search import KernelSearchCV, nested_cross_validation
    >>> X, y = make_moons(150, noise=0.1, random_state=0)
    >>> result = nested_cross_validation(KernelSearchCV(SVC("gaussian(gamma=1)"), {"C": [1, 100]}, cv=3), X, y, cv=3)
    >>> len(result.scores)
    3
    """
    searches: list[Any] = []
    scores: list[float] = []
    stopped = None
    try:
        for train, test in cv_of(cv, y, classifier=is_classifier(search.estimator)).split(X, y, groups):
            with whole():
                fitted = clone(search).fit(_safe_indexing(X, train), _safe_indexing(y, train))
                score = fitted.score(_safe_indexing(X, test), _safe_indexing(y, test))
            searches.append(fitted)
            scores.append(score)
    except KeyboardInterrupt:
        if not (kept() and scores):
            raise
        stopped = "interrupted"
    done = searches[: len(scores)]
    return NestedResult(np.array(scores), [fitted.best_params_ for fitted in done], done, stopped)


@dataclass(frozen=True)
class ProtocolResult:
    """Scores on the three parts of the rows, and the search that chose the parameters."""

    train: float
    validation: float
    test: float
    search: Any

    def __str__(self) -> str:
        return f"training {self.train:.4f}, validation {self.validation:.4f}, test {self.test:.4f}"

    def _repr_html_(self) -> Markup:
        scores = {"training": self.train, "validation": self.validation, "test": self.test}
        return table_html("scores", [[part, f"{score:.4f}"] for part, score in scores.items()])


def train_validate_test(
    search: Any, X: Any, y: Any, *, validation: float = 0.2, test: float = 0.2, random_state: Any = 0
) -> ProtocolResult:
    """Choose parameters on validation rows, fit them on training and validation rows, and test once.

    Parameters
    ----------
    search : KernelSearchCV
        Not fitted; its ``cv`` is replaced by one split.
    X, y : rows and labels
    validation, test : float
        Their shares of all rows.
    random_state : int, RandomState or None, default=0

    Returns
    -------
    ProtocolResult

    Examples
    --------
    >>> from sklearn.datasets import make_moons
    >>> from mercer import SVC
    >>> from mercer.search import KernelSearchCV, train_validate_test
    >>> X, y = make_moons(200, noise=0.1, random_state=0)
    >>> search = KernelSearchCV(SVC("gaussian(gamma=1)"), {"C": [1, 100]})
    >>> train_validate_test(search, X, y).test > 0.9
    True
    """
    if not (0 < validation < 1 and 0 < test < 1 and validation + test < 1):
        raise ValueError(f"validation={validation!r} and test={test!r} must be shares of the rows, together below 1.")
    rng = check_random_state(random_state)
    labels = np.asarray(y) if is_classifier(search.estimator) else None

    def parts(rows: Array, share: float) -> tuple[Array, Array]:
        if labels is None:
            return train_test_split(np.arange(rows.size), test_size=share, random_state=rng)
        return drawn_evenly(labels[rows], rng, test_size=share)

    rest, held_out = parts(np.arange(len(y)), test)
    train, valid = parts(rest, validation / (1 - test))
    chosen = clone(search).set_params(cv=[(train, valid)], return_train_score=True)
    chosen.fit(_safe_indexing(X, rest), _safe_indexing(y, rest))
    scores = chosen.cv_results_
    return ProtocolResult(
        float(scores["mean_train_score"][chosen.best_index_]),
        float(scores["mean_test_score"][chosen.best_index_]),
        float(chosen.score(_safe_indexing(X, held_out), _safe_indexing(y, held_out))),
        chosen,
    )
