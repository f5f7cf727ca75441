"""Fitted steps of a pipeline as nodes: what each makes of the columns, or of the numbers, before it."""

from __future__ import annotations

import warnings
from functools import singledispatch
from typing import Any

import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    PolynomialFeatures,
    RobustScaler,
    StandardScaler,
)

from ..checks import is_missing
from ..composition import Branch, branches
from ..io import DataError
from ..preprocess import SIZES, Constant, CorrelationFilter, DateParts, ReadColumns, Standardised, Texts
from ..preprocess import Clipped as ClippedNumbers
from ..preprocess import Filled as FilledColumns
from ..preprocess import Numbers as NumberColumns
from ..runtime import Array
from .computation import (
    Beside,
    Clipped,
    Filled,
    Gaps,
    Monomials,
    Node,
    OneHot,
    Ones,
    Picked,
    Scaled,
    TextCounts,
    numbers_of,
)
from .inputs import Cell, Cells, Inputs, numbered

Given = Node | Cells
_NAMES = (
    "ColumnTransformer, MaxAbsScaler, MinMaxScaler, OneHotEncoder, PolynomialFeatures, RobustScaler, SimpleImputer, "
    "StandardScaler and the steps of mercer that keep, scale, fill or add columns"
)


def changes_nothing(step: Any) -> bool:
    """Whether a step of a pipeline gives rows on as they are."""
    if isinstance(step, Pipeline):
        return all(changes_nothing(each) for _, each in step.steps)
    return step is None or (isinstance(step, str) and step == "passthrough")


def columns_before(step: Any) -> Cells | None:
    """The columns that a fitted step takes; ``None`` where it does not know."""
    while isinstance(step, Pipeline):
        step = next((each for _, each in step.steps if each not in (None, "passthrough")), None)
    names = getattr(step, "columns_", getattr(step, "feature_names_in_", None))
    count: Any = getattr(step, "n_features_in_", None)
    if names is None and count is None:
        return None
    if names is None or not all(isinstance(name, str) for name in names):
        return numbered(int(count) if names is None else len(names))
    return Cells(tuple(Cell(str(name)) for name in names))


def _name(column: Any) -> str:
    return column if isinstance(column, str) else f"x{column}"


@singledispatch
def prepared(step: Any, given: Given, inputs: Inputs) -> Given:
    """What a fitted step makes of the columns or numbers before it."""
    parts = branches(step)
    if not parts:
        raise DataError(f"the step {type(step).__name__} cannot be exported; these can: {_NAMES}.")
    made = (_branch(each, given, inputs) for each in parts if each.places != [])
    return Beside(tuple(made))


def _branch(branch: Branch, given: Given, inputs: Inputs) -> Node:
    """What one of several transformers makes of its columns."""
    if branch.places is not None:
        given = given.picked(branch.places) if isinstance(given, Cells) else Picked(given, tuple(branch.places))
    node = inputs.rows(prepared(branch.step, given, inputs))
    return node if branch.weight is None else _scaled(node, times=branch.weight)


@prepared.register
def _(step: None, given: Given, inputs: Inputs) -> Given:
    return given


@prepared.register
def _(step: str, given: Given, inputs: Inputs) -> Given:
    return given  # "passthrough"


@prepared.register
def _(step: DateParts, given: Given, inputs: Inputs) -> Given:
    raise _unreadable(given, "dates")


@prepared.register
def _(step: Texts, given: Given, inputs: Inputs) -> Given:
    place, units = inputs.text(given), zip(step.counted_units, step.terms_, step.importance_, strict=True)
    length = float(step.weight / np.sqrt(len(step.counted_units)))
    counts = (
        TextCounts(place, unit, SIZES[unit], tuple(terms.tolist()), numbers_of(importance), length, step.case)
        for unit, terms, importance in units
    )
    return Beside(tuple(counts))


def _unreadable(given: Given, what: str) -> DataError:
    name = given.names[0] if isinstance(given, Cells) else ""
    return DataError(
        f"column {name!r} holds {what}, which an exported model does not read; train without it (--drop {name!r}), or "
        "keep this model as a model file."
    )


@prepared.register
def _(step: FunctionTransformer, given: Given, inputs: Inputs) -> Given:
    if step.func is not None:
        raise DataError(f"a FunctionTransformer calls Python code, which no file can hold; these can: {_NAMES}.")
    return given  # what a ColumnTransformer makes of "passthrough"


@prepared.register
def _(step: Pipeline, given: Given, inputs: Inputs) -> Given:
    for _, each in step.steps:
        given = prepared(each, given, inputs)
    return given


@prepared.register
def _(step: ReadColumns, given: Given, inputs: Inputs) -> Given:
    return given


@prepared.register
def _(step: NumberColumns, given: Given, inputs: Inputs) -> Given:
    return inputs.rows(inputs.chosen(given, list(map(_name, step.columns_.tolist()))))


@prepared.register
def _(step: FilledColumns, given: Given, inputs: Inputs) -> Given:
    assert isinstance(given, Cells)
    for name, kind in zip(step.columns_, step.kinds_, strict=True):
        if kind in ("dates", "texts"):
            raise _unreadable(inputs.chosen(given, [name]), kind)
    columns = zip(step.kinds_, step.medians_.tolist(), strict=True)
    values = ["missing" if kind == "words" else median for kind, median in columns]
    chosen = inputs.chosen(given, step.columns_)
    assert isinstance(chosen, Cells)
    return chosen.filled(values)


@prepared.register
def _(step: CorrelationFilter, given: Given, inputs: Inputs) -> Given:
    return Picked(inputs.rows(given), tuple(step.kept_.tolist()))


@prepared.register
def _(step: Constant, given: Given, inputs: Inputs) -> Given:
    return Beside((inputs.rows(given), Ones()))


# -- numbers ------------------------------------------------------------------------------------------------------


def _scaled(node: Node, minus: Any = 0.0, times: Any = 1.0, plus: Any = 0.0) -> Node:
    """(x − minus)·times + plus, by a number for each column or one for all."""
    return Scaled(node, *(numbers_of(np.broadcast_to(each, node.width)) for each in (minus, times, plus)))


@prepared.register
def _(step: StandardScaler, given: Given, inputs: Inputs) -> Given:
    minus = 0.0 if step.mean_ is None or not step.with_mean else step.mean_
    return _scaled(inputs.rows(given), minus, 1.0 if step.scale_ is None else 1.0 / step.scale_)


@prepared.register
def _(step: Standardised, given: Given, inputs: Inputs) -> Given:
    # Bounds are one pair of numbers for all columns: a column that reaches farther is brought to them and back.
    more = step.reach_ / step.limit
    node = Clipped(
        _scaled(inputs.rows(given), step.mean_, 1.0 / (step.scale_ * more)), -float(step.limit), float(step.limit)
    )
    return node if (more == 1).all() else _scaled(node, times=more)


@prepared.register
def _(step: MaxAbsScaler, given: Given, inputs: Inputs) -> Given:
    node = _scaled(inputs.rows(given), times=1.0 / step.scale_)
    return Clipped(node, -1.0, 1.0) if getattr(step, "clip", False) else node


@prepared.register
def _(step: ClippedNumbers, given: Given, inputs: Inputs) -> Given:
    return Clipped(inputs.rows(given), -float(step.limit), float(step.limit))


@prepared.register
def _(step: MinMaxScaler, given: Given, inputs: Inputs) -> Given:
    node = _scaled(inputs.rows(given), times=step.scale_, plus=step.min_)
    return Clipped(node, *map(float, step.feature_range)) if step.clip else node


@prepared.register
def _(step: RobustScaler, given: Given, inputs: Inputs) -> Given:
    minus = 0.0 if step.center_ is None else step.center_
    return _scaled(inputs.rows(given), minus, 1.0 if step.scale_ is None else 1.0 / step.scale_)


@prepared.register
def _(step: PolynomialFeatures, given: Given, inputs: Inputs) -> Given:
    factors = [tuple(np.repeat(np.arange(len(row)), row).tolist()) for row in step.powers_]
    return Monomials(inputs.rows(given), tuple(factors))


@prepared.register
def _(step: SimpleImputer, given: Given, inputs: Inputs) -> Given:
    statistics = step.statistics_
    if isinstance(given, Cells) and statistics.dtype.kind in "OU":
        if step.add_indicator or not all(isinstance(value, str) for value in statistics):
            raise DataError("a SimpleImputer of words with add_indicator, or of mixed columns, cannot be exported.")
        if not is_missing(step.missing_values):
            raise DataError(
                f"a SimpleImputer of words with missing_values={step.missing_values!r} cannot be exported; replace "
                "that word by None before training, and leave missing_values as it is."
            )
        return given.filled(statistics.tolist())
    if not is_missing(step.missing_values) and not isinstance(step.missing_values, (int, float)):
        raise DataError(f"a SimpleImputer of missing_values={step.missing_values!r} cannot be exported; NaN can.")
    rows = inputs.rows(given)
    marker = np.nan if is_missing(step.missing_values) else float(step.missing_values)
    values = numbers_of(statistics)
    kept = np.arange(values.size) if step.keep_empty_features else np.flatnonzero(~np.isnan(values))
    chosen = rows if kept.size == values.size else Picked(rows, tuple(kept.tolist()))
    filled: Node = Filled(chosen, values[kept], marker)
    if not step.add_indicator:
        return filled
    return Beside((filled, Gaps(rows, tuple(step.indicator_.features_.tolist()), marker)))


# -- words --------------------------------------------------------------------------------------------------------


@prepared.register
def _(step: OneHotEncoder, given: Given, inputs: Inputs) -> Given:
    if not isinstance(given, Cells):
        raise DataError("a OneHotEncoder behind steps that change numbers cannot be exported; let it see the columns.")
    parts = []
    for column, (cell, levels) in enumerate(zip(given.cells, step.categories_, strict=True)):
        level = inputs.level(cell, levels.tolist())
        hot, unknown, count = _places_of_ones(step, column)
        parts.append(OneHot(level, hot, unknown, count))
    return Beside(tuple(parts))


def _places_of_ones(step: OneHotEncoder, column: int) -> tuple[Array, int, int]:
    """Where the 1 of each level stands, and of a level that is not known; found by asking the encoder itself."""
    levels = step.categories_[column].tolist()
    first = [each[0] for each in step.categories_]
    rows = np.array([[*first[:column], level, *first[column + 1 :]] for level in levels], dtype=object)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        names = _without_names(step)
        of_known = _block(names, rows, column)
        unknown = -2
        if step.handle_unknown != "error":
            rows = rows[:1].copy()
            rows[0, column] = _strange(levels)
            unknown = int(_hot(_block(names, rows, column))[0])
    return _hot(of_known), unknown, of_known.shape[1]


def _without_names(step: OneHotEncoder) -> Any:
    """The encoder's own transformation of an array, whatever the columns were called."""
    import copy

    plain = copy.copy(step)
    plain.__dict__.pop("feature_names_in_", None)
    return plain.set_output(transform="default")


def _block(step: Any, rows: Array, column: int) -> Array:
    """The part of the codes that belongs to one column."""
    ends = np.cumsum([0, *step._n_features_outs])
    codes = step.transform(rows)
    dense = codes.toarray() if hasattr(codes, "toarray") else np.asarray(codes)
    return dense[:, ends[column] : ends[column + 1]]


def _hot(codes: Array) -> Array:
    return np.where(codes.any(axis=1), codes.argmax(axis=1) if codes.shape[1] else 0, -1).astype(np.int64)


def _strange(levels: list[Any]) -> Any:
    """A word, or a number, that none of the levels is."""
    if any(isinstance(level, str) for level in levels):
        return "-" + "".join(level for level in levels if isinstance(level, str))
    return float(np.nanmax([level for level in levels if level is not None], initial=0.0)) + 1.0
