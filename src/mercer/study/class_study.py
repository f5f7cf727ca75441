"""A study of learners that tell classes apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.calibration import calibration_curve
from sklearn.metrics import precision_recall_curve, precision_recall_fscore_support, roc_curve

from ..checks import could_be_numbers, is_measurement, looks_in_words
from ..learners import Learner
from ..messages import counted, enumeration
from ..runtime import Array
from .base import Run, Study, Tested
from .facts import on_test_rows, on_training_rows
from .learning import Learning
from .measures import SHARE, all_scores, drawn_weights, scored
from .predictions import Predictions, number, text
from .preparation import boundaries
from .scorings import (
    about_uneven,
    class_measures,
    is_uneven,
    measure_named,
    positive_class,
    usual_measure,
    with_class_weights,
)
from .tuning import Choice, choose
from .verdicts import by_scores, compare_right, fit_verdict, headline

# How well a learner does on the test rows of each class, and at each threshold.


#: Points of a curve at most, and bins of probabilities with the rows that each holds at least.
_POINTS, _BINS, _ROWS_IN_BIN = 200, 10, 5


def by_class(y: Array, found: Predictions) -> list[dict[str, Any]]:
    """How many rows of each class there are, how many were answered so, and how right that was.

    A class that is never answered has no precision.
    """
    precision, recall, f1, rows = precision_recall_fscore_support(
        y, found.predicted, labels=found.classes, zero_division=np.nan
    )
    assert found.classes is not None
    return [
        {
            "label": text(label),
            "rows": int(rows[k]),
            "answered": int(np.sum(found.predicted == label)),
            "precision": number(precision[k]),
            "recall": number(recall[k]),
            "f1": number(f1[k]),
        }
        for k, label in enumerate(found.classes)
    ]


def curves(y: Array, found: Predictions, positive: Any) -> dict[str, Any] | None:
    """ROC, precision over recall, and calibration for one of two classes; ``None`` where the rows hold one class."""
    of_class = y == positive
    if of_class.all() or not of_class.any():
        return None
    scores = found.score_for(positive)
    wrongly, rightly, _ = roc_curve(of_class, scores)
    precision, recall, _ = precision_recall_curve(of_class, scores)
    return {
        "positive": text(positive),
        "roc": _thinned(wrongly, rightly),
        "pr": _thinned(recall[::-1], precision[::-1]),
        "calibration": _calibration(of_class, found.probability_of(positive)),
    }


def _calibration(of_class: Array, probability: Array | None) -> list[list[Any]] | None:
    """For bins of about as many rows each: mean probability, share of the class, and rows."""
    if probability is None:
        return None
    bins = max(1, min(_BINS, len(of_class) // _ROWS_IN_BIN))
    share, mean = calibration_curve(of_class, probability, n_bins=bins, strategy="quantile")
    edges = np.quantile(probability, np.linspace(0, 1, bins + 1))
    rows = np.bincount(np.searchsorted(edges[1:-1], probability), minlength=bins)
    return [
        [number(one), number(other), int(held)] for one, other, held in zip(mean, share, rows[rows > 0], strict=True)
    ]


def _thinned(across: Array, upwards: Array) -> list[list[float | None]]:
    """Points of a curve, its ends among them, no more than can be drawn."""
    places = np.arange(len(across))
    if len(across) > _POINTS:
        places = np.unique(np.linspace(0, len(across) - 1, _POINTS).round().astype(int))
    return [[number(across[k], 5), number(upwards[k], 5)] for k in places]


#: Rows of a class at least: for training, validation and test.
_LEAST = 4
#: Measures of answers rather than of scores, other than the accuracy.
_OF_ANSWERS = ("balanced_accuracy", "f1", "f1_macro", "matthews_corrcoef")
#: What needs no learning, as measures of labels, of scores and of probabilities see it.
_GUESSES = {
    "labels": "always answering the commonest class",
    "scores": "giving all rows the same score",
    "probabilities": "always answering with the shares of the classes",
}


class ClassStudy(Study):
    """Which class is it?"""

    task = "classify"
    measure = SHARE
    #: Of two classes, the one that some measures are of; whether one of them is rare.
    positive: Any = None
    uneven = False
    #: The textbook learners, on lines, on products and with kernels.
    usual_learners = (
        "table", "perceptron", "pegasos", "logistic",
        "perceptron-2", "pegasos-2", "logistic-2",
        "kernel-perceptron", "kernel-pegasos", "kernel-logistic", "svc", "poly-svc",
    )  # fmt: skip
    structured_learners = ("kernel-perceptron", "kernel-pegasos", "kernel-logistic", "svc")

    def checked(self, table: Any) -> Array:
        y = np.asarray(table.y)
        counts = table.class_counts
        if len(counts) < 2:
            raise ValueError(
                f"the target {table.target!r} has only one value, {next(iter(counts))!r}; there is nothing to tell "
                "apart."
            )
        if table.asked is None and is_measurement(y):
            raise ValueError(f"{looks_in_words(table.target, y)} and not like classes; name another with --target.")
        return y

    def learnable(self, table: Any) -> tuple[Any, list[str]]:
        """The table without rows of classes that are too small to be learned, validated and tested."""
        counts = table.class_counts
        small = {label: rows for label, rows in counts.items() if rows < _LEAST}
        if not small or len(counts) < 2:
            return table, []
        if len(counts) - len(small) < 2:
            label, rows = min(small.items(), key=lambda item: item[1])
            raise ValueError(
                f"class {label!r} of the target {table.target!r} has only {counted(rows, 'row')}; a comparison needs "
                f"{_LEAST} of each of two classes, for training, validation and test. Merge classes, or choose another "
                f"target{', or learn numbers (--task regress)' if could_be_numbers(table.y) else ''}."
            )
        kept = np.flatnonzero([label not in small for label in table.y.tolist()])
        named = enumeration((f"{label!r} ({rows})" for label, rows in small.items()), 6)
        one = len(small) == 1
        return table.take(kept), [
            f"{counted(sum(small.values()), 'row was', 'rows were')} left out, as {'a class' if one else 'classes'} of "
            f"fewer than {_LEAST} rows cannot be both learned and tested: {named}. A model of all rows learns "
            f"{'it' if one else 'them'} too, untested."
        ]

    def judge(self, y: Array, scoring: str | None, positive: Any) -> dict[str, Any]:
        """By accuracy, unless somebody asks for another measure, or a class is so rare that accuracy overlooks it."""
        classes = np.unique(y).tolist()
        if positive is not None or len(classes) == 2:
            self.positive = positive_class(y, positive)
        self.measures = class_measures(classes, self.positive)
        self.uneven = is_uneven(y)
        self.measure = measure_named(scoring or usual_measure(y), "classify", classes, self.positive)
        why = (
            "The classes are uneven, and in it every class counts the same."
            if self.uneven
            else "No class is rare, so that all mistakes can count the same."
        )
        return {
            "scoring": {
                "name": self.measure.scoring,
                "title": self.measure.title,
                "why": None if scoring else why,
                "asked": scoring is not None,
                "positive": None if self.positive is None else text(self.positive),
            },
            "uneven": about_uneven(y, self.measure, scoring is not None),
        }

    def strata(self, y: Array) -> Array | None:
        return y

    def split_facts(self, y: Array, train: Array, test: Array) -> dict[str, Any]:
        return {
            "notes": [],
            "classes": [
                {"label": text(label), "train": int(np.sum(y[train] == label)), "test": int(np.sum(y[test] == label))}
                for label in np.unique(y)
            ],
        }

    def for_measure(self, learner: Learner) -> Learner:
        # Weights of classes move answers, but hardly scores that only rank rows; and accuracy has no use for them.
        if not self.uneven or self.measure.scoring not in _OF_ANSWERS:
            return learner
        return with_class_weights(learner, self.measure.scoring == "balanced_accuracy")

    def on_training_rows(self, model: Any, rows: Any, y: Array, found: Predictions) -> dict[str, Any]:
        facts = on_training_rows(model, rows, y, found)
        if not self.measure.is_usual:
            facts["train"]["score"] = scored(self.measure, y, found, drawn_weights(len(y), 0))
        return facts

    def on_test_rows(self, found: Predictions, y: Array, run: Run, weights: Array) -> dict[str, Any]:
        return {
            **on_test_rows(found, y, run.found, run.labels),
            "scores": all_scores(self.measures.values(), y, found, weights),
            "by_class": by_class(y, found),
            "curves": None if self.positive is None else curves(y, found, self.positive),
        }

    def conclusions(
        self, learners: list[dict[str, Any]], tested: Tested, known: dict[str, Any] | None
    ) -> dict[str, Any]:
        labels, sizes = np.unique(tested.y[tested.train], return_counts=True)
        majority = float(np.mean(tested.targets != labels[sizes.argmax()]))
        choice = choose(learners, tested.nested)
        facts = {**(known or {"boundary": None}), "majority_error": number(majority)}
        if self.measure.is_usual:
            return {**facts, **self._by_mistakes(learners, tested, choice, majority)}
        return {**facts, **by_scores(self.measure, learners, tested, choice, self._guess(tested, labels, sizes))}

    def _by_mistakes(
        self, learners: list[dict[str, Any]], tested: Tested, choice: Choice, majority: float
    ) -> dict[str, Any]:
        best_test = min((one["test"] for one in learners), key=lambda rate: rate["rate"])
        for one in learners:
            one["verdict"] = fit_verdict(one, best_test, majority)
        pairs = compare_right([one["name"] for one in learners], tested.targets, tested.found, choice.name)
        return {
            "answer": headline(learners, pairs, choice, majority, self.uneven),
            "learners": sorted(learners, key=lambda one: one["test"]["rate"]),
            "pairs": pairs,
        }

    def _guess(self, tested: Tested, labels: Array, sizes: Array) -> tuple[str, Predictions]:
        """The commonest class for every test row, the same score, and the shares of the classes for probabilities."""
        rows = len(tested.test)
        predicted = np.repeat(labels[[sizes.argmax()]], rows)
        scores = np.zeros(rows) if len(labels) == 2 else np.zeros((rows, len(labels)))
        shares = np.tile(sizes / sizes.sum(), (rows, 1))
        return _GUESSES[self.measure.needs], Predictions(predicted, scores, shares, labels)

    def from_training_rows(self, runs: Sequence[Run], learning: Learning) -> dict[str, Any]:
        on_plane = {run.learner.name: run.model for run in runs if run.learner.on_rows}
        return {"boundary": boundaries(on_plane, learning.table.X, learning.y) if on_plane else None}
