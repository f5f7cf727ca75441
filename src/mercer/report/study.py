"""What differs between a study of classes and one of numbers; all else is one protocol."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .._runtime.compile import Array
from .._validation.wording import counted
from ..kernels import parse
from ..learners.catalogue import named
from ..learners.learner import Learner
from .error_measure import ErrorMeasure
from .tuning import chosen_setting


@dataclass
class Run:
    """One learner on its way through the study."""

    learner: Learner
    facts: dict[str, Any]
    model: Any
    rows: Any
    labels: Array


def chosen_of(learners: Sequence[dict[str, Any]]) -> str:
    """The name of the learner with the least error in cross-validation."""
    return min(learners, key=lambda one: chosen_setting(one["tuning"])["validation"]["mean"])["name"]


class Study(ABC):
    """A study of one task."""

    measure: ErrorMeasure
    #: What is compared unless asked otherwise, and the same on items that are no rows of numbers.
    usual_learners: Sequence[str]
    structured_learners: Sequence[str]

    def usual(self, table: Any, kernels: Sequence[str]) -> Sequence[str]:
        """The learners that are compared unless asked otherwise."""
        if table.kind != "rows" or not all(parse(text).on_rows for text in kernels):
            return self.structured_learners
        # With a kernel given, learners that differ from others in their kernel alone are the same as those.
        usual = map(named, self.usual_learners)
        return [each.name for each in usual if not kernels or each.takes_any_kernel or not each.takes_kernel]

    def targets(self, table: Any, test_size: float, cv: int) -> Array:
        """The targets, or one sentence about why they cannot be learned."""
        if table.y is None:
            raise ValueError(f"{table.source} has no target column; name one with --target.")
        if not table.labelled.all():
            missing = counted(int((~table.labelled).sum()), "row has", "rows have")
            raise ValueError(f"{table.source}: {missing} no label; drop or label such rows.")
        if not 0 < test_size < 1:
            raise ValueError(f"test_size must be a share between 0 and 1, got {test_size!r}.")
        if cv < 2:
            raise ValueError(f"cv must be at least 2 folds, got {cv!r}.")
        return self.checked(table)

    @abstractmethod
    def checked(self, table: Any) -> Array:
        """The targets of a table that has them all."""

    @abstractmethod
    def strata(self, y: Array) -> Array | None:
        """What a split is to hold shares of, if anything."""

    @abstractmethod
    def folds(self, y: Array, cv: int) -> int:
        """Into how many folds these training rows can be divided."""

    @abstractmethod
    def splitter(self, folds: int, seed: int) -> Any:
        """The folds."""

    @abstractmethod
    def split_facts(self, y: Array, train: Array, test: Array, cv: int, folds: int) -> dict[str, Any]:
        """What there is to say about the split."""

    @abstractmethod
    def for_targets(self, learner: Learner, y: Array) -> Learner:
        """The learner for training targets of this size."""

    @abstractmethod
    def on_training_rows(self, model: Any, rows: Any, y: Array) -> dict[str, Any]:
        """What a fitted model shows without any test row."""

    @abstractmethod
    def on_test_rows(self, model: Any, rows: Any, y: Array, run: Run) -> tuple[dict[str, Any], Array]:
        """What the test rows say, and the outcome of each: the one place where they are looked at."""

    @abstractmethod
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
        """The verdicts, once all numbers are there.

        ``known`` is what :meth:`from_training_rows` found, ``None`` where that was interrupted; ``where`` says in which
        line of the file a row stands.
        """

    @abstractmethod
    def from_training_rows(self, runs: Sequence[Run], learn: Any, y: Array, seed: int) -> dict[str, Any]:
        """What else the training rows show, before any test row is looked at."""
