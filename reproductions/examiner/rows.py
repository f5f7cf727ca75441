"""Random rows, labels, targets and weights: plain ones, and every kind that has ever upset a solver."""

from __future__ import annotations

from typing import Any

import numpy as np

from .definitions import Array

SHAPES = (
    "gaussian",
    "clusters",
    "one column",
    "integer grid",
    "binary",
    "heavy tails",
    "separable",
    "nearly separable",
    "noise",
    "labels of one column",
)


def sizes(rng: np.random.Generator) -> tuple[int, int]:
    """How many rows and columns: few, mostly; the number of rows is spread evenly over its logarithm."""
    most = 400 if rng.random() < 0.02 else 120
    n = round(float(np.exp(rng.uniform(np.log(2), np.log(most)))))
    return n, 1 if rng.random() < 0.1 else round(float(np.exp(rng.uniform(0, np.log(30)))))


def draw_rows(rng: np.random.Generator, tags: list[str]) -> tuple[Array, Array]:
    """Rows of unit size, and a number for each that labels and targets are made of."""
    n, d = sizes(rng)
    shape = str(rng.choice(SHAPES))
    if shape == "one column":
        d = 1
    X = rng.standard_normal((n, d))
    if shape == "clusters":
        centres = 3 * rng.standard_normal((int(rng.integers(1, 6)), d))
        X = centres[rng.integers(len(centres), size=n)] + 0.3 * X
    elif shape == "integer grid":
        X = rng.integers(-2, 3, size=(n, d)).astype(float)
    elif shape == "binary":
        X = (rng.random((n, d)) < rng.uniform(0.1, 0.9)).astype(float)
    elif shape == "heavy tails":
        X = rng.standard_t(1, size=(n, d))
    direction = rng.standard_normal(d)
    signal = X @ direction
    if shape == "separable":
        side = np.where(signal >= np.median(signal), 1.0, -1.0)
        X = X + side[:, None] * direction * 2 / max(float(np.linalg.norm(direction)), 1e-9)
        signal = X @ direction
    elif shape == "nearly separable":
        signal = signal + 0.1 * rng.standard_normal(n)
    elif shape == "noise":
        signal = rng.standard_normal(n)
    elif shape == "labels of one column":
        signal = X[:, int(rng.integers(d))].copy()
    elif shape not in ("separable",):
        signal = (
            np.sin(signal) + 0.3 * rng.standard_normal(n) if rng.random() < 0.5 else signal + rng.standard_normal(n)
        )
    tags.append(f"{shape} {n}×{d}")
    return X, signal


def disturb(rng: np.random.Generator, X: Array, signal: Array, tags: list[str]) -> tuple[Array, Array]:
    """Duplicates, collinear and constant columns; then units and offsets."""
    n = len(X)
    if rng.random() < 0.15:
        again = rng.integers(n, size=max(1, n // 3))
        places = rng.integers(n, size=again.size)
        X = X.copy()
        X[places] = X[again]
        if rng.random() < 0.5:
            signal = signal.copy()
            signal[places] = signal[again]
            tags.append("duplicates")
        else:
            tags.append("contradictory duplicates")
    if rng.random() < 0.1:
        X = np.hstack([X, X[:, :1] * 2.0, np.full((n, 1), float(rng.choice([0.0, 1.0, -7.0])))])
        tags.append("collinear and constant columns")
    kind = rng.random()
    if kind < 0.2:
        unit = 10.0 ** rng.integers(-8, 9)
        X = X * unit
        tags.append(f"unit {unit:g}")
    elif kind < 0.3:
        X = X * 10.0 ** rng.uniform(-8, 8, size=X.shape[1])
        tags.append("a unit for each column")
    if rng.random() < 0.12:
        offset = 10.0 ** rng.uniform(0, 7) * max(float(np.abs(X).max()), 1e-30)
        X = X + offset * (np.ones(X.shape[1]) if rng.random() < 0.5 else rng.standard_normal(X.shape[1]))
        tags.append(f"offset {offset:.3g}")
    return X, signal


def labels(rng: np.random.Generator, signal: Array, tags: list[str]) -> Array:
    """Two to five classes by thresholds on the signal, every class with a row at least."""
    n = signal.size
    classes = 2 if rng.random() < 0.75 or n < 6 else int(rng.integers(3, min(5, n // 2) + 1))
    shares = rng.dirichlet(np.full(classes, 3.0)) if rng.random() < 0.8 else np.full(classes, 1 / classes)
    ranks = np.argsort(np.argsort(signal, kind="stable"), kind="stable")
    codes = np.minimum(np.searchsorted(np.cumsum(shares), (ranks + 0.5) / n), classes - 1)
    for missing in np.setdiff1d(np.arange(classes), codes):
        counts = np.bincount(codes, minlength=classes)
        codes[int(np.flatnonzero(codes == counts.argmax())[0])] = missing
    if rng.random() < 0.1:
        flips = rng.random(n) < 0.2
        flipped = np.where(flips, rng.integers(classes, size=n), codes)
        codes = flipped if np.unique(flipped).size == classes else codes
    if classes > 2:
        tags.append(f"{classes} classes")
    return codes


def targets(rng: np.random.Generator, signal: Array, tags: list[str]) -> tuple[Array, float]:
    """Real targets, and their unit."""
    kind = rng.random()
    unit = 1.0 if kind < 0.5 else 10.0 ** rng.integers(-12, 13)
    y = signal / max(float(np.abs(signal).max()), 1e-9) * unit
    if rng.random() < 0.25:
        offset = unit * 10.0 ** rng.uniform(-1, 6)
        y = y + offset
        tags.append(f"targets moved by {offset:.3g}")
    if rng.random() < 0.03:
        y = np.full(y.size, float(y[0]))
        tags.append("constant targets")
    if unit != 1.0:
        tags.append(f"targets of unit {unit:g}")
    return y, unit


def weights(rng: np.random.Generator, codes: Array | None, n: int, tags: list[str]) -> Array | None:
    """Sample weights of any kind, or none; no class loses all of its rows."""
    kind = rng.random()
    if kind < 0.6:
        return None
    if kind < 0.75:
        out, name = rng.exponential(size=n) + 1e-3, "random weights"
    elif kind < 0.85:
        out, name = rng.integers(1, 5, size=n).astype(float), "integer weights"
    elif kind < 0.95:
        out, name = np.where(rng.random(n) < 0.4, 0.0, 1.0), "some weights zero"
        for group in [np.arange(n)] if codes is None else [np.flatnonzero(codes == c) for c in np.unique(codes)]:
            if not out[group].any():
                out[group[0]] = 1.0
    elif kind < 0.97:
        out, name = np.where(rng.random(n) < 0.2, 1e6, 1.0), "some weights huge"
    else:
        unit = 10.0 ** rng.integers(-12, 13)
        out, name = unit * rng.exponential(size=n) + 1e-3 * unit, f"weights of {unit:g}"
    tags.append(name)
    return out


def strings(rng: np.random.Generator, n: int) -> tuple[list[str], Array]:
    texts = ["".join(rng.choice(list("ACGT"), size=rng.integers(1, 12))) for _ in range(n)]
    return texts, np.array([text.count("A") - text.count("C") for text in texts]) + 0.1 * rng.standard_normal(n)


def bags(rng: np.random.Generator, n: int) -> tuple[list[Any], Array]:
    items = [[str(item) for item in rng.choice(list("abcdefgh"), size=rng.integers(0, 6))] for _ in range(n)]
    return items, np.array([len(bag) + bag.count("a") for bag in items]) + 0.1 * rng.standard_normal(n)
