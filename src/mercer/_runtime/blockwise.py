"""Functions of blocks of numbers that compiled loops call by pointer.

A loop that works on one block after the other can leave what is done to a block to a function that it is given: it is
compiled once and serves all of them, and one call for some hundred numbers costs nothing.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types
from numba.core import sigutils
from numba.core.ccallback import CFunc

from .compile import FUSE, PackageCache
from .held_back import held_back

__all__ = ["Blockwise"]


class Blockwise:
    """A function of the dot products of some rows with others, written over them.

    It takes a block of dot products ⟨x, z⟩, a row for each x; the squared lengths ‖x‖² and ‖z‖²; and an array of
    parameters in float64. Written as a decorator.
    """

    def __init__(self, function: Callable[..., None]) -> None:
        self.function = function
        self.__doc__ = function.__doc__

    def pointer(self, dtype: np.dtype) -> Any:
        """The compiled function for numbers of a type, float32 or float64, as a typed pointer."""
        return self._single if dtype == np.float32 else self._double

    @functools.cached_property
    def _single(self) -> Any:
        return self._compiled(types.float32)

    @functools.cached_property
    def _double(self) -> Any:
        return self._compiled(types.float64)

    def _compiled(self, number: Any) -> Any:
        block, line = types.Array(number, 2, "C"), types.Array(number, 1, "C")
        signature = types.void(block, line, line, types.Array(types.float64, 1, "C"))
        options = {"fastmath": FUSE, "error_model": "numpy"}
        compiled: Any = CFunc(self.function, sigutils.normalize_signature(signature), locals={}, options=options)
        with contextlib.suppress(RuntimeError, OSError):  # no folder for the cache
            compiled._cache = PackageCache(self.function)
        with held_back():
            compiled.compile()
        return compiled
