"""A scene that has been learned: the machine, the points as it sees them, and its scores anywhere."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from sklearn.preprocessing import StandardScaler

from .._runtime.compile import Array
from .scene import Scene

__all__ = ["Learned", "learn", "scaler_of"]

#: Learners and shapes of kernels that were fitted here before, so that their code is compiled.
_compiled: set[tuple[str, str]] = set()
_NUMBERS = re.compile(r"[\d.]+")


@dataclass(frozen=True, eq=False)
class Learned:
    """A fitted machine; ``X`` are the points as it sees them, behind the scaler where there is one."""

    scene: Scene
    scaler: StandardScaler | None
    machine: Any
    X: Array

    def seen(self, places: Array) -> Array:
        """Places as the machine sees them."""
        return places if self.scaler is None else self.scaler.transform(places)

    def scores(self, places: Array) -> Array:
        """Decision values of places: one number each, or one for each class."""
        return self.machine.decision_function(self.seen(places))

    def pair_scores(self, places: Array) -> Array | None:
        """The score of each pair of classes at places, of machines that let pairs vote."""
        vote = getattr(self.machine, "pair_scores", None)
        return None if vote is None else vote(self.seen(places))

    def predictions(self, places: Array) -> Array:
        """What is predicted at places."""
        return self.machine.predict(self.seen(places))


def scaler_of(scene: Scene) -> StandardScaler | None:
    """The scaler of a scene that asks for one, fitted to its points."""
    return StandardScaler().fit(scene.X) if scene.scaled else None


def learn(scene: Scene, **changed: Any) -> Learned:
    """Fit the learner of a scene, with some of its parameters changed."""
    scene.refuse_few()
    scaler = scaler_of(scene)
    X = scene.X if scaler is None else scaler.transform(scene.X)
    kind = scene.learner, _NUMBERS.sub("", str(changed.get("kernel", scene.kernel)))
    if kind not in _compiled:  # by a fit that has less time for its work
        _compiled.add(kind)
        with suppress(ValueError):
            _fitted(scene, X, changed)
    return Learned(scene, scaler, _fitted(scene, X, changed), X)


def _fitted(scene: Scene, X: Array, changed: dict[str, Any]) -> Any:
    machine = scene.offered.build(scene, **changed)
    return machine.fit(X) if scene.y is None else machine.fit(X, scene.y)
