"""What ``mercer tune`` calls good, on which splits, and how each class fares with the best setting."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..io.table import DataError
from .printing import Printer

if TYPE_CHECKING:
    from ..io import Table
    from ..learners.learner import Learner
    from ..report.error_measure import ErrorMeasure
    from ..report.splits import Division
    from ..report.study import Study

__all__ = ["Judgement"]

#: Classes that are told one by one.
_CLASSES = 12


@dataclass(frozen=True)
class Judgement:
    """What a search is judged by.

    Parameters
    ----------
    study : Study
        Which says what is good.
    threshold : scorer, optional
        By which the threshold on the scores of the best setting is chosen.
    """

    study: Study
    threshold: Any = None

    @classmethod
    def of(
        cls, table: Table, scoring: str | None, positive: str | None, threshold: str | None, printer: Printer
    ) -> Judgement:
        """As somebody asked for it, or as the classes ask for it, with a note where one is rare."""
        from ..report.class_study import ClassStudy
        from ..report.number_study import NumberStudy
        from .train_classes import threshold_scorer

        study = NumberStudy() if table.measured else ClassStudy()
        assert table.y is not None
        said = study.judge(table.y, scoring, positive)
        if said.get("uneven"):
            printer.note(said["uneven"])
        if threshold is None:
            return cls(study)
        return cls(study, threshold_scorer(threshold, table, positive))

    @property
    def measure(self) -> ErrorMeasure:
        return self.study.measure

    @property
    def scorer(self) -> Any:
        """What the search scores by."""
        return self.measure.scorer or self.measure.scoring

    def for_learner(self, learner: Learner) -> Learner:
        """The learner for what is good; refused where it cannot be judged so."""
        if why := self.study.reason_to_skip(learner):
            raise DataError(f"{learner.name}: {why}")
        return self.study.for_measure(learner)

    def divided(
        self, table: Table, folds: int, repeats: int | None, seed: int, **options: Any
    ) -> tuple[Table, Division, list[Any]]:
        """The table without the column of groups or times, how its rows are divided, and the splits."""
        import numpy as np

        from ..report.splits import division_of, usual_repeats

        table, division = division_of(table, **options)
        rows, y = np.arange(table.n_rows), np.asarray(table.y)
        again = (repeats or usual_repeats(len(rows))) if division.repeatable else 1
        folds = min(folds, division.most_folds(rows, y)) if not division.repeatable else folds
        return table, division, division.folds(rows, y, folds, seed, again)

    def by_class(self, best: Any, table: Table, splits: list[Any]) -> list[dict[str, Any]] | None:
        """How each class fares out of its fold; ``None`` for numbers, and where splits do not divide the rows."""
        if self.study.task != "classify":
            return None
        import numpy as np

        from ..report.class_scores import by_class
        from ..report.predictions import Predictions
        from ..search import out_of_fold

        once = _first_round(splits, table.n_rows)
        if once is None:
            return None
        decisions = out_of_fold(best, table.X, table.y, once).decisions
        codes = (decisions >= 0).astype(int) if decisions.ndim == 1 else decisions.argmax(axis=1)
        return by_class(np.asarray(table.y), Predictions(best.classes_[codes], classes=best.classes_))

    def with_threshold(self, best: Any, table: Table, splits: list[Any]) -> Any:
        """The best setting, answering by the threshold that does best out of fold, where asked for."""
        if self.threshold is None:
            return best
        from sklearn.base import clone

        from ..calibration import TunedThreshold

        return TunedThreshold(clone(best), scoring=self.threshold, cv=splits).fit(table.X, table.y)

    def show(self, classes: list[dict[str, Any]] | None, found: Any, printer: Printer) -> None:
        """A line for each class, and the threshold."""

        def share(value: float | None) -> str:
            return "—" if value is None else f"{100 * value:.1f} %"

        if classes and len(classes) <= _CLASSES and not self.measure.is_usual:
            rows = [
                [one["label"], one["rows"], one["answered"], *(share(one[name]) for name in ("recall", "precision"))]
                for one in classes
            ]
            heads = ["<class", "rows", "answered", "found (recall)", "right (precision)"]
            printer.table(heads, rows, "each class in cross-validation, with the best setting")
        if hasattr(found, "best_threshold_"):
            what, usual = ("probability", 0.5) if hasattr(found.estimator_, "predict_proba") else ("score", 0)
            printer.line(f"threshold on the {what}: {found.best_threshold_:.4g} instead of {usual}")


def _first_round(splits: list[Any], rows: int) -> list[Any] | None:
    """The first splits whose test rows are all rows, each once."""
    import numpy as np

    seen = np.zeros(rows, dtype=int)
    for number, (_, test) in enumerate(splits, start=1):
        seen[test] += 1
        if (seen == 1).all():
            return splits[:number]
    return None
