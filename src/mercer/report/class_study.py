"""A study of learners that tell classes apart."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.model_selection import StratifiedKFold

from .._runtime.compile import Array
from .._validation.target_kind import is_measurement, looks_in_words
from ..learners.learner import Learner
from .error_measure import SHARE
from .learner_facts import on_test_rows, on_training_rows
from .plain import number, text
from .planes import boundaries
from .study import Run, Study, chosen_of
from .verdicts import compare_right, fit_verdict, headline


class ClassStudy(Study):
    """Which class is it?"""

    measure = SHARE
    #: The textbook learners, on lines, on products and with kernels.
    usual_learners = (
        "perceptron", "pegasos", "logistic",
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
        label, least = min(counts.items(), key=lambda item: item[1])
        if least < 4:
            raise ValueError(
                f"class {label!r} of the target {table.target!r} has only {least} row{'s' * (least > 1)}; a comparison "
                "needs 4 of each class, for training, validation and test. Merge or remove it, or choose another "
                "target."
            )
        return y

    def strata(self, y: Array) -> Array | None:
        return y

    def folds(self, y: Array, cv: int) -> int:
        return min(cv, int(np.unique(y, return_counts=True)[1].min()))

    def splitter(self, folds: int, seed: int) -> Any:
        return StratifiedKFold(folds, shuffle=True, random_state=seed)

    def split_facts(self, y: Array, train: Array, test: Array, cv: int, folds: int) -> dict[str, Any]:
        notes = [] if folds == cv else [f"{folds} folds instead of {cv}: the smallest class has no more training rows."]
        return {
            "notes": notes,
            "classes": [
                {"label": text(label), "train": int(np.sum(y[train] == label)), "test": int(np.sum(y[test] == label))}
                for label in np.unique(y)
            ],
        }

    def for_targets(self, learner: Learner, y: Array) -> Learner:
        return learner

    def on_training_rows(self, model: Any, rows: Any, y: Array) -> dict[str, Any]:
        return on_training_rows(model, rows, y)

    def on_test_rows(self, model: Any, rows: Any, y: Array, run: Run) -> tuple[dict[str, Any], Array]:
        return on_test_rows(model, rows, y, run.rows, run.labels)

    def conclusions(
        self,
        learners: list[dict[str, Any]],
        outcomes: Mapping[str, Array],
        y: Array,
        train: Array,
        test: Array,
        known: dict[str, Any] | None,
        where: Callable[[int], str],
    ) -> dict[str, Any]:
        labels, sizes = np.unique(y[train], return_counts=True)
        majority = float(np.mean(y[test] != labels[sizes.argmax()]))
        chosen = chosen_of(learners)
        best_test = min((one["test"] for one in learners), key=lambda rate: rate["rate"])
        for one in learners:
            one["verdict"] = fit_verdict(one, best_test, majority)
        pairs = compare_right([one["name"] for one in learners], dict(outcomes), chosen)
        return {
            **(known or {"boundary": None}),
            "answer": headline(learners, pairs, chosen, majority),
            "majority_error": number(majority),
            "learners": sorted(learners, key=lambda one: one["test"]["rate"]),
            "pairs": pairs,
        }

    def from_training_rows(self, runs: Sequence[Run], learn: Any, y: Array, seed: int) -> dict[str, Any]:
        on_plane = {run.learner.name: run.model for run in runs if run.learner.on_rows}
        return {"boundary": boundaries(on_plane, learn.X, y) if on_plane else None}
