"""What a learner may stumble over in a table, each in a plain sentence."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from .._validation.guide import guide
from .._validation.target_kind import is_measurement, looks_in_words
from .._validation.wording import counted, enumeration
from .target_caveats import about_numbers

if TYPE_CHECKING:
    from ..io import Table
    from .facts import ColumnFacts, Description

__all__ = ["caveats"]


def caveats(found: Description, table: Table) -> list[str]:
    """Warnings about a described table, the gravest first."""
    about_columns = _about_columns(found, table) if found.kind == "rows" else ()
    about_target = about_numbers(found, table) if table.measured else _about_labels(found, table)
    return [*found.telling, *about_target, *_about_rows(found), *about_columns]


def _about_labels(found: Description, table: Table) -> Iterator[str]:
    labelled = sum(found.classes.values())
    if not labelled:
        return
    largest, count = max(found.classes.items(), key=lambda pair: pair[1])
    smallest, few = min(found.classes.items(), key=lambda pair: pair[1])
    if len(found.classes) == 1:
        yield f"All rows have the same label, {largest!r}: there is nothing to learn."
    elif table.y is not None and is_measurement(table.y[table.labelled]):
        yield f"Learners would refuse this: {looks_in_words(found.target, table.y[table.labelled])}."
    else:
        if count >= 0.8 * labelled:
            yield (
                f"The classes are unequal: always answering {largest!r} is right in {100 * count / labelled:.1f} % of "
                "the rows, so judge a learner against that."
            )
        if few < 10:
            there = counted(few, found.kind.removesuffix("s"))
            yield f"Class {smallest!r} has only {there}: too few to learn from, or to test on."


def _about_rows(found: Description) -> Iterator[str]:
    features = len(found.columns)
    one, many = found.kind.removesuffix("s"), found.kind
    if found.rows < 50:
        there = counted(found.rows, one)
        yield f"There {'is' if found.rows == 1 else 'are'} only {there}: errors measured on so few say little."
    if found.kind == "rows" and features > found.rows:
        yield f"There are more columns ({features}) than rows ({found.rows}): almost any learner will fit them exactly."
    if found.contradictions:
        contradictory = counted(found.contradictions, f"{one} has", f"{many} have")
        other, right = ("label", "right") if found.task == "classify" else ("value of the target", "exact")
        yield f"{contradictory} an equal {one} with another {other}: no learner can be {right} on all."
    if found.duplicates:
        yield (
            f"{counted(found.duplicates, f'{one} repeats', f'{many} repeat')} an earlier one: if copies fall into both "
            f"training and test {many}, the test error is too good {guide('leakage')}."
        )
    for rule, report in found.outliers.items():
        if rule != "iqr" or report.dropped < 20 or len(report.by_class) < 2:
            continue
        label, (gone, count) = max(report.by_class.items(), key=lambda pair: pair[1][0])
        if gone / report.dropped > count / report.rows + 0.15:
            yield (
                f"Of {report.dropped} outliers {gone} are of class {label}: an outlier filter would remove mostly that "
                "class."
            )


def _about_columns(found: Description, table: Table) -> Iterator[str]:
    holes = [column.name for column in found.columns if column.missing and column.distinct]
    if holes:
        yield (
            f"{enumeration(map(repr, holes), 5)} {'has' if len(holes) == 1 else 'have'} missing values: numbers are "
            "filled with their median and a column says where, missing words are a category of their own; --impute "
            "none refuses them, --drop leaves columns out."
        )
    nothing = {name: why for name, why in found.left_out.items() if why in ("only one value", "no values")}
    for name, why in nothing.items():
        yield f"Column {name!r} has {why} and is left out."
    for column in found.columns:
        yield from _about_column(column, found.rows, table)
    for first, others in found.correlated.items():
        same = enumeration(map(repr, others), 5)
        say = "says" if len(others) == 1 else "say"
        yield f"{same} {say} almost the same as {first!r}; --correlation 0.95 keeps only the first."
    spreads = [column.std for column in found.columns if column.std]
    if len(spreads) > 1 and max(spreads) > 100 * min(spreads):
        yield (
            "The columns have very different scales: standardise them, as 'mercer train' does by default "
            f"{guide('scaling columns')}."
        )


def _about_column(column: ColumnFacts, rows: int, table: Table) -> Iterator[str]:
    name = f"Column {column.name!r}"
    here = rows - column.missing
    if column.distinct == 0:
        yield f"{name} is empty and will be left out."
    elif column.distinct == 1 and not column.missing:
        yield f"{name} has the same value in every row and tells nothing."
    elif column.missing > 0.5 * rows:
        yield f"{name} has no value in {100 * column.missing / rows:.0f} % of the rows."
    elif column.kind == "words" and column.distinct > max(20, 0.5 * here):
        yield (
            f"{name} has a different word in most rows: an identifier or free text? Leave it out with --drop, or "
            f'compare its texts with --kernel "spectrum(p=3).on({column.name!r})".'
        )
    elif column.kind == "words" and column.distinct > 100:
        yield f"{name} has {column.distinct} different words, each of which becomes a column."
    elif column.kind == "numbers" and rows > 20 and _counts_up(column, table):
        yield f"{name} numbers the rows: leave it out with --drop."
    elif column.skew is not None and abs(column.skew) > 5:
        side = "right" if column.skew > 0 else "left"
        yield f"{name} is very skewed to the {side} (skew {column.skew:.1f}): a logarithm may help."


def _counts_up(column: ColumnFacts, table: Table) -> bool:
    if table.frame is None or column.distinct != table.n_rows:
        return False
    return bool((np.diff(table.frame[column.name].to_numpy()) == 1).all())
