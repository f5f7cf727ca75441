"""Losses by the names that parameters and texts use. A loss is known by its class: defining one is enough."""

from __future__ import annotations

from typing import Any

from .base import Loss
from .margins import MarginLoss
from .residuals import ResidualLoss, Squared


def as_loss(loss: Any) -> Loss:
    """The loss of labels ±1 with that name; a loss itself is returned as it is.

    Examples
    --------
    >>> as_loss("hinge")
    Hinge()
    """
    return _named(loss, [*_derived(MarginLoss), Squared], "MarginLoss")


def as_residual_loss(loss: Any) -> ResidualLoss:
    """The loss of numbers with that name and its usual parameter; a loss itself is returned as it is.

    Examples
    --------
    >>> as_residual_loss("huber")
    Huber(delta=1.0)
    """
    return _named(loss, _derived(ResidualLoss), "ResidualLoss")


def loss_named(name: str) -> type[Loss]:
    """The class of that name, of whatever kind of loss.

    Examples
    --------
    >>> loss_named("huber").__name__
    'Huber'
    """
    known = {kind.name: kind for kind in [*_derived(MarginLoss), *_derived(ResidualLoss)]}
    if name not in known:
        raise ValueError(f"there is no loss {name!r}; the names are {', '.join(sorted(known))}.")
    return known[name]


def _derived(kind: Any) -> list[type[Loss]]:
    """Every class of a kind that has a name."""
    own = [kind] if "name" in vars(kind) else []
    return own + [loss for derived in kind.__subclasses__() for loss in _derived(derived)]


def _named(loss: Any, kinds: list[type[Loss]], base: str) -> Any:
    if isinstance(loss, tuple(kinds)):
        return loss
    known = {kind.name: kind for kind in kinds}
    if isinstance(loss, str) and loss in known:
        return known[loss]()
    raise ValueError(f"loss={loss!r} is not known; use one of {', '.join(sorted(known))}, or a mercer.losses.{base}.")
