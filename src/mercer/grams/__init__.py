"""Where the kernel matrix lives. A :class:`Placement` chooses a :class:`Gram`, and a solver never asks which one."""

from .base import Gram
from .cuda import Cuda
from .dense import Dense, Features, Lazy
from .landmarks import Nystrom
from .placement import Placement, is_linear
from .streamed import Streamed

__all__ = ["Cuda", "Dense", "Features", "Gram", "Lazy", "Nystrom", "Placement", "Streamed", "is_linear"]
