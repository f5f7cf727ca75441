"""Data made here, so that examples and tests need no file."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from .runtime.compile import Array

__all__ = ["make_margins", "make_waves", "make_xor"]


def make_margins(n_samples: int = 10_000, *, noise: float = 0.01, random_state: Any = None) -> tuple[Array, Array]:
    """A table on which linear, quadratic and cubic learners differ the way textbooks draw it.

    Ten features: x2, x7, x8 and x9 are bell-shaped and correlated, x1 and x4 skewed to one side, x5 and x6 have two
    peaks; x3 and x10 are x6 once more, shifted and with a little noise. The boundary is a cubic surface. Linear
    learners err on about 28 % of new rows, degree-2 learners on 6 %, a cubic kernel on 2 to 3 %.

    Parameters
    ----------
    n_samples : int, default=10000
    noise : float, default=0.01
        Standard deviation of the noise in the boundary, in units of the score's own standard deviation.
    random_state : int, RandomState or None, default=None

    Returns
    -------
    X : array of shape (n_samples, 10)
    y : array of −1 and 1

    Examples
    --------
    >>> from mercer.datasets import make_margins
    >>> X, y = make_margins(500, random_state=0)
    >>> X.shape, sorted(set(y.tolist()))
    ((500, 10), [-1, 1])
    """
    if n_samples < 1:
        raise ValueError(f"make_margins: n_samples must be at least 1, got {n_samples!r}.")
    random = check_random_state(random_state)
    common = random.standard_normal(n_samples)

    def bell(share: float) -> Array:
        return share * common + np.sqrt(1 - share * share) * random.standard_normal(n_samples)

    b1, b2, b4, b7, b8, b9 = (bell(share) for share in (0.5, 0.5, -0.2, 0.5, 0.5, 0.6))
    skewed, negative = np.abs(b1 + 0.3), -np.abs(b4 + 0.2)
    wave5, wave6 = (np.sin(random.uniform(-np.pi, np.pi, n_samples) + 0.1) for _ in range(2))
    X = np.column_stack(
        [
            2.0 * skewed,
            0.5 + 2.0 * b2,
            99.9 - wave6 + 0.1 * random.standard_normal(n_samples),
            1.9 * negative,
            wave5,
            wave6,
            1.0 + 2.1 * b7,
            0.6 + 2.2 * b8,
            1.8 * b9,
            -55.4 + wave6 + 0.1 * random.standard_normal(n_samples),
        ]
    )
    u1, u4 = (skewed - 0.83) / 0.62, (negative + 0.81) / 0.61
    u5, u6 = 1.4 * wave5, 1.4 * wave6
    score = (
        0.5 * (u1 - u4 + u5 + b7 + b9) - 0.3 * u6 + 1.4 * b8 - 0.5
        + 3.1 * b2 * b9 + b8 * (1.1 * u1 - u4)
        + 0.45 * (u1 * b7 * b8 + u4 * b2 * u5 - b9 * b7 * u6)
    )  # fmt: skip
    score += noise * score.std() * random.standard_normal(n_samples)
    return X, np.where(score >= 0, 1, -1)


def make_xor(n_samples: int = 1000, *, noise: float = 0.35, random_state: Any = None) -> tuple[Array, Array]:
    """Four clouds around (±1, ±1): the label says whether both signs are the same, which no line can tell.

    Parameters
    ----------
    n_samples : int, default=1000
    noise : float, default=0.35
        Standard deviation of each cloud.
    random_state : int, RandomState or None, default=None

    Returns
    -------
    X : array of shape (n_samples, 2)
    y : array of "no" and "yes"

    Examples
    --------
    >>> from mercer.datasets import make_xor
    >>> X, y = make_xor(4, noise=0, random_state=0)
    >>> bool(((X.prod(axis=1) > 0) == (y == "yes")).all())
    True
    """
    if n_samples < 1:
        raise ValueError(f"make_xor: n_samples must be at least 1, got {n_samples!r}.")
    random = check_random_state(random_state)
    centres = np.where(random.random_sample((n_samples, 2)) < 0.5, -1.0, 1.0)
    y = np.where(centres.prod(axis=1) > 0, "yes", "no")
    return centres + noise * random.standard_normal((n_samples, 2)), y


def make_waves(n_samples: int = 600, *, noise: float = 0.3, random_state: Any = None) -> tuple[Array, Array]:
    """Heights of a choppy sea, for regression: a slope that lines see, and waves that only a kernel follows.

    Four features between 0 and 1. The height is 2·x1 + x2, plus a wave along x1 + x2 that grows with x3; x4 tells
    nothing. One row in twenty was read off badly, and is wrong by ten times the noise.

    Parameters
    ----------
    n_samples : int, default=600
    noise : float, default=0.3
        Standard deviation of the noise.
    random_state : int, RandomState or None, default=None

    Returns
    -------
    X : array of shape (n_samples, 4)
    y : array of numbers

    Examples
    --------
    >>> from mercer.datasets import make_waves
    >>> X, y = make_waves(100, random_state=0)
    >>> X.shape, bool(1 < y.mean() < 2)
    ((100, 4), True)
    """
    if n_samples < 1:
        raise ValueError(f"make_waves: n_samples must be at least 1, got {n_samples!r}.")
    random = check_random_state(random_state)
    X = random.random_sample((n_samples, 4))
    height = 2 * X[:, 0] + X[:, 1] + 2 * X[:, 2] * np.sin(2 * np.pi * (X[:, 0] + X[:, 1]))
    misread = random.random_sample(n_samples) < 0.05
    return X, height + noise * np.where(misread, 10.0, 1.0) * random.standard_normal(n_samples)
