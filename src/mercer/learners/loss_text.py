"""Losses as they are printed, with few digits, and read back: what a search prints is what a command takes."""

from __future__ import annotations

import re
from dataclasses import asdict, is_dataclass, replace
from typing import Any

from ..losses import ResidualLoss, as_residual_loss
from ..losses.base import KNOWN

__all__ = ["as_written", "rounded", "rounded_loss"]

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


def rounded(value: float) -> float:
    """A number with three digits.

    Examples
    --------
    >>> rounded(0.3 * 77)
    23.1
    """
    return float(f"{value:.3g}")


def rounded_loss(loss: Any) -> Any:
    """A loss with parameters of three digits.

    Examples
    --------
    >>> from mercer.losses import Huber
    >>> rounded_loss(Huber(23.099999999999998))
    Huber(delta=23.1)
    """
    if not is_dataclass(loss) or isinstance(loss, type):
        return loss
    return replace(loss, **{name: rounded(value) for name, value in asdict(loss).items()})
