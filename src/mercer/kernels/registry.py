"""Every kernel by the names that it has in texts. Classes enter themselves when they are made.

Only classes in use are held: one that nobody refers to any more is forgotten, and its names are free again.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING
from weakref import WeakValueDictionary

from .._validation.wording import nearest

if TYPE_CHECKING:
    from .base import Kernel

_LIBRARY = __name__.partition(".")[0]
_KERNELS: WeakValueDictionary[str, type[Kernel]] = WeakValueDictionary()


class UnknownKernel(ValueError):
    """There is no kernel of that name here."""


def register(kernel: type[Kernel], names: Iterable[str]) -> None:
    """Let texts call a class by these names. Names of the library's own kernels keep their meaning."""
    for name in map(_plain, names):
        known = _KERNELS.get(name)
        if known is not None and is_ours(known) and _home(known) != _home(kernel):
            raise TypeError(f"the kernel name {name!r} belongs to {_home(known)}; give {_home(kernel)} another name.")
        _KERNELS[name] = kernel


def find(name: str) -> type[Kernel]:
    """The class of a name in any spelling of capitals and underscores, or an error that suggests the nearest."""
    known = _KERNELS.get(_plain(name))
    if known is not None:
        return known
    near = nearest(_plain(name), _KERNELS)
    names = ", ".join(kernel.__name__.lower() for kernel in registered())
    hint = f"the nearest name is {near!r}" if near else f"the names are {names}"
    raise UnknownKernel(f"there is no kernel {name!r}; {hint}")


def registered() -> list[type[Kernel]]:
    """All classes that have a name, by name."""
    return [kernel for name, kernel in sorted(_KERNELS.items()) if name == _plain(kernel.__name__)]


def _plain(name: str) -> str:
    return name.lower().replace("_", "")


def is_ours(kernel: type[Kernel]) -> bool:
    """Whether a class is one of the library, not of somebody who uses it."""
    return kernel.__module__.partition(".")[0] == _LIBRARY


def _home(kernel: type[Kernel]) -> str:
    return f"{kernel.__module__}.{kernel.__qualname__}"
