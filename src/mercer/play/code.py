"""The answer to ``/api/code``: what is seen as a Python script, and its machine as a line of the command line."""

from __future__ import annotations

from typing import Any

from .item_scene import graph_scene, word_scene
from .scene import Scene
from .written_command import command, csv_of
from .written_items import items_python, words_command, words_csv, words_note
from .written_python import python

__all__ = ["code"]


def code(request: dict[str, Any]) -> dict[str, Any]:
    """What makes the machine of a request again, to the last digit: of its ``scene``, or of its words or graphs.

    Examples
    --------
    >>> scene = {"points": [[0, 0], [1, 1]], "labels": [0, 1], "C": 10}
    >>> answer = code({"scene": scene})
    >>> answer["csv"].splitlines()
    ['x1,x2,label', '0.0,0.0,1 red', '1.0,1.0,2 blue']
    >>> answer["command"].partition(" --kernel ")[2]
    "'gaussian(gamma=1.0)' --set C=10.0 --seed 0 -o model.safetensors"
    """
    if "words" in request:
        words = word_scene(request)
        return {
            "python": items_python(words),
            "command": words_command(words),
            "csv": words_csv(words),
            "file": "words.csv",
            "note": words_note(words),
        }
    if "graphs" in request:
        return {
            "python": items_python(graph_scene(request)),
            "note": "The script needs nothing else. The command line reads graphs from folders in the TU format.",
        }
    scene = Scene.of(request.get("scene"))
    scene.refuse_few()
    scene.parsed  # noqa: B018  a kernel that cannot be read is refused before it is written
    note = "The script needs nothing else; the command reads the points from points.csv."
    if scene.learner == "quantile":
        note += " It learns the median alone: several quantiles at once are for Python."
    return {
        "python": python(scene),
        "command": command(scene),
        "csv": csv_of(scene),
        "file": "points.csv",
        "note": note,
    }
