"""The page's section about answers class by class: precision and recall, curves, and whether probabilities are true."""

from __future__ import annotations

from typing import Any

from .._presentation.html import Markup, tag
from .._validation.wording import enumeration
from .elements import Cell, count, figure, grouped, table
from .error_measure import percent
from .figures_scores import calibration_curve, precision_recall_curve, roc_curve
from .scores import chosen_of_facts, score_between, score_in_words
from .sections import Facts, section

#: Classes that are listed; of more, those that are found least.
_LISTED = 40
#: Titles of scikit-learn's scores.
_TITLES = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "roc_auc": "AUC (area under the ROC curve)",
    "roc_auc_ovr": "AUC, each class against the rest",
    "average_precision": "average precision",
    "f1": "F1",
    "f1_macro": "macro-averaged F1",
    "matthews_corrcoef": "Matthews correlation",
    "neg_log_loss": "log loss",
    "r2": "R²",
    "neg_mean_absolute_error": "mean absolute error",
    "neg_root_mean_squared_error": "RMSE",
}


@section("classes", "Class by class", place=24, task="classify")
def class_by_class(facts: Facts) -> list[Any] | None:
    """How well the chosen learner finds each class, and at which price."""
    chosen = chosen_of_facts(facts)
    if not chosen.get("by_class") and not chosen.get("curves"):
        return None
    return [*by_class(chosen), _scores(chosen), _curves(chosen, facts)]


def by_class(one: Facts) -> list[Any]:
    """Precision and recall of each class; nothing where they are not known."""
    found = one.get("by_class")
    if not found:
        return []
    never = [row["label"] for row in found if not row["answered"]]
    said = f"{one['title']} never answers {enumeration(never, 6)}. " if never else ""
    listed = found if len(found) <= _LISTED else sorted(found, key=lambda row: row["recall"] or 0)[:_LISTED]
    rows = [
        [
            row["label"],
            Cell(grouped(row["rows"]), row["rows"]),
            Cell(grouped(row["answered"]), row["answered"]),
            *(_share(row.get(key)) for key in ("precision", "recall", "f1")),
        ]
        for row in listed
    ]
    part = "" if len(listed) == len(found) else f"; the {_LISTED} of {grouped(len(found))} that are found least"
    heads = ["class", "test rows", "answered", "precision", "recall", "F1"]
    return [
        tag("p", said, "Precision: of the rows answered so, the share that is. Recall: of the rows of the class, the "
            "share that is found. F1: the mean of both that is low where either is."),
        table(heads, rows, caption=f"{one['title']} on the test rows{part}"),
    ]  # fmt: skip


def _share(value: float | None) -> Cell:
    return Cell("—", -1) if value is None else Cell(percent(value, 1), value)


def _scores(one: Facts) -> Markup | None:
    """All scores on the test rows."""
    found = one.get("scores")
    if not found:
        return None
    rows = [
        [_TITLES.get(name, name.replace("_", " ")), Cell(score_in_words(name, score["value"]), score["value"]),
         Cell(score_between(name, score))]
        for name, score in found.items()
    ]  # fmt: skip
    whole = table(["score", "on test rows", "95 % interval"], rows, caption=f"Scores of {one['title']}", sortable=False)
    return tag("details", tag("summary", f"{count(len(rows), 'score')} of the chosen learner"), whole)


def _curves(one: Facts, facts: Facts) -> Markup | None:
    """What thresholds can do, and whether probabilities are true."""
    curves = one.get("curves")
    if not curves:
        return None
    others = [other for other in facts["learners"] if other is not one and other.get("curves")]
    thin = " Thin lines: the other learners." if others else ""
    positive = facts["data"]["classes"][1]["label"]
    return tag(
        "div",
        figure(roc_curve(one, others), f"ROC: how many rows of “{positive}” are found, and how many others are taken "
               f"for it, as the threshold moves.{thin}"),
        figure(precision_recall_curve(one, others), f"The price of finding more of “{positive}”: how many of those "
               "answered so really are."),
        figure(calibration_curve(one), "Whether probabilities are true: of rows with this probability, the share that "
               "is. On the line they are.") if curves.get("calibration") else None,
        class_="pair",
    )  # fmt: skip
