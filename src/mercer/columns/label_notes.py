"""What is odd about the labels of a target, in plain sentences."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from .._validation.wording import enumeration
from .column_names import says_identifier

__all__ = ["about_labels"]

#: Rows from which on it means something that all values differ, and pairs of labels that are named.
_ENOUGH, _NAMED = 20, 3


def about_labels(target: str, labels: Iterable[Any]) -> list[str]:
    """A sentence where classes differ only in how they are written, and one where the target numbers the rows.

    Parameters
    ----------
    target : str
        The name of the column.
    labels : iterable
        Those that are not missing.

    Returns
    -------
    list of str

    Examples
    --------
    >>> about_labels("ill", ["Yes", "no", "yes", "no"])
    ["The classes 'Yes' and 'yes' differ only in capitals or spaces; if they are one, write them alike."]
    >>> about_labels("id", range(1001, 1041))
    ["The target 'id' has another value in each of 40 rows and is named like an identifier; --target names another."]
    """
    count, different = _different(labels)
    said = []
    alike: dict[str, list[str]] = {}
    for label in different:
        if isinstance(label, (str, np.str_)):
            alike.setdefault("".join(label.casefold().split()), []).append(str(label))
    same = [words for words in alike.values() if len(words) > 1]
    if same and len(different) < count:
        named = "; ".join(enumeration(map(repr, words)) for words in same[:_NAMED])
        said.append(f"The classes {named} differ only in capitals or spaces; if they are one, write them alike.")
    if count >= _ENOUGH and len(different) == count and says_identifier(target):
        said.append(
            f"The target {target!r} has another value in each of {count:,} rows and is named like an identifier; "
            "--target names another."
        )
    return said


def _different(labels: Iterable[Any]) -> tuple[int, list[Any]]:
    """How many labels there are, and the different ones."""
    if isinstance(labels, np.ndarray):
        return labels.size, np.unique(labels).tolist()
    count = 0
    found: dict[Any, None] = {}
    for label in labels:
        found[label] = None
        count += 1
    return count, list(found)
