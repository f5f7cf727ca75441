"""Make the machine code that a wheel ships, for each kind of processor that this machine can be.

Usage: ``python tools/ship_code.py``. ``mercer warmup`` runs as if on that processor with an empty folder for compiled
code; what is in there afterwards is written as :mod:`mercer.runtime.shipped_code` looks for it.
"""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from mercer.runtime.shipped_code import FOLDER, PROCESSORS, checked, of_host, ship


def compiled_for(processor: str, folder: str) -> None:
    """Compile into a folder what first fits need."""
    as_there = {"NUMBA_CPU_NAME": processor, "NUMBA_CPU_FEATURES": "", "NUMBA_CACHE_DIR": folder}
    subprocess.run([sys.executable, "-m", "mercer", "warmup"], env=os.environ | as_there, check=True)


def main() -> None:
    shutil.rmtree(FOLDER, ignore_errors=True)
    for processor, instructions in PROCESSORS.items():
        if not instructions <= of_host():
            print(f"{processor}: this machine cannot run it, so its code is compiled where it is needed")
            continue
        with tempfile.TemporaryDirectory() as folder:
            compiled_for(processor, folder)
            for path in Path(folder).rglob("*.nbc"):
                content = checked(path.read_bytes())
                assert content is not None
                (stamp, _, (types, *_)), code = pickle.loads(content)
                ship(stamp, types, code, FOLDER, processor)
        files = list((FOLDER / processor).iterdir())
        print(f"{processor}: {len(files)} functions, {sum(each.stat().st_size for each in files) / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
