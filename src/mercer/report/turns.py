"""Learners one after the other, each tuned and fitted, until all are done or somebody stops them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .._runtime.interrupts import kept, whole
from ..learners.learner import Learner
from .learning import Learning
from .nested import nested_predictions
from .study import Run

Say = Callable[[str, float], None]

INTERRUPTED = "the study was interrupted before it was done."


def left_out(learner: Learner, why: str) -> dict[str, Any]:
    """A learner that is not compared, and why."""
    return {"name": learner.name, "title": learner.title, "why": why}


def in_turn(
    learning: Learning, learners: Sequence[Learner], say: Say, nested: bool
) -> tuple[list[Run], list[dict[str, Any]], str | None]:
    """Tune and fit each learner, whatever time it takes: those that are done, those left out, and why it stopped."""
    runs: list[Run] = []
    for position, learner in enumerate(learners):
        say(f"tuning {learner.title}", position / len(learners))
        try:
            with whole():
                run = learning.learned(learner)
                if nested:
                    run.tested = nested_predictions(learning, learner)
                runs.append(run)
        except KeyboardInterrupt:
            if not (kept() and runs):
                raise
            return runs, [left_out(each, INTERRUPTED) for each in learners[position:]], "interrupted"
    return runs, [], None
