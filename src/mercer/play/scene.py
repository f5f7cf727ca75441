"""What is on the page: points, a learner, a kernel and the sliders, checked value by value."""

from __future__ import annotations

import re
from base64 import b64encode
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ..checks import shown
from ..estimators import SVC
from ..kernels import Kernel, parse
from ..margins import Bound, mistake_bound
from ..runtime import Array
from .requests import (
    LEARNERS,
    SLIDERS,
    TIME_LIMIT,
    Offered,
    chosen,
    list_of,
    mapping,
    number,
    numbers,
    text,
    truth,
    whole,
)

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
        names = _names(given.get("names", ["blue", "orange"]))
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

    @cached_property
    def _scaler(self) -> StandardScaler | None:
        """Fitted to the points, where the scene asks for one."""
        return StandardScaler().fit(self.X) if self.scaled else None

    def seen(self, places: Array) -> Array:
        """Places as a machine sees them."""
        return places if self._scaler is None else self._scaler.transform(places)

    def around(self, machine: Any) -> Any:
        """A machine behind the scaler, not fitted, where the scene asks for one."""
        return make_pipeline(StandardScaler(), machine) if self.scaled else machine

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


def frame_around(points: Array) -> list[float]:
    """A box around the points, a little wider than they are."""
    low, high = points.min(axis=0), points.max(axis=0)
    wider = np.where(high > low, 0.12 * (high - low), 1.0)
    return np.column_stack([low - wider, high + wider]).ravel().tolist()


# Soft margins that a Perceptron is measured by: the mistake bound holds for every u, and theirs are good ones.


_COSTS = (0.1, 1.0, 10.0)


def least_mistake_bound(scene: Scene, X: Array, passes: int) -> Bound:
    """The least of the bounds that soft margins of several C give."""
    rivals = (SVC(scene.parsed, C=C, time_limit=TIME_LIMIT).fit(X, scene.y) for C in _COSTS)
    return min((mistake_bound(X, scene.y, model=rival, passes=passes) for rival in rivals), key=float)


# A scene that has been learned: the machine, the points as it sees them, and its scores anywhere.


#: Learners and shapes of kernels that were fitted here before, so that their code is compiled.
_compiled: set[tuple[str, str]] = set()
_NUMBERS = re.compile(r"[\d.]+")


@dataclass(frozen=True, eq=False)
class Learned:
    """A fitted machine; ``X`` are the points as it sees them."""

    scene: Scene
    machine: Any
    X: Array

    def scores(self, places: Array) -> Array:
        """Decision values of places: one number each, or one for each class."""
        return self.machine.decision_function(self.scene.seen(places))

    def pair_scores(self, places: Array) -> Array | None:
        """The score of each pair of classes at places, of machines that let pairs vote."""
        vote = getattr(self.machine, "pair_scores", None)
        return None if vote is None else vote(self.scene.seen(places))

    def predictions(self, places: Array) -> Array:
        """What is predicted at places."""
        return self.machine.predict(self.scene.seen(places))


def learn(scene: Scene, **changed: Any) -> Learned:
    """Fit the learner of a scene, with some of its parameters changed."""
    scene.refuse_few()
    X = scene.seen(scene.X)
    kind = scene.learner, _NUMBERS.sub("", str(changed.get("kernel", scene.kernel)))
    if kind not in _compiled:  # by a fit that has less time for its work
        _compiled.add(kind)
        with suppress(ValueError):
            _fitted(scene, X, changed)
    return Learned(scene, _fitted(scene, X, changed), X)


def _fitted(scene: Scene, X: Array, changed: dict[str, Any]) -> Any:
    machine = scene.offered.build(scene, **changed)
    return machine.fit(X) if scene.y is None else machine.fit(X, scene.y)


# Numbers for the page: many of them as base64 of their bytes, few of them as lists without NaN.


#: What float32 can hold.
_LARGEST = float(np.finfo(np.float32).max)


def floats_text(values: Array) -> str:
    """Little-endian float32 in base64; what is too large for it is as large as it can be.

    Examples
    --------
    >>> floats_text(np.array([1.0, -2.0]))
    'AACAPwAAAMA='
    """
    return b64encode(np.clip(values, -_LARGEST, _LARGEST).astype("<f4").tobytes()).decode("ascii")


def bytes_text(values: Array) -> str:
    """Small whole numbers in base64."""
    return b64encode(values.astype(np.uint8).tobytes()).decode("ascii")


def grid_of(values: Array, width: int, height: int) -> dict[str, Any]:
    """Values on a grid, row by row from the bottom."""
    return {"width": width, "height": height, "values": floats_text(values)}


def plain(values: Array) -> list[Any]:
    """A list of finite numbers."""
    return np.nan_to_num(values, posinf=1e300, neginf=-1e300).tolist() if values.dtype.kind == "f" else values.tolist()
