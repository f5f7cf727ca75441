"""What to do about numbers of very different sizes, for the kind of items that a kernel compares."""

from __future__ import annotations

from typing import Any

__all__ = ["rescale"]


def rescale(kernel: Any) -> str:
    """What brings items to one size: columns can be scaled, strings, sets and graphs have none.

    Examples
    --------
    >>> from mercer.kernels import Gaussian, Spectrum
    >>> rescale(Gaussian()), rescale(Spectrum(p=3))
    ('scale the columns', 'use normalised(spectrum)')
    """
    if kernel.precomputed:
        return "bring the matrix to ones on its diagonal"
    return "scale the columns" if kernel.on_rows else f"use normalised({kernel})"
