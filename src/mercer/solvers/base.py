"""What every solver is: something that takes a Problem as it is stated, or refuses it in a sentence."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from ..problems import Iterate, NuProblem, Problem, Solution
from ..runtime.compile import Array

__all__ = ["CannotSolve", "Solver", "checked_items"]


class CannotSolve(ValueError):
    """A problem that a solver cannot solve as it is stated, and what to do about it."""


#: What a solver gives back.
Found = TypeVar("Found", bound=Solution)


class Solver(ABC, Generic[Found]):
    """A way down. Subclasses are frozen dataclasses of their settings and write :meth:`refusal` and :meth:`_solve`.

    A solver reads the whole problem: whatever it cannot take into account is a reason to refuse. It sees the Gram
    through the methods of :class:`~mercer.grams.Gram` alone.
    """

    #: Whether it solves problems whose width is found along with the model.
    finds_width: ClassVar[bool] = False

    @abstractmethod
    def refusal(self, problem: Problem) -> str | None:
        """Why this solver cannot solve the problem, with a remedy, as the end of a sentence; ``None`` where it can."""

    def solve(self, problem: Problem, start: Iterate | None = None, rng: np.random.Generator | None = None) -> Found:
        """Solve the problem.

        Parameters
        ----------
        problem : Problem
        start : Iterate, optional
            A model to begin with, such as an earlier solution; zero by default.
        rng : numpy.random.Generator, optional
            What is random is drawn from it; the same numbers each time by default.

        Returns
        -------
        Solution
        """
        self.accept(problem)
        return self._solve(problem, start, rng or np.random.default_rng(0))

    def accept(self, problem: Problem) -> None:
        """Raise where this solver cannot solve the problem."""
        why = self.refusal(problem)
        if why is None and isinstance(problem, NuProblem) and not self.finds_width:
            why = "it finds no width; use SoftMargin"
        if why is not None:
            raise CannotSolve(f"{type(self).__name__} cannot solve this problem: {why}.")

    @abstractmethod
    def _solve(self, problem: Problem, start: Iterate | None, rng: np.random.Generator) -> Found:
        """Solve a problem that is not refused."""


def checked_items(index: Any, n: int) -> Array:
    """Item numbers as an array, proven to lie between 0 and n − 1: compiled loops do not look again."""
    items = np.asarray(index)
    if items.dtype.kind not in "iu" or (items.size and (items.min() < 0 or items.max() >= n)):
        raise ValueError(f"items must be whole numbers from 0 to {n - 1}.")
    return items.astype(np.int64, copy=False)
