"""A study of learners that tell classes apart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .._runtime.compile import Array
from .._validation.target_kind import could_be_numbers, is_measurement, looks_in_words
from .._validation.wording import counted, enumeration
from ..learners.learner import Learner
from .choice import Choice, choose
from .class_scores import by_class, curves
from .error_measure import SHARE
from .judgement import by_scores
from .learner_facts import on_test_rows, on_training_rows
from .plain import number, text
from .planes import boundaries
from .predictions import Predictions
from .score_intervals import all_scores, scored
from .scorings import class_measures, measure_named, positive_class
from .study import Run, Study, Tested
from .uneven import about_uneven, is_uneven, usual_measure, with_class_weights
from .verdicts import compare_right, fit_verdict, headline
from .weighted_scores import drawn_weights

if TYPE_CHECKING:
    from .learning import Learning

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
        right = {name: found.predicted == tested.targets for name, found in tested.found.items()}
        pairs = compare_right([one["name"] for one in learners], right, choice.name)
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
