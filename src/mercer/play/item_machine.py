"""A support vector machine on two classes of words or graphs, and all that the page shows of it."""

from __future__ import annotations

import time
from collections import defaultdict
from contextvars import Context
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from .. import SVC
from .._runtime.compile import Array
from .._runtime.interrupts import until
from ..explain import explain, nearest_support, overview
from ..kernels import Kernel
from .certificates import certificate_of
from .feature_lists import refuse_giants, too_many_to_list
from .heard import hearing
from .item_scene import ItemScene
from .request_fields import leaves

__all__ = ["ItemMachine", "within_time"]

#: Kinds of kernels whose compiled code is there already: making it takes seconds, once, that are not the kernel's own.
_COMPILED: set[type[Kernel]] = set()
#: Seconds after which an answer is given up, and those for a kernel that is met for the first time.
_PATIENCE, _PATIENCE_AT_FIRST = 5.0, 60.0
#: How many features of the machine are told, support items like the asked one, and features of that one.
_FEATURES, _NEAREST, _SPECTRUM = 30, 6, 400
#: Digits of a similarity that a page of coloured cells can show.
_DIGITS = 4


def within_time(machine: ItemMachine, scene: ItemScene) -> dict[str, Any]:
    """What is known of a scene's machine and of the item asked about, or that it takes longer than anybody would wait.

    Examples
    --------
    >>> from mercer.play.item_scene import word_scene
    >>> scene = word_scene({"words": ["aa", "bb"], "labels": [0, 1], "asked": "aab"})
    >>> within_time(ItemMachine.of(scene), scene)["asked"]["label"]
    0
    """
    # In a context of its own: the deadline of whoever asks would be over before code is compiled for the first time.
    return Context().run(_answered, machine, scene)


def _answered(machine: ItemMachine, scene: ItemScene) -> dict[str, Any]:
    refuse_giants(machine.kernel, machine.items)
    kinds = {type(leaf) for leaf in leaves(machine.kernel)}
    patience = _PATIENCE if kinds <= _COMPILED else _PATIENCE_AT_FIRST
    with until(time.monotonic() + patience), hearing() as heard:
        facts = machine.facts()
        about = None if scene.asked is None else machine.about(scene.asked)
        _COMPILED.update(kinds)
        return {**facts, "asked": about, "notes": [*facts["notes"], *heard]}
    what = f"{len(scene.items)} {scene.many}"
    raise ValueError(f"{machine.kernel} takes more than {patience:g} s for {what}; take fewer or smaller ones.")


@dataclass(frozen=True)
class ItemMachine:
    """The machine of some items with labels 0 and 1; positive scores speak for 1.

    Parameters
    ----------
    items : list
        Words, or graphs as :class:`mercer.kernels.Graphs` takes them.
    labels : list of int
    kernel : Kernel
    C : float

    Examples
    --------
    >>> from mercer.kernels import Spectrum
    >>> machine = ItemMachine(["abab", "baba", "cdcd", "dcdc"], [0, 0, 1, 1], Spectrum(p=2), C=10.0)
    >>> machine.facts()["support"]
    [True, True, True, True]
    """

    items: list[Any]
    labels: list[int]
    kernel: Kernel
    C: float

    @classmethod
    def of(cls, scene: ItemScene) -> ItemMachine:
        """The machine of a scene."""
        return cls(scene.items, scene.labels, scene.kernel, scene.C)

    @cached_property
    def model(self) -> SVC:
        return SVC(self.kernel, C=self.C).fit(self.items, self.labels)

    @cached_property
    def alpha(self) -> Array:
        """What each item weighs in the machine, from 0 to C."""
        out = np.zeros(len(self.items))
        out[self.model.support_] = np.abs(self.model.dual_coef_[0])
        return out

    @cached_property
    def _unlisted(self) -> str:
        """Why features are not told; empty where they are."""
        kernel = self.model.kernel_
        if too_many_to_list(kernel, self.items):
            return f"{kernel} has more features than can be listed; the most similar items tell why instead."
        if kernel.named_features(kernel.items(self.items[:1])) is None:
            return f"{kernel} has no features that could be listed; the most similar items tell why instead."
        return ""

    def facts(self) -> dict[str, Any]:
        """What is known of the items and of the machine."""
        model = self.model
        scores = model.decision_function(self.items)
        if not np.isfinite(scores).all():
            raise ValueError(f"{self.kernel} leaves the range of numbers here; take its normalised form.")
        unlisted = self._unlisted
        strongest = [] if unlisted else overview(model, self.items, top=_FEATURES).features
        return {
            "scores": scores.tolist(),
            "alpha": self.alpha.tolist(),
            "support": (self.alpha > 0).tolist(),
            "wrong": ((scores >= 0) != np.array(self.labels)).tolist(),
            "intercept": float(model.intercept_[0]),
            "kernel": str(model.kernel_),
            "certificate": certificate_of(model),
            "matrix": self._similarities().round(_DIGITS).tolist(),
            "features": [
                {"feature": each.name, "weight": each.value if each.label == 1 else -each.value, "items": each.rows}
                for each in strongest
            ],
            "notes": [unlisted] if unlisted else [],
        }

    def _similarities(self) -> Array:
        """The cosine of every pair of items in feature space; 0 where an item has no features at all."""
        kernel = self.model.kernel_
        items = kernel.items(self.items)
        lengths = np.sqrt(np.maximum(kernel.diag(items), 0.0))
        both = lengths[:, None] * lengths
        return np.divide(kernel.matrix(items, items), both, out=np.zeros_like(both), where=both > 0)

    def about(self, asked: Any) -> dict[str, Any]:
        """Why the machine says what it says about an item: every number speaks for class 1 where it is positive."""
        refuse_giants(self.kernel, [asked])
        score = float(self.model.decision_function([asked])[0])
        label = int(score >= 0)  # as ``predict`` has it
        side = 1 if label else -1  # neighbours are told by what they add to the predicted class
        values = self._values(asked)
        most = sorted(values.items(), key=lambda each: -each[1])
        pushes = explain(self.model, asked, label=1, top=len(values)).features if values else []
        return {
            "label": label,
            "score": score,
            "pushes": [
                {"feature": name, "count": values[name], "weight": push / values[name], "push": push}
                for name, push in pushes
            ],
            "spectrum": [{"feature": name, "count": value} for name, value in most[:_SPECTRUM]],
            "nearest": [
                {
                    "place": each["place"],
                    "similarity": each["similarity"],
                    "alpha": float(self.alpha[each["place"]]),
                    "label": self.labels[each["place"]],
                    "push": side * each["adds"],
                }
                for each in nearest_support(self.model, asked, top=_NEAREST)
            ],
        }

    def _values(self, asked: Any) -> dict[str, float]:
        """The features of an item by name, those of one name in several parts of a kernel together."""
        kernel = self.model.kernel_
        if self._unlisted or too_many_to_list(kernel, [asked]):
            return {}
        values: dict[str, float] = defaultdict(float)
        for features in kernel.named_features(kernel.items([asked])) or []:
            for name, value in features.items():
                values[name.text] += value
        return dict(values)
