"""Coverage-guided fuzzing of one target: ``python -m fuzz csv --runs 100000`` (``pip install 'mercer[fuzz]'``).

A run that takes more than five seconds, more than two gigabytes, or that raises anything but one line ends it, and the
bytes that did so stay in a file.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules

import atheris

from mercer import SVC, kernels

# What is compiled must be imported before: compilers do not understand instrumented functions.
_COMPILED = (SVC, kernels)
with atheris.instrument_imports(include=["mercer.io", "mercer.model_files", "mercer.search.journal"]):
    for package in ("mercer.io", "mercer.model_files"):
        for found in iter_modules(import_module(package).__path__):
            import_module(f"{package}.{found.name}")
    import_module("mercer.search.journal")
    import_module("mercer.search.journal")
from mercer.kernels import reading as text_parser  # noqa: E402

from .seeds import seeds  # noqa: E402
from .targets import TARGETS  # noqa: E402

for method in ("read", "column", "combine", "argument", "make"):
    setattr(text_parser._Reader, method, atheris.instrument_func(getattr(text_parser._Reader, method)))
#: Bytes of an input, where seeds are small.
_LENGTH = 512


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", choices=list(TARGETS))
    parser.add_argument("--runs", type=int, default=-1, help="so many; by default without end")
    parser.add_argument("--seconds", type=int, default=0, help="for so long; by default without end")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--faults", default="fuzz-fault-", help="how files with bytes that did harm begin")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as corpus:
        found = seeds()[given.target]
        for number, data in enumerate(found):
            Path(corpus, f"seed{number}").write_bytes(data)
        longest = max(_LENGTH, *(len(data) + len(data) // 4 for data in found))
        limits = ["-timeout=5", "-rss_limit_mb=2048", f"-max_len={longest}", f"-artifact_prefix={given.faults}"]
        ends = [f"-runs={given.runs}", f"-max_total_time={given.seconds}", f"-seed={given.seed + 1}"]
        atheris.Setup([sys.argv[0], *limits, *ends, "-print_final_stats=1", corpus], TARGETS[given.target])
        atheris.Fuzz()


if __name__ == "__main__":
    main()
