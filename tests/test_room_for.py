"""Large arrays in memory that has served before."""

from __future__ import annotations

import os
import subprocess
import sys

import numpy as np
import pytest

from mercer._runtime import room
from mercer._runtime.room import room_for

LARGE = 2_000_000

needs_kept_memory = pytest.mark.skipif(not hasattr(room.mmap, "MADV_FREE"), reason="the system keeps no memory")


def address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


@needs_kept_memory
def test_memory_that_nobody_uses_serves_the_next():
    first = room_for((LARGE,), np.float32)
    first[:] = 1
    before = address(first)
    del first
    assert address(room_for((LARGE // 2, 2), np.float32)) == before


@needs_kept_memory
def test_a_view_keeps_its_memory():
    part = room_for((LARGE, 2), np.float32)[10:, 1]
    part[:] = 7
    others = [room_for((LARGE, 2), np.float32) for _ in range(3)]
    for other in others:
        other[:] = 0
    assert (part == 7).all()


def test_small_arrays_are_plain_ones():
    assert room_for((3, 2), np.float64).base is None


@needs_kept_memory
def test_no_more_is_kept_than_a_part_of_the_machine(monkeypatch):
    monkeypatch.setattr(room, "_most", lambda: 20_000_000)
    arrays = [room_for((LARGE,), np.float32) for _ in range(5)]
    del arrays
    assert sum(map(len, room._kept)) <= 20_000_000


@needs_kept_memory
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system does not fork")
def test_a_child_process_begins_with_nothing():
    code = (
        "import os, numpy as np\n"
        "from mercer._runtime import room\n"
        "room.room_for((2_000_000,), np.float32)[:] = 1\n"
        "assert room._kept\n"
        "child = os.fork()\n"
        "if not child:\n"
        "    os._exit(1 if room._kept else 0)\n"
        "assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
