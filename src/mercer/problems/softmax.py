"""Several classes at once: the probabilities of a softmax.

With a score f_c for every class, P(c|x) = e^{f_c} / Σ e^{f_j}, and the loss of an item of class y is

    ℓ(f) = log Σ e^{f_j} − f_y,      ∂ℓ/∂f = p − e_y,      ∂²ℓ/∂f² = diag(p) − p·pᵀ.

For two classes whose scores are f/2 and −f/2 this is the logistic loss of the margin.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import special

from .._runtime.compile import Array
from .problem import Problem


@dataclass(frozen=True)
class Softmax(Problem):
    """As :class:`Problem`, for one score a class: y, scores and coefficients have a column for each.

    ``y`` is 1 in the column of the item's class and 0 elsewhere; ``loss`` is the logistic one.
    """

    def share(self) -> Array:
        return super().share()[:, None]

    def loss_of(self, scores: Array) -> float:
        own = np.einsum("ij,ij->i", scores, self.y)
        return float(np.mean(self.weights() * (special.logsumexp(scores, axis=1) - own)))

    def derivatives(self, scores: Array) -> tuple[Array, Array]:
        """First derivatives, and s·p/n, of which :meth:`bend` and :meth:`diagonal` make the second ones."""
        chances = special.softmax(scores, axis=1)
        return self.share() * (chances - self.y), self.share() * chances

    def bend(self, h: Array, change: Array) -> Array:
        # h = s·p/n, so that s/n·(p∘c − p·⟨p, c⟩) is h∘(c − the mean change under p).
        mean = (h * change).sum(axis=1, keepdims=True) / np.maximum(h.sum(axis=1, keepdims=True), 1e-300)
        return h * (change - mean)

    def diagonal(self, h: Array) -> Array:
        return h - h * h / np.maximum(h.sum(axis=1, keepdims=True), 1e-300)

    def dual_point(self, z: Array, scores: Array, own: bool = False) -> tuple[Array, float]:
        """−s·(p − e_y)/(λn) for probabilities p near the model's, and the mean of s·ℓ* = s·Σ p·log p there.

        A free intercept asks that every class is expected as often as it occurs, Σ s·(p − e_y) = 0. Classes that are
        expected too often give up that part of their probability; the others share it.
        """
        s = self.weights()[:, None]
        chances = special.softmax(scores, axis=1)
        if self.intercept:
            expected = (s * chances).sum(axis=0)
            excess = expected - (s * self.y).sum(axis=0)
            given = chances * np.clip(excess / np.maximum(expected, 1e-300), 0.0, 1.0)
            wanted = np.clip(-excess, 0.0, None)
            wanted /= max(float(wanted.sum()), 1e-300)
            chances = chances - given + given.sum(axis=1, keepdims=True) * wanted
        entropy = float((s * special.xlogy(chances, chances)).sum() / len(self.gram))
        return s * (self.y - chances) / (self.lam * len(self.gram)), entropy
