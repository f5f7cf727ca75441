"""A search on disk: what is done is kept, so that a search that was killed goes on where it stopped.

Every line is a JSON object and its checksum. The first line says of which search the journal is; the next ones, three
times the same, how many cells were ever handed to it; every other holds cells that were computed together, and how many
had been handed over with them. The checksums cover the search that a line belongs to as well.

That number is raised, in its place, before cells are written. So lines that are damaged, cut off, or gone without a
trace are missed: fewer cells are read than were handed over. Those are lost, which is said, and computed again. A
damaged journal is written anew from the cells that are whole.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import math
import os
import threading
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from ..messages import counted
from ..runtime.compile import Array
from ..runtime.threads import hold, release
from .keys import Outcome

__all__ = ["Journal", "cell_of_record", "record_of_cell"]

# Cells of a search as JSON, with all digits of their decision values, and back again: every value is checked.


Key = tuple[str, str]


def record_of_cell(key: Key, outcome: Outcome) -> dict[str, Any]:
    """A cell as values of JSON."""
    return {
        "setting": key[0],
        "fold": key[1],
        "rows": _written(outcome.rows),
        "decision": _written(outcome.decision),
        "seconds": float(outcome.seconds),
        "error": outcome.error,
    }


def cell_of_record(record: Any, n_rows: int) -> tuple[Key, Outcome] | None:
    """The cell that a record holds, of a search on so many rows; ``None`` where it does not make sense."""
    try:
        key = record["setting"], record["fold"]
        rows, decision = _read(record["rows"], "i"), _read(record["decision"], "fiub")
        seconds, error = record["seconds"], record["error"]
    except (KeyError, TypeError, ValueError):
        return None
    fits = (
        all(isinstance(part, str) for part in key)
        and (error is None or isinstance(error, str))
        and isinstance(seconds, float)
        and math.isfinite(seconds)
        and seconds >= 0
        and rows.ndim == 1
        and decision.ndim >= 1
        and len(decision) == len(rows)
        and (rows.size == 0 or (rows[0] >= 0 and rows[-1] < n_rows and bool((np.diff(rows) > 0).all())))
    )
    return (key, Outcome(rows, decision, seconds, error)) if fits else None


def _written(values: Array) -> dict[str, Any]:
    data = base64.b64encode(np.ascontiguousarray(values).tobytes()).decode("ascii")
    return {"dtype": values.dtype.str, "shape": list(values.shape), "data": data}


def _read(value: dict[str, Any], kinds: str) -> Array:
    dtype = np.dtype(value["dtype"])
    if dtype.kind not in kinds:
        raise ValueError("numbers of another kind")
    return np.frombuffer(base64.b64decode(value["data"], validate=True), dtype).reshape(value["shape"])


_BEGINNING = '{"journal": "mercer search", "version": '
_VERSION = 2
#: Words of which a journal has some near its beginning, whatever happened to the others.
_SIGNS = (b'{"journal"', b"mercer search", b'{"handed"')
_NEAR = 4096
#: Letters of a checksum, digits of the number of cells, and how often that is written.
_LETTERS, _DIGITS, _COPIES = 32, 12, 3
#: Seconds to wait for another search that is about to end.
_PATIENCE = 1.0


class Journal:
    """The file of one search. It is held until :meth:`close`: two searches cannot write one journal.

    Parameters
    ----------
    path : str or Path
    fingerprint : str
        What the search is about: rows, labels, folds, estimator. A journal of another search is refused.
    n_rows : int
        How many rows the search has.

    Attributes
    ----------
    known : dict
        The cells that were read, by setting and fold.
    lost_cells : int or None
        How many cells were handed to the journal and are not in it any more; ``None`` where nobody can tell.
    damage : str or None
        What happened to the journal, in a sentence.
    failure : OSError or None
        Why nothing more could be written.
    """

    def __init__(self, path: str | Path, fingerprint: str, n_rows: int) -> None:
        self.path, self.n_rows = Path(path), n_rows
        self._search = hashlib.sha256(fingerprint.encode()).hexdigest()
        self._first = _line(f'{_BEGINNING}{_VERSION}, "search": "{self._search}"}}', "")
        self._lock = threading.Lock()
        self.known: dict[Key, Outcome] = {}
        self.lost_cells: int | None = 0
        self.damage: str | None = None
        self.failure: OSError | None = None
        self._handle = self._opened()
        try:
            self._read()
        except BaseException:
            self.close()
            raise
        self._handed = set(self.known)

    def write(self, cells: dict[Key, Outcome]) -> None:
        """Add the cells of one unit of work, all or none.

        A full disk does not end a search: its journal ends, and ``failure`` says why.
        """
        with self._lock:
            if self.failure is not None or not cells:
                return
            self._handed |= set(cells)
            try:
                self._put(self._counts(len(self._handed)), len(self._first))
                self._end += self._put(self._record(cells.items(), len(self._handed)), self._end)
                os.fsync(self._handle)
            except OSError as error:
                self.failure = error

    def close(self) -> None:
        """Let go of the file."""
        with contextlib.suppress(OSError):
            release(self._handle)
        self._handle = -1

    # -- the file ---------------------------------------------------------------------------------------------------

    def _opened(self) -> int:
        """The file, opened and held; made where there is none."""
        from ..io.writing import refuse_unwritable

        refuse_unwritable(self.path, "name a file for the journal")
        late = time.monotonic() + _PATIENCE
        while True:
            handle = os.open(self.path, os.O_RDWR | os.O_CREAT, 0o666)
            held = hold(handle, wait=False)
            # Who wrote the journal anew has put another file in this place.
            if held is not False and os.path.samestat(os.fstat(handle), os.stat(self.path)):
                return handle
            os.close(handle)
            if time.monotonic() > late:
                raise ValueError(
                    f"the journal {str(self.path)!r} is being written by another search; wait for its end, or name "
                    "another file."
                )
            time.sleep(0.02)

    def _put(self, data: bytes, place: int) -> int:
        os.lseek(self._handle, place, os.SEEK_SET)
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(self._handle, rest) :]
        return len(data)

    def _content(self) -> bytes:
        """All of the file, if it looks like a journal."""
        with open(os.dup(self._handle), "rb") as file:
            file.seek(0)
            beginning = file.read(_NEAR)
            whole = self._is_cut(beginning) or any(sign in beginning for sign in _SIGNS)
            if not whole:
                raise ValueError(f"{str(self.path)!r} is not the journal of a search; name another file.")
            return beginning + file.read()

    # -- its lines --------------------------------------------------------------------------------------------------

    def _read(self) -> None:
        """Take over what is whole; where something is not, say so and put the file in order."""
        content = self._content()
        self._refuse_foreign(content.partition(b"\n")[0])
        lines = [line for line in content.split(b"\n") if line]
        records = [self._checked(line) for line in lines]
        told = [record for record in records if record is not None]
        damaged = sum(record is None for record in records) - lines.count(self._first[:-1])
        damaged += sum(self._take(record.get("cells", [])) for record in told)
        handed = max((record["handed"] for record in told), default=0)
        self.lost_cells = max(0, handed - len(self.known))
        if content and not told and not self._is_cut(content) and not content.startswith(self._first):
            raise ValueError(
                f"the journal {str(self.path)!r} is damaged, and nothing in it belongs to this search; name another "
                "file, or remove it to start anew."
            )
        if content and not any("cells" not in record for record in told) and records[-1] is None:
            self.lost_cells = None  # cells may have been handed over after all that is told of
        in_order = content.startswith(self._first + self._counts(handed)) and content.endswith(b"\n")
        if damaged or self.lost_cells != 0 or not in_order:
            self.damage = self._in_words(damaged, handed) if content else None
            self._write_anew()
        self._end = os.lseek(self._handle, 0, os.SEEK_END)

    def _refuse_foreign(self, first: bytes) -> None:
        """Refuse the journal of another search, or of another mercer; the oldest had no checksums."""
        body = _body(first, "") or _parsed(first)
        if body is None or body.get("journal") != "mercer search":
            return
        if body.get("version") != _VERSION:
            raise ValueError(
                f"the journal {str(self.path)!r} was written by another version of mercer; name another file, or "
                "remove it to start anew."
            )
        if body.get("search") != self._search:
            raise ValueError(
                f"the journal {str(self.path)!r} belongs to a search on other rows, labels, weights or folds, or with "
                "another estimator; name another file, or remove it to start anew."
            )

    def _is_cut(self, content: bytes) -> bool:
        """Whether this is the beginning of a first line, of whichever search, and no more."""
        beginning = _BEGINNING.encode()
        known = content[: len(beginning)] == beginning[: len(content)]
        return known and len(content) < len(self._first) and b"\n" not in content

    def _take(self, cells: Any) -> int:
        """Take cells over; how many of them make no sense."""
        found = [cell_of_record(cell, self.n_rows) for cell in cells] if isinstance(cells, list) else [None]
        self.known.update(cell for cell in found if cell is not None)
        return sum(cell is None for cell in found)

    def _in_words(self, damaged: int, handed: int) -> str:
        journal = f"the journal {str(self.path)!r}"
        if not self.known and self.lost_cells is None:
            return f"{journal} was damaged so that nothing of it is left; it begins anew."
        where = f" ({counted(damaged, 'line')})" if damaged else ""
        if not self.lost_cells:
            return f"{journal} was damaged{where}, but none of its {counted(len(self.known), 'cell')} is lost."
        if self.lost_cells is None:
            return f"{journal} was damaged{where}: cells are lost, nobody can tell how many, and computed again."
        lost = counted(self.lost_cells, "cell is", "cells are")
        return f"{journal} was damaged{where}: of {handed} cells {lost} lost and computed again."

    def _write_anew(self) -> None:
        """Put a file in order that holds what is known; the old one stays where that cannot be done."""
        from ..io.writing import write_whole

        records = [self._record([cell], place + 1) for place, cell in enumerate(self.known.items())]
        content = b"".join([self._first, self._counts(len(self.known)), *records])
        if not os.fstat(self._handle).st_size:  # in its place: nobody else has seen it
            try:
                self._put(content, 0)
                os.fsync(self._handle)
            except OSError as error:
                raise ValueError(f"the journal {str(self.path)!r} cannot be written: {error.strerror}.") from None
            return
        write_whole(self.path, content)
        self.close()
        self._handle = self._opened()

    def _record(self, cells: Iterable[tuple[Key, Outcome]], handed: int) -> bytes:
        record = {"handed": handed, "cells": [record_of_cell(*cell) for cell in cells]}
        return _line(json.dumps(record), self._search)

    def _counts(self, handed: int) -> bytes:
        """The lines after the first, which have the same length whatever the number."""
        return _COPIES * _line(f'{{"handed": {handed:{_DIGITS}}}}', self._search)

    def _checked(self, line: bytes) -> dict[str, Any] | None:
        """What a line says, if it is whole and of this search."""
        body = _body(line, self._search)
        return body if body is not None and isinstance(body.get("handed"), int) else None


def _line(text: str, search: str) -> bytes:
    """A text with its checksum, as a line."""
    return f"{text} {_checksum(text.encode(), search)}\n".encode()


def _body(line: bytes, search: str) -> dict[str, Any] | None:
    """The object on a line, if its checksum is right."""
    text, _, checksum = line.rpartition(b" ")
    return _parsed(text) if checksum == _checksum(text, search).encode() else None


def _parsed(text: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _checksum(text: bytes, search: str) -> str:
    return hashlib.sha256(search.encode() + b"\n" + text).hexdigest()[:_LETTERS]
