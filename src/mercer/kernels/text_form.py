"""Kernels as text, ``2*gaussian(gamma=0.5) + linear``: the writing half. What it writes, ``text_parser.py`` reads."""

from __future__ import annotations

import inspect
import keyword
from collections.abc import Callable
from contextvars import ContextVar
from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from .base import Kernel

#: Texts longer than this are neither written nor read.
LONGEST = 200_000


class Precedence(IntEnum):
    """How tightly the last operation of an expression binds."""

    SUM = 0
    PRODUCT = 1
    POWER = 2
    ATOM = 3


class Text(NamedTuple):
    """An expression as text."""

    text: str
    precedence: Precedence = Precedence.ATOM


def within(kernel: Any, precedence: Precedence) -> str:
    """A part of an expression, in brackets where it binds less tightly than what it stands in."""
    own = kernel.text() if hasattr(kernel, "text") else Text(repr(kernel))
    return own.text if own.precedence >= precedence else f"({own.text})"


#: Whether defaults are written as well.
_in_full: ContextVar[bool] = ContextVar("in_full", default=False)


def full_text(kernel: Kernel) -> str:
    """The text of a kernel with every parameter, which means the same kernel whatever the defaults will be.

    Examples
    --------
    >>> from mercer.kernels import parse
    >>> full_text(parse("2*poly(3) + linear"))
    '2*polynomial(coef0=1.0, degree=3, gamma=1.0) + linear'
    """
    before = _in_full.set(True)
    try:
        return kernel.text().text
    finally:
        _in_full.reset(before)


def is_written(value: Any, default: Any) -> bool:
    """Whether a parameter is part of a text: where it is not the default, or defaults are written too."""
    return _in_full.get() or not _same(value, default)


def call(kernel: Kernel) -> Text:
    """The name of a kernel and the parameters that are not its defaults."""
    defaults = _defaults(kernel)
    parameters = {
        name: value
        for name, value in kernel.get_params(deep=False).items()
        if name not in defaults or is_written(value, defaults[name])
    }
    name = type(kernel).__name__.lower()
    arguments = ", ".join(f"{key}={literal(value)}" for key, value in parameters.items())
    return Text(f"{name}({arguments})" if arguments else name)


def _same(value: Any, default: Any) -> bool:
    """Whether two parameters say the same: numbers, words, or lists of numbers."""
    values, defaults = np.asarray(value, dtype=object), np.asarray(default, dtype=object)
    return values.shape == defaults.shape and bool(np.all(values == defaults))


def _defaults(kernel: Kernel) -> dict[str, Any]:
    parameters = inspect.signature(type(kernel).__init__).parameters
    return {name: p.default for name, p in parameters.items() if p.default is not inspect.Parameter.empty}


def shortest(value: Any) -> str:
    """A number as short as it can be written without loss."""
    value = _plain(value)
    return f"{value:g}" if isinstance(value, float) and float(f"{value:g}") == value else repr(value)


def column(name: Any) -> str:
    """A column's position, or its name: in quotes unless it is a plain word."""
    plain = isinstance(name, str) and name.isascii() and name.isidentifier() and not keyword.iskeyword(name)
    return name if plain else repr(_plain(name))


def function(f: Callable[..., Any]) -> str:
    """A Python function by its name, which no text can stand for."""
    return f"<{getattr(f, '__name__', type(f).__name__)}>"


def literal(value: Any) -> str:
    """A parameter as it is written; one that cannot be written, such as a graph, as its type."""
    value = _plain(value)
    plain = value is None or isinstance(value, (bool, int, float, str, list, tuple))
    text = repr(value) if plain else f"<{type(value).__name__}>"
    return text if len(text) <= LONGEST else f"<{type(value).__name__}>"


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, (np.ndarray, np.generic)) else value
