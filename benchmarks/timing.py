"""Timing side by side: contestants take turns, medians are compared, and memory is warm before the clock starts."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Timed:
    """What one contestant took, and what it returned last."""

    seconds: list[float]
    cpu: list[float]
    value: Any

    @property
    def median(self) -> float:
        return float(np.median(self.seconds))

    @property
    def spread(self) -> float:
        """Half the range of the repeats, as a fraction of the median: the noise of the machine."""
        return (max(self.seconds) - min(self.seconds)) / 2 / self.median

    def __str__(self) -> str:
        return f"{self.median:8.4f} s ±{100 * self.spread:3.0f} % (cpu {np.median(self.cpu):.4f} s)"


def touch_memory(gigabytes: float = 2.0) -> None:
    """Fill and free memory, so that nobody pays for pages that the machine has never used."""
    np.ones(int(gigabytes * 1e9 / 8)).sum()


def race(repeats: int = 5, **contestants: Callable[[], Any]) -> dict[str, Timed]:
    """Run every contestant once unmeasured (compilation, caches), then in turns."""
    for run in contestants.values():
        run()
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    cpu: dict[str, list[float]] = {name: [] for name in contestants}
    values: dict[str, Any] = {}
    for _ in range(repeats):
        for name, run in contestants.items():
            begin, used = time.perf_counter(), os.times()
            values[name] = run()
            seconds[name].append(time.perf_counter() - begin)
            after = os.times()
            cpu[name].append(after.user - used.user + after.system - used.system)
    return {name: Timed(seconds[name], cpu[name], values[name]) for name in contestants}
