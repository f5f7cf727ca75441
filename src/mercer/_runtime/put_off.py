"""Imports that are put off until somebody needs them.

The part of scikit-learn that every estimator inherits from imports ``scipy.stats`` and pandas on its way, for a
function each that is hardly ever called: more than half of the time that it takes. While that part is imported, a
stand-in takes the place of each; afterwards it is taken away again, and whoever imports ``scipy.stats`` or pandas gets
the real one. Where a stand-in was kept, it passes on what it is asked for.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any

__all__ = ["put_off"]


class _StandIn(ModuleType):
    """Answers as the module of its name does, which is imported when the first question comes."""

    def __getattr__(self, name: str) -> Any:
        self.step_aside()
        return getattr(import_module(self.__name__), name)

    def step_aside(self) -> None:
        """Whoever imports the module from now on gets the real one."""
        if sys.modules.get(self.__name__) is self:
            del sys.modules[self.__name__]


@contextmanager
def put_off(*names: str) -> Iterator[None]:
    """Within this, importing one of these modules, unless it is there already, imports nothing yet.

    Where other threads run, which may want one of them just now, nothing is put off.

    Examples
    --------
    >>> with put_off("wave"):
    ...     import wave as later
    >>> later.Error.__module__
    'wave'
    """
    alone = threading.active_count() == 1
    planted = [_StandIn(name) for name in names if alone and name not in sys.modules]
    sys.modules.update({each.__name__: each for each in planted})
    try:
        yield
    finally:
        for each in planted:
            each.step_aside()
