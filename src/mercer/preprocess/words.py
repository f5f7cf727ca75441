"""Texts as rows of numbers: the feature map of a string kernel, so that a text may stand beside other columns."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import _check_feature_names, _check_n_features, check_is_fitted

from ..checks.parameters import choice, number
from ..checks.tables import is_missing
from ..kernels.engine.counts import Counts, count, look_up, table_of
from ..kernels.strings import Strings, Substrings
from ..runtime.arrays import Array

#: What texts are cut into, and how many of them in a row are counted.
SIZES = {"words": (1, 2), "characters": (2, 3, 4, 5)}
_UNITS = {"words": ("words",), "characters": ("characters",), "both": ("words", "characters")}
#: Substrings in more than this share of the texts are left out, where they are less than a small share of all.
_EVERYDAY, _FEW = 0.1, 0.05
_TERM = re.compile(r"\w+|[^\w\s]")


class Texts(TransformerMixin, BaseEstimator):
    r"""Turn a column of texts into counts of the words or substrings that it holds.

    The counts are the explicit features φ(s) of a spectrum kernel, k(s, t) = ⟨φ(s), φ(t)⟩ = Σᵤ wᵤ²·cᵤ(s)·cᵤ(t): u runs
    over all words and pairs of neighbours, or all substrings of 2 to 5 letters; cᵤ(s) = 1 + log(how often u stands in
    s), as the tenth time says less than the first; wᵤ = 1 + log((1 + n)/(1 + nᵤ)), as what stands in nᵤ of n texts says
    less the larger nᵤ is. Rows are brought to the length ``weight``, which makes the kernel the normalised one, times
    weight². Where both are counted, words and letters each give half of the squared length: the kernel is the mean of
    two.

    Beside other columns x a kernel machine sees rows [x, φ(s)], and the kernels on them are composed as kernels are:
    a linear one is the sum ⟨x, x′⟩ + k(s, t); a Gaussian one is the product

        exp(−γ‖[x, φ(s)] − [x′, φ(t)]‖²) = exp(−γ‖x − x′‖²) · exp(−γ‖φ(s) − φ(t)‖²)

    of the Gaussian on the others and one of the distance in the feature space of the texts, ‖φ(s) − φ(t)‖² =
    2·weight²·(1 − k̂(s, t)) with the normalised kernel k̂.

    Parameters
    ----------
    units : {"words", "characters", "both"}, default="words"
        What is counted. Words are runs of letters and digits in small letters, and single marks between them.
    weight : float, default=1.0
        The length of a row.
    most : int, default=100000
        How many different features are kept at most, the most frequent first; those of one training text alone are
        not, unless there are no others.
    case : bool, default=False
        Whether capitals differ from small letters in substrings, as in formulas of molecules: c1ccccc1 is benzene,
        C1CCCCC1 is not.

    Attributes
    ----------
    keys_ : list of array
        For each unit the features that are kept, by their keys of 64 bits, sorted.
    importance_ : list of array
        The wᵤ of each.
    terms_ : list of array
        The features in words.

    Examples
    --------
    >>> from mercer.preprocess import Texts
    >>> texts = Texts().fit([["Call me now"], ["call me later"], ["see you later"]])
    >>> texts.get_feature_names_out().tolist()
    ["x0 'call'", "x0 'later'", "x0 'call me'", "x0 'me'"]
    >>> texts.transform([["CALL!"], ["quite other words"]]).toarray()
    array([[1., 0., 0., 0.],
           [0., 0., 0., 0.]])
    """

    def __init__(self, units: str = "words", weight: float = 1.0, most: int = 100_000, case: bool = False) -> None:
        self.units = units
        self.weight = weight
        self.most = most
        self.case = case

    def check_parameters(self) -> None:
        """Raise ``ValueError`` where a parameter is of no use."""
        choice(self, "units", tuple(_UNITS))
        number(self, "weight")
        number(self, "most", 1, whole=True, strict=False)
        choice(self, "case", (False, True))

    @property
    def counted_units(self) -> tuple[str, ...]:
        """What is counted, one after the other."""
        return _UNITS[self.units]

    def fit(self, X: Any, y: Any = None) -> Texts:
        """See which features there are, and in how many texts.

        Parameters
        ----------
        X : frame or array of one column of texts
        y : ignored

        Returns
        -------
        self
        """
        self.fit_transform(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> Any:
        """As :meth:`fit`, then :meth:`transform`."""
        self.check_parameters()
        _check_feature_names(self, X, reset=True)
        _check_n_features(self, X, reset=True)
        texts = _column(X)
        if not any(texts):
            raise ValueError("Texts: all texts are empty, so that there is nothing to count.")
        counted = [_counted(texts, unit, self.case) for unit in self.counted_units]
        self.keys_, self.importance_, self.terms_ = [], [], []
        for strings, tokens, parts in counted:
            found = [count(counts.keys, np.array([0, counts.keys.size])) for counts, _ in parts]
            keys = np.concatenate([each.keys for each in found])
            texts_with = np.concatenate([each.values for each in found])
            kept = np.flatnonzero(texts_with > min(1, texts_with.max(initial=0) - 1))
            if tokens == "characters":
                kept = _without_everyday(kept, texts_with, len(texts))
            if kept.size > self.most:
                kept = kept[np.argsort(-texts_with[kept], kind="stable")[: self.most]]
            order = kept[np.argsort(keys[kept])]
            self.keys_.append(keys[order])
            self.importance_.append(1 + np.log((1 + len(texts)) / (1 + texts_with[order])))
            self.terms_.append(_terms(strings, tokens, [each for _, each in parts], keys[order]))
        return self._rows(len(texts), [parts for _, _, parts in counted])

    def transform(self, X: Any) -> Any:
        """The features of each text.

        Parameters
        ----------
        X : frame or array of one column of texts

        Returns
        -------
        sparse array
        """
        check_is_fitted(self, "keys_")
        _check_feature_names(self, X, reset=False)
        _check_n_features(self, X, reset=False)
        texts = _column(X)
        return self._rows(len(texts), [_counted(texts, unit, self.case)[2] for unit in self.counted_units])

    def _rows(self, n: int, units: list[Any]) -> Any:
        share = self.weight / np.sqrt(len(units))
        blocks = []
        for keys, importance, parts in zip(self.keys_, self.importance_, units, strict=True):
            entries = [_entries(counts, keys, importance) for counts, _ in parts]
            values, row, place = (np.concatenate(each) for each in zip(*entries, strict=True))
            block = sparse.csr_matrix((values, (row, place)), shape=(n, keys.size))
            blocks.append(_of_length(block, share))
        return sparse.hstack(blocks, format="csr")

    def set_output(self, *, transform: str | None = None) -> Texts:
        """Refuse to put the features into a frame."""
        if transform not in (None, "default"):
            raise ValueError(
                f"texts have thousands of features, nearly all of them zero in a row, so they stay a sparse array and "
                f"are not put into a frame of {transform}; get_feature_names_out() tells their names."
            )
        return super().set_output(transform=transform)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """The name of the column and, in quotes, the word, or the letters of a substring."""
        check_is_fitted(self, "keys_")
        given = getattr(self, "feature_names_in_", ["x0"]) if input_features is None else input_features
        names = [
            f"{given[0]} {term!r}" if unit == "words" else f"{given[0]} letters {term!r}"
            for unit, terms in zip(self.counted_units, self.terms_, strict=True)
            for term in terms
        ]
        return np.array(names, dtype=object)


def _without_everyday(kept: Array, texts_with: Array, n: int) -> Array:
    """Letters that stand in every other text say little of it, and most of the work of comparing texts is with them.

    They stay where such are many, as in sequences of few letters.
    """
    everyday = texts_with[kept] > _EVERYDAY * n
    return kept[~everyday] if everyday.sum() < _FEW * kept.size else kept


def _entries(counts: Counts, keys: Array, importance: Array) -> tuple[Array, Array, Array]:
    """The values, rows and columns of the features that are kept."""
    place, known = _places(keys, counts.keys)
    rows = np.repeat(np.arange(len(counts), dtype=np.int32), np.diff(counts.starts))[known]
    return (1 + np.log(counts.values[known])) * importance[place[known]], rows, place[known]


def _places(keys: Array, found: Array) -> tuple[Array, Array]:
    """The place of each key that was found among those that are kept, and which of those found are among them."""
    place = look_up(table_of(keys, keys.size, max(2, 1 << (2 * keys.size).bit_length())), keys, found)
    return place, np.flatnonzero(place >= 0)


def _of_length(block: Any, length: float) -> Any:
    """Rows of one length, but for those that are zero."""
    norms = np.sqrt(np.asarray(block.multiply(block).sum(axis=1)).ravel())
    block.data *= np.repeat(np.divide(length, norms, out=np.zeros_like(norms), where=norms > 0), np.diff(block.indptr))
    return block


def _column(X: Any) -> list[str]:
    """The texts of the only column; one that is missing is empty."""
    values = X.to_numpy() if hasattr(X, "to_numpy") else np.asarray(X, dtype=object)
    if values.ndim == 2 and values.shape[1] != 1:
        raise ValueError(f"Texts: there is one column of texts at a time, got {values.shape[1]}.")
    return ["" if is_missing(text) else str(text) for text in values.ravel()]


def _counted(texts: list[str], unit: str, case: bool) -> tuple[Strings, str, list[Any]]:
    """Texts as tidy strings, what they are cut into, and for each size the counts and the occurrences of features."""
    if unit == "words":
        strings = Strings.of([" ".join(_TERM.findall(text.lower())) for text in texts])
    else:  # a space on both sides marks where words begin and end
        written = texts if case else [text.lower() for text in texts]
        strings = Strings.of([f" {' '.join(text.split())} " if text else "" for text in written])
    sizes = [Substrings(size, unit) for size in SIZES[unit]]
    found = [each.occurrences(strings) for each in sizes]
    return strings, unit, [(count(*each), (each, kind.size)) for each, kind in zip(found, sizes, strict=True)]


def _terms(strings: Strings, unit: str, occurrences: list[Any], keys: Array) -> Array:
    """The features of some keys in words: each as it stands where it occurs first."""
    tokens = strings.token_lists(unit)
    terms = np.full(keys.size, "", dtype=object)
    for (found, starts), size in occurrences:
        place, known = _places(keys, found)
        first = np.full(keys.size, -1)
        first[place[known[::-1]]] = known[::-1]  # of those with one key the last one written stays, which is the first
        terms_here = np.flatnonzero(first >= 0)
        text_of = np.searchsorted(starts, first[terms_here], side="right") - 1
        begins = first[terms_here] - starts[text_of]
        for term, text, begin in zip(terms_here.tolist(), text_of.tolist(), begins.tolist(), strict=True):
            piece = tokens[text][begin : begin + size]
            terms[term] = piece if isinstance(piece, str) else " ".join(piece)
    return terms
