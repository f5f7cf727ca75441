"""What reading a file may take in memory: foretold from what is in it, and refused in one sentence beyond the limit.

Bytes on disk say little about bytes in memory: a cell of one byte becomes a number of eight, a line of two a list of
fifty-six. Each reader counts what it makes (cells, rows, items, words) times what one of them takes, as measured.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._validation.guide import guide
from .._validation.memory import bytes_of, size_in_words
from .table import DataError

if TYPE_CHECKING:
    from .options import Options

__all__ = ["refuse_beyond"]

#: Bytes that are there for every file: nobody means to refuse a small table.
_ALWAYS = 1_000_000


def refuse_beyond(foretold: float, shown: str, options: Options) -> None:
    """Raise where reading would take more than ``max_bytes``.

    Parameters
    ----------
    foretold : float
        Bytes that reading takes at its height, the bytes of the file among them.
    shown : str
        The file as messages name it.
    options : Options

    Examples
    --------
    >>> from mercer.io.options import Options
    >>> refuse_beyond(3e9, "'a.csv'", Options())
    Traceback (most recent call last):
        ...
    mercer.io.table.DataError: 'a.csv' would take about 3.0 GB in memory, and 1.0 GB are allowed; allow more with \
max_bytes (--max-bytes), or read fewer columns or rows (guide: ideas/scaling).
    """
    limit = bytes_of(options.max_bytes)
    if foretold > limit + _ALWAYS:
        raise DataError(
            f"{shown} would take about {size_in_words(foretold)} in memory, and {size_in_words(limit)} are allowed; "
            f"allow more with max_bytes (--max-bytes), or read fewer columns or rows {guide('memory')}."
        )
