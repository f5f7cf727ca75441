"""What the features that reach a machine are called, in the words of the user's table."""

from __future__ import annotations

from typing import Any

from sklearn.preprocessing import OneHotEncoder

from .._validation.objects import is_missing
from .._validation.unwrapped import feature_names, parts_of, steps_before

__all__ = ["feature_words"]

_MISSING = "missingindicator_"


def feature_words(model: Any) -> list[str]:
    """The names of the features that reach the machine of a fitted model; none where they have no names.

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer import SVC
    >>> from mercer import read
    >>> from mercer.preprocess import pipeline
    >>> table = read(pd.DataFrame({"age": [31, None, 54], "job": ["cook", None, "smith"], "ill": [0, 0, 1]}))
    >>> feature_words(pipeline(table, SVC()).fit(table.X, table.y))
    ['age', 'age is missing', 'job = cook', 'job = smith', 'job is missing']
    """
    known: dict[str, str] = {}
    for part in (part for step in steps_before(model) for part in parts_of(step)):
        if isinstance(part, OneHotEncoder) and hasattr(part, "feature_names_in_"):
            for column, words in zip(part.feature_names_in_, part.categories_, strict=True):
                known |= {f"{column}_{word}": f"{column} = {word}" for word in words if not is_missing(word)}
                known |= {f"{column}_{word}": f"{column} is missing" for word in words if is_missing(word)}
                known[f"{column}_infrequent_sklearn"] = f"{column} is a rare word"
    return [
        f"{name.removeprefix(_MISSING)} is missing" if name.startswith(_MISSING) else known.get(name, name)
        for name in feature_names(model)
    ]
