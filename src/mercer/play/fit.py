"""The answer to ``/api/fit``: the boundary or the curve, what each point is to the machine, and what is promised."""

from __future__ import annotations

import time
from typing import Any

from .asked import grid_asked
from .certificates import certificate_of
from .curve import curve
from .heard import hearing
from .learned import learn
from .plane import plane
from .scene import Scene

__all__ = ["fit"]


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
    with hearing() as notes:
        learned = learn(scene)
        shown = curve(learned, across) if scene.task == "numbers" else plane(learned, across, up)
    return {
        "box": [float(end) for end in (across[0], across[-1], up[0], up[-1])],
        **shown,
        "certificate": certificate_of(learned.machine),
        "kernel": str(learned.machine.kernel_),
        "seconds": time.perf_counter() - begun,
        "notes": notes,
    }
