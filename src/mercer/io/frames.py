"""Tables from frames that are in memory already: pandas, and what turns into pandas."""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from ..composition import branches, machine_of, parts_before, plain_steps
from ..messages import counted, enumeration, nearest
from ..runtime.arrays import Array
from .assemble import Origin, RawTable, assembled, refuse_duplicates, remaining, target_position
from .cells import is_numeric, missing_words, says_name
from .table import DataError, Options, Table
from .values import Place, raw_column, refuse_infinite, text_of

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
    try:
        dtypes = set(frame.dtypes)  # one of NumPy's for all columns: hashed column by column, wide frames take seconds
        plain = len(dtypes) == 1 and isinstance(one := dtypes.pop(), np.dtype) and one.kind in "biuf"
        rows = np.ascontiguousarray(frame) if plain else pd.util.hash_pandas_object(frame, index=False).to_numpy()
    except TypeError:  # values without a hash, in a column that is left out
        return ""
    return hashlib.sha256(repr([*frame.columns, rows.dtype]).encode() + rows.tobytes()).hexdigest()


def _column(name: str, values: pd.Series, place: Place, options: Options) -> tuple[Any, bool]:
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


# New rows read like others: with the columns, kinds, missing values and signs of a table or of a fitted model.


#: What is found out about a file, and is the same in other files of its kind.
_FOUND = ("delimiter", "decimal", "zero_based", "header")
_TRUTH = frozenset({"true", "false"})
#: What people say about files, and is the same in other files of their kind.
_SAID = ("header", "delimiter", "decimal", "quotes", "missing", "missing_words", "drop", "format")


def explicit_options(options: Options) -> dict[str, Any]:
    """How files of the same kind are to be read as well, as far as somebody said so; plain values."""
    said = {name: getattr(options, name) for name in _SAID if getattr(options, name) != getattr(Options(), name)}
    return {name: sorted(value) if isinstance(value, frozenset) else value for name, value in said.items()}


def reading_of(table: Table) -> dict[str, Any]:
    """How a table was read, as plain values: what model files remember, so that new rows are read alike.

    Examples
    --------
    >>> from mercer import read
    >>> found = reading_of(read("margins:50"))
    >>> found["kind"], found["target"], found["columns"][:2]
    ('rows', 'y', ['x1', 'x2'])
    """
    framed = table.frame is not None
    return {
        "target": table.target,
        "kind": table.kind,
        "format": table.read_as.get("format"),
        "columns": table.columns if framed else [],
        "words": table.category_columns,
        "kinds": {**table.kinds, **table.found.get("kinds", {})} if framed else {},
        "left_out": table.left_out,
        "dropped": list(table.read_as.get("drop", ())),
        "missing": list(table.read_as.get("missing", ())),
        "missing_words": table.read_as.get("missing_words", True),
        "sparse": table.rows is not None,
        "features": table.n_columns,
        "found": table.found,
        "as_read": {
            **{name: table.found[name] for name in ("header",) if name in table.found},
            **{name: table.read_as[name] for name in _SAID[:4] if name in table.read_as},
        },
    }


def described(like: Any) -> dict[str, Any]:
    """What a table, a model file or a fitted model says of how its rows were read; of columns those that it uses.

    Columns may have been left out by a kernel, which names its own, or by the preparation, for lack of values: they may
    be missing from new rows.
    """
    if isinstance(like, Table):
        if like.y is None:
            return reading_of(like)
        return {**reading_of(like), "task": like.task, "classes": None if like.measured else [*like.class_counts]}
    model = getattr(like, "estimator", like) if isinstance(getattr(like, "about", None), Mapping) else like
    about = dict(like.about) if model is not like else {}
    if "columns" not in about:
        about = {**_of_steps(model, needed=model is like), **about}
    if not about.get("columns"):
        return about
    used = columns_used(model, about["columns"])
    found: dict[str, Any] = {}
    for name in ("columns", "words"):
        found[name] = [each for each in about.get(name) or [] if each in used]
    if isinstance(about.get("kinds"), dict):
        found["kinds"] = {name: kind for name, kind in about["kinds"].items() if name in used}
    return {**about, **found}


def _of_steps(model: Any, needed: bool) -> dict[str, Any]:
    """What the step of a model says that reads columns; where there is none, nothing, or that it is needed."""
    steps = plain_steps(model)
    step = next((each for each in steps if hasattr(each, "kinds") and hasattr(each, "missing_words")), None)
    if step is None and not needed:
        return {}
    if step is None:
        raise DataError(
            f"the {type(machine_of(model)).__name__} does not know how its rows were read; give the table that it was "
            "fitted on (like=table), or a model made with mercer.preprocess.pipeline."
        )
    return {
        "columns": [*step.kinds],
        "kinds": dict(step.kinds),
        "missing": list(step.missing),
        "missing_words": step.missing_words,
        "as_read": {} if step.decimal is None else {"decimal": step.decimal},
        "classes": model.classes_.tolist() if hasattr(model, "classes_") else None,
    }


def columns_used(model: Any, columns: list[str]) -> list[str]:
    """Of the columns that a model was trained on those that it looks at, now that it is fitted."""
    from ..kernels.columns import columns_named

    steps = plain_steps(model)
    names: list[Any] = []
    if not steps:
        kernel = getattr(machine_of(model), "kernel_", None)
        names = [] if kernel is None else list(columns_named(kernel))
    elif hasattr(steps[0], "kinds"):
        names = [*steps[0].kinds]
    elif taken := branches(steps[0]):
        names = [name for branch in taken for name in branch.columns or []]
    elif hasattr(steps[0], "columns_"):
        names = list(steps[0].columns_)
    known = set(names)
    chosen = known and all(isinstance(name, str) for name in known)
    return [name for name in columns if name in known] if chosen else columns


def options_as_in_training(
    reading: Mapping[str, Any], about: Mapping[str, Any], said: Collection[str]
) -> dict[str, Any]:
    """Arguments of :func:`mercer.read`: how the file is written, where it was not said now, is as it was then."""
    found: Any = about.get("found")
    then: Any = about.get("as_read")
    known = {name: found[name] for name in _FOUND if isinstance(found, dict) and name in found}
    known |= then if isinstance(then, dict) else {}
    return {**reading, **{name: value for name, value in known.items() if name in reading and name not in said}}


def reading_like(reading: Mapping[str, Any], about: Mapping[str, Any], without_labels: bool = False) -> dict[str, Any]:
    """Arguments of :func:`mercer.read` for rows like those that are described, with or without their labels."""
    columns = about.get("columns") or []
    target = reading["target"] if reading["target"] is not None else about.get("target")
    words = dict.fromkeys(about.get("words") or [], "category")
    kinds = {**dict.fromkeys(columns, "number"), **words, **(about.get("kinds") or {})}
    task = about.get("task")
    if reading["task"] not in (None, task) and task is not None:
        learned = {"regress": "numbers", "classify": "classes"}.get(str(task), "rows without labels")
        raise DataError(f"the model was trained on {learned}; leave out --task {reading['task']}.")
    if all(isinstance(label, str) for label in about.get("classes") or [None]):
        kinds[str(target)] = "category"
    for column, kind in (reading["kinds"] or {}).items():
        if column in columns and kind.partition(":")[0] != kinds[column].partition(":")[0]:
            raise DataError(f"the model learned column {column!r} as a {kinds[column].partition(':')[0]}; leave out "
                            f"--as {column}={kind}, or train anew with it.")  # fmt: skip
    return {
        **reading,
        "target": target,
        "kinds": {**kinds, **(reading["kinds"] or {})},
        "columns": columns or None,
        "drop": (*reading["drop"], *(name for name in about.get("dropped") or () if not says_name(name))),
        "missing": [*reading["missing"], *(about.get("missing") or [])],
        "missing_words": reading["missing_words"] and about.get("missing_words", True),
        "labelled": False,
        "unlabelled_rows": "keep",
        "dense": not about.get("sparse"),
        "features": about.get("features"),
        "serials": bool(about.get("serials")),
        "format": reading["format"] or about.get("format"),
        "task": "regress" if task == "regress" and not without_labels else None,
    }


def as_described(table: Table, about: Mapping[str, Any], shown: str | None = None) -> Table:
    """A table with the columns that are described, in their order; refused where it is of another kind."""
    kind, sparse, columns = about.get("kind", "rows"), bool(about.get("sparse")), about.get("columns") or []
    if table.kind != kind:
        raise DataError(f"the model was trained on {kind}, but {table.name} holds {table.kind}.")
    if sparse and table.n_columns != about["features"]:
        features = about["features"]
        raise DataError(f"{table.name} has {table.n_columns} features, the model was trained on {features}.")
    if not columns:
        return table
    absent = [name for name in columns if name not in table.columns]
    if absent:
        missing = enumeration(map(repr, absent), 6)
        others = [name for name in (*table.columns, *table.left_out) if name not in columns]
        alike = next((near for name in absent if (near := nearest(name, others))), None)
        asked = "" if alike is None else f"did you mean {alike!r}? Else "
        raise DataError(
            f"{shown or repr(table.name)} lacks columns that the model was trained on: {missing}; {asked}add them, or "
            "train without them (--drop)."
        )
    known = about.get("left_out") or {}
    extra = [name for name in table.left_out if name not in known]
    assert table.frame is not None
    table = replace(table, frame=table.frame[columns])
    if not extra:
        return table
    ignored = f"Columns that the model does not know are ignored: {enumeration(map(repr, extra), 6)}."
    return replace(table, notes=(*table.notes, ignored))


def frame_as_known(frame: Any, like: Any) -> Any:
    """A frame whose numbers and truth values in columns of categories are written as in a table or a fitted model."""
    if isinstance(like, Table):
        known = {name: numbers_or_truth(like.X[name]) for name in like.category_columns}
    else:
        steps = plain_steps(getattr(like, "estimator", like))
        known = next((each.words_ for each in steps if hasattr(each, "words_")), {})
    frame = frame if hasattr(frame, "iloc") else frame.to_pandas()
    own = [name for name, words in known.items() if len(words) and name in frame.columns]
    return frame.assign(**{name: as_known(frame[name], known[name]) for name in own})


def numbers_or_truth(column: Any) -> list[str]:
    """The words of a column of categories, where all are numbers or truth values, which libraries write differently."""
    words = [str(word) for word in column.cat.categories]
    return words if all(is_numeric(word) or word.lower() in _TRUTH for word in words) else []


def as_known(column: Any, known: Collection[str] | None) -> Any:
    """A column of categories; where its words are numbers or truth values, written as the known ones are.

    A library that reads the code 007 keeps the number 7, of true the value True, and of 2 beside a gap 2.0.

    Examples
    --------
    >>> import pandas as pd
    >>> as_known(pd.Series([7, 12]), ["007", "012"]).tolist()
    ['007', '012']
    """
    if column.dtype.kind not in "fiub":
        with suppress(TypeError):  # lists and their like, which are refused later
            column = column.astype("category")  # each word is looked at once
    if known is None or not len(known):
        return column
    written, words = {_plainly(word): word for word in known}, set(known)
    values = [value for value in column.dropna().unique().tolist() if text_of(value) not in words]
    by_value = {value: written.get(_plainly(text_of(value)), value) for value in values}
    return column.astype(object).replace(by_value) if by_value else column


def _plainly(word: str) -> str | float:
    """What a number or a truth value says, however it is written."""
    return float(word) if is_numeric(word) else word.lower()


def with_unknown_words(table: Table, model: Any) -> Table:
    """The table with notes on words that a fitted model never saw; where a column has no other ones, and these are
    numbers, it is another column."""
    notes = []
    for name, words in _known_words(model).items():
        column = table.X[name].dropna().astype(str)
        seen = {str(word) for word in words if word == word}
        strange = column[~column.isin(seen)]
        if strange.empty:
            continue
        found = sorted(strange.unique())
        some = enumeration(map(repr, found), 3)
        examples = enumeration(map(repr, sorted(seen)), 3)
        if len(strange) == len(column) and all(map(is_numeric, found)):
            raise DataError(
                f"column {name!r} held categories when the model was trained ({examples}) and holds numbers in "
                f"{table.name} ({enumeration(found, 3)}); write the same categories as then."
            )
        if len(strange) == len(column):
            notes.append(f"The model knows no category of column {name!r}; in training it held {examples}.")
            continue
        rows = counted(len(strange), "row holds", "rows hold")
        counts = "it counts" if len(strange) == 1 else "they count"
        notes.append(
            f"{name!r}: {rows} a category that the model has not seen ({some}); {counts} as none of the known."
        )
    return replace(table, notes=(*table.notes, *notes))


def _known_words(model: Any) -> dict[str, list[Any]]:
    """For each categorical column, the categories that a fitted model has seen in it."""
    from sklearn.preprocessing import OneHotEncoder

    found: dict[str, list[Any]] = {}
    for step, columns in parts_before(model):
        if isinstance(step, OneHotEncoder) and columns is not None:
            found |= {column: list(words) for column, words in zip(columns, step.categories_, strict=True)}
    return found
