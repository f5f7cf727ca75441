"""Machine code: kept on disk for as long as it is that of the source, and never in the way."""

import importlib
import inspect
import os
import pkgutil
import subprocess
import sys

import pytest

import mercer
from mercer.runtime import Loop


def run(folder, code):
    # Byte code that is written within the second of an edit of the same length hides the edit.
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=300)


_CALLER = """
{above}
from mercer.runtime.compile import jit
from mercer.runtime.compile import source_stamp
import callee

FACTOR = {factor}

@jit
def unrelated(x):
    return {unrelated}

@jit(extremes={extremes})
def f(x):
    '{docstring}'
    return FACTOR * callee_function(x)

callee_function = callee.g
print(source_stamp(f.py_func, f.targetoptions))
"""
_CALLEE = """
from mercer.runtime.compile import jit

@jit(reorder={reorder})
def g(x):
    return {result}
"""


def stamp_of(
    tmp_path, above="", factor=2.0, unrelated="x", docstring="f", reorder=False, result="x + 1", extremes=False
):
    (tmp_path / "callee.py").write_text(_CALLEE.format(reorder=reorder, result=result))
    code = _CALLER.format(above=above, factor=factor, unrelated=unrelated, docstring=docstring, extremes=extremes)
    (tmp_path / "caller.py").write_text(code)
    done = subprocess.run([sys.executable, "-B", "caller.py"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_code_is_for_a_function_and_what_it_calls(tmp_path):
    before = stamp_of(tmp_path)
    for harmless in ({"above": "# a line more"}, {"unrelated": "x + 7"}, {"docstring": "another text"}):
        assert stamp_of(tmp_path, **harmless) == before
    for change in ({"factor": 3.0}, {"factor": 2}, {"reorder": True}, {"extremes": True}, {"result": "x + 2"}):
        assert stamp_of(tmp_path, **change) != before


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["Scalar", "jit"])
def test_a_function_of_another_file_is_compiled_anew_when_that_changes(tmp_path, kind):
    outside = tmp_path / "outside.py"
    found = []
    for number in (3.0, 5.0):
        outside.write_text(f"from mercer.runtime.compile import {kind}\n@{kind}\ndef f(x):\n    return {number} * x\n")
        done = run(
            tmp_path / "code",
            f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from outside import f; print(f(1.0))",
        )
        found.append(done.stdout)
    assert found == ["3.0\n", "5.0\n"]


def test_import_is_light():
    code = "import sys, mercer; print(any(name in sys.modules for name in ('numba', 'sklearn', 'scipy', 'pandas')))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"


def test_sums_in_any_order_are_part_of_the_loops_that_ask_for_them():
    """A process that compiles a loop may call another copy of such a function than one that reads it from its file."""
    for found in pkgutil.walk_packages(mercer.__path__, "mercer."):
        if not found.name.endswith("__main__"):
            importlib.import_module(found.name)
    modules = [module for name, module in sys.modules.items() if name.startswith("mercer")]
    loops = {value for module in modules for value in vars(module).values() if isinstance(value, Loop)}
    reordered = {
        value
        for loop in loops
        for seen in inspect.getclosurevars(loop.py_func)[:2]
        for value in seen.values()
        if isinstance(value, Loop) and "reassoc" in value.targetoptions["fastmath"]
    }
    assert {value.py_func.__name__ for value in reordered} >= {"_weigh"}
    assert all(value.targetoptions["forceinline"] for value in reordered)


COMPILING = """
import sys, io
sys.path.insert(0, {folder!r})
from mercer.runtime import compile
from slow import slowly

class Terminal(io.StringIO):
    def isatty(self):
        return True

sys.stderr = Terminal()
compile._LONG = 0.0
for kind in (int, float, complex):
    slowly(kind(1))
print(sys.stderr.getvalue().count("mercer warmup"))
"""


def test_who_waits_for_the_compiler_is_told_once(tmp_path):
    (tmp_path / "slow.py").write_text(
        "from mercer.runtime.compile import jit\n@jit\ndef slowly(x):\n    return x + 1\n"
    )
    assert run(tmp_path / "code", COMPILING.format(folder=str(tmp_path))).stdout == "1\n"


def test_a_stamp_is_the_same_in_every_process():
    """Also for functions that name objects which lie somewhere else each time."""
    program = (
        "from mercer.runtime.compile import source_stamp\n"
        "from mercer.kernels.engine.weighted import _add_full\n"
        "print(source_stamp(_add_full, _add_full.targetoptions))"
    )
    found = {
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    }
    assert len(found) == 1
