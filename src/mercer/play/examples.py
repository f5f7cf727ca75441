"""Scenes to begin with, made here from a seed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._runtime.compile import Array

__all__ = ["EXAMPLES", "Example", "example_scene"]

_POINTS = 120


@dataclass(frozen=True)
class Example:
    """Points in the plane, and labels where the task has them."""

    title: str
    task: str
    make: Callable[[np.random.RandomState], tuple[Array, Array | None]]
    kernel: str = "gaussian(gamma=?)"
    gamma: float = 1.0


def _moons(random: np.random.RandomState) -> tuple[Array, Array]:
    from sklearn.datasets import make_moons

    return make_moons(_POINTS, noise=0.2, random_state=random)


def _circles(random: np.random.RandomState) -> tuple[Array, Array]:
    from sklearn.datasets import make_circles

    return make_circles(_POINTS, noise=0.1, factor=0.5, random_state=random)


def _xor(random: np.random.RandomState) -> tuple[Array, Array]:
    from ..datasets import make_xor

    X, y = make_xor(_POINTS, random_state=random)
    return X, (y == "yes").astype(int)


def _clouds(random: np.random.RandomState) -> tuple[Array, Array]:
    y = np.arange(_POINTS) % 2
    return random.standard_normal((_POINTS, 2)) * 0.5 + np.where(y[:, None] == 1, 1.2, -1.2), y


def _overlap(random: np.random.RandomState) -> tuple[Array, Array]:
    y = np.arange(_POINTS) % 2
    return random.standard_normal((_POINTS, 2)) + np.where(y[:, None] == 1, 0.7, -0.7), y


def _three(random: np.random.RandomState) -> tuple[Array, Array]:
    y = np.arange(_POINTS) % 3
    turn = 2 * np.pi * y / 3 + np.pi / 2
    return 1.3 * np.column_stack([np.cos(turn), np.sin(turn)]) + 0.5 * random.standard_normal((_POINTS, 2)), y


def _spirals(random: np.random.RandomState) -> tuple[Array, Array]:
    y = np.arange(_POINTS) % 2
    along = np.sqrt(random.uniform(0.05, 1.0, _POINTS))
    turn = 3 * np.pi * along + np.pi * y
    places = 2 * along[:, None] * np.column_stack([np.cos(turn), np.sin(turn)])
    return places + 0.06 * random.standard_normal((_POINTS, 2)), y


def _wave(random: np.random.RandomState) -> tuple[Array, None]:
    x = random.uniform(-3, 3, _POINTS)
    return np.column_stack([x, np.sin(2 * x) + 0.3 * x + 0.2 * random.standard_normal(_POINTS)]), None


def _fan(random: np.random.RandomState) -> tuple[Array, None]:
    x = random.uniform(-3, 3, _POINTS)
    return np.column_stack([x, np.sin(x) + 0.15 * (x + 3) * random.standard_normal(_POINTS)]), None


def _outliers(random: np.random.RandomState) -> tuple[Array, None]:
    x = random.uniform(-3, 3, _POINTS)
    noise = np.where(random.random_sample(_POINTS) < 0.08, 2.5, 0.1) * random.standard_normal(_POINTS)
    return np.column_stack([x, np.cos(1.5 * x) + noise]), None


def _blob(random: np.random.RandomState) -> tuple[Array, None]:
    few = random.uniform(-3, 3, (6, 2))
    return np.concatenate([random.standard_normal((_POINTS - 6, 2)) * [1.0, 0.5], few]), None


def _ring(random: np.random.RandomState) -> tuple[Array, None]:
    turn = random.uniform(0, 2 * np.pi, _POINTS)
    return (2 + 0.2 * random.standard_normal(_POINTS))[:, None] * np.column_stack([np.cos(turn), np.sin(turn)]), None


#: Every example by name.
EXAMPLES: dict[str, Example] = {
    "moons": Example("two half moons", "classes", _moons),
    "circles": Example("a circle inside another", "classes", _circles, gamma=2.0),
    "xor": Example("four clouds, two classes", "classes", _xor),
    "clouds": Example("two clouds that a line divides", "classes", _clouds, "linear"),
    "overlap": Example("two clouds that nothing divides", "classes", _overlap, gamma=0.5),
    "spirals": Example("two spirals", "classes", _spirals, gamma=5.0),
    "three": Example("three clouds, three classes", "classes", _three),
    "wave": Example("a wave with noise", "numbers", _wave),
    "fan": Example("noise that grows", "numbers", _fan),
    "outliers": Example("a wave with outliers", "numbers", _outliers),
    "blob": Example("a cloud and a few strangers", "novelty", _blob, gamma=0.5),
    "ring": Example("a ring", "novelty", _ring),
}

_COLOURS = ["red", "blue", "green", "purple", "orange", "grey"]


def example_scene(name: str, seed: int) -> dict[str, Any]:
    """The scene of an example.

    Examples
    --------
    >>> scene = example_scene("moons", 0)
    >>> len(scene["points"]), scene["task"]
    (120, 'classes')
    """
    example = EXAMPLES[name]
    points, labels = example.make(np.random.RandomState(seed))
    scene: dict[str, Any] = {
        "task": example.task,
        "points": points.round(4).tolist(),
        "axes": ["x", "y"] if example.task == "numbers" else ["x₁", "x₂"],
        "scaled": False,
        "kernel": example.kernel,
        "gamma": example.gamma,
        "seed": seed,
    }
    if labels is not None:
        scene |= {"labels": labels.tolist(), "names": _COLOURS[: int(labels.max()) + 1]}
    return scene
