"""The rounds of a study: all learners on few rows, then those that can win on all of them, then one fit of each.

1. Screening. Every learner is tuned on the same few rows, with its whole grid.
2. Contest. The best of them are tuned once more around what they had found, on all training rows; the winner is one of
   them. Errors from fewer rows are larger, so only learners tuned on the same rows are compared.
3. Fits. Every learner is fitted on all training rows, the contenders first.

With a time limit each round has its share of the time, and what the screening took tells what there is time for: the
contenders are those that all rows leave time for, and where these leave time for none, one with fewer rows. What was
not done is said.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..estimators import NotInTimeError
from ..learners import Learner
from ..runtime import all_or_nothing, keeps_best
from .base import Run
from .learning import Learning, Tuned, nested_predictions
from .measures import ErrorMeasure
from .tuning import chosen_setting

__all__ = ["Budget", "compared", "expected_seconds", "left_out"]

#: What begins, with the share of the work that is done; or what was found, with ``None``.
Say = Callable[[str, float | None], None]

#: Rows of the screening: all, where there are hardly more.
SCREENED_ROWS = 1000
_HARDLY_MORE = 1.5
#: The most learners that contend, and standard errors behind the best within which they do.
_CONTENDERS, _BEHIND = 4, 2.0
#: Settings around the best that a contender tries, with those beyond an edge, and those that are worth beginning for.
_SETTINGS_AROUND, _SETTINGS_AT_LEAST = 12, 3
#: The parts of the time by which learners are screened, contenders tuned, and all fitted; the rest is for tests.
_SCREENED_BY, _TUNED_BY, _FITTED_BY = 0.35, 0.7, 0.92
#: The part of the time left that one learner may take at most while others wait, if its share is less; and what the
#: fit of a contender may take of it.
_GENEROUS, _FITTING_SHARE = 0.25, 0.6
#: Seconds that the settings of a contender may take at least where nobody has set a limit. Some take minutes each, of a
#: large C and a small γ above all, and are hardly ever the best.
_PATIENCE = 20.0
#: Rows of the screening where the first try was cut, and where the second was.
_FEWER_ROWS, _FEWEST_ROWS = 300, 100
#: Learners that win most often, the quickest first: whoever waits sees an error soon.
_FIRST = (
    "svc", "table", "kernel-logistic", "logistic", "kernel-ridge", "table-regression", "svr", "ridge",
)  # fmt: skip
#: Seconds that studies took on two cores for a row and a learner of the screening, for a row of the contest, and for
#: all else.
_SECONDS_SCREENED, _SECONDS_CONTESTED, _SECONDS_BESIDES = 1.4e-3, 1.5e-2, 4.0

INTERRUPTED = "the study was interrupted before it was done."


@dataclass(frozen=True)
class Budget:
    """So many seconds from a start on; or, where nobody has set a limit, what the work is expected to take."""

    seconds: float
    start: float
    clock: Callable[[], float] = time.perf_counter
    expected: float = np.inf

    def left(self, part: float = 1.0) -> float:
        """Seconds until that part of the time is over; never negative."""
        return max(0.0, self.start + part * self.seconds - self.clock())

    @property
    def is_limited(self) -> bool:
        return bool(np.isfinite(self.seconds))

    @property
    def is_over(self) -> bool:
        return self.left() == 0

    def is_too_short_for(self, seconds: float) -> bool:
        """Whether work of so many seconds would not end in time."""
        return seconds > self.left()


def left_out(learner: Learner, why: str) -> dict[str, Any]:
    """A learner that is not compared, and why."""
    return {"name": learner.name, "title": learner.title, "why": why}


def expected_seconds(rows: int, classes: int, learners: int) -> float:
    """How long a study takes on two cores, roughly, as studies of some tables took.

    Examples
    --------
    >>> expected_seconds(120, 3, 12) < expected_seconds(12_000, 3, 12) < 300
    True
    """
    screened = min(rows, SCREENED_ROWS)
    several = max(1.0, math.log2(max(2, classes)))
    contest = _SECONDS_CONTESTED * max(0, rows - screened)
    return _SECONDS_BESIDES + several * (_SECONDS_SCREENED * screened * learners + contest)


def compared(
    learning: Learning, learners: Sequence[Learner], say: Say, budget: Budget, nested: bool = False
) -> tuple[list[Run], list[dict[str, Any]], str | None]:
    """Tune and fit learners: those that are done, those left out, and why it stopped early."""
    first = [learner for name in _FIRST for learner in learners if learner.name == name]
    queue = first + [learner for learner in learners if learner not in first]
    rounds = _Rounds(learning, say, budget)
    if nested:
        rounds.nest(queue)
    else:
        rounds.screen(queue)
        rounds.contend()
        rounds.fit()
    runs = [rounds.runs[learner.name] for learner in learners if learner.name in rounds.runs]
    return runs, rounds.skipped, rounds.stopped


class _Rounds:
    """Learners on their way, and what became of them."""

    def __init__(self, learning: Learning, say: Say, budget: Budget) -> None:
        self.learning, self.say, self.budget = learning, say, budget
        self.tuned: dict[str, Tuned] = {}
        self.runs: dict[str, Run] = {}
        self.skipped: list[dict[str, Any]] = []
        self.stopped: str | None = None

    # -- the rounds -----------------------------------------------------------------------------------------------

    def nest(self, learners: Sequence[Learner]) -> None:
        """Each learner by itself, with every row tested by turns."""
        for position, learner in enumerate(learners):
            self.say(f"tuning {learner.title}", position / len(learners))
            try:
                with all_or_nothing():
                    run = self.learning.learned(learner)
                    run.tested = nested_predictions(self.learning, learner)
                    self.runs[learner.name] = run
            except KeyboardInterrupt:
                if not (keeps_best() and self.runs):
                    raise
                self.stopped = "interrupted"
                self.skipped += [left_out(each, INTERRUPTED) for each in learners[position:]]
                return

    def screen(self, learners: Sequence[Learner]) -> None:
        """Each learner on few rows, in its share of the time."""
        n = len(self.learning.y)
        rows = n if n <= _HARDLY_MORE * SCREENED_ROWS else SCREENED_ROWS
        for position, learner in enumerate(learners):
            self.say(f"tuning {learner.title}", 0.4 * position / len(learners))
            left = self.budget.left(_SCREENED_BY)
            if self.stopped == "interrupted":
                self._leave_out(learner, INTERRUPTED)
            elif not left:
                self._leave_out(learner, f"the time limit of {self.budget.seconds:.3g} s was over before it began.")
            else:
                # What most learners do not use is there for the one that needs it.
                self._screen_on_fewer(learner, rows, max(left / (len(learners) - position), _GENEROUS * left))

        if not self.tuned and self.stopped != "interrupted" and not self.budget.is_over:
            self._tune(learners[0], _FEWEST_ROWS, self.budget.left())  # one on few rows is more than none
            self.skipped = [each for each in self.skipped if each["name"] not in self.tuned]

    def _screen_on_fewer(self, learner: Learner, rows: int, seconds: float) -> None:
        """On these rows or, where no setting was done in the time, on fewer."""
        for few in dict.fromkeys((rows, min(rows, _FEWER_ROWS), min(rows, _FEWEST_ROWS))):
            left = min(seconds, self.budget.left(_SCREENED_BY))
            if left and (self._tune(learner, few, left) or self.stopped == "interrupted"):
                return
        self._leave_out(learner, f"its share of the time limit, {seconds:.2g} s, was too short for any setting.")

    def contend(self) -> None:
        """The learners that can win on all rows, or on as many as there is time for."""
        screened = dict(self.tuned)
        if not screened or self.stopped == "interrupted":
            return
        if all(tuned.facts["final"] for tuned in screened.values()):
            return
        queue, rows = self._affordable(contenders(list(screened.values()), self.learning.study.measure))
        for position, tuned in enumerate(queue):
            learner = tuned.learner
            self.say(f"tuning {learner.title} on {rows:,} rows", 0.4 + 0.4 * position / len(queue))
            share = self.budget.left(_TUNED_BY) / (len(queue) - position)
            if not self.budget.is_limited:
                share = max(_PATIENCE, self.budget.expected / len(queue))
            elif learner.prepares:  # a fit of all rows is to end in its share, too
                fits = self.learning.folds_of(rows) * self.learning.repeats
                share = min(share, fits * _FITTING_SHARE * (_FITTED_BY - _TUNED_BY) * self.budget.seconds)
            if share and self.stopped != "interrupted":
                self._tune(learner, rows, share, around=tuned)
        if not any(tuned.facts["final"] for tuned in self.tuned.values()):
            for tuned in self.tuned.values():  # there was no time for any of it: the screening decides
                tuned.facts["final"] = True

    def _affordable(self, queue: list[Tuned]) -> tuple[list[Tuned], int]:
        """Those contenders that can be tuned on all rows in the time, the quickest first; else one on fewer rows.

        Learners that choose by themselves do so in the time that they are given: a part of it is enough for them.
        """
        n, left = len(self.learning.y), self.budget.left(_TUNED_BY)
        chosen, total = [], 0.0
        seconds = {tuned.learner.name: self._seconds_around(tuned, n) for tuned in queue}
        for tuned in queue:
            own = seconds[tuned.learner.name]
            own = min(own, left / len(queue)) if tuned.learner.prepares else own
            if total + own <= left:
                chosen.append(tuned)
                total += own
        if chosen:
            return sorted(chosen, key=lambda tuned: seconds[tuned.learner.name]), n
        best, rows = queue[0], n
        while rows > 2 * best.facts["rows"] and self._seconds_around(best, rows) > left:
            rows = int(rows / 1.1)
        return [best], rows

    def _seconds_around(self, tuned: Tuned, rows: int) -> float:
        """How long a contender takes on so many rows, as its screening tells; a few settings where time is limited."""
        facts = tuned.facts
        before = max(1, len(facts["candidates"])) * facts["folds"] * facts["repeats"]
        most = _SETTINGS_AT_LEAST if self.budget.is_limited else _SETTINGS_AROUND
        settings = min(most, len(facts["candidates"]))
        ahead = settings * self.learning.folds_of(rows) * self.learning.repeats
        growth = (rows / facts["rows"]) ** _power(tuned.learner)
        return float(facts["seconds"] * ahead / before * growth)

    def fit(self) -> None:
        """Each tuned learner on all training rows, or on as many as its share of the time allows."""
        queue = sorted(self.tuned.values(), key=lambda tuned: (not tuned.facts["final"], _error(tuned)))
        for position, tuned in enumerate(queue):
            learner = tuned.learner
            self.say(f"fitting {learner.title}", 0.8 + 0.2 * position / len(queue))
            if self.runs and self.budget.is_over:
                self._leave_out(
                    learner, f"the time limit of {self.budget.seconds:.3g} s was over before it was fitted."
                )
                continue
            try:
                with all_or_nothing():
                    run = self._fitted(tuned, len(queue) - position)
                if run is None:
                    self._leave_out(learner, "its share of the time limit was too short for a fit.")
                else:
                    self.runs[learner.name] = run
            except KeyboardInterrupt:
                if not (keeps_best() and self.runs):
                    raise
                self._leave_out(learner, INTERRUPTED)
                self.stopped = "interrupted"

    def _fitted(self, tuned: Tuned, waiting: int) -> Run | None:
        """One fit, with fewer rows where it took longer than expected; the first has at least a few."""
        rows = len(self.learning.y)
        while True:
            share = self._fitting_share(tuned, waiting)
            rows = min(rows, self._fitting_rows(tuned, share))
            try:
                return self.learning.fitted(tuned, rows, share)
            except NotInTimeError:
                if rows <= _FEWEST_ROWS:
                    return None if self.runs else self.learning.fitted(tuned, rows)
                rows = max(_FEWEST_ROWS, rows // 4)

    def _fitting_share(self, tuned: Tuned, waiting: int) -> float | None:
        """Seconds for one fit: a contender may take most of what is left, all others share."""
        if not self.budget.is_limited:
            return None
        left = self.budget.left(_FITTED_BY)
        return max(_FITTING_SHARE * left if tuned.facts["final"] else left / waiting, 1e-3)

    def _fitting_rows(self, tuned: Tuned, seconds: float | None) -> int:
        """Rows on which one fit takes about so long, as far as the fits in cross-validation tell."""
        if seconds is None:
            return len(self.learning.y)
        folds = tuned.facts["of_folds"]
        had = tuned.facts["rows"] * (folds - 1) / folds
        cost = max(chosen_setting(tuned.facts)["fit_seconds"] or 0.0, 1e-4)
        affordable = int(had * (seconds / cost) ** (1 / _power(tuned.learner)))
        return max(min(tuned.facts["rows"], _FEWER_ROWS), affordable)

    # -- one learner ----------------------------------------------------------------------------------------------

    def _tune(self, learner: Learner, rows: int, seconds: float, around: Tuned | None = None) -> bool:
        """Tune, keeping an earlier result where this one came to nothing; whether there was time for any setting."""
        contends = around is not None and not learner.prepares
        limit = seconds if np.isfinite(seconds) and (self.budget.is_limited or contends) else None
        try:
            with all_or_nothing():
                found = self.learning.tuned(learner, rows, limit, around)
        except ValueError as error:
            if "before any setting was tried" not in str(error):
                raise
            return False
        except KeyboardInterrupt:
            if not (keeps_best() and self.tuned):
                raise
            if learner.name not in self.tuned:
                self._leave_out(learner, INTERRUPTED)
            self.stopped = "interrupted"
            return False
        if found.facts["stopped"] and self.budget.is_limited:
            self.stopped = self.stopped or "time_limit"
        self.tuned[learner.name] = found
        measure = self.learning.study.measure
        reached = measure.words(chosen_setting(found.facts)["validation"]["mean"]).replace("\u00a0", " ")
        self.say(f"{learner.title}: {measure.name} {reached} on {found.facts['rows']:,} rows", None)
        return True

    def _leave_out(self, learner: Learner, why: str) -> None:
        self.skipped.append(left_out(learner, why))
        self.stopped = self.stopped or "time_limit"


def contenders(screened: list[Tuned], measure: ErrorMeasure) -> list[Tuned]:
    """The learners that may win, the best first: those within some standard errors, or screened on less; two at least.

    Learners that prepare their columns by themselves contend always: more rows are worth more to them. Those that go
    step by step contend where no other does, as there are exact ones of the same loss.
    """
    exact = [tuned for tuned in screened if not tuned.learner.is_stepwise]
    ranked = sorted(exact or screened, key=_error)
    best = chosen_setting(ranked[0].facts)["validation"]
    error = (best["sd"] or 0.0) / np.sqrt(max(1, ranked[0].facts["folds"]))
    rows = ranked[0].facts["rows"]
    near = [one for one in ranked if _error(one) <= best["mean"] + _BEHIND * error or one.facts["rows"] < rows]
    among = near if len(near) >= 2 else ranked[:2]
    among = among[:_CONTENDERS]
    return among + [tuned for tuned in ranked if tuned.learner.prepares and tuned not in among]


def _error(tuned: Tuned) -> float:
    """The error of the chosen setting in cross-validation."""
    mean = chosen_setting(tuned.facts)["validation"]["mean"]
    return np.inf if mean is None else float(mean)


def _power(learner: Learner) -> int:
    """With which power of the rows the work of a learner grows."""
    return 2 if learner.takes_kernel or learner.prepares else 1
