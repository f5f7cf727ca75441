"""Model files that were damaged on the way: none loads as another model.

10 000 files are made of the golden ones of the test suite, of every kind of model: bits flipped, the end cut off, bytes
put in or left out, stretches swapped, doubled or set to zero. Each is loaded in a process of a pool of its own, and the
model, where one comes back, is asked about its rows. Counted are: crashes; hangs over 2 s; errors that are no sentence;
models that were loaded and differ, in an answer or in a parameter, from what was saved.
"""

from __future__ import annotations

import json
from collections.abc import Iterator

import numpy as np

from mercer import load
from reproductions.results import Results
from tests.golden_models import GOLDEN, HOME, answers, rows_of_json

from ._model_workers import HANG, Outcome, outcomes

_FILES = 10_000
_MAX_BYTES = 100 * 10**6


def show(results: Results, scale: float, seed: int) -> None:
    count = max(1, round(_FILES * scale))
    right = {name: _right(name) for name in GOLDEN}
    found = list(outcomes(_files(count, seed), _MAX_BYTES))
    ends = {end: [each for each in found if each.end == end] for end in ("refused", "accepted", "error", "crash")}
    slow = [each for each in found if each.seconds > HANG]
    other = [each for each in ends["accepted"] if (each.answers, each.parameters) != right[each.name]]
    told = f"{count:,} files: {len(ends['refused']):,} refused, {len(ends['accepted']):,} harmless"
    results.add("damaged models: crashes", len(ends["crash"]), 0, not ends["crash"], _first(ends["crash"]) or told)
    results.add("damaged models: hangs over 2 s", len(slow), 0, not slow, _first(slow))
    results.add("damaged models: errors that are no sentence", len(ends["error"]), 0, not ends["error"],
                _first(ends["error"]))  # fmt: skip
    results.add("damaged models: silently different", len(other), 0, not other, _first(other))


def _right(name: str) -> tuple[dict, str]:
    """What the whole file answers, and the parameters of its model."""
    model = load(HOME / f"{name}.safetensors")
    rows = rows_of_json(name, json.loads((HOME / f"{name}.json").read_text())["rows"])
    return answers(model, rows), str(model.get_params())


def _files(count: int, seed: int) -> Iterator[tuple[str, bytes]]:
    random, names = np.random.default_rng(seed), sorted(GOLDEN)
    for number in range(count):
        name = names[number % len(names)]
        yield name, _damaged((HOME / f"{name}.safetensors").read_bytes(), random)


def _damaged(data: bytes, random: np.random.Generator) -> bytes:
    """Other bytes than these."""
    a, b = sorted(int(place) for place in random.integers(0, len(data) + 1, 2))
    short = min(b, a + int(random.integers(1, 64)))
    match int(random.integers(8)):
        case 0 | 1 | 2:
            damaged = bytearray(data)
            for _ in range(int(random.integers(1, 9)) if random.random() < 0.3 else 1):
                damaged[int(random.integers(len(data)))] ^= 1 << int(random.integers(8))
            made = bytes(damaged)
        case 3:
            made = data[:a]
        case 4:
            made = data[:a] + random.bytes(int(random.integers(1, 64))) + data[a:]
        case 5:
            made = data[:a] + data[short:]
        case 6:
            made = data[:a] + data[short:b] + data[a:short] + data[b:]
        case _:
            made = data[:a] + (bytes(short - a) if random.random() < 0.5 else data[a:short] * 2) + data[short:]
    return made if made != data else data[:-1]


def _first(some: list[Outcome]) -> str:
    return f"file {some[0].number} of {some[0].name}: {some[0].message[:150]}" if some else ""
