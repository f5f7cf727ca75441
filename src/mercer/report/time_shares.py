"""A study that ends in time: each learner gets its share of what is left, and has fewer rows before it is left out.

Learners take turns. In the first all are tuned on few rows, so that each has a setting early. How long that took tells
on how many rows all of them can be tuned in the time that is left; as errors from fewer rows are larger, it is one
number for all. Then each is fitted, on as many rows as its share of the time allows.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .._runtime.interrupts import kept, whole
from ..learners.learner import Learner
from .learning import KERNEL_ROWS, TUNED_ROWS, Learning, Tuned
from .study import Run
from .tuning import chosen_setting
from .turns import INTERRUPTED, Say, left_out

#: Rows of the first turn, of another try where these are too many, and how many times more a second turn must have.
_FIRST_ROWS, _FEWEST_ROWS, _WORTH = 500, 100, 1.5
#: The part of the time left for tuning that a learner may take at most in the first turn, if its share is less.
_GENEROUS = 0.25
#: The parts of the time after which no learner is tuned, and none fitted; the rest is for tests and pictures.
_TUNED_BY, _FITTED_BY = 0.6, 0.9
#: Learners that say most about a table in little time: a line, and two kernel machines.
_FIRST = ("logistic", "svc", "kernel-logistic", "ridge", "kernel-ridge", "svr")


@dataclass(frozen=True)
class Budget:
    """So many seconds from a start on."""

    seconds: float
    start: float
    clock: Callable[[], float] = time.perf_counter

    def left(self, part: float = 1.0) -> float:
        """Seconds until that part of the time is over; never negative."""
        return max(0.0, self.start + part * self.seconds - self.clock())

    @property
    def is_over(self) -> bool:
        return self.left() == 0

    def is_too_short_for(self, seconds: float) -> bool:
        """Whether work of so many seconds would not end in time."""
        return seconds > self.left()


def in_shares(
    learning: Learning, learners: Sequence[Learner], say: Say, budget: Budget
) -> tuple[list[Run], list[dict[str, Any]], str | None]:
    """Tune and fit learners in the time there is: those that are done, those left out, and why it stopped."""
    turns = _Turns(learning, say, budget)
    first = [learner for name in _FIRST for learner in learners if learner.name == name]
    queue = first + [learner for learner in learners if learner not in first]
    turns.tune_all(queue, min(_FIRST_ROWS, len(learning.y)))
    turns.tune_again()
    turns.fit_all()
    runs = [turns.runs[learner.name] for learner in learners if learner.name in turns.runs]
    return runs, turns.skipped, turns.stopped


class _Turns:
    """Learners on their way, and what became of them."""

    def __init__(self, learning: Learning, say: Say, budget: Budget) -> None:
        self.learning, self.say, self.budget = learning, say, budget
        self.tuned: dict[str, Tuned] = {}
        self.runs: dict[str, Run] = {}
        self.skipped: list[dict[str, Any]] = []
        self.stopped: str | None = None

    def tune_all(self, learners: Sequence[Learner], rows: int) -> None:
        """Each learner on few rows, in its share of the time for tuning."""
        for position, learner in enumerate(learners):
            self.say(f"tuning {learner.title}", 0.5 * position / len(learners))
            left = self.budget.left(_TUNED_BY)
            if self.stopped == "interrupted":
                self._leave_out(learner, INTERRUPTED)
            elif not left:
                self._leave_out(learner, f"the time limit of {self.budget.seconds:g} s was over before it began.")
            else:
                # What most learners do not use is there for the one that needs it.
                self._tune_on_fewer(learner, rows, max(left / (len(learners) - position), _GENEROUS * left))

    def _tune_on_fewer(self, learner: Learner, rows: int, seconds: float) -> None:
        """On these rows or, where no setting was done in the time, on fewer."""
        for few in dict.fromkeys((rows, min(rows, _FEWEST_ROWS))):
            left = min(seconds, self.budget.left(_TUNED_BY))
            if left and (self._tune(learner, few, left) or self.stopped == "interrupted"):
                return
        self._leave_out(learner, f"its share of the time limit, {seconds:.2g} s, was too short for any setting.")

    def tune_again(self) -> None:
        """All learners on as many rows as there is time for, if those are clearly more."""
        rows = self._affordable_rows()
        if self.stopped == "interrupted" or rows < _WORTH * self._rows_so_far():
            return
        queue = [tuned.learner for tuned in self.tuned.values()]
        for position, learner in enumerate(queue):
            self.say(f"tuning {learner.title} on {rows:,} rows", 0.5 + 0.3 * position / len(queue))
            share = self.budget.left(_TUNED_BY) / (len(queue) - position)
            if share > 0 and self.stopped != "interrupted":
                self._tune(learner, rows, share)

    def fit_all(self) -> None:
        """Each tuned learner on as many of the training rows as its share of the time allows."""
        for position, tuned in enumerate(self.tuned.values()):
            learner = tuned.learner
            self.say(f"fitting {learner.title}", 0.8 + 0.2 * position / len(self.tuned))
            if self.runs and self.budget.is_over:
                self._leave_out(learner, f"the time limit of {self.budget.seconds:g} s was over before it was fitted.")
                continue
            share = max(self.budget.left(_FITTED_BY) / (len(self.tuned) - position), 1e-3)
            most = min(KERNEL_ROWS if learner.takes_kernel else len(self.learning.y), self._fitting_rows(tuned, share))
            try:
                with whole():
                    self.runs[learner.name] = self.learning.fitted(tuned, most, share)
            except KeyboardInterrupt:
                if not (kept() and self.runs):
                    raise
                self._leave_out(learner, INTERRUPTED)
                self.stopped = "interrupted"

    def _tune(self, learner: Learner, rows: int, seconds: float) -> bool:
        """Tune, keeping an earlier result where this one was cut; whether there was time for any setting."""
        known = learner.name in self.tuned
        try:
            with whole():
                found = self.learning.tuned(learner, rows, seconds)
        except ValueError as error:
            if "before any setting was tried" not in str(error):
                raise
            return False
        except KeyboardInterrupt:
            if not (kept() and self.tuned):
                raise
            if not known:
                self._leave_out(learner, INTERRUPTED)
            self.stopped = "interrupted"
            return False
        if found.facts["stopped"]:
            self.stopped = self.stopped or "time_limit"
        if not (known and found.facts["stopped"]):
            self.tuned[learner.name] = found
        return True

    def _rows_so_far(self) -> int:
        return max((tuned.facts["rows"] for tuned in self.tuned.values()), default=0)

    def _affordable_rows(self) -> int:
        """Rows on which all learners can be tuned in the time that is left, as far as the first turn tells."""
        had = self._rows_so_far()
        most = min(TUNED_ROWS, len(self.learning.y))
        costs = [(tuned.facts["seconds"], _power(tuned.learner)) for tuned in self.tuned.values()]
        rows = most
        while rows > had and sum(cost * (rows / had) ** power for cost, power in costs) > self.budget.left(_TUNED_BY):
            rows = int(rows / 1.1)
        return rows

    def _fitting_rows(self, tuned: Tuned, seconds: float) -> int:
        """Rows on which one fit takes about so long, as far as the fits in cross-validation tell."""
        folds = tuned.facts["folds"]
        had = tuned.facts["rows"] * max(1, folds - 1) / folds
        cost = max(chosen_setting(tuned.facts)["fit_seconds"] or 0.0, 1e-4)
        return max(tuned.facts["rows"], int(had * (seconds / cost) ** (1 / _power(tuned.learner))))

    def _leave_out(self, learner: Learner, why: str) -> None:
        self.skipped.append(left_out(learner, why))
        self.stopped = self.stopped or "time_limit"


def _power(learner: Learner) -> int:
    """With which power of the rows the work of a learner grows."""
    return 2 if learner.takes_kernel else 1
