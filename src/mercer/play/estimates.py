"""What the points say of new ones: errors that were counted, and bounds of the library, where they are defined."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._runtime.compile import Array
from .._validation.wording import counted
from ..margins import Bound, leave_one_out_bound, margin_bound, mistake_bound, norm, vc_bound
from .learned import Learned
from .rivals import rival

__all__ = ["counted_share", "estimate", "estimates"]


def estimates(learned: Learned, wrong: Array, margins: Array) -> list[dict[str, Any]]:
    """Everything that can be said of classes and of novelties, each with its name, its value, a text and a note."""
    scene = learned.scene
    if scene.task == "novelty":
        return [counted_share("points outside", wrong, f"At most a share ν = {scene.nu:g}, but for the tolerance.")]
    found = [counted_share("training error", wrong, "Points that the machine learned from say too little of new ones.")]
    if scene.learner == "nu-svc":
        short = margins < 1 - learned.machine.tol
        found.append(counted_share("within the margin", short, f"At most a share ν = {scene.nu:g}."))
    if scene.learner == "svc" and learned.machine.converged_:  # the argument is one about the solution
        note = "Without a point that is no support vector the machine is the same, and right on it."
        found.append(_bounded(leave_one_out_bound(learned.machine, wrong.size), note))
    if scene.learner == "kernel-perceptron":
        found += _mistakes(learned)
    return [*found, *_of_margin(learned, margins), *_of_dimension(learned, wrong)]


def estimate(name: str, value: float, text: str, note: str) -> dict[str, Any]:
    """One line of the panel."""
    return {"name": name, "value": float(value), "text": text, "note": note}


def counted_share(name: str, wrong: Array, note: str) -> dict[str, Any]:
    """How many points are so."""
    return estimate(name, wrong.mean(), f"{int(wrong.sum())} of {wrong.size}", note)


def _bounded(bound: Bound, note: str, name: str = "") -> dict[str, Any]:
    text = f"≤ {float(bound):.3g}"
    return estimate(name or bound.name, float(bound), text if float(bound) < 1 else f"{text}: says nothing here", note)


def _mistakes(learned: Learned) -> list[dict[str, Any]]:
    """The mistakes on the way and their bound, of a Perceptron of two classes."""
    made = learned.machine.mistakes_
    if len(made) > 1:
        return []
    found = rival(learned.scene, learned.X, 1.0)
    bound = mistake_bound(learned.X, learned.scene.y, model=found, passes=learned.machine.n_iter_)
    passes = counted(learned.machine.n_iter_, "pass", "passes")
    note = f"In {passes} over the points; by the soft margin of C = 1 as the u of Novikoff's bound."
    return [estimate("mistakes on the way", made[0].sum(), f"{made[0].sum()} ≤ {float(bound):.0f}", note)]


def _of_margin(learned: Learned, margins: Array) -> list[dict[str, Any]]:
    """The order of the error by the margin in feature space, where all points are on their side."""
    if np.size(learned.machine.intercept_) > 1 or margins.min() <= 0:
        return []
    radius, length = float(np.sqrt(np.max(learned.machine.kernel_.diag(learned.X)))), norm(model=learned.machine)
    if not (length > 0 and radius > 0):
        return []
    bound = margin_bound(radius, float(margins.min()) / length, margins.size)
    note = f"(L/γ)²/n with a margin γ = {bound.parts['γ']:.3g} in feature space, L = {radius:.3g}; constants left out."
    return [estimate("order of the error by the margin", float(bound), f"~ {float(bound):.3g}", note)]


def _of_dimension(learned: Learned, wrong: Array) -> list[dict[str, Any]]:
    """The bound of Vapnik and Chervonenkis, where the kernel has finitely many features."""
    features = learned.machine.kernel_.features(learned.X[:1])
    if features is None or np.size(learned.machine.intercept_) > 1 or features.shape[1] >= wrong.size:
        return []
    bound = vc_bound(float(wrong.mean()), features.shape[1] + 1, wrong.size)
    note = f"With probability 0.95; a plane in {features.shape[1]} dimensions."
    return [_bounded(bound, note, "VC bound on the error")]
