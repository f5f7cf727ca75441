"""How a file is read for a model: what was not said now is as it was when the model was trained."""

from __future__ import annotations

from typing import Any

import click
from click.core import ParameterSource

__all__ = ["as_in_training"]


def as_in_training(reading: dict[str, Any], about: dict[str, Any]) -> dict[str, Any]:
    """Arguments of :func:`mercer.read`: what was not said now is as in training."""
    from ..io.like import said_or_described

    context = click.get_current_context()
    said = [name for name in reading if context.get_parameter_source(name) is not ParameterSource.DEFAULT]
    return said_or_described(reading, about, said)
