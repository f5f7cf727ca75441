"""The command: ``python -m reproductions.suites``."""

from __future__ import annotations

import argparse
import contextlib
import importlib
import importlib.util
import io
import pkgutil
import sys
from collections import Counter
from typing import Any

from ..results import Results
from . import __doc__ as about
from . import __path__ as here
from .runner import Outcome, run


def suites() -> dict[str, Any]:
    """All suites of this package by their names."""
    modules = [importlib.import_module(f"{__package__}.{found.name}") for found in pkgutil.iter_modules(here)]
    there = [module for module in modules if hasattr(module, "NAME") and hasattr(module, "patches")]
    return {module.NAME: module for module in there if importlib.util.find_spec(library_of(module)) is not None}


def library_of(suite: Any) -> str:
    """The package whose tests these are."""
    return suite.MODULE.partition(".")[0]


def show(name: str, outcome: Outcome) -> None:
    """One line for the suite, and one for each reason and each failure without one."""
    kinds = ("passed", "meant", "absent", "skipped", "unexplained")
    counts = ", ".join(f"{len(getattr(outcome, kind))} {kind}" for kind in kinds)
    print(f"{'ok ' if outcome.ok else 'NOT OK'} {name:<14} {counts}")
    for title, reasons in (("meant", outcome.meant), ("absent", outcome.absent)):
        for reason, count in Counter(reasons.values()).items():
            tests = sorted({test.partition("[")[0] for test, why in reasons.items() if why == reason})
            print(f"    {title} ({count}): {', '.join(tests)}: {reason}")
    for test, message in outcome.unexplained.items():
        print(f"    UNEXPLAINED {test}: {message[:160]}")


def main() -> None:
    parser = argparse.ArgumentParser(description=about, formatter_class=argparse.RawDescriptionHelpFormatter)
    known = suites()
    parser.add_argument("--only", action="append", choices=sorted(known), help="run this suite (may be repeated)")
    parser.add_argument("--json", help="write the figures to this file")
    options = parser.parse_args()
    results = Results()
    for name in options.only or sorted(known):
        with contextlib.redirect_stdout(io.StringIO()):
            outcome = run(known[name])
        show(name, outcome)
        ran = len(outcome.passed) + len(outcome.meant) + len(outcome.unexplained)
        library = importlib.import_module(library_of(known[name]))
        note = f"{library.__name__} {library.__version__}: {len(outcome.meant)} differences are meant, "
        note += f"{len(outcome.unexplained)} are not explained, {len(outcome.absent)} tests are of what is not here"
        results.add(f"{library.__name__}'s {known[name].MODULE}", len(outcome.passed), ran, outcome.ok, note)
    results.write(options.json)
    sys.exit(0 if results.count_ok() == len(results.rows) else 1)


if __name__ == "__main__":
    main()
