"""Base of the estimators that make columns of numbers of items: components, directions, coordinates."""

from __future__ import annotations

from typing import Any

from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from ..rows.guests import lazily
from ..runtime.compile import Array
from .base import KernelMachine

__all__ = ["Transformer"]


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
