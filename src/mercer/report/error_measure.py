"""What errors are counted in: mistakes in percent of the rows, the unit of the target, or what a score lacks."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from .number_errors import in_digits
from .weighted_scores import Weighted, accuracy, root_mean_squared_error

__all__ = ["NUMBERS", "SHARE", "ErrorMeasure", "measure_of", "percent"]


@dataclass(frozen=True)
class ErrorMeasure:
    """How errors are scored in searches, found in the facts, and shown.

    Attributes
    ----------
    task : str
    name : str
        In a table, after "test" or "training".
    key : str
        Under which the error on some rows stands in the facts.
    scoring : str
        The name of scikit-learn's score that falls by as much as the error rises.
    perfect : float
        That score without any error.
    scale : float
        What an error is multiplied by before it is drawn.
    axis : str
        What stands beside the axis of a drawing.
    words : callable
        An error in words: as the score that people know, where it is what a score lacks.
    weighted : callable
        The score, or the error where scikit-learn's score is that with a minus sign, for many weightings of the rows.
    title : str
        The score in a sentence.
    needs : {"labels", "scores", "probabilities"}
        What is asked of a classifier.
    scorer : scorer, optional
        What searches score by, where the name alone does not say it.
    """

    task: str
    name: str
    key: str
    scoring: str
    perfect: float
    scale: float
    axis: str
    words: Callable[[float], str]
    weighted: Weighted
    title: str
    needs: str = "labels"
    scorer: Any = None

    @property
    def is_usual(self) -> bool:
        """Whether it is the measure of a study that nobody asked for another."""
        return self.scoring in (SHARE.scoring, NUMBERS.scoring)

    def score(self, weighted: Any) -> Any:
        """scikit-learn's score, larger for better, of what :attr:`weighted` gives."""
        return -weighted if self.scoring.startswith("neg_") else weighted

    def of(self, rows: Mapping[str, Any]) -> str:
        """The error on some rows, in words."""
        return self.words(rows[self.key])

    def between(self, rows: Mapping[str, Any]) -> str:
        """Its interval, in words."""
        if self.task == "classify":
            return f"{100 * rows['low']:.1f}–{percent(rows['high'], 1)}"
        return f"{in_digits(rows['low'])}–{in_digits(rows['high'])}"

    def to(self, rows: Mapping[str, Any]) -> str:
        """Its interval in a sentence."""
        if self.task == "classify":
            return f"{percent(rows['low'], 1)} to {percent(rows['high'], 1)}"
        return f"{in_digits(rows['low'])} to {in_digits(rows['high'])}"

    def drawn(self, rows: Mapping[str, Any], key: str | None = None) -> float:
        """The error on some rows, or one end of its interval, as it is drawn."""
        return self.scale * rows[key or self.key]

    def spread(self, validation: Mapping[str, Any]) -> str:
        """The mean over folds and its deviation, in words."""
        if validation["mean"] is None:
            return "—"
        if self.scale == 100:
            return f"{100 * validation['mean']:.2f} ± {percent(validation['sd'])}"
        return f"{self.words(validation['mean'])} ± {self.deviation(validation['sd'])}"

    def deviation(self, size: float) -> str:
        """How much errors differ between folds, in words without a unit."""
        if self.scale == 100:
            return f"{100 * size:.2f}"
        return f"{size:.3f}" if self.perfect else in_digits(size, 3)

    def in_words(self, score: float | None) -> str:
        """A score of scikit-learn as people write it."""
        if score is None:
            return "—"
        return percent(score) if self.scale == 100 else self.words(self.perfect - score)


def percent(rate: float, digits: int = 2) -> str:
    """A share in percent.

    Examples
    --------
    >>> percent(0.0231)
    '2.31\\xa0%'
    """
    return f"{100 * rate:.{digits}f}\u00a0%"


SHARE = ErrorMeasure("classify", "error", "rate", "accuracy", 1.0, 100.0, "error, %", percent, accuracy, "accuracy")
NUMBERS = ErrorMeasure(
    "regress",
    "RMSE",
    "rmse",
    "neg_root_mean_squared_error",
    0.0,
    1.0,
    "RMSE, in the unit of the target",
    in_digits,
    root_mean_squared_error,
    "RMSE",
)


def measure_of(facts: Mapping[str, Any]) -> ErrorMeasure:
    """What the errors of a study on training and test rows are counted in, whatever score decided."""
    return NUMBERS if facts.get("task") == "regress" else SHARE
