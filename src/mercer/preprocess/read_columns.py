"""Columns of any frame as they were read for training: the same columns in the same order, each of the same kind."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from ..checks.tables import holds_no_rows_yet
from ..io.frames import as_known, is_frame, numbers_or_truth, read_frame
from ..io.table import Options
from ..messages import enumeration
from ..runtime.arrays import Array

_KINDS = ("number", "category", "date", "text")


class ReadColumns(TransformerMixin, BaseEstimator):
    """Read the columns of a frame as :func:`mercer.read` has read them for training.

    Frames may come from anywhere, such as ``pandas.read_csv``: columns are found by name, whatever their order and
    whatever others there are; whole numbers, truth values, texts of numbers and dates become what they were in
    training, and so do words for missing values. What a column cannot be read as is refused with its row. Arrays, and
    frames that are as :func:`mercer.read` leaves them, go through as they are.

    Parameters
    ----------
    kinds : mapping
        The kind of each column to keep: "number", "category", "date" (or how dates are written, "date:%d.%m.%Y") or
        "text".
    missing : tuple of str
        Words that mean "missing" besides the usual ones.
    missing_words : bool, default=True
        ``False``: only empty cells are missing, and the words of ``missing``.
    decimal : {".", ","}, optional
        The decimal sign of numbers that are texts.

    Attributes
    ----------
    ranges_ : dict
        The smallest and the largest value of each column of numbers.
    words_ : dict
        Of each column of categories that are numbers or truth values, its words: libraries write them differently.

    Examples
    --------
    >>> import pandas as pd
    >>> from mercer import read
    >>> from mercer.preprocess import ReadColumns
    >>> table = read(pd.DataFrame({"age": [31.5, 54], "job": ["cook", "smith"], "y": [0, 1]}))
    >>> steps = ReadColumns(table.kinds).fit(table.X)
    >>> steps.transform(pd.DataFrame({"job": ["smith", None], "more": [1, 2], "age": ["?", "44"]}))
        age    job
    0   NaN  smith
    1  44.0    NaN
    """

    def __init__(
        self,
        kinds: Mapping[str, str],
        missing: tuple[str, ...] = (),
        missing_words: bool = True,
        decimal: str | None = None,
    ) -> None:
        self.kinds = kinds
        self.missing = missing
        self.missing_words = missing_words
        self.decimal = decimal

    def check_parameters(self) -> None:
        """Raise ``ValueError`` where a parameter is of no use."""
        wrong = [name for name, kind in self.kinds.items() if kind.partition(":")[0] not in _KINDS]
        if wrong:
            known = enumeration(map(repr, _KINDS), last="or")
            raise ValueError(f"ReadColumns: the kind of {wrong[0]!r} must be {known}, got {self.kinds[wrong[0]]!r}.")
        self._options(self.kinds)

    def _options(self, kinds: Mapping[str, str]) -> Options:
        missing = frozenset(self.missing)
        return Options(kinds=dict(kinds), labelled=False, missing=missing, missing_words=self.missing_words,
                       decimal=self.decimal)  # fmt: skip

    def fit(self, X: Any, y: Any = None) -> ReadColumns:
        """See which columns there are.

        Parameters
        ----------
        X : frame or array
        y : ignored

        Returns
        -------
        self
        """
        self.check_parameters()
        self.words_: dict[str, Array] = {}
        self.ranges_: dict[str, tuple[float, float]] = {}
        self.n_features_in_ = X.shape[1]
        if is_frame(X):
            self.feature_names_in_ = np.array([*self.kinds], dtype=object)
            self.n_features_in_ = len(self.kinds)
            frame = self._read(X)
            for name in (name for name, kind in self.kinds.items() if kind == "category"):
                if words := numbers_or_truth(frame[name]):
                    self.words_[name] = np.array(words, dtype=object)
            numbers = [name for name, kind in self.kinds.items() if kind == "number"]
            if numbers and len(frame):
                rows = frame[numbers].to_numpy(np.float64, na_value=np.nan)
                ends = zip(np.fmin.reduce(rows).tolist(), np.fmax.reduce(rows).tolist(), strict=True)
                self.ranges_ = {name: pair for name, pair in zip(numbers, ends, strict=True) if not np.isnan(pair[0])}
        return self

    def transform(self, X: Any) -> Any:
        """The columns, read.

        Parameters
        ----------
        X : frame or array

        Returns
        -------
        frame, or the array as it is
        """
        check_is_fitted(self, "words_")
        if holds_no_rows_yet(X):
            raise TypeError(f"X is a {type(X).__name__}, which holds no rows yet; call .collect() first.")
        return self._read(X) if is_frame(X) else X

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """The names of the columns."""
        check_is_fitted(self, "words_")
        return getattr(self, "feature_names_in_", np.array([f"x{k}" for k in range(self.n_features_in_)], dtype=object))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = True
        return tags

    def _read(self, X: Any) -> Any:
        """The frame of all columns, each as its kind is kept; the very same one where that is so already."""
        wanted = {name: kind.partition(":")[0] for name, kind in self.kinds.items()}
        same = isinstance(X, pd.DataFrame) and X.columns.tolist() == [*wanted]
        if same and all(_is_kept(dtype, kind) for dtype, kind in zip(X.dtypes, wanted.values(), strict=True)):
            return X
        places = {str(name): place for place, name in enumerate(X.columns)}
        absent = [name for name in wanted if name not in places]
        if absent:
            raise ValueError(f"the rows lack the columns {enumeration(map(repr, absent), 6)}; name them alike.")
        some = X[[X.columns[places[name]] for name in wanted]]  # before all others are converted as well
        frame = (some if isinstance(some, pd.DataFrame) else some.to_pandas()).reset_index(drop=True)
        frame.columns = pd.Index([*wanted], dtype=object)
        plain = {name for name, kind in wanted.items() if kind == "number" and isinstance(frame[name].dtype, np.dtype)
                 and frame[name].dtype.kind in "fiub"}  # fmt: skip
        known = getattr(self, "words_", {})
        words = {name: as_known(frame[name], known.get(name)) for name, kind in wanted.items() if kind == "category"}
        others = pd.DataFrame({name: words.get(name, frame[name]) for name in wanted if name not in plain})
        options = self._options({name: self.kinds[name] for name in others})
        read: Any = read_frame(others, options).frame if others.shape[1] else {}
        return pd.DataFrame(
            {name: frame[name].astype("float64") if name in plain else read[name] for name in wanted}, copy=False
        )


#: How columns of each kind are kept, but for categories.
_KEPT = {"number": np.dtype("float64"), "date": np.dtype("datetime64[ns]"), "text": np.dtype("object")}


def _is_kept(dtype: Any, kind: str) -> bool:
    """Whether a column of this dtype is one of this kind as tables keep them."""
    if kind == "category":
        return getattr(dtype, "name", "") == "category" and dtype.categories.dtype.kind in "OUT"
    return dtype == _KEPT[kind]
