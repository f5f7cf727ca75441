"""What a mistake costs: losses of the margin, for labels, and of the residual, for numbers.

Examples
--------
>>> from mercer.losses import Hinge, Huber
>>> Hinge().value([-1.0, 0.0, 1.0, 2.0])
array([2., 1., 0., 0.])
>>> Huber(delta=1.0).value([0.5, 3.0])
array([0.125, 2.5  ])
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..checks.parameters import shown
from ..messages import guide
from ..runtime.compile import Scalar
from .margins import KNOWN, Hinge, Logistic, Loss, MarginLoss, PerceptronLoss, SmoothHinge, Softmax, SquaredHinge
from .residuals import EpsilonInsensitive, Huber, Pinball, ResidualLoss, Shortfall, Squared

__all__ = [
    "KNOWN",
    "EpsilonInsensitive",
    "Hinge",
    "Huber",
    "Logistic",
    "Loss",
    "MarginLoss",
    "PerceptronLoss",
    "Pinball",
    "ResidualLoss",
    "Scalar",
    "Shortfall",
    "SmoothHinge",
    "Softmax",
    "Squared",
    "SquaredHinge",
    "UnknownLoss",
    "as_loss",
    "as_residual_loss",
    "loss_named",
]

# Losses by the names that parameters, texts and files use. A loss is known by its class: defining one is enough.


def as_loss(loss: Any) -> Loss:
    """The loss of labels ±1 with that name; a loss itself is returned as it is.

    Examples
    --------
    >>> as_loss("hinge")
    Hinge()
    """
    return _named(loss, (MarginLoss, Squared))


def as_residual_loss(loss: Any) -> ResidualLoss:
    """The loss of numbers with that name and its usual parameter; a loss itself is returned as it is.

    Examples
    --------
    >>> as_residual_loss("huber")
    Huber(delta=1.0)
    """
    return _named(loss, (ResidualLoss,))


class UnknownLoss(ValueError):
    """There is no loss of that name here."""


def loss_named(name: str) -> type[Loss]:
    """The class of that name, of whatever kind of loss.

    Examples
    --------
    >>> loss_named("huber").__name__
    'Huber'
    """
    if name not in KNOWN:
        raise UnknownLoss(f"there is no loss {name!r}; the names are {', '.join(sorted(KNOWN))}.")
    return KNOWN[name]


#: Where a loss from outside is tried.
_TRIED = np.array([-10.0, -1.0, -0.3, 0.1, 0.7, 2.0, 10.0])


def _refuse_inconsistent(loss: Any) -> None:
    """Raise where value, slope and conjugate of a loss from outside do not belong together.

    ℓ(r) + ℓ*(ℓ′(r)) = ℓ′(r)·r; with another conjugate a certificate would say nothing.
    """
    name = type(loss).__name__
    value, a = np.asarray(loss.value(_TRIED)), np.asarray(loss.slope(_TRIED))
    wrong = ~np.isclose(value + np.asarray(loss.conjugate(a)), a * _TRIED, rtol=1e-6, atol=1e-6)
    if wrong.any():
        r = _TRIED[wrong][0]
        raise ValueError(
            f"{name}: at {r:g} value + conjugate(slope) should be slope * {r:g}, and is not; "
            f"look at its value, slope and conjugate {guide('own parts')}."
        )
    if isinstance(loss, ResidualLoss):
        unit = 3.0
        in_units = unit**loss.degree * np.asarray(loss.in_units(unit).value(_TRIED / unit))
        if not np.allclose(value, in_units, rtol=1e-6, atol=1e-6):
            raise ValueError(
                f"{name}: in_units(s) should be the loss whose value at r/s is value(r)/s^{loss.degree}, and is not; "
                f"correct it, or the degree of the loss {guide('own parts')}."
            )


def _named(loss: Any, kinds: tuple[Any, ...]) -> Any:
    if isinstance(loss, kinds):
        if type(loss).__module__.partition(".")[0] != "mercer":
            _refuse_inconsistent(loss)
        return loss
    known = {name: kind for name, kind in KNOWN.items() if issubclass(kind, kinds)}
    if isinstance(loss, str) and loss in known:
        return known[loss]()
    raise ValueError(
        f"loss={shown(loss)} is not known; use one of {', '.join(sorted(known))}, or a "
        f"mercer.losses.{kinds[0].__name__}."
    )
