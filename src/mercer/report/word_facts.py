"""Which words a column holds, and in rows of which class."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._runtime.compile import Array
from .plain import text

__all__ = ["commonest_words", "telling_words"]

#: Values of a category that are counted, words of a text, and the most different words that are looked at.
_VALUES, _WORDS, _LOOKED_AT = 8, 12, 5000


def commonest_words(column: Any, codes: Array, groups: int) -> list[dict[str, Any]]:
    """The commonest values of a column of words, each with its rows in every group.

    Examples
    --------
    >>> import pandas as pd
    >>> commonest_words(pd.Series(["a", "b", "a"]), np.array([0, 0, 1]), 2)
    [{'value': 'a', 'rows': 2, 'by_class': [1, 1]}, {'value': 'b', 'rows': 1, 'by_class': [1, 0]}]
    """
    counts = column.value_counts()
    counts = counts[counts > 0].head(_VALUES)
    return [
        {"value": text(value), "rows": int(rows), "by_class": _by_group(column == value, codes, groups)}
        for value, rows in counts.items()
    ]


def telling_words(column: Any, codes: Array, groups: int) -> list[dict[str, Any]]:
    """The words of a column of texts by which the groups differ most (χ²), each with its rows in every group.

    Examples
    --------
    >>> import pandas as pd
    >>> found = telling_words(pd.Series(["win a prize", "see you", "win now", "you there"]), np.array([1, 0, 1, 0]), 2)
    >>> [(one["value"], one["by_class"]) for one in found[:2]]
    [('win', [0, 2]), ('you', [2, 0])]
    """
    from sklearn.feature_extraction.text import CountVectorizer
    from sklearn.feature_selection import chi2

    counter = CountVectorizer(binary=True, max_features=_LOOKED_AT)
    try:
        found = counter.fit_transform(column.fillna("").astype(str))
    except ValueError:  # no text holds a word of two letters
        return []
    worth = np.nan_to_num(chi2(found, codes)[0]) if np.unique(codes).size > 1 else np.asarray(found.sum(axis=0)).ravel()
    words = counter.get_feature_names_out()
    ranked = np.argsort(-worth, kind="stable")[:_WORDS]
    rows = found.tocsc()
    return [
        {"value": text(words[k]), "rows": int(rows[:, [k]].sum()),
         "by_class": _by_group(rows[:, [k]].toarray().ravel() > 0, codes, groups)}
        for k in ranked
    ]  # fmt: skip


def _by_group(here: Any, codes: Array, groups: int) -> list[int]:
    """In how many rows of each group it is so; of all of them together where they are too many to tell apart."""
    here = np.asarray(here, dtype=bool)
    return np.bincount(codes[here], minlength=groups).tolist() if groups > 1 else [int(here.sum())]
