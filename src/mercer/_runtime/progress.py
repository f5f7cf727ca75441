"""How far long work is, and how long it will still take, for those who watch it. The one place for it.

On a terminal a bar is drawn on the standard error and taken away again at the end; elsewhere ten lines are written.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .terminal import printable

__all__ = ["Progress", "progress"]

#: Lines that are written at most where there is no terminal for a bar.
_LINES = 10


class Progress:
    """What work calls to tell how far it is. This one shows nothing."""

    done = 0.0

    def advance(self, amount: float = 1, what: str | None = None) -> None:
        """So much more is done; ``what`` comes next, where that is worth a word."""
        self.reach(self.done + amount, what)

    def reach(self, done: float, what: str | None = None) -> None:
        """So much is done in all; ``what`` comes next, where that is worth a word."""
        self.done = done

    def tell(self, what: str) -> None:
        """Something was found meanwhile."""


@contextmanager
def progress(
    what: str, total: float | None = None, *, unit: str = "", shown: bool = True, lines: bool = True
) -> Iterator[Progress]:
    """Inside this block, tell what it gives whenever a part of the work is done.

    Parameters
    ----------
    what : str
        The work, in a word or two: "searching".
    total : float, optional
        How much there is to do. ``None`` where nobody knows: then only the time is shown.
    unit : str
        What is counted: "fits". Without one the share that is done is shown.
    shown : bool, default=True
        Whether to show anything at all.
    lines : bool, default=True
        Whether to write lines where the standard error is no terminal.

    Yields
    ------
    Progress

    Examples
    --------
    >>> from mercer._runtime.progress import progress
    >>> with progress("searching", 20, unit="fits", shown=False) as watched:
    ...     watched.advance(5)
    ...     watched.done
    5.0
    """
    shown = shown and sys.stderr is not None  # a process may have none
    if shown and sys.stderr.isatty():
        from rich.console import Console
        from rich.progress import Progress as Bars

        with Bars(*_columns(total, unit), console=Console(stderr=True), transient=True) as bars:
            yield _Bar(bars, what, total)
    elif shown and lines and total is not None:
        yield _Lines(total, unit)
    else:
        yield Progress()


def _columns(total: float | None, unit: str) -> list[Any]:
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        SpinnerColumn,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    what = TextColumn("{task.description}", markup=False)
    if total is None:
        return [SpinnerColumn(), what, TimeElapsedColumn()]
    counted = [MofNCompleteColumn(), TextColumn(unit)] if unit else []
    return [what, BarColumn(), *counted, TimeRemainingColumn()]


class _Bar(Progress):
    """A bar on a terminal."""

    def __init__(self, bars: Any, what: str, total: float | None) -> None:
        self.bars, self.task = bars, bars.add_task(printable(what), total=total)

    def reach(self, done: float, what: str | None = None) -> None:
        self.done = done
        described = {} if what is None else {"description": printable(what)}
        self.bars.update(self.task, completed=done, **described)

    def tell(self, what: str) -> None:
        self.bars.console.print(printable(what), markup=False, highlight=False)


class _Lines(Progress):
    """A line for each tenth of the work."""

    def __init__(self, total: float, unit: str) -> None:
        self.total, self.unit, self.begin = total, unit, time.monotonic()

    def reach(self, done: float, what: str | None = None) -> None:
        before, self.done = self.done, done
        if done <= 0 or done * _LINES // self.total == before * _LINES // self.total:
            return
        spent = time.monotonic() - self.begin
        left = spent * (self.total - done) / done
        far = f"{done:g} of {self.total:g} {self.unit}" if self.unit else f"{100 * done / self.total:.0f} %"
        print(f"{far}, {spent:.0f} s, about {left:.0f} s left", file=sys.stderr, flush=True)

    def tell(self, what: str) -> None:
        print(printable(what), file=sys.stderr, flush=True)
