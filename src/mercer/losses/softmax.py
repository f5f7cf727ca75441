"""Several classes at once: the probabilities of a softmax.

With a score f_c for every class, P(c|x) = e^{f_c} / Σ e^{f_j}, and the loss of an item of class y is

    ℓ(f) = log Σ e^{f_j} − f_y,      ∂ℓ/∂f = p − e_y,      ∂²ℓ/∂f² = diag(p) − p·pᵀ.

For two classes whose scores are f/2 and −f/2 this is the logistic loss of the margin.
"""

from __future__ import annotations

import numpy as np
from scipy import special

from .._runtime.compile import Array
from .base import Loss

#: No chance is smaller.
_LEAST = 1e-300


class Softmax(Loss):
    """The negative log-likelihood of an item's class, of several.

    Targets, scores and coefficients have a column for each class; a target is 1 in the column of the item's class and 0
    elsewhere.

    Examples
    --------
    >>> import numpy as np
    >>> Softmax().costs(np.array([[1.0, 0.0]]), np.zeros((1, 2))).round(4)
    array([0.6931])
    """

    several_scores = True

    def costs(self, y: Array, f: Array) -> Array:
        return special.logsumexp(f, axis=1) - np.einsum("ij,ij->i", f, y)

    def slopes(self, y: Array, f: Array) -> Array:
        return special.softmax(f, axis=1) - y

    def curvatures(self, y: Array, f: Array) -> Array:
        """The probabilities p, of which :meth:`hessian_product` makes diag(p) − p·pᵀ."""
        return special.softmax(f, axis=1)

    def hessian_product(self, h: Array, change: Array) -> Array:
        # h = s·p for some weight s, so that s·(p∘c − p·⟨p, c⟩) is h∘(c − the mean change under p).
        mean = (h * change).sum(axis=1, keepdims=True) / np.maximum(h.sum(axis=1, keepdims=True), _LEAST)
        return h * (change - mean)

    def hessian_diagonal(self, h: Array) -> Array:
        return h - h * h / np.maximum(h.sum(axis=1, keepdims=True), _LEAST)

    def slope_range(self, y: Array) -> tuple[Array, Array]:
        return -y, 1.0 - y

    def conjugates(self, y: Array, u: Array) -> Array:
        chances = u + y
        return special.xlogy(chances, chances).sum(axis=1)

    def balanced(self, y: Array, u: Array, weights: Array) -> Array:
        """Every class is expected as often as it occurs.

        Classes that are expected too often give up that part of their probability; the others share it.
        """
        s, chances = weights[:, None], u + y
        expected = (s * chances).sum(axis=0)
        excess = expected - (s * y).sum(axis=0)
        given = chances * np.clip(excess / np.maximum(expected, _LEAST), 0.0, 1.0)
        wanted = np.clip(-excess, 0.0, None)
        wanted /= max(float(wanted.sum()), _LEAST)
        return chances - given + given.sum(axis=1, keepdims=True) * wanted - y
