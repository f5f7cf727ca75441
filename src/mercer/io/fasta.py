"""FASTA: sequences, each under a line that starts with ``>``."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .allowance import refuse_beyond
from .assemble import origin_of
from .item_table import item_table, labels_from_file
from .sources import Source, as_text, line_of
from .table import DataError, Table

if TYPE_CHECKING:
    from .options import Options

__all__ = ["Fasta", "looks_like", "read", "read_fasta"]

#: What a record takes in memory beside its letters, which are kept as numbers of four bytes too.
_RECORD, _LETTER, _WIDE_LETTER = 250, 12, 18


def looks_like(source: Source) -> bool:
    """Whether a file begins with the header of a record."""
    return source.data.startswith((b">", b"\xef\xbb\xbf>"))


def read(source: Source, options: Options) -> Table:
    """Sequences of a FASTA file, labelled by ``label=`` (or ``target=``) in their headers or by a file of labels."""
    from ..kernels.strings import Strings

    target = "label" if options.target is None else str(options.target)
    refuse_beyond(_foretold(source.data), source.shown, options)
    found = read_fasta(source.data, source.shown, target)
    if not any(found.sequences):
        raise DataError(f"{source.shown} has headers and no letter under any of them; write the sequences below them.")
    begins = np.fromiter((number for number, line in _lines(source.data) if line.startswith(">")), np.int64)
    labels: Sequence[Any] | None = found.labels
    words = [header.partition(" ")[0] for header in found.headers]
    if options.labels is not None:
        labels = labels_from_file(words, options)
    remedy = f"write {target}=... into each header, or name a file of labels with labels=... (--labels FILE)"
    items = Strings.of(found.sequences)
    names = np.array(words if len(set(words)) == len(words) else found.headers, dtype=object)
    return item_table(items, "strings", labels, target, origin_of(source, begins), options, remedy, names=names)


class Fasta(NamedTuple):
    """Sequences, what stands above each of them, and the value of ``label=`` there.

    ``labels`` is ``None`` where no record has one, and has ``None`` for each record without one where others do.
    """

    headers: list[str]
    sequences: list[str]
    labels: list[str | None] | None


def read_fasta(data: bytes, name: str = "the FASTA file", label: str = "label") -> Fasta:
    """The records of a FASTA file.

    Parameters
    ----------
    data : bytes
        The file, unpacked.
    name : str
        What messages call the file.
    label : str, default="label"
        The word before ``=`` in a header that stands before the label.

    Returns
    -------
    Fasta

    Examples
    --------
    >>> read_fasta(b">one label=+1\\nGATT\\nACA\\n>two label=-1\\n")
    Fasta(headers=['one label=+1', 'two label=-1'], sequences=['GATTACA', ''], labels=['+1', '-1'])
    """
    nul = data.find(b"\0")
    if nul >= 0:
        raise DataError(
            f"{name}, line {line_of(data, nul)}: there is a NUL byte; this is no FASTA file, or a damaged one."
        )
    headers: list[str] = []
    sequences: list[str] = []
    letters = io.StringIO()
    try:
        for _, line in _lines(data):
            if line.startswith(">"):
                if headers:
                    sequences.append(letters.getvalue())
                headers.append(line[1:].strip())
                letters = io.StringIO()
            elif headers:
                letters.write("".join(line.split()))
            elif line.strip():
                raise DataError(f"{name} has text before the first record; a FASTA file starts with a line '>name'.")
    except UnicodeDecodeError:
        as_text(data, name)  # which says in which line
    if not headers:
        raise DataError(f"{name} has no records; a FASTA file starts with a line '>name'.")
    return Fasta(headers, [*sequences, letters.getvalue()], _labels(headers, label))


def _lines(data: bytes) -> Iterator[tuple[int, str]]:
    """The lines of a file, from 1; whatever ends them."""
    return enumerate(io.TextIOWrapper(io.BytesIO(data), encoding="utf-8-sig", newline=None), 1)


def _foretold(data: bytes) -> int:
    """What the records of a file take in memory."""
    return len(data) * (_LETTER if data.isascii() else _WIDE_LETTER) + _RECORD * data.count(b">")


def _labels(headers: list[str], label: str) -> list[str | None] | None:
    pattern = re.compile(rf"\b{re.escape(label)}\s*=\s*([^\s,;|]+)", re.IGNORECASE)
    found = [match[1] if (match := pattern.search(header)) else None for header in headers]
    return found if any(label is not None for label in found) else None
