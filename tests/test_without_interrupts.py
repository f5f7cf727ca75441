"""Ctrl-C while loops are compiled for the first time."""

import os
import signal
import subprocess
import sys

import pytest

from mercer.runtime import without_interrupts


@pytest.fixture
def pythons_handler():
    """Libraries that other tests have imported may have put a handler of their own in the place of Python's."""
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, handler)


def test_it_waits_for_the_end_of_the_block(pythons_handler):
    done = []

    def inside():
        os.kill(os.getpid(), signal.SIGINT)
        done.append("inside")

    def outside():
        without_interrupts(inside)
        done.append("outside")

    with pytest.raises(KeyboardInterrupt):
        without_interrupts(outside)
    assert done == ["inside", "outside"]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_handler_of_somebody_else_has_it_at_the_end(pythons_handler):
    seen = []
    signal.signal(signal.SIGINT, lambda number, frame: seen.append(number))

    def work():
        os.kill(os.getpid(), signal.SIGINT)
        assert seen == []

    without_interrupts(work)
    assert seen == [signal.SIGINT]


COMPILING = """
import os, signal
import numpy as np
from mercer.runtime.compile import jit

signal.signal(signal.SIGINT, signal.default_int_handler)

@jit
def total(values):
    found = 0.0
    for value in values:
        found += value
    return found

real = total._compiler.compile

def compile(*arguments):
    os.kill(os.getpid(), signal.SIGINT)
    return real(*arguments)

total._compiler.compile = compile
try:
    total(np.ones(3))
    print("lost")
except KeyboardInterrupt:
    print("raised", len(total.overloads), total(np.ones(3)))
"""


def test_what_is_compiled_is_whole_and_the_interrupt_comes_after_it(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    ran = subprocess.run(
        [sys.executable, "-c", COMPILING], env=environment, capture_output=True, text=True, timeout=300
    )
    assert ran.stdout == "raised 1 3.0\n", ran.stderr
