"""Cells of JSON that hold several values: lists of words are texts, other lists are none of a table's kinds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

__all__ = ["without_lists"]


def without_lists(name: str, values: Sequence[Any]) -> tuple[list[Any], list[str]]:
    """A column without lists and objects in its cells, and what is to be said of it; no cells where it is left out.

    A list among single values is a mistake, and stays.

    Parameters
    ----------
    name : str
        Of the column.
    values : sequence
        As JSON holds them.

    Returns
    -------
    values : list
    notes : list of str

    Examples
    --------
    >>> without_lists("tags", [["red", "big"], None, ["blue"]])[0]
    ['red big', None, 'blue']
    >>> without_lists("place", [[52.5, 13.4], [48.1, 11.6]])
    ([], ["'place' holds lists or objects, which are no single values, and is left out."])
    """
    several = [value for value in values if value is not None]
    if not several or not all(isinstance(value, (list, dict)) for value in several):
        return list(values), []
    if all(isinstance(value, list) and all(isinstance(each, str) for each in value) for value in several):
        texts = [" ".join(value) or None if isinstance(value, list) else value for value in values]
        return texts, [
            f"{name!r} holds lists of words, each read as one text; --as {name!r}=text compares them by their words."
        ]
    return [], [f"{name!r} holds lists or objects, which are no single values, and is left out."]
