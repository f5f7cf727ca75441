"""Small pieces of matrix products that live in the processor's registers.

A multiply-add needs two numbers and a sum. Loaded and stored for every one of them, these keep a processor waiting; a
tile of sums that stays in registers while two streams of numbers pass by needs no more than it can load. Compilers keep
arrays in memory, so the tiles are written here as what a processor has: vectors of numbers. How many of them make a
tile depends on how many registers there are; every sum runs over its terms one by one, from the first to the last, and
does not depend on that.
"""

from __future__ import annotations

from typing import Any

from llvmlite import binding, ir
from numba import extending, types
from numba.core import cgutils

__all__ = ["ROWS", "WIDTH", "multiply_listed", "multiply_rows"]

#: Rows of the left side, and of the right side, that are multiplied with one another.
ROWS, WIDTH = 6, 64

#: Written as what they compile to, and called with fewer arguments: type checkers cannot know.
intrinsic: Any = extending.intrinsic

_FEATURES = binding.get_host_cpu_features()
#: Bytes of a vector, and vectors of one row's sums that stay in registers at a time.
_BYTES, _VECTORS = (64, 4) if _FEATURES.get("avx512f") else (32, 2) if _FEATURES.get("avx2") else (16, 2)


class _Emitter:
    """Writes loads, stores and multiply-adds of vectors of one type."""

    def __init__(self, context: Any, builder: Any, dtype: Any) -> None:
        self.context, self.builder = context, builder
        self.size = dtype.bitwidth // 8
        self.lanes = _BYTES // self.size
        self.vector = ir.VectorType(context.get_value_type(dtype), self.lanes)
        self.zero = ir.Constant(self.vector, None)

    def array(self, kind: Any, value: Any) -> Any:
        """Where the numbers of an array begin."""
        return self.context.make_array(kind)(self.context, self.builder, value).data

    def place(self, begin: Any, offset: Any) -> Any:
        return self.builder.gep(begin, [offset])

    def load(self, address: Any) -> Any:
        vector = self.builder.load(self.builder.bitcast(address, self.vector.as_pointer()))
        vector.align = self.size
        return vector

    def store(self, vector: Any, address: Any) -> None:
        self.builder.store(vector, self.builder.bitcast(address, self.vector.as_pointer())).align = self.size

    def repeated(self, number: Any) -> Any:
        """A vector of one number again and again."""
        nothing = ir.Constant(self.vector, ir.Undefined)
        first = self.builder.insert_element(nothing, number, ir.IntType(32)(0))
        return self.builder.shuffle_vector(
            first, nothing, ir.Constant(ir.VectorType(ir.IntType(32), self.lanes), [0] * self.lanes)
        )

    def sums(self, count: int) -> list[Any]:
        """Sums that begin with zero; variables that the compiler turns into registers."""
        made = [cgutils.alloca_once(self.builder, self.vector) for _ in range(count)]
        for each in made:
            self.builder.store(self.zero, each)
        return made

    def add(self, total: Any, x: Any, z: Any) -> None:
        """total += x·z, in one operation where the processor has it."""
        product = self.builder.fmul(x, z, flags=("contract",))
        self.builder.store(self.builder.fadd(self.builder.load(total), product, flags=("contract",)), total)


@intrinsic
def multiply_rows(
    typingctx: Any, left: Any, first: Any, last: Any, strips: Any, begin: Any, out: Any, target: Any
) -> Any:
    """Products of ROWS rows of ``left``, those from ``first`` on, with the WIDTH rows of a strip.

    A strip holds its rows feature by feature, from place ``begin`` of ``strips`` on; ROWS × WIDTH sums over features
    are written to ``out`` from place ``target`` on. Where there are fewer rows, the ``last`` one stands for the others.
    All arrays are C-ordered.
    """

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kinds, index = signature.args, context.get_value_type(types.intp)
        emit = _Emitter(context, builder, kinds[0].dtype)
        left, strips, out = (emit.array(kinds[k], arguments[k]) for k in (0, 3, 5))
        first, last, begin, target = (arguments[k] for k in (1, 2, 4, 6))
        depth = builder.extract_value(context.make_array(kinds[0])(context, builder, arguments[0]).shape, 1)
        rows = []
        for r in range(ROWS):
            row = builder.add(first, index(r))
            row = builder.select(builder.icmp_signed("<", row, last), row, last)
            rows.append(emit.place(left, builder.mul(row, depth)))
        for column in range(0, WIDTH, _VECTORS * emit.lanes):
            places = [column + v * emit.lanes for v in range(_VECTORS)]
            sums = [emit.sums(_VECTORS) for _ in range(ROWS)]
            with cgutils.for_range(builder, depth, intp=index) as loop:
                feature = builder.add(begin, builder.mul(loop.index, index(WIDTH)))
                z = [emit.load(emit.place(strips, builder.add(feature, index(place)))) for place in places]
                for row, totals in zip(rows, sums, strict=True):
                    x = emit.repeated(builder.load(emit.place(row, loop.index)))
                    for total, vector in zip(totals, z, strict=True):
                        emit.add(total, x, vector)
            for r, totals in enumerate(sums):
                for total, place in zip(totals, places, strict=True):
                    emit.store(builder.load(total), emit.place(out, builder.add(target, index(r * WIDTH + place))))
        return context.get_dummy_value()

    return types.void(left, types.intp, types.intp, strips, types.intp, out, types.intp), codegen


@intrinsic
def multiply_listed(
    typingctx: Any, data: Any, indices: Any, first: Any, stop: Any, strips: Any, begin: Any, out: Any, target: Any
) -> Any:
    """Products of one row with the WIDTH rows of a strip: Σ ``data``·(the strip's feature in ``indices``).

    The row has the numbers ``first`` … ``stop`` − 1 of both lists; the strip is as for :func:`multiply_rows`; sums are
    written to ``out`` from place ``target`` on.
    """

    def codegen(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kinds, index = signature.args, context.get_value_type(types.intp)
        emit = _Emitter(context, builder, kinds[0].dtype)
        data, indices, strips, out = (emit.array(kinds[k], arguments[k]) for k in (0, 1, 4, 6))
        first, stop, begin, target = arguments[2], arguments[3], arguments[5], arguments[7]
        places = range(0, WIDTH, emit.lanes)
        sums = emit.sums(len(places))
        with cgutils.for_range(builder, builder.sub(stop, first), intp=index) as loop:
            number = builder.add(first, loop.index)
            column = builder.sext(builder.load(emit.place(indices, number)), index)
            feature = builder.add(begin, builder.mul(column, index(WIDTH)))
            x = emit.repeated(builder.load(emit.place(data, number)))
            for total, place in zip(sums, places, strict=True):
                emit.add(total, x, emit.load(emit.place(strips, builder.add(feature, index(place)))))
        for total, place in zip(sums, places, strict=True):
            emit.store(builder.load(total), emit.place(out, builder.add(target, index(place))))
        return context.get_dummy_value()

    return types.void(data, indices, types.intp, types.intp, strips, types.intp, out, types.intp), codegen
