"""How far a search is, for those who watch it."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

#: Lines that a search writes where there is no terminal for a bar.
_LINES = 10


@contextmanager
def shown(total: int, verbose: int) -> Iterator[Callable[[int], None]]:
    """Inside this block, call the function that it gives with the number of cells done."""
    if not verbose:
        yield lambda cells: None
    elif not sys.stderr.isatty():
        yield _Lines(total).add
    else:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        columns = (TextColumn("searching"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
            task = bar.add_task("search", total=total)
            yield lambda cells: bar.advance(task, cells)


class _Lines:
    """A line for each tenth of the work."""

    def __init__(self, total: int) -> None:
        self.total, self.done, self.begin = total, 0, time.monotonic()

    def add(self, cells: int) -> None:
        before, self.done = self.done, self.done + cells
        if self.done * _LINES // self.total == before * _LINES // self.total:
            return
        spent = time.monotonic() - self.begin
        left = spent * (self.total - self.done) / self.done
        print(f"{self.done} of {self.total} fits, {spent:.0f} s, about {left:.0f} s left", file=sys.stderr)
