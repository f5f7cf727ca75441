"""Kernels as text, ``2*gaussian(gamma=0.5) + linear``: the writing half. What it writes, ``text_parser.py`` reads."""

from __future__ import annotations

import inspect
import keyword
from collections.abc import Callable, Hashable, Iterable, Sequence
from contextvars import ContextVar
from enum import IntEnum
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakValueDictionary

import numpy as np

from ..messages import nearest

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


# Features that can be read: the substrings of a text, the items of a set, the surroundings of a graph's nodes.
#
# For a kernel with a readable feature map, k(x, z) = Σ φ(x)·φ(z) over names, :meth:`Kernel.named_features` gives for
# each item a mapping from names to φ.


class Name(NamedTuple):
    """A feature: what to show, and what tells it from features of the same name in other parts of an expression."""

    text: str
    mark: Hashable = ()


class InColumns(tuple[tuple[int, str], ...]):
    """The mark of a feature that is the values of some columns: the number of each column, and what it is there."""

    def text(self, names: Sequence[Any] | None = None) -> str:
        """The feature by the names of columns; without names, column 2 is x2."""
        return ", ".join(f"{f'x{k}' if names is None else names[k]}{value}" for k, value in self)

    @classmethod
    def name(cls, values: Iterable[tuple[int, str]]) -> Name:
        mark = cls(values)
        return Name(mark.text(), mark)


#: The features of each item; ``None`` where a kernel has none, or none that anybody could read.
NamedFeatures = list[dict[Name, float]] | None


def renamed(features: NamedFeatures, rename: Callable[[Name], Name]) -> NamedFeatures:
    return features and [{rename(name): value for name, value in each.items()} for each in features]


def rescaled(features: NamedFeatures, factors: Iterable[Any]) -> NamedFeatures:
    """The features of each item times a factor of its own."""
    return features and [
        {name: float(factor) * value for name, value in each.items()}
        for factor, each in zip(factors, features, strict=True)
    ]


def quoted(tokens: Any) -> str:
    """Some tokens of a string as they are shown: a text, bytes, or a list of words."""
    return repr(" ".join(tokens)) if isinstance(tokens, list) else repr(tokens)


# Kernels as notebooks show them: the expression, and what each kernel in it is.


def html(kernel: Kernel) -> str:
    """The text form of a kernel above a table of the kernels it is made of: name, parameters, definition."""
    return table(str(kernel), ("kernel", "parameters", "definition"), map(_described, _leaves(kernel)))


def table(title: str, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table below a line of code."""
    from ..presentation import table_html, tag

    return table_html(tag("code", title), rows, heads=heads)


def _leaves(kernel: Kernel) -> list[Kernel]:
    """The different kernels that are made of no others, in the order of the expression."""
    parts = [leaf for part in kernel.parts() for leaf in _leaves(part)]
    return list(dict.fromkeys(parts)) or [kernel]


def _described(kernel: Kernel) -> tuple[str, str, str]:
    parameters = ", ".join(f"{name}={literal(value)}" for name, value in kernel.get_params(deep=False).items())
    paragraph = (inspect.getdoc(type(kernel)) or "").split("\n\n")[0]
    return type(kernel).__name__, parameters, " ".join(paragraph.split())


# Every kernel by the names that it has in texts. Classes enter themselves when they are made.
#
# Only classes in use are held: one that nobody refers to any more is forgotten, and its names are free again.


_LIBRARY = __name__.partition(".")[0]
_KERNELS: WeakValueDictionary[str, type[Kernel]] = WeakValueDictionary()


class UnknownKernel(ValueError):
    """There is no kernel of that name here."""


def register(kernel: type[Kernel], names: Iterable[str]) -> None:
    """Let texts call a class by these names. Names of the library's own kernels keep their meaning."""
    if not is_ours(kernel):
        _enter_ours()
    for name in map(_without_case, names):
        known = _KERNELS.get(name)
        if known is not None and is_ours(known) and _home(known) != _home(kernel):
            raise TypeError(f"the kernel name {name!r} belongs to {_home(known)}; give {_home(kernel)} another name.")
        _KERNELS[name] = kernel


def _enter_ours() -> None:
    """Import all kernels of the library: the files of the room are imported when somebody asks for what is in them."""
    from .. import kernels

    for name in dir(kernels):
        getattr(kernels, name)


def find(name: str) -> type[Kernel]:
    """The class of a name in any spelling of capitals and underscores, or an error that suggests the nearest."""
    if _without_case(name) not in _KERNELS:
        _enter_ours()
    known = _KERNELS.get(_without_case(name))
    if known is not None:
        return known
    near = nearest(_without_case(name), _KERNELS)
    names = ", ".join(kernel.__name__.lower() for kernel in registered())
    hint = f"the nearest name is {near!r}" if near else f"the names are {names}"
    raise UnknownKernel(f"there is no kernel {name!r}; {hint}")


def registered() -> list[type[Kernel]]:
    """All classes that have a name, by name."""
    _enter_ours()
    return [kernel for name, kernel in sorted(_KERNELS.items()) if name == _without_case(kernel.__name__)]


def _without_case(name: str) -> str:
    return name.lower().replace("_", "")


def is_ours(cls: type) -> bool:
    """Whether a class is one of the library, not of somebody who uses it."""
    return cls.__module__.partition(".")[0] == _LIBRARY


def _home(kernel: type[Kernel]) -> str:
    return f"{kernel.__module__}.{kernel.__qualname__}"
