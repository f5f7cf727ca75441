"""Columns that give the target away: they follow from it, or it follows from them, and new rows may not have them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from .._runtime.compile import Array
from .._validation.guide import guide
from .._validation.wording import enumeration

if TYPE_CHECKING:
    from ..io import Table

__all__ = ["telling_columns"]

#: Rows that are looked at, at least and at most, and numeric columns that are looked at together.
_FEWEST, _MOST, _TOGETHER = 20, 5000, 100
#: Rows of a value on average, from which on it is no name of a row, and rows of other classes than the commonest.
_AGAIN, _OTHERS = 5, 5
#: What is left where a target is given away: of its variance and of its deviation, and of rows and of guessed mistakes.
_VARIANCE, _DEVIATION, _ROWS, _MISTAKES = 1e-3, 1e-4, 0.005, 0.05
#: Columns that are named as the parts of a target.
_PARTS = 4


def telling_columns(table: Table) -> list[str]:
    """A sentence about each column, and each few columns together, that all but say what the target is.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from mercer.io import Table
    >>> k = np.arange(60)
    >>> frame = pd.DataFrame({"day": k % 7, "children": k * 17 % 11, "adults": k * 23 % 13})
    >>> visits = Table("visits", frame, None, frame["children"] + frame["adults"], "visitors", asked="regress")
    >>> telling_columns(visits)[0].partition(":")[0]
    "'children' and 'adults' together give the target exactly, as a sum or difference"
    """
    if table.frame is None or table.y is None:
        return []
    rows = np.flatnonzero(table.labelled)
    if rows.size > _MOST:
        rows = np.sort(np.random.default_rng(0).choice(rows, _MOST, replace=False))
    if rows.size < _FEWEST:
        return []
    frame, y = table.frame.iloc[rows], np.asarray(table.y)[rows]
    looked = [*table.numeric_columns, *table.category_columns]
    if table.measured:
        y = y.astype(np.float64)
        if np.ptp(y) == 0:
            return []
        alone = [name for name in looked if _tells_number(frame[name], y, name in table.numeric_columns)]
        numbers = frame[[name for name in table.numeric_columns if name not in alone]]
        return [*(_one(name, "") for name in alone), *_parts(numbers, y)]
    codes, counts = np.unique(y, return_inverse=True, return_counts=True)[1:]
    guessed = 1 - counts.max() / codes.size
    if guessed * codes.size < _OTHERS:
        return []
    found = []
    for name in looked:
        missed = _missed(frame[name], codes, name in table.numeric_columns)
        if missed <= min(_ROWS, _MISTAKES * guessed):
            found.append(_one(name, " of every row" if missed == 0 else f" of {100 * (1 - missed):.1f} % of the rows"))
    return found


def _one(name: str, which: str) -> str:
    what = f"the class{which}" if which else "the target"
    return (
        f"Column {name!r} alone tells {what}: was it made from it, or known only with it? Then leave it out, with "
        f"--drop {guide('leakage')}."
    )


def _groups(column: Any) -> Array | None:
    """Which rows have the same value; ``None`` where values hardly come again."""
    import pandas as pd

    codes = pd.factorize(column, use_na_sentinel=False)[0]
    return codes if codes.max() + 1 <= codes.size / _AGAIN else None


def _missed(column: Any, codes: Array, numeric: bool) -> float:
    """The share of rows whose class a column does not tell, by its values or by thresholds on them."""
    groups, missed = _groups(column), 1.0
    if groups is not None:
        both = np.zeros((groups.max() + 1, codes.max() + 1))
        np.add.at(both, (groups, codes), 1)
        again = both.sum(axis=1) > 1
        missed = 1 - both[again].max(axis=1).sum() / codes.size
    if not numeric or column.isna().any():
        return float(missed)
    order = np.lexsort((codes, column.to_numpy()))
    values, sorted_codes = column.to_numpy()[order], codes[order]
    ends = np.flatnonzero(np.diff(sorted_codes))
    apart = ends.size == codes.max() and (values[ends] < values[ends + 1]).all()
    return 0.0 if apart and np.bincount(codes).min() >= _AGAIN else float(missed)


def _tells_number(column: Any, y: Array, numeric: bool) -> bool:
    groups = _groups(column)
    if groups is not None:
        sizes = np.bincount(groups)
        inside = y - (np.bincount(groups, weights=y) / sizes)[groups]
        if sizes.min() > 1 and np.mean(inside**2) <= _VARIANCE * y.var() / 10:
            return True
    if not numeric:
        return False
    known = column.notna().to_numpy()
    values, own = column.to_numpy(dtype=np.float64)[known], y[known]
    if values.size < _FEWEST or np.ptp(values) == 0 or np.ptp(own) == 0:
        return False
    return bool(abs(np.corrcoef(values / np.abs(values).max(), own / np.abs(own).max())[0, 1]) > 1 - _VARIANCE)


def _parts(numbers: Any, y: Array) -> Iterator[str]:
    """Few columns whose sum or difference, or else whose product or quotient, is the target."""
    rows = numbers.to_numpy(dtype=np.float64)
    whole = np.isfinite(rows).all(axis=1)
    rows, y, width = rows[whole], y[whole], rows.shape[1]
    if not 1 < width <= _TOGETHER or len(rows) < max(_FEWEST, _AGAIN * width) or np.ptp(y) == 0:
        return
    names = np.array(numbers.columns, dtype=object)
    parts = _involved(rows, y)
    if 1 < parts.size <= _PARTS:
        yield _together(names[parts], "a sum or difference")
        return
    positive = np.flatnonzero((rows > 0).all(axis=0))
    if positive.size > 1 and (y > 0).all():
        parts = positive[_involved(np.log(rows[:, positive]), np.log(y))]
        if 1 < parts.size <= _PARTS:
            yield _together(names[parts], "a product or quotient")


def _together(names: Array, how: str) -> str:
    return (
        f"{enumeration(map(repr, names))} together give the target exactly, as {how}: if new rows have them there is "
        f"nothing to learn, and if not leave one out, with --drop {guide('leakage')}."
    )


def _involved(rows: Array, y: Array) -> Array:
    """The columns of which the target is a weighted sum; none where it is not."""
    varying = np.flatnonzero(np.ptp(rows, axis=0) > 0)
    centred = (rows[:, varying] - rows[:, varying].mean(axis=0)) / rows[:, varying].std(axis=0)
    target = (y - y.mean()) / y.std() if y.std() else y - y.mean()
    weights = np.linalg.lstsq(centred, target, rcond=1e-10)[0]
    if np.std(target - centred @ weights) > _DEVIATION:
        return varying[:0]
    return varying[np.abs(weights) > 10 * _DEVIATION]
