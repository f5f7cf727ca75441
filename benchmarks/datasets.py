"""The public data sets of the benchmarks, as arrays."""

from __future__ import annotations

import lzma
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.datasets import load_svmlight_file
from sklearn.preprocessing import StandardScaler

from reproductions.data import data_path

Split = tuple[Any, np.ndarray, Any, np.ndarray]


def svmlight(train: str, test: str, features: int, dense: bool = True) -> Split | None:
    """Training and test part of a data set in svmlight format, or ``None`` where it is not at hand."""
    parts: list[Any] = []
    for name in (train, test):
        path = data_path(name)
        if path is None:
            return None
        X, y = load_svmlight_file(str(path), n_features=features)
        if dense:
            X = X.toarray().astype(np.float32)
        else:
            X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
        parts += [X, y]
    return tuple(parts)  # type: ignore[return-value]


def unimi() -> Split | None:
    path = data_path("unimi/unimi.csv")
    if path is None:
        return None
    table = np.loadtxt(path, delimiter=",", skiprows=1)
    X = StandardScaler().fit_transform(table[:, :-1]).astype(np.float32)
    return X, table[:, -1], X, table[:, -1]


def spambase() -> tuple[np.ndarray, np.ndarray] | None:
    path = data_path("spambase/spam.data.xz")
    if path is None:
        return None
    with lzma.open(path, "rt") as file:
        table = np.loadtxt(file)
    return table[:, :-1], table[:, -1].astype(int)


def scaled(split: Split | None) -> Split | None:
    """Columns standardised on the training part."""
    if split is None:
        return None
    X, y, X_test, y_test = split
    scale = StandardScaler().fit(X)
    return scale.transform(X).astype(np.float32), y, scale.transform(X_test).astype(np.float32), y_test


def mnist(rows: int) -> Split | None:
    """Even against odd digits, pixels between 0 and 1."""
    names = ("train-images-idx3", "train-labels-idx1", "t10k-images-idx3", "t10k-labels-idx1")
    paths = [data_path(f"mnist/{name}-ubyte.xz") for name in names]
    if any(path is None for path in paths):
        return None
    images, labels, test_images, test_labels = (idx(path) for path in paths if path is not None)
    even = [np.where(part % 2 == 0, 1, -1) for part in (labels, test_labels)]
    pixels = [(part.reshape(len(part), -1) / np.float32(255)).astype(np.float32) for part in (images, test_images)]
    return pixels[0][:rows], even[0][:rows], pixels[1], even[1]


def idx(path: Path) -> np.ndarray:
    """An array in the format of MNIST, packed."""
    with lzma.open(path) as file:
        data = file.read()
    dimensions = data[3]
    shape = np.frombuffer(data, ">u4", dimensions, 4)
    return np.frombuffer(data, np.uint8, offset=4 + 4 * dimensions).reshape(shape)
