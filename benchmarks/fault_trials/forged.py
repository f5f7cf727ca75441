"""Model files that somebody made on purpose, with a right checksum: they can lie, and do no more than that.

2 000 files are made of the golden ones of the test suite by changing the JSON tree (nodes that are removed, doubled,
swapped or replaced by others; kinds of other objects; kernels that would take for ever) and the arrays (dtypes, shapes,
NaN, infinity, places out of range). Each is loaded in a process of its own pool and asked about the rows of the model
that it was made of. Counted are: crashes; hangs over 2 s; errors that are no sentence (``ValueError`` or its
``DataError``); models that were accepted and answered NaN or infinity; the largest amount of memory above what the
process had; and events that an audit hook saw: imports, code that is run, sockets, processes, files opened for writing.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from reproductions.results import Results
from tests.golden_models import GOLDEN, HOME

from ._forgery import forged
from ._model_workers import HANG, Outcome, outcomes

_FILES = 2000
_MAX_BYTES = 100 * 10**6
_MORE = 50 * 10**6


def show(results: Results, scale: float, seed: int) -> None:
    count = max(1, round(_FILES * scale))
    found = list(outcomes(_files(count, seed), _MAX_BYTES))
    ends = {
        end: [each for each in found if each.end == end] for end in ("refused", "accepted", "error", "crash", "hang")
    }
    slow = [each for each in found if each.seconds > HANG]
    strange = [each for each in ends["accepted"] if not _finite(each.answers)]
    events = [event for each in found for event in each.events]
    largest = max(each.bytes for each in found)
    told = f"{count:,} files: {len(ends['refused']):,} refused, {len(ends['accepted']):,} accepted"
    results.add("forged models: crashes", len(ends["crash"]), 0, not ends["crash"], _first(ends["crash"]) or told)
    results.add("forged models: hangs over 2 s", len(slow), 0, not slow, _first(slow))
    results.add(
        "forged models: errors that are no sentence", len(ends["error"]), 0, not ends["error"], _first(ends["error"])
    )
    results.add("forged models: answers that are not finite", len(strange), 0, not strange, _first(strange))
    within = largest <= _MAX_BYTES + _MORE
    results.add("forged models: memory, MB", round(largest / 1e6), f"<= {(_MAX_BYTES + _MORE) / 1e6:.0f}", within, "")
    results.add("forged models: imports, code, sockets", len(events), 0, not events, "; ".join(sorted(set(events))[:3]))


def _files(count: int, seed: int) -> Iterator[tuple[str, bytes]]:
    from mercer.model_files.models import SAVED_TYPES

    random = np.random.default_rng(seed)
    names = sorted(GOLDEN)
    for number in range(count):
        name = names[number % len(names)]
        yield name, forged((HOME / f"{name}.safetensors").read_bytes(), random, sorted(SAVED_TYPES))


def _finite(answer: Any) -> bool:
    if isinstance(answer, dict):
        return all(map(_finite, answer.values()))
    if isinstance(answer, list):
        return all(map(_finite, answer))
    return not isinstance(answer, float) or math.isfinite(answer)


def _first(some: list[Outcome]) -> str:
    return f"file {some[0].number} of {some[0].name}: {some[0].message[:150]}" if some else ""
