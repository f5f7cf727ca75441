"""The file in which LIBSVM's svm-scale keeps how it scales columns, as a step before a machine.

Its lines are ``x``, the ends ``low high`` that columns are brought to, and ``feature least largest`` for each. A
feature that it does not name had one value only, and svm-scale leaves it out of every row: it becomes 0.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from sklearn.preprocessing import MinMaxScaler

from ..io.sources import as_text, raw_bytes
from ..io.table import DataError

__all__ = ["read_range"]

#: Such files have a line for each feature.
_LARGEST = 10**9


def read_range(path: str | Path, n_features: int) -> MinMaxScaler:
    """The scaling of rows with so many features.

    Parameters
    ----------
    path : str or Path
        As ``svm-scale -s`` wrote it, or :func:`mercer.export` beside a model.
    n_features : int

    Returns
    -------
    MinMaxScaler, fitted

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "range"
    >>> _ = path.write_text("x\\n-1 1\\n1 0 10\\n")
    >>> read_range(path, 2).transform([[5.0, 7.0], [10.0, 8.0]])
    array([[0., 0.],
           [1., 0.]])
    """
    shown = repr(Path(path).name)
    lines = as_text(raw_bytes(str(path), _LARGEST, shown), shown).split("\n")
    try:
        if lines[0].strip() != "x":
            raise ValueError("it does not begin with x (labels that are scaled, y, are not for here)")
        low, high = (float(word) for word in lines[1].split())
        scale, least = np.zeros(n_features), np.zeros(n_features)
        for line in filter(str.strip, lines[2:]):
            feature, begin, end = line.split()
            place = int(feature) - 1
            if not 0 <= place < n_features:
                raise ValueError(f"it scales feature {feature[:20]}, and the model has {n_features}")
            scale[place] = (high - low) / (float(end) - float(begin))
            least[place] = low - float(begin) * scale[place]
        if not (low < high and np.isfinite([scale, least]).all()):
            raise ValueError("its ends are no finite numbers in increasing order")
    except (ValueError, IndexError, ZeroDivisionError, OverflowError) as error:
        raise DataError(f"{shown} is no file of svm-scale: {str(error)[:150]}.") from None
    step = MinMaxScaler(feature_range=(low, high))
    step.scale_, step.min_ = scale, least
    step.n_features_in_, step.n_samples_seen_ = n_features, 1
    step.data_min_, step.data_max_, step.data_range_ = (np.zeros(n_features) for _ in range(3))
    return step
