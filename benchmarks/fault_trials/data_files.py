"""Hostile data files: bombs, damage, what is no file, numbers that ask for all memory.

Each file is read by a process that may take what ``max_bytes`` allows. Counted are files that are neither refused in
one sentence nor read with the right number of rows, that take ten seconds, or whose reading takes more memory at its
height than ``max_bytes`` and 50 MB (the high-water mark of the process above what it had before).
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path

from reproductions.results import Results

from ._hostile_files import write_hostile_files

_LIMIT, _SLACK, _SECONDS = 30_000_000, 50_000_000, 10
_READER = """
import gc, json, signal, sys, time, warnings
import mercer
warnings.simplefilter("ignore")

def height():
    return next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith("VmHWM"))

def stop(*_):
    raise KeyboardInterrupt

signal.signal(signal.SIGALRM, stop)
mercer.read("margins:50")
for name in json.load(open(sys.argv[1])):
    for again in (False, True):  # the first time imports what the format needs
        gc.collect()
        open("/proc/self/clear_refs", "w").write("5")
        before, began = height(), time.process_time()
        signal.alarm(120)
        try:
            found, said = mercer.read(name, max_bytes=int(sys.argv[2])).n_rows, ""
        except ValueError as error:
            found, said = -1, str(error)
        except BaseException as error:
            found, said = -2, f"{type(error).__name__}: {error}"
        signal.alarm(0)
        took = time.process_time() - began
    print(json.dumps([name, found, said, height() - before, took]), flush=True)
"""


def show(results: Results, scale: float, seed: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        expected = write_hostile_files(Path(folder))
        names = Path(folder) / "names.json"
        names.write_text(json.dumps(list(expected)))
        command = [sys.executable, "-c", _READER, str(names), str(_LIMIT)]
        ended = subprocess.run(command, capture_output=True, text=True, errors="replace")
        read = {line[0]: line[1:] for line in map(json.loads, ended.stdout.splitlines())}
    wrong, heavy, slow = [], [], []
    for name, rows in expected.items():
        found, said, height, took = read.get(name, (-2, "the process ended", 0, 0.0))
        short = Path(name).name
        if (
            (found == -1 and (rows is not None or "\n" in said or not said))
            or (found >= 0 and found != rows)
            or found == -2
        ):
            wrong.append(f"{short}: {found} {said[:100]}")
        if height > _LIMIT + _SLACK:
            heavy.append(f"{short}: {height / 1e6:.0f} MB")
        if took > _SECONDS:
            slow.append(f"{short}: {took:.0f} s")
    results.add("hostile data files", len(expected), ">= 60", len(expected) >= 60, "")
    results.add("hostile files answered wrongly", len(wrong), "0", not wrong, "; ".join(wrong[:10]))
    results.add("hostile files over max_bytes + 50 MB", len(heavy), "0", not heavy, "; ".join(heavy[:10]))
    results.add("hostile files over 10 s", len(slow), "0", not slow, "; ".join(slow[:10]))
