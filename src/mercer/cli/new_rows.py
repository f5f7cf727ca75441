"""The table that a model is asked about: read as in training, with the columns that the model uses."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b, sha256
from typing import TYPE_CHECKING, Any

import click
import numpy as np
from click.core import ParameterSource
from sklearn.base import is_outlier_detector, is_regressor

from ..io import (
    DataError,
    Table,
    as_described,
    described,
    options_as_in_training,
    read,
    reading_like,
    with_unknown_words,
)
from ..messages import counted, enumeration, in_digits
from ..runtime import Array
from .options import Places
from .printing import Printer

if TYPE_CHECKING:
    from ..model_files import ModelFile


def task_of_model(loaded: ModelFile) -> str:
    """What a model does: "classify", "regress", "detect" or "cluster"."""
    from sklearn.base import is_clusterer

    if is_regressor(loaded.estimator):
        return "regress"
    if is_clusterer(loaded.estimator):
        return "cluster"
    return "detect" if is_outlier_detector(loaded.estimator) else "classify"


def matching_table(
    loaded: ModelFile,
    data: Places,
    reading: dict[str, Any],
    printer: Printer,
    without_labels: bool = False,
    name: str | None = None,
) -> Table:
    """The table, with the columns that the model uses; ``without_labels``: labels are ignored.

    ``name`` is what messages call the table, where the data are rows of a larger one.
    """
    about = {**described(loaded), "task": task_of_model(loaded)}
    table = read(data, **reading_like(reading, about, without_labels))
    table = replace(table, name=name or table.name, y=None if without_labels else table.y, notes=())
    table = as_described(table, about, name or repr(data))
    if table.y is not None and about["task"] == "classify":
        _refuse_strange_labels(table, about)
    table = with_unknown_words(table, loaded.estimator)
    for note in table.notes:
        printer.note(note)
    return table


def _refuse_strange_labels(table: Table, about: dict[str, Any]) -> None:
    known = {str(label) for label in about.get("classes") or []}
    strange = [label for label in table.class_counts if str(label) not in known]
    if known and strange:
        raise DataError(
            f"{table.name} has labels that the model does not know: {enumeration(map(repr, strange), 5)} (it knows "
            f"{enumeration(sorted(known), 5)}); {_remedy(table)}."
        )


def _remedy(table: Table) -> str:
    if table.kind == "sets":
        return "where the file has no labels, say so with --target none"
    return "correct them, or predict only with --ignore-labels"


# How a file is read for a model: what was not said now is as it was when the model was trained.


def as_in_training(reading: dict[str, Any], about: dict[str, Any]) -> dict[str, Any]:
    """Arguments of :func:`mercer.read`: what was not said now is as in training."""
    context = click.get_current_context()
    said = [name for name in reading if context.get_parameter_source(name) is not ParameterSource.DEFAULT]
    return options_as_in_training(reading, about, said)


# What lies outside of all that a model was trained on: values of new rows, and predictions of numbers.


#: Values and predictions that are named.
SHOWN = 5
#: A prediction is far outside where it is beyond the targets of training by more than this share of their range.
_BEYOND = 0.1


def far_rows(model: Any, table: Table) -> dict[str, Any]:
    """How many rows hold values far outside the training range of their column, and some of these values."""
    from ..explain import far_values

    if table.frame is None:
        return {}
    found = far_values(model, table.X)
    named = [{"where": table.where(far.row), **far._asdict(), "row": far.row + 1} for far in found[:SHOWN]]
    return {"rows": len({far.row for far in found}), "values": named}


def far_predictions(table: Table, predicted: Any, about: dict[str, Any]) -> dict[str, Any]:
    """How many predictions leave the range of the training targets, and some of them.

    They do where they are beyond it by more than a tenth of its width, or negative where no target was.
    """
    reach = about.get("target_range")
    if not (isinstance(reach, list) and len(reach) == 2):
        return {}
    low, high = map(float, reach)
    beyond = np.maximum(low - predicted, predicted - high)
    far = np.flatnonzero((beyond > _BEYOND * (high - low)) | ((predicted < 0) & (low >= 0)))
    worst = far[np.argsort(-beyond[far], kind="stable")][:SHOWN].tolist()
    named = [{"where": table.where(row), "row": row + 1, "prediction": float(predicted[row])} for row in worst]
    return {"rows": len(far), "low": low, "high": high, "predictions": named}


def show_far(facts: dict[str, Any], printer: Printer) -> None:
    """A sentence on rows, and one on predictions, where there are such."""
    rows = facts.get("far_rows") or {}
    if rows.get("rows"):
        told = "; ".join(
            f"{one['where']}: {one['column']} = {in_digits(one['value'])} "
            f"(in training {in_digits(one['low'])} to {in_digits(one['high'])})"
            for one in rows["values"]
        )
        has = counted(rows["rows"], "row holds a value", "rows hold values")
        printer.line(f"{has} far outside the training range, where predictions are guesses: {told}.")
    found = facts.get("far_predictions") or {}
    if found.get("rows"):
        told = "; ".join(f"{one['where']}: {in_digits(one['prediction'])}" for one in found["predictions"])
        leaves = counted(found["rows"], "prediction leaves", "predictions leave")
        ends = f"{in_digits(found['low'])} to {in_digits(found['high'])}"
        printer.line(f"{leaves} the range of the training targets, {ends}, and should not be trusted: {told}.")


# The rows that a model was trained on, by their fingerprints: which rows of a file are among them.
#
# What a model errs on rows that it was trained on tells little about new ones. So a model file remembers a fingerprint
# of each training row (``docs/model-files.md`` says how it is made), by which the row is known again wherever it
# stands, however its numbers are written, and whatever other columns the file has. Rows that are equal count as often
# as they were trained on: of three equal ones of which two were, one is another row.


#: Rows of which fingerprints are kept at most; of more, those with the smallest fingerprints, as good as drawn.
_KEPT = 100_000
#: Bytes of a fingerprint that tell the features; one more tells the target as well.
_FEATURES, _TARGET = 5, 1
_BITS = 8 * _TARGET
_ALL = 1 << 8 * _FEATURES
#: The last bits of a number, which programs write and read differently.
_IN_DOUBT = np.uint64(0xFFFFF)
#: Rows that are written out at once.
_CHUNK = 20_000
#: With more doubles than this among the training rows, new rows equal some of them by chance.
_COARSE = 0.05


@dataclass(frozen=True)
class TrainedRowsFound:
    """Which rows of a table a model was trained on, and which ``others`` it was not.

    Of many training rows only some are remembered: rows that nothing is known of are neither. ``equal`` others equal a
    training row all the same. Where training rows often equal each other (``coarse``), new ones may do so by chance.
    """

    trained: Array
    others: Array
    equal: int
    coarse: bool

    @property
    def column(self) -> list[bool | None]:
        """For each row whether the model was trained on it; ``None`` where that is not known."""
        return [bool(yes) if yes or no else None for yes, no in zip(self.trained, self.others, strict=True)]

    @classmethod
    def of_all(cls, parts: Sequence[TrainedRowsFound]) -> TrainedRowsFound:
        """The rows of several tables as one."""
        trained, others = (np.concatenate([getattr(part, name) for part in parts]) for name in ("trained", "others"))
        return cls(trained, others, sum(part.equal for part in parts), parts[0].coarse)

    def in_words(self, kind: str) -> str:
        """How many rows the model was trained on; empty where there are none."""
        trained, looked_up = int(self.trained.sum()), int(self.trained.sum() + self.others.sum())
        if not trained:
            return ""
        if looked_up < self.trained.size:
            share = 100 * trained / looked_up
            said = f"The model was trained on about {share:.3g} % of these {kind}, as {looked_up:,} of them show"
        elif trained == looked_up:
            said = f"The model was trained on {f'all of these {kind}' if trained > 1 else f'this {kind[:-1]}'}"
        else:
            said = f"The model was trained on {trained:,} of these {looked_up:,} {kind}"
        equal = counted(self.equal, "other equals a training row", "others equal training rows")
        said += f"; {equal}" if self.equal else ""
        return said + (", if they are not alike by chance, as training rows are." if self.coarse else ".")


@dataclass(frozen=True)
class TrainedRows:
    """The fingerprints in a model file, rising; of equal rows, how many have not been met yet.

    Rows whose features have a fingerprint below the limit are remembered.
    """

    columns: list[str]
    salt: bytes
    limit: int
    marks: Array

    def __post_init__(self) -> None:
        with_target, features = (np.unique(self.marks >> np.uint64(bits), return_counts=True) for bits in (0, _BITS))
        object.__setattr__(self, "_stocks", (with_target, features))

    @classmethod
    def of(cls, about: dict[str, Any]) -> TrainedRows | None:
        """What a model file remembers; ``None`` where it remembers nothing."""
        said = about.get("trained_rows")
        if said is None:
            return None
        try:
            raw = np.frombuffer(base64.b64decode(said["fingerprints"], validate=True), np.uint8)
            marks = np.sort(_as_numbers(raw.reshape(-1, _FEATURES + _TARGET)))
            return cls([str(name) for name in said["columns"]], bytes.fromhex(said["salt"]), int(said["limit"]), marks)
        except (LookupError, TypeError, ValueError):
            raise DataError("what the model file says about its training rows makes no sense; train it anew.") from None

    def among(self, table: Table) -> TrainedRowsFound | None:
        """Which rows of a table the model was trained on; ``None`` where the table lacks columns to tell by.

        Rows without a target are known by their features. Tables that are parts of one are to be asked about one after
        another: equal rows count as often as they were trained on.
        """
        if table.frame is not None and not set(self.columns) <= set(table.columns):
            return None
        marks = fingerprints(table, self.columns, self.salt)
        trained, known = (np.zeros(marks.size, dtype=bool) for _ in range(2))
        whole = table.labelled if table.y is not None else np.zeros(marks.size, dtype=bool)
        for rows, bits, stock in zip((whole, ~whole), (0, _BITS), self._stocks, strict=True):  # type: ignore[attr-defined]
            places = np.flatnonzero(rows)
            trained[places], known[places] = _met(marks[places] >> np.uint64(bits), *stock)
        others = ~trained & (marks >> np.uint64(_BITS) < self.limit)
        distinct = self._stocks[0][0].size  # type: ignore[attr-defined]
        return TrainedRowsFound(
            trained, others, int((known & others).sum()), distinct < (1 - _COARSE) * self.marks.size
        )


def _met(marks: Array, distinct: Array, left: Array) -> tuple[Array, Array]:
    """Which rows are training rows, each of these once, and which equal one; those met are taken from what is left."""
    place = np.minimum(np.searchsorted(distinct, marks), distinct.size - 1)
    known = distinct[place] == marks
    order = np.flatnonzero(known)[np.argsort(place[known], kind="stable")]
    same = place[order]
    rank = np.arange(same.size) - np.searchsorted(same, same)
    met = np.zeros(marks.size, dtype=bool)
    met[order[rank < left[same]]] = True
    left -= np.bincount(place[met], minlength=left.size)
    return met, known


def remembered_rows(tables: Iterable[Table], n_rows: int, columns: list[str], digest: str) -> dict[str, Any]:
    """What a model file remembers of the rows that it was trained on, in the columns that the model uses.

    The digest of the data salts them: the same rows elsewhere shall have other fingerprints.
    """
    salt, limit = sha256(digest.encode()).digest()[:16], min(_ALL, _ALL * _KEPT // max(1, n_rows))
    found = (fingerprints(table, columns, salt) for table in tables)
    marks = np.sort(np.concatenate([each[each >> np.uint64(_BITS) < limit] for each in found]))
    raw = marks.astype(">u8").view(np.uint8).reshape(-1, 8)[:, -(_FEATURES + _TARGET) :]
    return {
        "rows": n_rows,
        "columns": sorted(columns),
        "salt": salt.hex(),
        "limit": limit,
        "fingerprints": base64.b64encode(raw.tobytes()).decode(),
    }


def repeated_rows(learning: Table, testing: Table, columns: list[str]) -> int:
    """How many rows to test on equal rows to learn from, in all of these columns and in the target."""
    return int(np.isin(fingerprints(testing, columns, b""), fingerprints(learning, columns, b"")).sum())


def look_up(about: dict[str, Any], table: Table, printer: Printer) -> TrainedRowsFound | None:
    """Which rows of a table the model was trained on, said in a line where there are such; ``None``: nobody knows."""
    remembered = TrainedRows.of(about)
    seen = None if remembered is None else remembered.among(table)
    if seen is not None and seen.trained.any():
        printer.line(seen.in_words(table.kind))
    if remembered is None and table.digest and table.digest == (about.get("data") or {}).get("sha256"):
        printer.line(f"The model was trained on {table.kind} of this file; which of them it does not remember.")
    return seen


def by_origin(
    seen: TrainedRowsFound | None, labelled: Array | None, measured: Callable[[Array], dict[str, Any]]
) -> dict[str, dict[str, Any]]:
    """What was measured on the rows that the model was trained on, and on the others; on labelled ones, if given."""
    if seen is None:
        return {}
    found = {}
    for name, rows in (("trained_on", seen.trained), ("others", seen.others)):
        own = rows if labelled is None else rows & labelled
        found[name] = {"rows": int(rows.sum()), **({} if labelled is None else {"labelled": int(own.sum())}),
                       **(measured(own) if own.any() else {})}  # fmt: skip
    return {**found, "others": {**found["others"], "equal_to_training_rows": seen.equal}}


def groups_to_show(facts: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """What was measured, by the words that tell on which rows: other rows before training rows, where there are such.

    Examples
    --------
    >>> groups_to_show({"error": 0.1, "trained_on": {"rows": 0}})
    {'': {'error': 0.1, 'trained_on': {'rows': 0}}}
    >>> groups_to_show({"error": 0.1, "trained_on": {"rows": 3, "error": 0.0}, "others": {"rows": 1, "error": 0.4}})
    {'other ': {'rows': 1, 'error': 0.4}, 'training ': {'rows': 3, 'error': 0.0}}
    """
    measured = {name: facts[key] for name, key in (("other ", "others"), ("training ", "trained_on"))
                if key in facts and facts[key].get("labelled", facts[key]["rows"])}  # fmt: skip
    return measured if "training " in measured else {"": facts}


def show_record(apart: dict[str, Any], about: dict[str, Any], printer: Printer) -> None:
    """Where all rows are training rows: the errors on others that the model file tells."""
    from .inspect import recorded_errors

    if list(apart) == ["training "]:
        for name, words in recorded_errors(about).items():
            if not name.startswith("training"):
                printer.line(f"{name}, as the model file says: {words}")


# -- fingerprints -----------------------------------------------------------------------------------------------------


def fingerprints(table: Table, columns: list[str], salt: bytes) -> Array:
    """For each row a number that its values decide, and in its last byte also the target."""
    pieces = _pieces(table, sorted(columns))
    marks = b"".join(blake2b(piece, digest_size=_FEATURES + _TARGET, salt=salt).digest() for piece in pieces)
    raw = np.frombuffer(marks, np.uint8).reshape(-1, _FEATURES + _TARGET).copy()
    if table.y is not None:
        known = table.labelled
        raw[known, _FEATURES] ^= _targets(table.y[known], table.measured).view(np.uint8).reshape(-1, 8)[:, 0]
    return _as_numbers(raw)


def _as_numbers(raw: Array) -> Array:
    return np.pad(raw, ((0, 0), (8 - raw.shape[1], 0))).view(">u8").astype(np.uint64).ravel()


def _targets(values: Array, measured: bool) -> Array:
    """Targets as eight bytes each, of which one is kept."""
    if measured:
        return _of_words([str(number) for number in _of_numbers(values.astype(np.float64)).tolist()])
    return _of_words([str(label) for label in values.tolist()])


def _pieces(table: Table, columns: list[str]) -> Iterator[Any]:
    """The values of each row as bytes."""
    if table.items is not None:
        from ..estimators import fingerprints as of_items

        marks = of_items(table.items)
        assert marks is not None  # strings, sets and graphs show their content
        yield from (row.tobytes() for row in marks)
    elif table.frame is None:
        rows = table.rows.tocsr(copy=True)
        rows.eliminate_zeros()
        rows.sort_indices()
        numbers, places = _of_numbers(rows.data.astype(np.float64)), rows.indices.astype(np.int64)
        for first, stop in zip(rows.indptr[:-1], rows.indptr[1:], strict=True):
            yield places[first:stop].tobytes() + numbers[first:stop].tobytes()
    else:
        for first in range(0, table.n_rows, _CHUNK):
            some = table.frame.iloc[first : first + _CHUNK]
            cells = np.stack([_of_column(some[name]) for name in columns], axis=1).tobytes()
            yield from (cells[at : at + 8 * len(columns)] for at in range(0, len(cells), 8 * len(columns)))


def _of_column(column: Any) -> Array:
    """Each cell of a column as eight bytes."""
    if column.dtype.kind == "f":
        return _of_numbers(column.to_numpy())
    if column.dtype.kind == "M":
        return column.to_numpy().astype("datetime64[ns]").view(np.uint64)
    return _of_words(column.tolist())


def _of_numbers(values: Array) -> Array:
    """Numbers without their last bits; all zeros are one, and all missing values."""
    numbers = np.where(np.isnan(values), np.nan, values + 0.0).astype(np.float64)
    return (numbers.view(np.uint64) + (_IN_DOUBT >> np.uint64(1))) & ~_IN_DOUBT


def _of_words(cells: list[Any]) -> Array:
    known: dict[Any, bytes] = {}
    for cell in cells:
        if cell not in known:
            missing = cell is None or cell != cell
            known[cell] = bytes(8) if missing else blake2b(str(cell).encode("utf-8", "replace"), digest_size=8).digest()
    return np.frombuffer(b"".join(known[cell] for cell in cells), np.uint64)
