"""FASTA: sequences, each under a line that starts with ``>``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from .assemble import origin_of
from .item_table import item_table, labels_from_file
from .sources import Source, as_text, line_of
from .table import DataError, Table

if TYPE_CHECKING:
    from .options import Options

__all__ = ["Fasta", "looks_like", "read", "read_fasta"]


def looks_like(source: Source) -> bool:
    """Whether a file begins with the header of a record."""
    return source.data.startswith((b">", b"\xef\xbb\xbf>"))


def read(source: Source, options: Options) -> Table:
    """Sequences of a FASTA file, labelled by ``label=`` (or ``target=``) in their headers or by a file of labels."""
    from ..kernels.strings import Strings

    target = "label" if options.target is None else str(options.target)
    found = read_fasta(source.data, source.shown, target)
    if not any(found.sequences):
        raise DataError(f"{source.shown} has headers and no letter under any of them; write the sequences below them.")
    lines = source.data.removeprefix(b"\xef\xbb\xbf").splitlines()
    begins = np.array([number for number, line in enumerate(lines, 1) if line.startswith(b">")])
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
    text = as_text(data, name)
    before, *records = ("\n" + text.replace("\r\n", "\n").replace("\r", "\n")).split("\n>")
    if before.strip():
        raise DataError(f"{name} has text before the first record; a FASTA file starts with a line '>name'.")
    if not records:
        raise DataError(f"{name} has no records; a FASTA file starts with a line '>name'.")
    parts = [record.partition("\n") for record in records]
    headers = [header.strip() for header, _, _ in parts]
    return Fasta(headers, ["".join(body.split()) for _, _, body in parts], _labels(headers, label))


def _labels(headers: list[str], label: str) -> list[str | None] | None:
    pattern = re.compile(rf"\b{re.escape(label)}\s*=\s*([^\s,;|]+)", re.IGNORECASE)
    found = [pattern.search(header) for header in headers]
    return [match and match[1] for match in found] if any(found) else None
