"""Machine code that comes with the package: run where it is right, and nowhere else."""

import importlib
import pickle
from pathlib import Path

import numba
import numpy as np
import pytest

from mercer.cli import warmup as command
from mercer.runtime import shipped_code
from mercer.runtime.compile import jit
from mercer.runtime.shipped_code import PROCESSORS, checked, read_shipped, sealed, ship

TOOLS = Path(__file__).parents[1] / "tools"
STAMP, TYPES = "made of this", ("float64", "array(float64, 1d, C)")
PROCESSOR = "x86-64-v3"


@pytest.fixture
def shipped(tmp_path, monkeypatch):
    """A folder in the place of the package's own, on a machine that is the processor."""
    monkeypatch.setattr(shipped_code, "FOLDER", tmp_path / "shipped")
    monkeypatch.setattr(shipped_code, "_processor", lambda: PROCESSOR)
    return tmp_path / "shipped"


def the_file(folder):
    (path,) = (path for path in folder.rglob("*") if path.is_file())
    return path


def test_code_is_found_by_what_it_was_made_from(shipped, monkeypatch):
    ship(STAMP, TYPES, b"code", shipped, PROCESSOR)
    assert read_shipped(STAMP, TYPES) == b"code"
    assert read_shipped("edited", TYPES) is None
    assert read_shipped(STAMP, ("float32",)) is None
    monkeypatch.setattr(numba, "__version__", "0.0")
    assert read_shipped(STAMP, TYPES) is None


def test_code_of_another_processor_is_not_run(shipped, monkeypatch):
    ship(STAMP, TYPES, b"code", shipped, "x86-64-v4")
    assert read_shipped(STAMP, TYPES) is None
    the_file(shipped).parent.rename(shipped / PROCESSOR)  # under its name
    assert read_shipped(STAMP, TYPES) is None
    monkeypatch.setattr(shipped_code, "_processor", lambda: None)
    assert read_shipped(STAMP, TYPES) is None


@pytest.mark.parametrize("absent", ["fma", "avx512vl"])
def test_a_processor_is_what_its_instructions_say(monkeypatch, absent):
    monkeypatch.setattr(shipped_code, "of_host", lambda: PROCESSORS["x86-64-v4"] - {absent})
    assert shipped_code._processor.__wrapped__() == {"fma": None, "avx512vl": "x86-64-v3"}[absent]


def test_damaged_code_is_not_run(shipped):
    ship(STAMP, TYPES, b"code" * 100, shipped, PROCESSOR)
    path, rng = the_file(shipped), np.random.default_rng(0)
    whole = path.read_bytes()
    for trial in range(300):
        place, bit = int(rng.integers(len(whole))), 1 << int(rng.integers(8))
        flipped = whole[:place] + bytes([whole[place] ^ bit]) + whole[place + 1 :]
        path.write_bytes((flipped, whole[:place], whole + flipped[:1])[trial % 3])
        assert read_shipped(STAMP, TYPES) is None
    path.write_bytes(sealed(pickle.dumps(("made of something else", b"code"))))
    assert read_shipped(STAMP, TYPES) is None
    path.write_bytes(whole)
    assert read_shipped(STAMP, TYPES) == b"code" * 100


def times_seven(x):
    return 7 * x


def test_a_function_is_read_where_it_would_be_compiled(shipped, tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "own"))
    monkeypatch.setattr(numba.core.config, "CACHE_DIR", str(tmp_path / "own"))
    assert jit(times_seven)(2) == 14
    (path,) = tmp_path.glob("own/*/*.nbc")
    (stamp, _, (types, *_)), code = pickle.loads(checked(path.read_bytes()))
    ship(stamp, types, code, shipped, PROCESSOR)
    path.unlink()
    found = jit(times_seven)
    assert found(2) == 14
    assert sum(found.stats.cache_hits.values()) == 1
    assert not list(tmp_path.glob("own/*/*.nbc"))


def test_an_installation_goes_on_without_machine_code(monkeypatch):
    pytest.importorskip("setuptools")
    monkeypatch.syspath_prepend(str(TOOLS))
    backend = importlib.import_module("build_backend")
    monkeypatch.setattr(backend.build_meta, "get_requires_for_build_wheel", lambda settings: [])
    assert any(each.startswith("numba") for each in backend.get_requires_for_build_wheel())

    def no_process(*command, **options):
        raise OSError

    monkeypatch.setattr(backend.subprocess, "run", no_process)
    monkeypatch.setattr(backend.build_meta, "build_wheel", lambda *given: "mercer.whl")
    assert backend.build_wheel("dist") == "mercer.whl"


def test_warmup_goes_the_roads_that_are_compiled(mercer, monkeypatch):
    monkeypatch.setattr(command, "ROADS", {"kernel classifiers": None})  # looked up by the process that goes it
    assert mercer("warmup").stdout.endswith("is compiled.\n")
    monkeypatch.setattr(command, "ROADS", {"nowhere": None})
    assert "nowhere could not be compiled: KeyError" in mercer("warmup", code=1).stderr
