"""Machine code that comes with the package, so that a first fit need not wait for a compiler.

A wheel has a folder for each kind of processor, and in it a file for each compiled function and the types it takes
(``tools/ship_code.py`` makes them). A file is found by what it was made from: the source of the function and of all
that it calls, its types, the processor, and the versions of Python, Numba and LLVM. An edited function, a new Numba or
a processor without the instructions look for a file that is not there, and compile. What a file begins with is a
checksum of the rest, and the rest says again what it was made from: a damaged file, or one under another's name, counts
as not there.
"""

from __future__ import annotations

import functools
import hashlib
import pickle
import sys
from collections.abc import Set
from pathlib import Path
from typing import Any

import llvmlite
import numba
from llvmlite import binding
from numba.core import config
from numba.core.serialize import dumps

__all__ = ["FOLDER", "PROCESSORS", "checked", "instructions", "of_host", "read_shipped", "sealed", "ship"]

FOLDER = Path(__file__).with_name("machine_code")

_V3 = frozenset(
    {"avx", "avx2", "bmi", "bmi2", "cx16", "f16c", "fma", "lzcnt", "movbe", "popcnt", "sahf"}
    | {"sse3", "sse4.1", "sse4.2", "ssse3"}
)
#: Kinds of processors that code is made for, the best first, and the instructions that each has.
PROCESSORS = {
    "x86-64-v4": _V3 | {"avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"},
    "x86-64-v3": _V3,
}
#: Letters of a checksum.
CHECKSUM = hashlib.sha256().digest_size


def of_host() -> Set[str]:
    """The instructions that the processor of this machine has."""
    return {name for name, there in binding.get_host_cpu_features().items() if there}


def _wanted() -> str | None:
    """The processor in ``NUMBA_CPU_NAME``, that all code of this process is for."""
    return getattr(config, "CPU_NAME", None)


def instructions() -> Set[str]:
    """What code of this process may use: the instructions of the host, or of the processor in ``NUMBA_CPU_NAME``."""
    return PROCESSORS.get(_wanted() or "", frozenset()) or of_host()


@functools.cache
def _processor() -> str | None:
    """The kind of processor whose code can run in this process; ``None`` where it is none of them."""
    wanted = [_wanted()] if _wanted() else list(PROCESSORS)
    host = of_host()
    return next((name for name in wanted if name in PROCESSORS and host >= PROCESSORS[name]), None)


def sealed(content: bytes) -> bytes:
    """The content of a file behind its checksum."""
    return hashlib.sha256(content).digest() + content


def checked(file: bytes) -> bytes | None:
    """The content of a file; ``None`` where the checksum is that of another.

    Examples
    --------
    >>> checked(sealed(b"code")), checked(sealed(b"code") + b"!")
    (b'code', None)
    """
    content = file[CHECKSUM:]
    return content if hashlib.sha256(content).digest() == file[:CHECKSUM] else None


def _origin(stamp: str, types: Any, processor: str) -> str | None:
    """All that the machine code of a function depends on; ``None`` where that has no lasting name."""
    versions = numba.__version__, llvmlite.__version__, sys.implementation.cache_tag
    text = repr((stamp, types, processor, binding.get_process_triple(), *versions))
    return None if " at 0x" in text else text


def _file_of(origin: str, folder: Path, processor: str) -> Path:
    return folder / processor / hashlib.sha256(origin.encode()).hexdigest()[:32]


def ship(stamp: str, types: Any, code: Any, folder: Path, processor: str) -> None:
    """Write the machine code of a function."""
    origin = _origin(stamp, types, processor)
    if origin is not None:
        path = _file_of(origin, folder, processor)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(sealed(dumps((origin, code))))


def read_shipped(stamp: str, types: Any) -> Any:
    """The machine code that was made from this, for this processor; ``None`` where there is none."""
    processor = _processor()
    origin = None if processor is None else _origin(stamp, types, processor)
    if origin is None or processor is None:
        return None
    try:
        content = checked(_file_of(origin, FOLDER, processor).read_bytes())
        known, code = (None, None) if content is None else pickle.loads(content)
    except Exception:  # it is not there, or another Numba made it
        return None
    return code if known == origin else None
