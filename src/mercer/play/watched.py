"""What is seen of an algorithm: its steps as the page shows them, and what bounds them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._runtime.compile import Array

__all__ = ["Watched", "changed", "rounded"]


@dataclass(frozen=True)
class Watched:
    """The steps of an algorithm, a bound with its name and sentence, and whether it came to its end."""

    steps: list[dict[str, Any]]
    bound: dict[str, Any]
    converged: bool


def changed(before: Array, after: Array) -> dict[str, float]:
    """The coefficients that a step has changed, by the number of their point."""
    places = np.flatnonzero(before != after)
    return {str(place): value for place, value in zip(places.tolist(), after[places].tolist(), strict=True)}


def rounded(value: float) -> str:
    """A number as sentences say it.

    Examples
    --------
    >>> rounded(-0.30001), rounded(0.0), rounded(-0.0)
    ('−0.3', '0', '0')
    """
    return f"{value + 0.0:.3g}".replace("-", "−")
