"""svmlight files: a label, then only the features that are not zero, as ``number:value``."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import vstack
from sklearn.datasets import load_svmlight_file

from ..rows import NumberRows
from ..runtime.arrays import Array
from ..runtime.threads import prefetched
from .assemble import assemble, origin_of
from .chunked import Chunked
from .sources import Source, is_packed, refuse_beyond, said_by, unpacking
from .table import DataError, Options, Table, as_labels

#: Feature numbers above this are a damaged file, not a table: weights for them would not fit in memory.
_WIDEST = 50_000_000
#: Rows with more of their cells filled than this are smaller and faster as a plain table.
_DENSE = 0.25
#: Cells of a dense table at most.
_MOST_DENSE = 10**9
#: What a line and a pair of number and value take in memory, and a column of a dense table.
_LINE_TAKES, _PAIR_TAKES, _COLUMN_TAKES = 100, 40, 3000
#: What a feature takes in memory where rows stay sparse: its name, and a weight.
_FEATURE_TAKES = 100
#: How many bytes are parsed at once.
_AT_ONCE = 4_000_000
_LINE = re.compile(rb"[-+.\w,]+(\s+qid:\d+)?(\s+\d+:[-+.\w]+)+\s*(#.*)?")
_LABEL = re.compile(rb"[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?")
_PAIR = re.compile(rb"(\d+):([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)")


def looks_like(source: Source) -> bool:
    """Whether the first lines of a file are a label and pairs of numbers; the last of them may be cut."""
    start = [line for line in source.data[:65536].splitlines()[:20] if line.strip() and not line.startswith(b"#")]
    return bool(start) and all(_LINE.fullmatch(line) for line in start[:-1] or start)


def read(source: Source, options: Options) -> Table:
    """Read a svmlight file; see :func:`mercer.read`."""
    n_lines, n_pairs = source.data.count(b"\n") + 1, source.data.count(b":")
    sparse = len(source.data) + _LINE_TAKES * n_lines + _PAIR_TAKES * n_pairs
    refuse_beyond(sparse, source.shown, options)
    try:
        # Read as if numbers began at 0: column 0 is empty where they begin at 1.
        rows, y = _parsed(source.data)
    except (ValueError, OverflowError, MemoryError, IndexError) as error:
        raise _first_fault(source, error) from None
    if options.serials:
        rows.data[rows.indices == 0] = 0
        rows.eliminate_zeros()
    zero = bool((rows.indices == 0).any())
    zero_based = zero if options.zero_based is None else options.zero_based
    if not zero_based:
        if zero:
            raise DataError(
                f"{source.shown} has a feature with the number 0, but features should be numbered from 1; read it with "
                "zero_based=True (--zero-based) if that is how the numbers are meant."
            )
        rows = rows[:, 1:]
    if rows.shape[0] == 0:
        raise DataError(f"{source.shown} has no rows.")
    if rows.shape[1] > _WIDEST or not (np.isfinite(rows.data).all() and np.isfinite(y).all()):
        raise _first_fault(source, None)
    refuse_beyond(sparse + _FEATURE_TAKES * rows.shape[1], source.shown, options)
    found = {"zero_based": zero_based}
    if options.features is not None and rows.shape[1] < options.features:
        rows.resize(rows.shape[0], options.features)
    if rows.shape[1] == 0:
        raise DataError(f"{source.shown} has labels and no features.")
    notes = [f"A svmlight file with {rows.shape[1]} features; the label is the first number of each line."]
    if options.zero_based is None and not zero:
        notes.append(
            "No feature has the number 0, so they are taken to be numbered from 1; --zero-based says otherwise."
        )
    cells = rows.shape[0] * rows.shape[1]
    dense = rows.nnz >= _DENSE * cells and 8 * cells <= _MOST_DENSE if options.dense is None else options.dense
    origin = origin_of(source)
    if not dense:
        targets = y if options.task == "regress" else as_labels(y, asked=options.task)
        return Table(
            origin.name, None, rows, targets, "label", tuple(notes), origin.source, origin.digest, found=found,
            asked=options.task,
        )  # fmt: skip
    if cells > _MOST_DENSE:
        raise DataError(f"{source.shown} has {cells:,} cells, too many for a dense table; read it with dense=False.")
    refuse_beyond(sparse + 24 * cells + _COLUMN_TAKES * rows.shape[1], source.shown, options)
    columns: dict[str, Any] = {f"x{k + 1}": column for k, column in enumerate(np.ascontiguousarray(rows.toarray().T))}
    columns["label"] = y
    options = replace(_labels_last(options), kinds={**dict.fromkeys(columns, "number"), **options.kinds})
    return replace(assemble(columns, origin, options, notes), found=found)


def _parsed(data: bytes) -> tuple[Any, Any]:
    """Sparse rows and labels. Long files are parsed in pieces, as what parses them does not listen to Ctrl-C."""
    pieces: list[tuple[Any, Any]] = []
    begin = 0
    while begin < len(data) or not pieces:
        end = data.find(b"\n", begin + _AT_ONCE) + 1 or len(data)
        pieces.append(load_svmlight_file(io.BytesIO(data[begin:end]), zero_based=True))
        begin = end
    if len(pieces) == 1:
        return pieces[0]
    width = max(rows.shape[1] for rows, _ in pieces)
    for rows, _ in pieces:
        rows.resize(rows.shape[0], width)
    return vstack([rows for rows, _ in pieces], format="csr"), np.concatenate([y for _, y in pieces])


def _labels_last(options: Options) -> Options:
    """The same options for a file whose target is where the format puts it."""
    return options if options.target is not None else replace(options, target="label")


def _first_fault(source: Source, error: Exception | None) -> DataError:
    """What is wrong and where, by walking through the lines slowly."""
    for number, line in enumerate(source.data.splitlines(), 1):
        words = line.partition(b"#")[0].split()
        if not words:
            continue
        place = f"{source.shown}, line {number}"
        if not _LABEL.fullmatch(words[0]):
            return DataError(f"{place}: the label {words[0][:40].decode('latin-1')!r} is not a number.")
        last = -1
        for word in words[1:]:
            if word.startswith(b"qid:"):
                continue
            pair = _PAIR.fullmatch(word)
            if pair is None:
                return DataError(f"{place}: {word[:40].decode('latin-1')!r} is not of the form number:value.")
            index = int(pair[1][:20])
            if index > _WIDEST:
                return DataError(f"{place}: the feature number {index} is larger than {_WIDEST:,}.")
            if index <= last:
                return DataError(f"{place}: the feature numbers must increase, but {index} comes after {last}.")
            if not np.isfinite(float(pair[2])):
                return DataError(f"{place}: the value {pair[2].decode()} is not finite.")
            last = index
    return DataError(f"{source.shown} is not a svmlight file: {error}.")


# Rows of a svmlight file of any size, read in pieces between two ends of lines.


#: Bytes of a piece.
_PIECE = 16_000_000
#: More features than any file has.
_MOST_FEATURES = 2**31 - 1
#: Rows with more of their cells filled than this are smaller and faster as plain rows.
_DENSE_ROWS = 0.25


class SvmlightRows(NumberRows):
    """The features of a svmlight file: sparse rows, or plain ones where most cells are filled.

    The first pass finds the labels (:attr:`labels`), how many rows and features there are, and whether features are
    numbered from 0 or from 1.
    """

    dtype = np.dtype(np.float64)

    def __init__(self, file: Chunked, features: int | None = None, zero_based: bool | None = None) -> None:
        self.file, self.names = file, None
        labels, widest, least, filled = [np.empty(0)], 0, 1, 0
        for rows, y in self._pieces(_MOST_FEATURES):
            labels.append(y)
            widest, filled = max(widest, int(rows.indices.max(initial=-1)) + 1), filled + rows.nnz
            least = min(least, int(rows.indices.min(initial=1)))
        self.labels: Array = np.concatenate(labels)
        if not self.labels.size:
            raise DataError(f"{file.shown} has no rows.")
        self.first = 0 if (least == 0 if zero_based is None else zero_based) else 1
        if least < self.first:
            raise DataError(
                f"{file.shown} has a feature with the number 0, but features should be numbered from 1; read it with "
                "zero_based=True (--zero-based)."
            )
        self.n_columns = max(widest - self.first, features or 0)
        self._dense = filled >= _DENSE_ROWS * self.labels.size * max(1, self.n_columns)

    def __len__(self) -> int:
        return self.labels.size

    def chunks(self) -> Iterator[Any]:
        for rows, _ in prefetched(self._pieces(int(self.n_columns or 0) + self.first)):
            part = rows[:, self.first :]
            yield part.toarray() if self._dense else part

    def _pieces(self, features: int) -> Iterator[tuple[Any, Array]]:
        """The rows and labels of each piece; a piece ends with the line that its last byte is in."""
        self.file.refuse_changed()
        path: Path = self.file.paths[0]
        pieces = _unpacked_pieces(path) if is_packed(path) else _pieces_in_place(path)
        for piece in pieces:
            try:
                yield load_svmlight_file(**piece, n_features=features, zero_based=True)
            except (ValueError, OverflowError, IndexError) as error:
                raise DataError(f"{self.file.shown} is not a svmlight file: {said_by(error)}.") from None


def _pieces_in_place(path: Path) -> Iterator[dict[str, Any]]:
    for offset in range(0, path.stat().st_size, _PIECE):
        yield {"f": str(path), "offset": offset, "length": _PIECE}


def _unpacked_pieces(path: Path) -> Iterator[dict[str, Any]]:
    """Whole lines of a packed file, which has no places to begin at but its first byte."""
    with unpacking(path) as file:
        while lines := file.readlines(_PIECE):
            yield {"f": io.BytesIO(b"".join(lines))}
