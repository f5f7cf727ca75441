"""Damaged journals of searches.

A search is run once without a journal, and once with one. The journal is then damaged in 1500 ways: bits are flipped,
bytes inserted, taken out or zeroed, the end is cut off, lines are deleted, swapped or doubled. Each damaged journal is
given to the same search, which goes on with it. Counted are results that differ from those of the undisturbed search in
any bit (every score of every fold), searches that end with anything but a result or a sentence, and journals whose
damage was counted wrongly: the lost cells that the search tells of are compared with those on lines that the damage did
not leave as they were.
"""

from __future__ import annotations

import json
import random
import tempfile
import warnings
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import make_moons

from mercer import SVC
from mercer.search import KernelSearchCV
from reproductions.results import Results

from ._processes import in_memory

_TRIALS = 1500
Damage = Callable[[bytes, random.Random], bytes]


def show(results: Results, scale: float, seed: int) -> None:
    trials = max(10, round(_TRIALS * scale))
    found, refusals, unspoken = _tried(trials, seed)
    results.add("damaged journals: results that differ", found["different"], 0, found["different"] == 0,
                f"of {trials}; {found['whole']} journals had lost nothing")  # fmt: skip
    results.add("damaged journals: no sentence", found["crash"], 0, found["crash"] == 0,
                f"{found['refused']} refused in a sentence {sorted(refusals)}")  # fmt: skip
    results.add("damaged journals: lost cells counted wrongly", found["miscounted"], 0, found["miscounted"] == 0,
                f"{found['lost']} lost cells; of {found['anew']} journals nothing was left, as they said")  # fmt: skip
    results.add("damaged journals: a loss that was not said", unspoken, 0, unspoken == 0, "")


def _tried(trials: int, seed: int) -> tuple[Counter[str], set[str], int]:
    chance = random.Random(seed)
    found: Counter[str] = Counter()
    refusals: set[str] = set()
    unspoken = 0
    expected = _scores(_search(None))
    with tempfile.TemporaryDirectory(dir=in_memory()) as folder:
        path = Path(folder) / "search.journal"
        _search(path)
        whole = path.read_bytes()
        all_cells = _cells(whole)
        for trial in range(trials):
            damaged = DAMAGES[trial % len(DAMAGES)](whole, chance)
            path.write_bytes(damaged)
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                try:
                    search = _search(path)
                except ValueError as error:
                    found["refused"] += 1
                    refusals.add(str(error).replace(str(path), "PATH"))
                    continue
                except Exception as error:  # whatever it is, it is no sentence
                    found["crash"] += 1
                    refusals.add(repr(error))
                    continue
            missing = len(all_cells - _whole_cells(damaged, whole))
            found["different"] += not _same(_scores(search), expected)
            said = any("journal" in str(warning.message) for warning in caught)
            unspoken += missing > 0 and not said
            found["whole"] += not missing
            found["lost"] += missing
            if search.lost_cells_ is None:
                found["anew"] += 1
                found["miscounted"] += missing != len(all_cells)
            else:
                found["miscounted"] += search.lost_cells_ != missing
            found["crash"] += _cells(path.read_bytes()) != all_cells
    return found, refusals, unspoken


def _search(journal: Path | None) -> KernelSearchCV:
    X, y = make_moons(60, noise=0.3, random_state=0)
    grid = {"kernel__gamma": [0.3, 3.0], "C": [0.1, 1.0, 10.0]}
    return KernelSearchCV(SVC("gaussian"), grid, cv=3, journal=journal, refit=False).fit(X, y)


def _scores(search: KernelSearchCV) -> dict[str, np.ndarray]:
    return {name: values for name, values in search.cv_results_.items() if "score" in name and "time" not in name}


def _same(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> bool:
    return one.keys() == other.keys() and all(np.array_equal(one[name], other[name]) for name in one)


# -- what a journal holds, read without the library ------------------------------------------------------------------


def _whole_cells(damaged: bytes, whole: bytes) -> set[tuple[str, str]]:
    """The cells on lines of a damaged journal that are lines of the whole one, letter by letter."""
    lines = set(whole.split(b"\n"))
    return {cell for line in damaged.split(b"\n") if line in lines for cell in _cells(line)}


def _cells(content: bytes) -> set[tuple[str, str]]:
    found = set()
    for line in filter(None, content.split(b"\n")):
        record: Any = json.loads(line.rpartition(b" ")[0])
        found |= {(cell["setting"], cell["fold"]) for cell in record.get("cells", [])}
    return found


# -- damages -----------------------------------------------------------------------------------------------------------


def _flipped(content: bytes, chance: random.Random) -> bytes:
    """One to eight bits."""
    bytes_of = bytearray(content)
    for _ in range(chance.choice([1, 1, 1, 2, 8])):
        bytes_of[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
    return bytes(bytes_of)


def _flipped_early(content: bytes, chance: random.Random) -> bytes:
    """A bit of the lines before those of cells."""
    bytes_of = bytearray(content)
    bytes_of[chance.randrange(content.index(b'"cells"'))] ^= 1 << chance.randrange(8)
    return bytes(bytes_of)


def _cut(content: bytes, chance: random.Random) -> bytes:
    return content[: chance.randrange(len(content))]


def _inserted(content: bytes, chance: random.Random) -> bytes:
    place = chance.randrange(len(content) + 1)
    return content[:place] + chance.randbytes(chance.randrange(1, 30)) + content[place:]


def _taken_out(content: bytes, chance: random.Random) -> bytes:
    place = chance.randrange(len(content))
    return content[:place] + content[place + chance.randrange(1, 200) :]


def _zeroed(content: bytes, chance: random.Random) -> bytes:
    """A stretch of zeros, as after a power failure."""
    place = chance.randrange(len(content))
    length = min(chance.choice([1, 16, 512, 4096]), len(content) - place)
    return content[:place] + bytes(length) + content[place + length :]


def _line_deleted(content: bytes, chance: random.Random) -> bytes:
    lines = content.splitlines(keepends=True)
    del lines[chance.randrange(len(lines))]
    return b"".join(lines)


def _last_lines_deleted(content: bytes, chance: random.Random) -> bytes:
    """The end of the file is gone, exactly between two lines: nothing there looks damaged."""
    lines = content.splitlines(keepends=True)
    return b"".join(lines[: chance.randrange(2, len(lines))])


def _lines_swapped(content: bytes, chance: random.Random) -> bytes:
    lines = content.splitlines(keepends=True)
    one, other = chance.sample(range(len(lines)), 2)
    lines[one], lines[other] = lines[other], lines[one]
    return b"".join(lines)


def _line_doubled(content: bytes, chance: random.Random) -> bytes:
    lines = content.splitlines(keepends=True)
    lines.insert(chance.randrange(len(lines)), chance.choice(lines))
    return b"".join(lines)


def _values_exchanged(content: bytes, chance: random.Random) -> bytes:
    """Two letters of a line change places: the same letters, another number."""
    bytes_of = bytearray(content)
    one, other = (chance.randrange(len(content)) for _ in range(2))
    bytes_of[one], bytes_of[other] = bytes_of[other], bytes_of[one]
    return bytes(bytes_of)


DAMAGES: list[Damage] = [
    _flipped,
    _flipped,
    _flipped_early,
    _cut,
    _inserted,
    _taken_out,
    _zeroed,
    _line_deleted,
    _last_lines_deleted,
    _lines_swapped,
    _line_doubled,
    _values_exchanged,
]
