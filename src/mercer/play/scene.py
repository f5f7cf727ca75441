"""What is on the page: points, a learner, a kernel and the sliders, checked value by value."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .._runtime.compile import Array
from .._validation.parameters import shown
from ..kernels import Kernel, parse
from .asked import chosen, list_of, mapping, number, numbers, text, truth, whole
from .on_offer import LEARNERS, SLIDERS, Offered

__all__ = ["MOST_POINTS", "Scene", "kernel_on_points"]

MOST_POINTS = 2000
_LONGEST_KERNEL, _LONGEST_NAME = 500, 60
_DEFAULT_LEARNER = {"classes": "svc", "numbers": "kernel-ridge", "novelty": "one-class"}


@dataclass(frozen=True, eq=False)
class Scene:
    """A scene as the library can learn from it. In ``kernel`` every "?" stands for ``gamma``.

    Examples
    --------
    >>> scene = Scene.of({"points": [[0, 0], [1, 1]], "labels": [0, 1], "kernel": "gaussian(gamma=?)", "gamma": 2})
    >>> scene.kernel_text, scene.y.tolist(), scene.learner
    ('gaussian(gamma=2.0)', [0, 1], 'svc')
    """

    task: str
    points: Array
    labels: Array
    names: tuple[str, ...]
    axes: tuple[str, ...]
    scaled: bool
    learner: str
    kernel: str
    seed: int
    C: float
    lam: float
    gamma: float
    nu: float
    epsilon: float
    epochs: int
    coverage: float

    @classmethod
    def of(cls, given: Any) -> Scene:
        """The scene that a request describes; what it leaves out is usual."""
        given = mapping(given, "scene")
        task = chosen(given.get("task", "classes"), "task", LEARNERS)
        points = numbers(given.get("points", []), "the points", MOST_POINTS, width=2)
        names = _names(given.get("names", ["red", "blue"]))
        sliders = {
            name: number(given.get(name, slider.start), name, slider.least, slider.most)
            for name, slider in SLIDERS.items()
        }
        return cls(
            task=task,
            points=points,
            labels=_labels(given.get("labels", []), len(points), len(names)) if task == "classes" else np.empty(0, int),
            names=names,
            axes=_axes(given.get("axes", ["x₁", "x₂"])),
            scaled=truth(given.get("scaled", False), "scaled"),
            learner=chosen(given.get("learner", _DEFAULT_LEARNER[task]), "learner", LEARNERS[task]),
            kernel=text(given.get("kernel", "gaussian(gamma=?)"), "the kernel text", _LONGEST_KERNEL),
            seed=whole(given.get("seed", 0), "seed", 0, 2**31 - 1),
            **{**sliders, "epochs": whole(sliders["epochs"], "epochs", 1, 1000)},  # type: ignore[arg-type]
        )

    @property
    def offered(self) -> Offered:
        """The learner as it is offered."""
        return LEARNERS[self.task][self.learner]

    @property
    def kernel_text(self) -> str:
        """The kernel as the library reads it."""
        return self.kernel.replace("?", repr(self.gamma))

    @cached_property
    def parsed(self) -> Kernel:
        """The kernel itself."""
        return kernel_on_points(self.kernel_text)

    @property
    def X(self) -> Array:
        """What is learned from: both coordinates, or the first where the second is the target."""
        return self.points[:, :1].copy() if self.task == "numbers" else self.points

    @property
    def y(self) -> Array | None:
        """What is learned: labels, numbers or nothing."""
        return {"classes": self.labels, "numbers": self.points[:, 1], "novelty": None}[self.task]

    def refuse_few(self) -> None:
        """Raise where there is nothing to learn from yet."""
        if self.task == "classes":
            present = np.unique(self.labels).size
            if present < 2:
                raise ValueError(f"there are points of {present} {'class' if present == 1 else 'classes'}; add points "
                                 "of two classes or more.")  # fmt: skip
        elif len(self.points) < 2:
            raise ValueError(f"there {'is 1 point' if len(self.points) else 'are no points'}; add two or more.")


def kernel_on_points(written: str) -> Kernel:
    """The kernel of a text, where it compares points of the plane."""
    kernel = parse(written)
    if kernel.precomputed or not kernel.on_rows:
        raise ValueError(
            f"the kernel {shown(written)} does not compare points of the plane; use one of vectors, such as "
            "'gaussian(gamma=?)', 'polynomial(degree=2)' or 'linear'."
        )
    return kernel


def _names(given: Any) -> tuple[str, ...]:
    names = tuple(text(name, "the name of a class", _LONGEST_NAME) for name in list_of(given, "the names", 6))
    if len(names) < 2 or len(set(names)) < len(names):
        raise ValueError("names should be 2 to 6 different names of classes.")
    return names


def _axes(given: Any) -> tuple[str, ...]:
    axes = tuple(text(name, "the name of an axis", _LONGEST_NAME) for name in list_of(given, "the axes", 2))
    if len(axes) != 2:
        raise ValueError("axes should be two names.")
    return axes


def _labels(given: Any, points: int, classes: int) -> Array:
    labels = numbers(given, "the labels", MOST_POINTS)
    if len(labels) != points:
        raise ValueError(f"there are {points} points and {len(labels)} labels; each point has one label.")
    if ((labels < 0) | (labels >= classes) | (labels != np.floor(labels))).any():
        raise ValueError(f"labels should be whole numbers from 0 to {classes - 1}, one for each name.")
    return labels.astype(np.int64)
