"""Workspaces that wait for the next fit.

Memory that a process touches for the first time is cleared by the system: hundreds of megabytes of blocks can take as
long as all steps on them, and on virtual machines several times as long. What a fit leaves behind is therefore kept, up
to a limit, for the fit that comes next.
"""

from __future__ import annotations

import threading
from collections import deque
from typing import Self

from .smo import Workspace

__all__ = ["Workspaces"]

#: Bytes that all workspaces which wait may have together.
_KEPT = 1_000_000_000

#: Workspaces that nobody uses; taking one and giving it back are single operations, and need no lock.
_waiting: deque[Workspace] = deque()


class Workspaces:
    """A workspace for each thread of a fit.

    Examples
    --------
    >>> with Workspaces() as workspaces:
    ...     workspaces.mine is workspaces.mine
    True
    """

    def __init__(self) -> None:
        self._of_thread = threading.local()
        self._lent: list[Workspace] = []

    @property
    def mine(self) -> Workspace:
        """The workspace of this thread."""
        if not hasattr(self._of_thread, "own"):
            try:
                self._of_thread.own = _waiting.pop()
            except IndexError:
                self._of_thread.own = Workspace()
            self._lent.append(self._of_thread.own)
        return self._of_thread.own

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        for each in self._lent:
            each.forget()
            if each.room + sum(other.room for other in list(_waiting)) <= _KEPT:
                _waiting.append(each)
        self._lent = []
