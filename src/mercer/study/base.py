"""What differs between a study of classes and one of numbers; all else is one protocol."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..kernels import parse
from ..learners import Learner, named
from ..messages import counted
from ..runtime import Array
from .measures import ErrorMeasure
from .predictions import Predictions

if TYPE_CHECKING:
    from .learning import Learning


@dataclass
class Run:
    """One learner on its way through the study."""

    learner: Learner
    facts: dict[str, Any]
    model: Any
    rows: Any
    labels: Array
    #: What it says of the rows that it has learned from, and their places in the table.
    found: Predictions
    places: Array
    #: What it says of the test rows, where those were tested by turns.
    tested: Predictions | None = None


@dataclass(frozen=True)
class Tested:
    """The test rows, and what all learners predicted for them.

    ``train`` and ``test`` are places of rows among all targets ``y``; ``found`` has the predictions by the names of the
    learners, ``weights`` are bootstrap draws of the test rows, and ``where`` tells in which line of the file a row
    stands.
    """

    y: Array
    train: Array
    test: Array
    found: Mapping[str, Predictions]
    weights: Array
    where: Callable[[int], str]

    @property
    def nested(self) -> bool:
        """Whether all rows are learned from and, by turns, tested."""
        return len(self.train) == len(self.test) == len(self.y)

    @property
    def targets(self) -> Array:
        """The targets of the test rows."""
        return self.y[self.test]


class Study(ABC):
    """A study of one task."""

    #: The task, what errors are counted in, what decides, and all that is measured.
    task: str
    measure: ErrorMeasure
    measures: Mapping[str, ErrorMeasure]
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

    def learnable(self, table: Any) -> tuple[Any, list[str]]:
        """The rows of a table that can be learned from and tested on, and what to say of the others."""
        return table, []

    @abstractmethod
    def checked(self, table: Any) -> Array:
        """The targets of a table that has them all."""

    @abstractmethod
    def judge(self, y: Array, scoring: str | None, positive: Any) -> dict[str, Any]:
        """Decide what learners are judged by, and say so."""

    @abstractmethod
    def strata(self, y: Array) -> Array | None:
        """What a split is to hold shares of, if anything."""

    @abstractmethod
    def split_facts(self, y: Array, train: Array, test: Array) -> dict[str, Any]:
        """What there is to say about the split."""

    def for_targets(self, learner: Learner, y: Array) -> Learner:
        """The learner for these training targets, and for what is good."""
        return self.for_measure(learner)

    @abstractmethod
    def for_measure(self, learner: Learner) -> Learner:
        """The learner for what is good."""

    def reason_to_skip(self, learner: Learner) -> str | None:
        """Why a learner cannot be judged so, in one sentence."""
        if self.measure.needs == "probabilities" and not hasattr(learner.build(), "predict_proba"):
            return (
                f'the {self.measure.title} is of probabilities, and it has none; "mercer train {learner.name} '
                '--calibrate sigmoid" would give it some.'
            )
        return None

    @abstractmethod
    def on_training_rows(self, model: Any, rows: Any, y: Array, found: Predictions) -> dict[str, Any]:
        """What a fitted model shows without any test row."""

    @abstractmethod
    def on_test_rows(self, found: Predictions, y: Array, run: Run, weights: Array) -> dict[str, Any]:
        """What predictions of the test rows say; ``weights`` are draws of these rows."""

    @abstractmethod
    def conclusions(
        self, learners: list[dict[str, Any]], tested: Tested, known: dict[str, Any] | None
    ) -> dict[str, Any]:
        """The verdicts, once all numbers are there.

        ``known`` is what :meth:`from_training_rows` found, ``None`` where there was no time for it.
        """

    def seconds_of_pictures(self, runs: Sequence[Run]) -> float:
        """How long :meth:`from_training_rows` takes, about."""
        return 0.0

    @abstractmethod
    def from_training_rows(self, runs: Sequence[Run], learning: Learning) -> dict[str, Any]:
        """What else the training rows show, before any test row is looked at."""
