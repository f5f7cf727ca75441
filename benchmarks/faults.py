"""What mercer does under damage, kills, hostile files and bad input, in figures.

    python -m benchmarks.faults [--only journals,models] [--scale 0.1] [--seed 0] [--json results.json]

Every trial is a file of ``benchmarks/fault_trials``; its figures and their bars are described there. ``--scale``
makes all of them shorter: a tenth of the damaged files, kills and interrupts.
"""

from __future__ import annotations

import argparse
import time
from importlib import import_module
from pkgutil import iter_modules

from reproductions.results import Results

from . import fault_trials

#: The trials by name: each module has ``show(results, scale, seed)``.
TRIALS = sorted(found.name for found in iter_modules(fault_trials.__path__) if not found.name.startswith("_"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help=f"some of the trials: {', '.join(TRIALS)}")
    parser.add_argument("--scale", type=float, default=1.0, help="the share of the full number of faults")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", help="write the figures there")
    arguments = parser.parse_args()
    chosen = arguments.only.split(",") if arguments.only else TRIALS
    results = Results()
    for name in chosen:
        if name not in TRIALS:
            parser.error(f"no trial {name!r}; there are {', '.join(TRIALS)}")
        began, before = time.perf_counter(), len(results.rows)
        import_module(f".fault_trials.{name}", __package__).show(results, arguments.scale, arguments.seed)
        for row in results.rows[before:]:
            mark = "ok    " if row["ok"] else "MISSED"
            print(f"{mark} {row['what']}: {row['value']} (bar {row['bar']}) {row['note']}", flush=True)
        print(f"       {name} took {time.perf_counter() - began:.0f} s", flush=True)
        results.write(arguments.json)
    print(f"{results.count_ok()} of {len(results.rows)} figures within their bars")


if __name__ == "__main__":
    main()
