"""Where the kernel matrix lives. A solver sees a :class:`Gram` and never asks which one."""

from __future__ import annotations

from typing import Any

from .._validation.memory import bytes_of
from ..kernels.base import Kernel
from ..kernels.engine.pairing import length, shared_dtype
from .base import Gram
from .dense import Dense
from .features import Features
from .lazy import Lazy

__all__ = ["Dense", "Features", "Gram", "Lazy", "gram_of"]


def gram_of(kernel: Kernel | None, items: Any, memory: int | str = "1GB") -> Gram:
    """The Gram of a kernel on items: in memory where it fits, else row by row; ``None`` stands for a linear model.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams import gram_of
    >>> from mercer.kernels import Gaussian
    >>> type(gram_of(Gaussian(), np.zeros((1000, 2)), memory="1MB")).__name__
    'Lazy'
    """
    if kernel is None:
        return Features(items)
    if kernel.precomputed:
        return Dense(items)
    n = length(items)
    if n * n * shared_dtype(items, items).itemsize <= bytes_of(memory):
        return Dense(kernel.matrix(items, items))
    return Lazy(kernel, items, memory)
