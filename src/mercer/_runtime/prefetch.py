"""Asking the processor for memory ahead of its use.

A loop that visits rows in random order waits for memory most of its time. It knows which rows come next, so it can ask
for them early; the processor fetches them while the loop works on.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic


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
