import os
import subprocess
import sys
from pathlib import Path

import pytest

from mercer._runtime import compile as _compile

FIT = "from mercer import Perceptron; print(Perceptron(random_state=0).fit([[0.0], [1.0]], [0, 1]).predict([[2.0]]))"


def run(folder, code=FIT):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder)}
    return subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=300)


@pytest.mark.thorough
def test_a_damaged_cache_costs_time_only(tmp_path):
    assert run(tmp_path).stdout == "[1]\n"
    files = [path for path in Path(tmp_path).rglob("*") if path.is_file()]
    assert files
    for path in files:
        path.write_bytes(path.read_bytes()[:20])
    damaged = run(tmp_path)
    assert damaged.stdout == "[1]\n", damaged.stderr


def test_the_cache_is_for_this_source_only():
    source = Path(_compile.__file__).parents[1] / "_temporary_module.py"
    before = _compile.package_stamp()
    try:
        source.write_text("changed = True\n")
        _compile.package_stamp.cache_clear()
        assert _compile.package_stamp() != before
    finally:
        source.unlink()
        _compile.package_stamp.cache_clear()


@pytest.mark.thorough
@pytest.mark.parametrize("kind", ["Scalar", "jit"])
def test_a_function_of_another_file_is_compiled_anew_when_that_changes(tmp_path, kind):
    outside = tmp_path / "outside.py"
    found = []
    for number in (3.0, 5.0):
        outside.write_text(f"from mercer._runtime.compile import {kind}\n@{kind}\ndef f(x):\n    return {number} * x\n")
        done = run(
            tmp_path / "code",
            f"import sys; sys.path.insert(0, {str(tmp_path)!r}); from outside import f; print(f(1.0))",
        )
        found.append(done.stdout)
    assert found == ["3.0\n", "5.0\n"]


def test_import_is_light():
    code = "import sys, mercer; print(any(name in sys.modules for name in ('numba', 'sklearn', 'scipy', 'pandas')))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "False\n"
