"""Base of the estimators that make columns of numbers of items: components, directions, coordinates."""

from __future__ import annotations

from typing import Any

from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from ..checks.parameters import bytes_of, memory_in_words, size_in_words
from ..grams import Gram
from ..rows.guests import lazily
from ..runtime.compile import Array
from .base import KernelMachine

__all__ = ["Transformer"]

#: Matrices of all items by all items that there are at once where one is decomposed, and bytes that count for nothing.
_SQUARES, _ASIDE = 4, 2**29


def refuse_large_matrix(machine: KernelMachine, gram: Gram, count: int | None = None) -> None:
    """Raise where a matrix to be decomposed, for all or so many components, has no room in memory."""
    n = len(gram)
    features = gram.features()
    needed = _SQUARES * 8 * n * (n if features is None else min(n, features.shape[1]))
    if needed > bytes_of(machine.memory) + _ASIDE:
        what = type(machine).__name__ if count is None else f"{count} components"
        fewer = "" if count is None else "ask for fewer components, "
        raise ValueError(
            f"{what} of {n} items take the whole matrix and its vectors, {size_in_words(needed)}, more than "
            f"{memory_in_words(machine.memory)}; {fewer}raise memory, or say rank=1000."
        )


class Transformer(ClassNamePrefixFeaturesOutMixin, TransformerMixin, KernelMachine, named=False):
    """Each score of an item is one of its columns."""

    answers = "components"

    @lazily
    def transform(self, X: Any) -> Array:
        """The components of items.

        Parameters
        ----------
        X : array, sparse matrix or frame of shape (n_rows, n_features), or a collection of the kernel's items

        Returns
        -------
        array of shape (n_rows, n_components)
        """
        return self.decisions_of(self._scores(X))

    @property
    def _n_features_out(self) -> int:
        return len(self.intercept_)
