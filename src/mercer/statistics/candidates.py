"""What the tests compare items by: those of two samples as one collection, and the kernels that suit them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy import sparse

from ..checks.parameters import is_whole, shown
from ..checks.tables import refuse_no_rows
from ..estimators.training import refuse_unusable
from ..io.frames import is_frame, read_frame
from ..io.table import Options, Table
from ..kernels import Gaussian, Kernel, as_kernel
from ..kernels.engine.tiles import length
from ..learners.suitability import kernels_for

__all__ = ["as_collection", "candidates", "check_permutations", "pooled", "prepared_rows"]


def check_permutations(permutations: Any) -> None:
    """Refuse what is no number of permutations."""
    if not (is_whole(permutations) and 1 <= permutations <= 10**7):
        raise ValueError(f"permutations must be a whole number of at least 1, got {shown(permutations)}.")


def as_collection(X: Any, name: str = "X") -> Any:
    """Items as they were given; numbers one after another as rows of one column."""
    refuse_no_rows(X, name)
    if hasattr(X, "to_numpy") and len(getattr(X, "shape", ())) == 1:  # one column of a frame
        X = X.to_numpy()
    plain = X if hasattr(X, "ndim") else np.asarray(X) if _are_numbers(X) else None
    if plain is not None and getattr(plain, "ndim", 2) == 1 and getattr(plain.dtype, "kind", "O") in "biuf":
        return np.asarray(plain)[:, None]
    return X


def _are_numbers(X: Any) -> bool:
    return isinstance(X, (list, tuple)) and all(isinstance(x, (int, float, np.number)) for x in X)


def pooled(X: Any, Y: Any) -> tuple[Any, int, int]:
    """Both samples, one after the other, and their sizes."""
    X, Y = as_collection(X), as_collection(Y, "Y")
    if is_frame(X) != is_frame(Y):
        raise ValueError("one sample is a frame and the other is not; give both as frames, or both as arrays.")
    n, m = length(X), length(Y)
    if is_frame(X):
        return _stacked_frames(X, Y), n, m
    if sparse.issparse(X) or sparse.issparse(Y) or (hasattr(X, "shape") and hasattr(Y, "shape")):
        if np.ndim(X) == 2 and np.ndim(Y) == 2 and X.shape[1] != Y.shape[1]:
            raise ValueError(f"X has {X.shape[1]} columns and Y has {Y.shape[1]}; both samples need the same columns.")
        both = sparse.vstack([X, Y], format="csr") if sparse.issparse(X) or sparse.issparse(Y) else None
        return np.concatenate([X, Y]) if both is None else both, n, m
    return [*X, *Y], n, m


def _stacked_frames(X: Any, Y: Any) -> Any:
    import pandas as pd

    frames = [each if hasattr(each, "iloc") else each.to_pandas() for each in (X, Y)]
    names = [list(map(str, frame.columns)) for frame in frames]
    same_columns(*names)
    frames = [frame.set_axis(own, axis=1) for frame, own in zip(frames, names, strict=True)]
    return pd.concat([frames[0], frames[1][names[0]]], ignore_index=True)


def same_columns(first: list[str], second: list[str]) -> None:
    """Refuse columns of two samples that are not the same, each once."""
    for names in (first, second):
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f"two columns are called {twice!r}; give each a name of its own.")
    if other := sorted(set(first) ^ set(second)):
        raise ValueError(f"the column {other[0]!r} is in one sample alone; both need the same columns.")


def prepared_rows(table: Table) -> tuple[Any, Any]:
    """A table as rows of numbers, and the fitted steps that made them: scaled numbers, categories, dates, words.

    The steps learn from all rows of both samples alike, so that they favour none.
    """
    from ..tables.base import prepared

    steps = prepared(table)
    return steps.fit_transform(table.X), steps


#: Lengths of the Gaussians that are tried, in units of the median distance of two rows.
LENGTHS = (2.0, 0.5, 0.125)


def candidates(
    kernel: Any, items: Any, rng: np.random.Generator, lengths: tuple[float, ...] = LENGTHS
) -> tuple[list[Kernel], Any]:
    """The kernels to try, each with numbers for all of its parameters, and the items in the form that they work on.

    Parameters
    ----------
    kernel : kernel, text, callable, a list of these, or None
        ``None``: of rows, Gaussians of several lengths around the median distance; of strings, sets and graphs the
        kernels that suit them; columns of frames are prepared.
    items : collection
    rng : Generator
        Draws the items by which parameters are decided: at random, whichever sample they are of.
    lengths : tuple of float
    """
    if kernel is None:
        return _usual(items, rng, lengths)
    kernels = [as_kernel(each) for each in (kernel if isinstance(kernel, list) else [kernel])]
    if not kernels:
        raise ValueError("kernel is an empty list; name one kernel, or leave it out.")
    for each in kernels:
        if each.learns:
            raise ValueError(f"a test does not learn the weights of {each}; give the mixture weights.")
    collected = [each.items(items) for each in kernels]
    if len(kernels) > 1 and not all(each.on_rows for each in kernels):
        same = all(type(other) is type(collected[0]) and hasattr(other, "kind") for other in collected)
        if not same:
            raise ValueError("kernels that are tried together must work on the same kind of items; test them apart.")
    order = rng.permutation(length(collected[0]))
    resolved = [each if each.is_resolved else each.resolved(collected[0][order]) for each in kernels]
    for each in resolved:
        refuse_unusable(each, collected[0])
    return resolved, collected[0]


def _usual(items: Any, rng: np.random.Generator, lengths: tuple[float, ...]) -> tuple[list[Kernel], Any]:
    if is_frame(items):
        items = items if hasattr(items, "iloc") else items.to_pandas()
        if all(dtype.kind in "biuf" for dtype in items.dtypes) and not items.isna().any(axis=None):
            items = items.to_numpy(dtype=np.float64)
        else:
            items = prepared_rows(read_frame(items, Options(labelled=False)))[0]
    elif (kind := _kind_of(items)) is not None:
        collection = _collected(items, kind)
        return candidates(kernels_for(Table("items", None, items=collection, kind=kind)), collection, rng)
    items = Gaussian().items(items)
    gamma = float(Gaussian("median").resolved(items[rng.permutation(length(items))]).gamma)
    return [Gaussian(gamma / each**2) for each in lengths], items


def _kind_of(items: Any) -> str | None:
    """What items are that are no rows of numbers."""
    kind = getattr(items, "kind", None)
    if isinstance(kind, str):
        return kind
    if hasattr(items, "shape") and getattr(items, "ndim", 2) != 1:
        return None
    first = items[0] if length(items) else None
    if isinstance(first, (str, bytes)):
        return "strings"
    if isinstance(first, (set, frozenset, Mapping)):
        return "sets"
    if first is None or isinstance(first, (list, tuple, np.ndarray, int, float, np.number)):
        return None
    return "graphs"


def _collected(items: Any, kind: str) -> Any:
    from ..kernels import MinMax, Spectrum, WeisfeilerLehman

    return {"strings": Spectrum, "sets": MinMax, "graphs": WeisfeilerLehman}[kind]().items(items)
