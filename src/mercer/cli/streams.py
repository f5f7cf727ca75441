"""The standard streams of a command: closed, broken or poor in letters, they never stop its work.

A command may be started with closed streams (``>&-``), its reader may leave (``| head -1``), the disk behind a
redirection may be full, and a terminal may lack letters. Results in files are as good then as ever. So whatever a
stream no longer takes is dropped, and :func:`lost_output` tells at the end whether somebody waits in vain for results.
"""

from __future__ import annotations

import errno
import io
import os
import sys
from typing import Any, NoReturn

import click

from ..messages import printable

_INPUT, _OUTPUT, _ERROR = 0, 1, 2


class _Enduring(io.FileIO):
    """A stream that goes on when nobody takes what is written to it."""

    #: Why the last words were not taken.
    failure: OSError | None = None

    def write(self, data: Any) -> Any:
        if self.failure is None:
            try:
                return super().write(data)
            except OSError as error:
                self.failure = error
        return memoryview(data).nbytes


def open_streams() -> None:
    """Make the standard streams of this process usable, whatever they are.

    A stream that is closed is opened on the null device: the next file that is opened would take its number, and be
    written to by whatever prints.
    """
    for number in (_INPUT, _OUTPUT, _ERROR):
        try:
            os.fstat(number)
        except OSError:
            opened = os.open(os.devnull, os.O_RDONLY if number == _INPUT else os.O_WRONLY)
            os.set_inheritable(opened, True)
    if sys.stdin is None:
        sys.stdin = open(os.devnull, encoding="utf-8")  # noqa: SIM115  as long as the process
    if sys.stdout is sys.__stdout__:  # else somebody listens, who has a stream of their own
        sys.stdout = _enduring(sys.stdout, _OUTPUT, "replace")
    if sys.stderr is sys.__stderr__:
        sys.stderr = _enduring(sys.stderr, _ERROR, "backslashreplace")


def _enduring(stream: Any, number: int, errors: str) -> io.TextIOWrapper:
    """The same stream; letters that it lacks are replaced."""
    raw = _Enduring(number, "w", closefd=False)
    raw.failure = OSError(errno.EBADF, os.strerror(errno.EBADF)) if stream is None else None
    encoding = "utf-8" if stream is None else stream.encoding
    lines = raw.isatty() or number == _ERROR
    return io.TextIOWrapper(io.BufferedWriter(raw), encoding=encoding, errors=errors, line_buffering=lines)


def standard_output_is_closed() -> bool:
    """Whether the process was started without one."""
    return _failure() == errno.EBADF


def lost_output() -> str | None:
    """Why results were lost on the way to the standard output; ``None`` if they were not, or if nobody wants them."""
    try:
        sys.stdout.flush()
    except (OSError, ValueError):
        return None  # a stream of somebody else's
    failure = _failure()
    return None if failure in (None, errno.EPIPE, errno.EBADF) else os.strerror(failure)


def _failure() -> int | None:
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    return raw.failure.errno if isinstance(raw, _Enduring) and raw.failure is not None else None


# Partial results, less than what was asked for: said in words, and by the exit status.


#: Exit statuses of a command that gave a partial result: after Ctrl-C, and when a time limit left work undone.
STATUSES = {"interrupted": 130, "time_limit": 124}


def end_partial(stopped: str, what: str) -> NoReturn:
    """End a command after its result, saying that it is partial and why."""
    cause = {"interrupted": "interrupted", "time_limit": "the time limit was reached"}[stopped]
    click.echo(printable(f"mercer: {cause}: {what}"), err=True)
    raise click.exceptions.Exit(STATUSES[stopped])


def end_at_time_limit(machine: Any, seconds: float, output: str) -> None:
    """End a command where fitting a machine took so many seconds, all that its limit allows, and was not done then."""
    limit = getattr(machine, "time_limit", None)
    if getattr(machine, "status_", None) != "converged" and limit is not None and seconds >= limit:
        end_partial("time_limit", f"the model in {output} is the best so far.")
