"""Make the machine code that comes with the package, which a first fit would else wait for.

    python tools/ship_code.py           all that mercer warmup compiles, for each kind of processor this machine can be
    python tools/ship_code.py --here    what a first script and a first comparison need, for this machine

The first is for a wheel that goes elsewhere, the second for an installation on this machine. What is to be there runs
as if on that processor, with an empty folder for compiled code; what is in there afterwards is written as
:mod:`mercer.runtime.shipped_code` looks for it.
"""

from __future__ import annotations

import argparse
import os
import pickle
import shutil
import tempfile
from collections.abc import Iterable
from pathlib import Path

from mercer.cli.warmup import FIRST_ROADS, ROADS, compile_ahead
from mercer.runtime.shipped_code import FOLDER, PROCESSORS, checked, of_host, ship


def ship_for(processor: str, roads: Iterable[str]) -> None:
    """Compile what some roads need for a processor, and put it into the package."""
    with tempfile.TemporaryDirectory() as folder:
        as_there = {"NUMBA_CPU_NAME": processor, "NUMBA_CPU_FEATURES": "", "NUMBA_CACHE_DIR": folder}
        compile_ahead(roads, environment=os.environ | as_there)
        for path in Path(folder).rglob("*.nbc"):
            content = checked(path.read_bytes())
            assert content is not None
            (stamp, _, (types, *_)), code = pickle.loads(content)
            ship(stamp, types, code, FOLDER, processor)
    files = list((FOLDER / processor).iterdir())
    print(f"{processor}: {len(files)} functions, {sum(each.stat().st_size for each in files) / 1e6:.1f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--here", action="store_true", help="for this machine only, and what is needed first")
    here = parser.parse_args().here
    able = [name for name, instructions in PROCESSORS.items() if instructions <= of_host()]
    if not here:
        shutil.rmtree(FOLDER, ignore_errors=True)
    for processor in able[:1] if here else able:
        ship_for(processor, FIRST_ROADS if here else ROADS)
    for processor in PROCESSORS.keys() - set(able):
        print(f"{processor}: this machine cannot run it, so its code is compiled where it is needed")


if __name__ == "__main__":
    main()
