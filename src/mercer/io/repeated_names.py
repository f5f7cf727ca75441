"""Columns of one name, told apart."""

from __future__ import annotations

from collections.abc import Sequence

from .._validation.wording import enumeration

__all__ = ["told_apart"]


def told_apart(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """The names, those that come again with a number behind them, and a note where there are such.

    Parameters
    ----------
    names : sequence of str

    Returns
    -------
    names, notes : list of str

    Examples
    --------
    >>> told_apart(["size", "age", "size"])
    (['size', 'age', 'size.2'], ["A column has the name of an earlier one and is called 'size.2'."])
    """
    found: list[str] = []
    again: list[str] = []
    taken, seen = set(names), set[str]()
    for name in names:
        if name in seen:
            count = 2
            while f"{name}.{count}" in taken:
                count += 1
            name = f"{name}.{count}"
            taken.add(name)
            again.append(name)
        seen.add(name)
        found.append(name)
    if not again:
        return found, []
    which, called = ("A column has", "is") if len(again) == 1 else (f"{len(again)} columns have", "are")
    return found, [f"{which} the name of an earlier one and {called} called {enumeration(map(repr, again), 5)}."]
