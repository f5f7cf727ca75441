"""What a request holds, checked: every value of it may be anything at all."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._runtime.compile import Array
from .._validation.parameters import shown
from .._validation.wording import enumeration

__all__ = ["FARTHEST", "chosen", "grid_asked", "list_of", "mapping", "number", "numbers", "text", "truth", "whole"]

#: Cells of a grid along one side.
_MOST_CELLS = 200
#: The largest coordinate.
FARTHEST = 1e6


def mapping(given: Any, what: str) -> dict[str, Any]:
    """A JSON object."""
    if not isinstance(given, dict):
        raise ValueError(f"{what} should be an object with named values, got {shown(given)}.")
    return given


def number(given: Any, what: str, low: float, high: float) -> float:
    """A finite number from ``low`` to ``high``.

    Examples
    --------
    >>> number(2, "C", 0, 10)
    2.0
    """
    real = isinstance(given, (int, float)) and not isinstance(given, bool)
    if not real or not (low <= given <= high):  # which NaN and infinities are not
        raise ValueError(f"{what} should be a number from {low:g} to {high:g}, got {shown(given)}.")
    return float(given)


def whole(given: Any, what: str, low: int, high: int) -> int:
    """A whole number from ``low`` to ``high``."""
    value = number(given, what, low, high)
    if value != math.floor(value):
        raise ValueError(f"{what} should be a whole number, got {shown(given)}.")
    return int(value)


def truth(given: Any, what: str) -> bool:
    """True or false."""
    if not isinstance(given, bool):
        raise ValueError(f"{what} should be true or false, got {shown(given)}.")
    return given


def text(given: Any, what: str, longest: int) -> str:
    """A text that is not too long."""
    if not isinstance(given, str):
        raise ValueError(f"{what} should be a text, got {shown(given)}.")
    if len(given) > longest:
        raise ValueError(f"{what} has {len(given)} characters; at most {longest} are read.")
    return given


def chosen(given: Any, what: str, among: Any) -> str:
    """One of some words."""
    if not isinstance(given, str) or given not in among:
        raise ValueError(f"{what} should be {enumeration(map(repr, among), 50, 'or')}, got {shown(given)}.")
    return given


def list_of(given: Any, what: str, most: int) -> list[Any]:
    """A list that is not too long."""
    if not isinstance(given, list):
        raise ValueError(f"{what} should be a list, got {shown(given)}.")
    if len(given) > most:
        raise ValueError(f"{what} are {len(given)}; at most {most} are taken.")
    return given


def numbers(given: Any, what: str, most: int, width: int | None = None, farthest: float = FARTHEST) -> Array:
    """An array of finite numbers, with so many in a row where that is said."""
    values = list_of(given, what, most)
    shape = (len(values),) if width is None else (len(values), width)
    each = "a number" if width is None else f"{width} numbers"
    if not values:
        return np.empty(shape)
    try:
        array = np.array(values)
    except (ValueError, OverflowError):  # rows of different lengths
        array = np.empty(0, object)
    if array.dtype.kind not in "iuf" or array.shape != shape:
        raise ValueError(f"each of {what} should be {each}.")
    if not (np.abs(array) <= farthest).all():
        raise ValueError(f"{what} should be numbers of a size up to {farthest:g}.")
    return array.astype(np.float64)


def grid_asked(request: dict[str, Any]) -> tuple[Array, Array]:
    """The places along both sides of the grid that a request asks for: ``box`` and ``size``, edges included."""
    box = numbers(request.get("box", [-1, 1, -1, 1]), "the ends of the box", 4, farthest=4 * FARTHEST)
    if box.size != 4 or not (box[0] < box[1] and box[2] < box[3]):
        raise ValueError("box should be [x0, x1, y0, y1] with x0 < x1 and y0 < y1.")
    size = list_of(request.get("size", [80, 80]), "the sides of the grid", 2)
    if len(size) != 2:
        raise ValueError("size should be [width, height].")
    width, height = (whole(side, "a side of the grid", 2, _MOST_CELLS) for side in size)
    return np.linspace(box[0], box[1], width), np.linspace(box[2], box[3], height)
