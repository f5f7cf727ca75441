"""A progress bar with the time left, for searches that are watched."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def shown(total: int, verbose: int) -> Iterator[Callable[[int], None]]:
    """Inside this block, call the function that it gives with the number of cells done."""
    if not verbose or not sys.stderr.isatty():
        done = 0

        def say(cells: int) -> None:
            nonlocal done
            done += cells
            if verbose > 1:
                print(f"{done} of {total} fits", file=sys.stderr)

        yield say
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("searching"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("search", total=total)
        yield lambda cells: bar.advance(task, cells)
