"""Products of columns that say nothing new: squares of 0 and 1, and products of two words of one category."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.compose import ColumnTransformer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import OneHotEncoder, PolynomialFeatures

from .._runtime.compile import Array

__all__ = ["categories_of", "repeats_a_column"]


def categories_of(steps: Iterable[Any]) -> dict[str, str]:
    """By the name of each column of 0 and 1 that fitted steps make of words, the column that it was made of.

    Examples
    --------
    >>> import pandas as pd
    >>> encoder = OneHotEncoder().fit(pd.DataFrame({"job": ["baker", "smith"]}))
    >>> categories_of([encoder])
    {'job_baker': 'job', 'job_smith': 'job'}
    """
    found = {}
    for encoder in _encoders(steps):
        columns = [str(name) for name in getattr(encoder, "feature_names_in_", [])]
        for name in encoder.get_feature_names_out() if columns else []:
            made_of = [column for column in columns if str(name).startswith(f"{column}_")]
            found[str(name)] = max(made_of, key=len)
    return found


def _encoders(steps: Iterable[Any]) -> Iterator[OneHotEncoder]:
    """The encoders of words among steps, and inside them."""
    for step in steps:
        if isinstance(step, OneHotEncoder):
            yield step
        elif isinstance(step, Pipeline):
            yield from _encoders(inside for _, inside in step.steps)
        elif isinstance(step, ColumnTransformer):
            yield from _encoders(inside for _, inside, _ in step.transformers_)


def repeats_a_column(expansion: PolynomialFeatures, names: Sequence[str], categories: dict[str, str]) -> Array:
    """Which products of an expansion are a column again, or zero in all rows.

    Parameters
    ----------
    expansion : PolynomialFeatures
        Fitted.
    names : sequence of str
        Of the columns that it multiplies.
    categories : dict
        See :func:`categories_of`.

    Examples
    --------
    >>> expansion = PolynomialFeatures(2, include_bias=False).fit([[0.5, 0.0, 1.0]])
    >>> names = ["age", "job_baker", "job_smith"]
    >>> repeated = repeats_a_column(expansion, names, {"job_baker": "job", "job_smith": "job"})
    >>> expansion.get_feature_names_out(names)[repeated].tolist()
    ['job_baker^2', 'job_baker job_smith', 'job_smith^2']
    """
    of = [categories.get(str(name)) for name in names]
    return np.array([_repeats(powers, of) for powers in expansion.powers_], dtype=bool)


def _repeats(powers: Array, of: Sequence[str | None]) -> bool:
    factors = [(of[place], power) for place, power in enumerate(powers.tolist()) if power]
    known = [category for category, _ in factors if category is not None]
    is_square = any(category is not None and power > 1 for category, power in factors)
    return is_square or len(set(known)) < len(known)
