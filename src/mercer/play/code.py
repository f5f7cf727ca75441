"""The answer to ``/api/code``: the picture as a Python script, and its machine as a line of the command line."""

from __future__ import annotations

from typing import Any

from .scene import Scene
from .written_command import command, csv_of
from .written_python import python

__all__ = ["code"]


def code(request: dict[str, Any]) -> dict[str, Any]:
    """What makes the machine of a scene again, to the last digit.

    Examples
    --------
    >>> scene = {"points": [[0, 0], [1, 1]], "labels": [0, 1], "C": 10}
    >>> answer = code({"scene": scene})
    >>> answer["csv"].splitlines()
    ['x1,x2,label', '0.0,0.0,1 red', '1.0,1.0,2 blue']
    >>> answer["command"].partition(" --kernel ")[2]
    "'gaussian(gamma=1.0)' --set C=10.0 --seed 0 -o model.safetensors"
    """
    scene = Scene.of(request.get("scene"))
    scene.refuse_few()
    scene.parsed  # noqa: B018  a kernel that cannot be read is refused before it is written
    note = "The script needs nothing else; the command reads the points from points.csv."
    if scene.learner == "quantile":
        note += " It learns the median alone: several quantiles at once are for Python."
    return {"python": python(scene), "command": command(scene), "csv": csv_of(scene), "note": note}
