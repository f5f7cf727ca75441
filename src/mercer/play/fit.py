"""The answer to ``/api/fit``: the boundary or the curve, what each point is to the machine, and what is promised."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import numpy as np

from .plane import curve, plane
from .requests import grid_asked
from .scene import Scene, learn
from .steps import rounded

# How good a machine is, in numbers and in a sentence, as its own certificate says.


def certificate_of(machine: Any) -> dict[str, Any] | None:
    """The certificate of a machine; of several problems, that of all of them together.

    Each gap says how far at most an objective lies above the least possible one, so that their sum says it of the sum.
    """
    if not hasattr(machine, "duality_gap_"):
        return None
    objective, gap = float(np.sum(machine.objective_)), float(np.sum(machine.duality_gap_))
    violation = getattr(machine, "kkt_violation_", None)
    relative = gap / abs(objective) if objective else 0.0
    return {
        "objective": objective,
        "gap": gap,
        "relative_gap": relative,
        "violation": None if violation is None else float(np.max(violation)),
        "converged": bool(machine.converged_),
        "sentence": _sentence(objective, gap, relative, bool(machine.converged_)),
    }


def _sentence(objective: float, gap: float, relative: float, converged: bool) -> str:
    start = "Solved" if converged else "Not solved to its tolerance"
    above = f"at most {gap:.2g} ({100 * relative:.2g} %) above the least possible"
    return f"{start}: the objective {objective:.6g} is {above}."


# What the library says while it works, warnings and refusals, as sentences for whoever asked.


_LONGEST = 500
_notes: ContextVar[list[str] | None] = ContextVar("notes", default=None)


@contextmanager
def recording_warnings() -> Iterator[None]:
    """Inside this block, warnings of every thread go to the :func:`collected_warnings` that they come up in.

    ``warnings.catch_warnings`` is for one thread alone: what it changes, all threads see.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        usual = warnings.showwarning

        def note(message: Any, category: Any, *place: Any, **more: Any) -> None:
            notes = _notes.get()
            if notes is None:
                usual(message, category, *place, **more)
            elif issubclass(category, UserWarning) and str(message) not in notes:
                notes.append(str(message))

        warnings.showwarning = note
        yield


@contextmanager
def collected_warnings() -> Iterator[list[str]]:
    """Inside this block, the list collects warnings in one sentence each, inside of :func:`recording_warnings`."""
    notes: list[str] = []
    token = _notes.set(notes)
    try:
        yield notes
    finally:
        _notes.reset(token)


def in_a_sentence(error: Exception) -> str:
    """Why something is refused; of what should not have happened, its kind alone.

    Examples
    --------
    >>> in_a_sentence(ValueError("C should be\\n a number.")), in_a_sentence(KeyError("secret"))
    ('C should be a number.', 'this went wrong here (KeyError); please report it.')
    """
    if not isinstance(error, ValueError):
        return f"this went wrong here ({type(error).__name__}); please report it."
    words = " ".join(str(error).split())
    return words if len(words) <= _LONGEST else f"{words[: _LONGEST - 1]}…"


def line_in_words(machine: Any) -> str | None:
    """The weights and the bias of a machine whose boundary is one straight line."""
    weights = getattr(machine, "coef_", None)
    if weights is None or len(weights) != 1:
        return None
    return f"w = ({', '.join(map(rounded, weights[0].tolist()))}), b = {rounded(float(machine.intercept_[0]))}"


def fit(request: dict[str, Any]) -> dict[str, Any]:
    """Learn a scene, and look at it on a grid over ``box`` of ``size``, edges included, from the bottom to the top.

    Examples
    --------
    >>> scene = {"points": [[0, 0], [1, 1]], "labels": [0, 1]}
    >>> answer = fit({"scene": scene, "box": [0, 1, 0, 1], "size": [2, 2]})
    >>> answer["points"]["support"], answer["kernel"], answer["certificate"]["converged"]
    ([True, True], 'gaussian(gamma=1.0)', True)
    """
    begun = time.perf_counter()
    across, up = grid_asked(request)
    scene = Scene.of(request.get("scene"))
    with collected_warnings() as notes:
        learned = learn(scene)
        shown = curve(learned, across) if scene.task == "numbers" else plane(learned, across, up)
    return {
        "box": [float(end) for end in (across[0], across[-1], up[0], up[-1])],
        **shown,
        "certificate": certificate_of(learned.machine),
        "kernel": str(learned.machine.kernel_),
        "line": line_in_words(learned.machine) if scene.task == "classes" else None,
        "seconds": time.perf_counter() - begun,
        "notes": notes,
    }
