"""One collection of items in the several forms that the parts of an expression work on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


class Parts:
    """The same items in one form for each part of an expression, in the order of the parts.

    A sum of a kernel on strings and a kernel on sets looks at the same items twice, each time prepared differently. An
    expression whose parts all work on rows of numbers, or all on strings, needs no forms: its parts share the items.

    Examples
    --------
    >>> both = Parts([["ab", "c", "d"], [1, 2, 3]])
    >>> len(both), both[:2].forms
    (3, (['ab', 'c'], [1, 2]))
    """

    def __init__(self, forms: Iterable[Any]) -> None:
        self.forms = tuple(forms)

    def __len__(self) -> int:
        return length(self.forms[0])

    def __getitem__(self, places: Any) -> Parts:
        return Parts(form[places] for form in self.forms)


def part_of(items: Any, position: int) -> Any:
    """The items in the form of one part; items that all parts share, as they are."""
    return items.forms[position] if isinstance(items, Parts) else items


def length(items: Any) -> int:
    """How many items a collection holds."""
    return items.shape[0] if hasattr(items, "shape") else len(items)
