"""The answer to ``/api/data``: a scene from an example, or from the text of a file."""

from __future__ import annotations

from typing import Any

from .asked import chosen, whole
from .examples import EXAMPLES, example_scene
from .table_scene import scene_of_text

__all__ = ["data"]


def data(request: dict[str, Any]) -> dict[str, Any]:
    """A scene that is ready to fit, and what was decided to make it.

    Examples
    --------
    >>> data({"name": "moons"})["note"]
    'Two half moons: 120 points.'
    """
    if "file" in request:
        return scene_of_text(request)
    name = chosen(request.get("name"), "name", EXAMPLES)
    scene = example_scene(name, whole(request.get("seed", 0), "seed", 0, 2**31 - 1))
    title = EXAMPLES[name].title
    note = f"{title[0].upper()}{title[1:]}: {len(scene['points'])} points."
    return {"scene": scene, "columns": [], "target": None, "note": note}
