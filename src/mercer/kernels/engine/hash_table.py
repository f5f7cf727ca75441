"""The hash table by which keys are numbered, counted and looked up.

Different keys stand one after the other in a list of ``names``; the table has, at a place that the key says, the number
of a key in that list, or −1. A key whose place is taken goes to the next free one (open addressing). The size is a
power of two and at least twice the number of keys, so that a search ends soon.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._runtime.compile import Array, jit


@jit
def empty_table(size: int) -> Array:
    return np.full(size, -1, np.int32)


@jit
def place_of(table: Array, names: Array, key: Any) -> Any:
    """Where the table has a key, or would have it; keys are mixed, so that their last bits address the table."""
    s = np.int64(key & np.uint64(table.size - 1))
    while table[s] >= 0 and names[table[s]] != key:
        s = (s + 1) & (table.size - 1)
    return s


@jit
def table_of(names: Array, used: int, size: int) -> Array:
    """A table of this size with the first ``used`` of the names."""
    table = empty_table(size)
    for k in range(used):
        table[place_of(table, names, names[k])] = k
    return table


@jit
def doubled(values: Array) -> Array:
    """The values with as much room again behind them."""
    out = np.empty(2 * values.size, values.dtype)
    out[: values.size] = values
    return out


@jit
def number(keys: Array) -> tuple[Array, Array, Array]:
    """The number of each key in order of first appearance; the different keys; and the table of their numbers."""
    size, used = 1024, 0
    table, names = empty_table(size), np.empty(size, np.uint64)
    out = np.empty(keys.size, np.int32)
    for p in range(keys.size):
        if 2 * used >= size:
            size *= 2
            names = doubled(names)
            table = table_of(names, used, size)
        s = place_of(table, names, keys[p])
        if table[s] < 0:
            table[s] = used
            names[used] = keys[p]
            used += 1
        out[p] = table[s]
    return out, names[:used], table


@jit
def look_up(table: Array, names: Array, keys: Array) -> Array:
    """The numbers of some keys, −1 for those that have none."""
    out = np.empty(keys.size, np.int32)
    for p in range(keys.size):
        out[p] = table[place_of(table, names, keys[p])]
    return out
