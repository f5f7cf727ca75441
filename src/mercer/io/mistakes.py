"""Columns of numbers with a few mistakes in them, rather than columns of categories."""

from __future__ import annotations

from .table import DataError

__all__ = ["refuse_few_mistakes"]

#: Of so many cells at least, fewer than this share that are no numbers are mistakes.
_ENOUGH, _FEW = 20, 0.05


def refuse_few_mistakes(place: str, name: str, shown: str, wrong: int, right: int) -> None:
    """Raise where nearly all cells of a column are numbers.

    Parameters
    ----------
    place : str
        Where the first cell stands that is no number.
    name : str
        Of the column.
    shown : str
        That cell.
    wrong, right : int
        Cells that are no numbers, and that are.

    Examples
    --------
    >>> refuse_few_mistakes("'a.csv', line 2", "age", "x", wrong=7, right=30)
    >>> refuse_few_mistakes("'a.csv', line 2", "age", "x", wrong=1, right=30)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    mercer.io.table.DataError: 'a.csv', line 2, column 'age': 'x' is not a number, but the other 30 cells are; ...
    """
    if wrong + right < _ENOUGH or wrong > _FEW * (wrong + right):
        return
    others = f" and {wrong - 1} more" if wrong > 1 else ""
    raise DataError(
        f"{place}, column {name!r}: {shown!r}{others} is not a number, but the other {right} cells are; correct it, "
        f"name it as a word for missing (--missing), or read the column as categories (--as {name!r}=category)."
    )
