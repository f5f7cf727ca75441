"""Losses as they are printed, read back: what a search prints is what a command takes."""

from __future__ import annotations

import re
from typing import Any

from ..losses import ResidualLoss, as_residual_loss
from ..losses.base import KNOWN

__all__ = ["as_written"]

_CALL = re.compile(r"(\w+)\((?:(\w+)=)?([^()=]*)\)")


def as_written(loss: Any) -> Any:
    """The loss of residuals that a text such as "Huber(delta=2)" stands for; all else as it is.

    Examples
    --------
    >>> as_written("Huber(delta=2)"), as_written("hinge")
    (Huber(delta=2.0), 'hinge')
    """
    found = _CALL.fullmatch(loss.replace(" ", "")) if isinstance(loss, str) else None
    if found is None:
        return loss
    name, parameter, value = found.groups()
    known = {kind.__name__: kind for kind in KNOWN.values() if issubclass(kind, ResidualLoss)}
    if name not in known:
        return as_residual_loss(name)
    try:
        number = [float(value)] if value else []
        return known[name](**{parameter: number[0]}) if parameter else known[name](*number)
    except (TypeError, ValueError) as error:
        raise ValueError(f"the loss {loss!r} cannot be read: {error}.") from None
