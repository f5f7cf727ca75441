"""Functions that exported Python files are made of: their source is copied, so they use NumPy alone and no others."""

from __future__ import annotations

import inspect
import re

import numpy as np


def is_missing(value):
    """Whether nothing is there, as lists, NumPy, pandas and CSV files say it."""
    return not isinstance(value, str) and str(value) in ("None", "nan", "<NA>", "NaT")


def as_words(column, name):
    """Words as they are; what is missing is None."""
    words = [None if is_missing(value) else value for value in column]
    strange = [word for word in words if word is not None and not isinstance(word, str)]
    if strange:
        raise ValueError(f"the column {name!r} holds words, and {strange[0]!r} is none: pass it as text")
    return words


def as_numbers(column, name):
    """Numbers; what is missing is NaN."""
    if isinstance(column, np.ndarray) and column.dtype.kind in "fiub":
        numbers = column.astype(float)
    else:
        numbers = np.array([np.nan if is_missing(value) else float(value) for value in column], dtype=float)
    if np.isinf(numbers).any():
        raise ValueError(f"the column {name!r} is infinite in row {np.flatnonzero(np.isinf(numbers))[0]}")
    return numbers


def levels(column, known, missing):
    """The number of each value among those that are known, -1 if it is not."""
    places = {value: place for place, value in enumerate(known) if value is not None}
    gone = [value is None or value != value for value in column]
    found = [missing if lost else places.get(value, -1) for value, lost in zip(column, gone)]
    return np.array(found, dtype=float)[:, None]


def one_hot(level, places, unknown, width):
    """Zeros, and a 1 at the place of each level; no numbers for a level that must not be unknown."""
    known = level[:, 0] >= 0
    place = np.where(known, places[np.where(known, level[:, 0], 0).astype(int)], unknown)
    out = np.zeros((len(level), width))
    rows = np.flatnonzero(place >= 0)
    out[rows, place[rows]] = 1.0
    out[place == -2] = np.nan
    return out


def text_counts(column, tokens, sizes, terms, importance, length, case):
    """How often each term stands in each text, as (1 + log count) * importance in rows of one length."""
    places = {term: place for place, term in enumerate(terms)}
    out = np.zeros((len(column), len(terms)))
    for row, text in enumerate(column):
        text = "" if text is None else text
        if tokens == "words":
            parts = re.findall(r"\w+|[^\w\s]", text.lower())
        else:
            parts = f" {' '.join((text if case else text.lower()).split())} " if text else ""
        for size in sizes:
            for begin in range(len(parts) - size + 1):
                piece = parts[begin : begin + size]
                place = places.get(" ".join(piece) if tokens == "words" else piece)
                if place is not None:
                    out[row, place] += 1
    out = np.where(out > 0, 1 + np.log(np.maximum(out, 1)), 0) * importance
    norms = np.sqrt((out**2).sum(axis=1))
    return out * (length / np.where(norms > 0, norms, 1.0))[:, None]


def is_gap(x, marker):
    """Whether each number is missing."""
    return np.isnan(x) if np.isnan(marker) else x == marker


def monomials(x, factors):
    """Products of columns."""
    return np.stack([np.prod(x[:, list(places)], axis=1) for places in factors], axis=1)


def squared_distances(x, z):
    """The sum of (x - z) ** 2 over all columns, for each row of x and each of z."""
    out = np.zeros((len(x), len(z)))
    for k in range(z.shape[1]):
        out += (x[:, k, None] - z[:, k]) ** 2
    return out


def manhattan_distances(x, z):
    """The sum of |x - z| over all columns, for each row of x and each of z."""
    out = np.zeros((len(x), len(z)))
    for k in range(z.shape[1]):
        out += np.abs(x[:, k, None] - z[:, k])
    return out


def agreements(x, z):
    """The share of columns that are equal, for each row of x and each of z."""
    out = np.zeros((len(x), len(z)))
    for k in range(z.shape[1]):
        out += x[:, k, None] == z[:, k]
    return out / z.shape[1]


def inverse_lengths(squares):
    """1 / sqrt(square), and 0 where the square is 0."""
    return np.where(squares > 0, 1 / np.sqrt(np.where(squares > 0, squares, 1.0)), 0.0)


def path_vote(similar, column, coefficient, bias, weight):
    """The vote of all models of a path: 1 where the score of one is not negative, else -1, by its weight."""
    along = np.cumsum(similar[:, column] * coefficient, axis=1) + bias
    signs = np.where(np.isnan(along), np.nan, np.where(along >= 0, 1.0, -1.0))
    return (signs @ weight)[:, None]


def pair_votes(x, classes):
    """The pairs that each class wins, and a fraction below one half that says by how much."""
    won, lead = np.zeros((len(x), classes)), np.zeros((len(x), classes))
    pairs = [(first, second) for first in range(classes) for second in range(first + 1, classes)]
    for column, (first, second) in enumerate(pairs):
        wins = x[:, column] >= 0
        won[:, second] += wins
        won[:, first] += ~wins
        lead[:, second] += x[:, column]
        lead[:, first] -= x[:, column]
    return won + lead / (3 * (np.abs(lead) + 1))


def logistic(x):
    """1 / (1 + exp(-x)), without overflow."""
    small = np.exp(-np.abs(x))
    return np.where(x >= 0, 1.0, small) / (1.0 + small)


def softmax(x):
    """exp(x) in shares of their sum."""
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def staircase(x, points, values):
    """The value of the gap between two points, or of the point, that x is in."""
    place = np.searchsorted(points, x, side="left") + np.searchsorted(points, x, side="right")
    return np.where(np.isnan(x), np.nan, values[place])


def to_one(x):
    """Positive numbers in shares of their sum."""
    x = np.maximum(x, np.finfo(float).eps)
    return x / x.sum(axis=1, keepdims=True)


def coupled(second, classes):
    """The probabilities of classes nearest to those of pairs: Q p = mu with a sum of 1 (Wu, Lin and Weng, 2004)."""
    r = np.zeros((len(second), classes, classes))
    pairs = [(first, other) for first in range(classes) for other in range(first + 1, classes)]
    for column, (i, j) in enumerate(pairs):
        r[:, j, i], r[:, i, j] = second[:, column], 1 - second[:, column]
    system = np.zeros((len(second), classes + 1, classes + 1))
    system[:, :classes, :classes] = -r * r.transpose(0, 2, 1)
    every = np.arange(classes)
    system[:, every, every] = (r**2).sum(axis=1)
    system[:, :classes, classes] = system[:, classes, :classes] = 1.0
    right = np.zeros((len(second), classes + 1, 1))
    right[:, classes] = 1.0
    return to_one(np.linalg.solve(system, right)[:, :classes, 0])


#: All of them by name, in the order in which files have them.
PARTS = {name: each for name, each in list(globals().items()) if inspect.isfunction(each)}
