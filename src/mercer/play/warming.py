"""Compiled code, made or loaded before anybody waits for it."""

from __future__ import annotations

import contextlib
import threading
from typing import Any

from .choices import KERNELS
from .examples import EXAMPLES, example_scene
from .fit import fit
from .on_offer import LEARNERS

__all__ = ["surface_to_warm_up", "warm_up", "warm_up_first"]


def warm_up_first() -> None:
    """Fit what the page begins with."""
    _fit("moons", learner="svc")


def warm_up(stop: threading.Event) -> None:
    """Fit with every learner, and with every kernel that the page suggests."""
    for _ in range(2):  # the first of them may spend its time on compiling
        _fit("three", learner="svc")
    for _, kernel, _ in KERNELS:
        if not stop.is_set():
            _fit("moons", kernel=kernel)
    for task, learners in LEARNERS.items():
        name = next(name for name, example in EXAMPLES.items() if example.task == task)
        for learner in learners:
            if not stop.is_set():
                _fit(name, learner=learner)


def _fit(example: str, **chosen: str) -> None:
    with contextlib.suppress(ValueError):
        fit({"scene": {**example_scene(example, 0), **chosen}, "size": [40, 40]})


def surface_to_warm_up() -> dict[str, Any]:
    """A small surface, for the process that computes large ones."""
    return {"scene": example_scene("moons", 0), "C": [0.1, 1.0], "gamma": [0.5, 2.0]}
