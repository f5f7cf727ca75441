"""Tables from frames that are in memory already: pandas, and what turns into pandas."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .._runtime.compile import Array
from .assemble import Origin, refuse_duplicates, remaining, target_position
from .cells import missing_words
from .python_values import Place, raw_column, refuse_infinite
from .raw import RawTable, assembled
from .record_names import says_name
from .table import DataError, Table

if TYPE_CHECKING:
    import pandas as pd

    from .options import Options

__all__ = ["is_frame", "read_frame"]

_SHOWN = "the frame"


def is_frame(source: Any) -> bool:
    """Whether this is a frame: one of pandas, or one that can become one (polars, pyarrow)."""
    return hasattr(source, "to_pandas") or (type(source).__name__ == "DataFrame" and hasattr(source, "iloc"))


def read_frame(source: Any, options: Options) -> Table:
    """The table of a frame; see :func:`mercer.read`."""
    frame: pd.DataFrame = source if hasattr(source, "iloc") else source.to_pandas()
    if getattr(frame, "ndim", 2) != 2:
        raise DataError("one column alone is no table; give a frame with the target and the columns to learn from.")
    names = [str(name) for name in frame.columns]
    refuse_duplicates(names, _SHOWN)
    if not len(frame) or not names:
        raise DataError(f"{_SHOWN} has no rows." if names else f"{_SHOWN} has no columns.")
    kept = remaining(names, options, _SHOWN)
    columns, notes, mixed, left_out = {}, [], [], {}
    target = target_position(kept, options, _SHOWN)[0]
    if options.columns is not None and target is not None:
        options = replace(options, target=kept[target])  # whose position changes
    wanted = {*kept} if options.columns is None else {*options.columns, options.target, *filter(says_name, kept)}
    left_out.update(dict.fromkeys((name for name in kept if name not in wanted), "not asked for"))
    wanted &= {*kept}
    for position, name in enumerate(names):
        if name in wanted:
            columns[name], some = _column(name, frame.iloc[:, position], _place, options)
            mixed += [name] * some
    if frame.index.name is not None or frame.index.dtype.kind not in "iu":
        notes.append("The index of the frame was left out; reset_index() makes it a column.")
    origin = Origin(_SHOWN, "frame", _SHOWN, _digest(frame))
    return assembled(RawTable(columns, origin, tuple(notes), mixed=tuple(mixed), left_out=left_out), options)


def _place(row: int) -> str:
    return f"{_SHOWN}, row {row + 1}"


def _digest(frame: pd.DataFrame) -> str:
    """What tells frames with other values apart."""
    from pandas.util import hash_pandas_object

    try:
        rows = hash_pandas_object(frame, index=False).to_numpy()
    except TypeError:  # values without a hash, in a column that is left out
        return ""
    return hashlib.sha256(repr(list(frame.columns)).encode() + rows.tobytes()).hexdigest()


def _column(name: str, values: pd.Series, place: Place, options: Options) -> tuple[Any, bool]:
    import pandas as pd

    kind, dtype = options.kinds.get(name), values.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return _words(values, dtype, missing_words(options)), False
    if dtype.kind == "M" or isinstance(dtype, pd.DatetimeTZDtype):
        return _dates(name, values, place), False
    if dtype.kind in "biuf" and kind != "category":
        numbers = values.to_numpy(dtype=np.float64, na_value=np.nan)
        refuse_infinite(name, numbers, place)
        return numbers, False
    return raw_column(name, values.tolist(), place, options)


def _words(values: pd.Series, dtype: pd.CategoricalDtype, missing: frozenset[str]) -> Any:
    """Categories as texts, in the order that they have."""
    import pandas as pd

    from .python_values import text_of

    words = [text_of(value) for value in dtype.categories]
    present = [word for word in words if word.lower() not in missing]
    known = list(dict.fromkeys(present)) if dtype.ordered else sorted(set(present))
    place = {word: code for code, word in enumerate(known)}
    codes = np.array([*(place.get(word, -1) for word in words), -1], dtype=np.int64)[values.cat.codes.to_numpy()]
    return pd.Categorical.from_codes(codes, categories=np.array(known, dtype=object))


def _dates(name: str, values: pd.Series, place: Place) -> Array:
    if values.dt.tz is not None:
        values = values.dt.tz_convert(None)
    try:
        return values.dt.as_unit("ns").to_numpy()
    except (ValueError, OverflowError):
        raise DataError(f"{_SHOWN}, column {name!r}: a date lies outside the years 1678 to 2261.") from None
