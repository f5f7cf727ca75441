"""The page's sections about the chosen learner alone: which columns matter to it, and which rows it got wrong."""

from __future__ import annotations

from typing import Any

from .._presentation.canvas import shorten
from .._presentation.html import Markup, tag
from .elements import Cell, count, figure, grouped, table
from .error_measure import measure_of
from .figures_scores import importances
from .number_errors import in_digits
from .scores import chosen_of_facts
from .sections import Facts, section

#: Cells of a row that are shown, and letters of each.
_CELLS, _LETTERS = 6, 60


@section("columns", "Which columns matter", place=23, contents="Columns")
def which_columns_matter(facts: Facts) -> list[Any] | None:
    """How much worse the chosen learner becomes without a column."""
    chosen = chosen_of_facts(facts)
    picture = picture_of_importances(chosen, facts)
    if picture is None:
        return None
    words = (
        f"The values of one column at a time were shuffled among the test rows. The more {chosen['title']} errs then, "
        "the more it relies on that column. Columns that say the same share their importance."
    )
    return [tag("p", words), picture]


def picture_of_importances(one: Facts, facts: Facts) -> Markup | None:
    """The importances of a learner's columns as bars; nothing where they are not known."""
    found = one.get("importances")
    if not found:
        return None
    picture, left = importances(one, measure_of(facts))
    rest = f" {count(left, 'less important column is', 'less important columns are')} not shown." if left else ""
    return figure(picture, f"By how much the test error rises, ± one standard deviation over the shufflings.{rest}")


@section("wrong", "Which rows went wrong", place=26, contents="Wrong rows")
def which_rows_went_wrong(facts: Facts) -> list[Any] | None:
    """Test rows that the chosen learner got most wrong, with what they look like and what they resemble."""
    chosen = chosen_of_facts(facts)
    wrong = chosen.get("wrong_rows")
    if not wrong:
        return None
    numbers = facts.get("task") == "regress"
    near = any(one.get("nearest") for one in wrong)
    heads = ["row", *(["true", "predicted"] if numbers else ["true class", "answer", "score"])]
    heads += [*(["most similar rows it learned from"] if near else []), "what is in it"]
    rows = [
        [
            Cell(one["row"]),
            *_answers(one, numbers),
            *([Cell(_nearest(one.get("nearest") or [], numbers), look="words wrap")] if near else []),
            Cell(*_inside(one.get("cells") or {})),
        ]
        for one in wrong
    ]
    return [
        tag("p", _how_many(chosen, len(wrong), numbers)),
        table(heads, rows, caption=f"Test rows that {chosen['title']} got most wrong", words=len(heads),
              sortable=False),
    ]  # fmt: skip


def _how_many(chosen: Facts, shown: int, numbers: bool) -> str:
    look = "Look at them in the file: is the label right, is a cell odd, is a column missing that would tell?"
    if numbers:
        return f"The {count(shown, 'row')} with the largest errors. {look}"
    wrong, rows = chosen["test"]["wrong"], chosen["test"]["rows"]
    told = "" if shown >= wrong else f", of which {grouped(shown)} are here, the most wrong first"
    score = "Score: that of the true class less that of the answer; the farther below zero, the surer was the mistake."
    return f"{grouped(wrong)} of {count(rows, 'test row')} went wrong{told}. {score} {look}"


def _answers(one: Facts, numbers: bool) -> list[Cell]:
    if numbers:
        return [Cell(in_digits(one[key]).replace("-", "−"), look="n") for key in ("label", "answer")]
    score = one.get("score")
    return [
        Cell(one["label"]),
        Cell(one["answer"]),
        Cell("" if score is None else f"{score:.3g}".replace("-", "−"), look="n"),
    ]


def _nearest(items: list[Facts], numbers: bool) -> list[Markup]:
    """The rows it learned from that are most like this one: where they stand, their label, how similar."""
    labels = [one["label"] if not numbers or one["label"] is None else in_digits(one["label"]) for one in items]
    return [
        tag("div", f"{one['row']}{'' if label is None else f': {label}'} ({one['similarity']:.2f})")
        for one, label in zip(items, labels, strict=True)
    ]


def _inside(cells: Facts) -> tuple[str, None, str, str]:
    """The first cells of a row in words, and all of them on pointing at it."""
    shown = [f"{name} {_short(value)}" for name, value in cells.items()]
    more = f" and {len(shown) - _CELLS} more" if len(shown) > _CELLS else ""
    return ", ".join(shown[:_CELLS]) + more, None, "words wrap", ", ".join(shown)


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float) else shorten(value, _LETTERS)
