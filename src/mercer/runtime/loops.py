"""Functions of blocks of numbers that compiled loops call by pointer.

A loop that works on one block after the other can leave what is done to a block to a function that it is given: it is
compiled once and serves all of them, and one call for thousands of numbers costs nothing. The function sees the places
of the numbers in memory and no arrays: these would be counted in and out at every call.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from llvmlite import ir
from numba import extending, types
from numba.core import cgutils, sigutils
from numba.core.ccallback import CFunc

from .compile import FUSE, SourceCache
from .interrupts import without_interrupts

__all__ = ["Blockwise", "call_blockwise"]

#: Written as what it compiles to, and called with fewer arguments: type checkers cannot know.
intrinsic: Any = extending.intrinsic


class Blockwise:
    """A function of the dot products of some rows with others, written over them.

    It takes a block of dot products ⟨x, z⟩, WIDTH of :mod:`.register_tiles` for each x; how many x there are; the
    squared lengths ‖x‖² and ‖z‖²; and parameters in float64. Written as a decorator.
    """

    def __init__(self, function: Callable[..., None]) -> None:
        self.function = function
        self.__doc__ = function.__doc__

    def address(self, dtype: np.dtype) -> int:
        """Where the compiled function for numbers of a type, float32 or float64, begins."""
        return (self._single if dtype == np.float32 else self._double).address

    @functools.cached_property
    def _single(self) -> Any:
        return self._compiled(types.float32)

    @functools.cached_property
    def _double(self) -> Any:
        return self._compiled(types.float64)

    def _compiled(self, number: Any) -> Any:
        numbers = types.CPointer(number)
        signature = types.void(numbers, types.intp, numbers, numbers, types.CPointer(types.float64))
        options = {"fastmath": FUSE, "error_model": "numpy"}
        compiled: Any = CFunc(self.function, sigutils.normalize_signature(signature), locals={}, options=options)
        with contextlib.suppress(RuntimeError, OSError):  # no folder for the cache
            compiled._cache = SourceCache(self.function, options)
        without_interrupts(compiled.compile)
        return compiled


@intrinsic
def call_blockwise(
    typingctx: Any, address: Any, dots: Any, rows: Any, left: Any, first: Any, right: Any, begin: Any, parameters: Any
) -> Any:
    """Call a function of a block of dot products, with the numbers of ``left`` from place ``first`` on, of ``right``
    from ``begin`` on.
    """

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        def numbers(place: int, offset: Any = None) -> Any:
            data = context.make_array(signature.args[place])(context, builder, arguments[place]).data
            return data if offset is None else builder.gep(data, [offset])

        given = [numbers(1), arguments[2], numbers(3, arguments[4]), numbers(5, arguments[6]), numbers(7)]
        kind = ir.FunctionType(ir.VoidType(), [each.type for each in given])
        builder.call(builder.inttoptr(arguments[0], kind.as_pointer()), given)
        return context.get_dummy_value()

    whole = types.intp
    return types.void(whole, dots, whole, left, whole, right, whole, parameters), codegen


# Asking the processor for memory ahead of its use.
#
# A loop that visits rows in random order waits for memory most of its time. It knows which rows come next, so it can
# ask for them early; the processor fetches them while the loop works on.


@intrinsic
def prefetch(typingctx: Any, array: Any, index: Any) -> Any:
    """Ask for the element ``index`` of a one-dimensional array (counted in C order if it has more dimensions)."""

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        view = context.make_array(signature.args[0])(context, builder, arguments[0])
        place = context.cast(builder, arguments[1], signature.args[1], types.intp)
        address = builder.bitcast(builder.gep(view.data, [place]), cgutils.voidptr_t)
        flag = ir.IntType(32)
        ask = builder.module.declare_intrinsic(
            "llvm.prefetch", [cgutils.voidptr_t], ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t, flag, flag, flag])
        )
        # For reading (0), to be kept close (3), as data (1).
        builder.call(ask, [address, flag(0), flag(3), flag(1)])
        return context.get_dummy_value()

    return types.void(array, index), codegen
