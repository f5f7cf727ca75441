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

from mercer import SVC, kernels, save

# What is compiled must be imported before: compilers do not understand instrumented functions.
_COMPILED = (SVC, kernels, save)
with atheris.instrument_imports(include=["mercer.io"]):
    for found in iter_modules(import_module("mercer.io").__path__):
        import_module(f"mercer.io.{found.name}")
from mercer.kernels import text_parser  # noqa: E402

from .seeds import seeds  # noqa: E402
from .targets import TARGETS  # noqa: E402

text_parser._Reader.read = atheris.instrument_func(text_parser._Reader.read)  # type: ignore[method-assign]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("target", choices=list(TARGETS))
    parser.add_argument("--runs", type=int, default=-1, help="so many; by default without end")
    parser.add_argument("--seconds", type=int, default=0, help="for so long; by default without end")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--faults", default="fuzz-fault-", help="how files with bytes that did harm begin")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as corpus:
        for number, data in enumerate(seeds()[given.target]):
            Path(corpus, f"seed{number}").write_bytes(data)
        limits = ["-timeout=5", "-rss_limit_mb=2048", "-max_len=4096", f"-artifact_prefix={given.faults}"]
        ends = [f"-runs={given.runs}", f"-max_total_time={given.seconds}", f"-seed={given.seed + 1}"]
        atheris.Setup([sys.argv[0], *limits, *ends, "-print_final_stats=1", corpus], TARGETS[given.target])
        atheris.Fuzz()


if __name__ == "__main__":
    main()
