"""How long whole studies take: `mercer compare` with all its usual learners, from the file to the written report.

    python -m benchmarks.studies [--only demo,adult,letter] [--json results.json]

- demo: the table that comes with mercer, a second time, when all code has been compiled.
- adult: a census of 32 561 rows of numbers and words, with gaps.
- letter: 15 000 rows of 26 classes.

Each study is a command in a process of its own, so that its start counts as well.
"""

from __future__ import annotations

import argparse
import bz2
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from reproductions.data import data_path
from reproductions.messy_tables import census
from reproductions.results import Results

#: Seconds that a study may take.
BARS = {"demo": 8.0, "adult": 80.0, "letter": 180.0}


def demo(folder: Path) -> str:
    return "margins"


def adult(folder: Path) -> str | None:
    frame = census()
    if frame is None:
        return None
    frame.to_csv(folder / "adult.csv", index=False)
    return str(folder / "adult.csv")


def letter(folder: Path) -> str | None:
    packed = data_path("letter/letter.scale.bz2")
    if packed is None:
        return None
    (folder / "letter.svmlight").write_bytes(bz2.decompress(packed.read_bytes()))
    return str(folder / "letter.svmlight")


#: Puts the table of a study into a folder, and says what the command reads it by; ``None`` where there are no data.
TABLES: dict[str, Callable[[Path], str | None]] = {"demo": demo, "adult": adult, "letter": letter}


def studied(table: str, folder: Path) -> tuple[float, str]:
    """The seconds of a study, and what it has chosen."""
    begin = time.perf_counter()
    command = [sys.executable, "-m", "mercer", "compare", table, "--output", str(folder)]
    subprocess.run(command, check=True, capture_output=True)
    seconds = time.perf_counter() - begin
    facts = json.loads((folder / "report.json").read_text())
    chosen = next(one for one in facts["learners"] if one["name"] == facts["answer"]["chosen"])
    return seconds, f"{chosen['title']}, test error {100 * chosen['test']['rate']:.2f} %"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(TABLES))
    parser.add_argument("--json", help="write the figures to this file")
    options = parser.parse_args()
    results = Results()
    for name in options.only.split(","):
        with tempfile.TemporaryDirectory() as place:
            table = TABLES[name](Path(place))
            if table is None:
                continue
            if name == "demo":
                studied(table, Path(place) / "before")
            seconds, chosen = studied(table, Path(place) / "report")
            print(f"{name:>8} {seconds:7.1f} s (bar {BARS[name]:g})   {chosen}")
            results.add(f"{name}: seconds", round(seconds, 1), BARS[name], seconds <= BARS[name], chosen)
    print(f"{results.count_ok()} of {len(results.rows)} figures within their bars")
    results.write(options.json)


if __name__ == "__main__":
    main()
