"""Where the kernel matrix lives. A solver sees a :class:`Gram` and never asks which one; a :class:`Placement` chooses."""

from .base import Gram
from .dense import Dense
from .features import Features
from .lazy import Lazy
from .placement import Placement

__all__ = ["Dense", "Features", "Gram", "Lazy", "Placement"]
