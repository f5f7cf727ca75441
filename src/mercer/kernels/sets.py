"""Kernels on sets and multisets: what they have in common."""

from __future__ import annotations

from collections import Counter
from typing import ClassVar

import numpy as np

from .._runtime.compile import Array
from .._validation.parameters import truth
from .bag_collection import Bags
from .base import Kernel
from .engine.count_dot import CountDot
from .engine.counts import Counts, in_unary
from .engine.pairing import Tile
from .engine.statistics import Statistic
from .readable import Name

__all__ = ["Intersection", "Jaccard", "MinMax", "Subsets", "Tanimoto"]

#: 2 to a power above this is larger than any number in double precision.
_LARGEST_POWER = 1023
#: Multisets in unary that are larger than this together do not fit into memory.
_LARGEST_TOTAL = 2**31


class SharedItems(CountDot):
    """|A ∩ B|: how many different items are in both."""

    def count(self, A: Bags) -> Counts:
        return Counts(A.counts.starts, A.counts.keys, np.ones_like(A.counts.values))


class SharedCounts(CountDot):
    """Σ over items of the smaller of the two counts."""

    def count(self, A: Bags) -> Counts:
        total = A.counts.values.sum()
        if total > _LARGEST_TOTAL:
            raise ValueError(
                f"the counts of these multisets add up to {total:.3g}; divide them by a common unit first."
            )
        return in_unary(A.counts)


class CountProducts(CountDot):
    """Σ over items of the product of the two counts."""

    def count(self, A: Bags) -> Counts:
        return A.counts


SHARED_ITEMS, SHARED_COUNTS, COUNT_PRODUCTS = SharedItems(), SharedCounts(), CountProducts()


class OnBags(Kernel, named=False):
    """A kernel that is a function of one statistic of two sets and of that statistic of each with itself."""

    collection = Bags
    statistic: ClassVar[CountDot]

    def statistics(self) -> Counter[Statistic]:
        return Counter([self.statistic])

    def apply(self, shared: Array, left: Array, right: Array) -> Array:
        """The kernel from the statistic of the pairs, of the left items and of the right items."""
        raise NotImplementedError

    def evaluate(self, tile: Tile) -> Array:
        left, right = tile.of_items((self.statistic, "diag"), self.statistic.diag)
        return self.apply(tile.compute(self.statistic), left[:, None], right).astype(tile.pairing.dtype, copy=False)

    def diag(self, A):
        own = self.statistic.diag(A)
        return self.apply(own.copy(), own, own)


class Subsets(OnBags):
    """``2^|A∩B|``: how many sets are subsets of both.

    Parameters
    ----------
    normalised : bool, default=False
        Divide by ``√(2^|A|·2^|B|)``, in the exponent, so that sets of more than a thousand items do not overflow. Every
        set then has the similarity one to itself.

    Examples
    --------
    >>> from mercer.kernels import Subsets
    >>> Subsets()([set("ABCD")], [set("BCDE")])
    array([[8.]])
    >>> Subsets(normalised=True)([set("ABCD")], [set("BCDE")])
    array([[0.5]])
    """

    good_for = "items that mean something together"
    statistic = SHARED_ITEMS

    def __init__(self, normalised: bool = False) -> None:
        self.normalised = normalised

    def check(self):
        truth(self, "normalised")

    def apply(self, shared, left, right):
        if self.normalised:
            return np.exp2(shared - (left + right) / 2)
        if shared.max(initial=0) > _LARGEST_POWER:
            raise ValueError(
                f"Subsets: 2^{shared.max():.0f} is larger than any number; take Subsets(normalised=True) for such sets."
            )
        return np.exp2(shared)

    @classmethod
    def suggestions(cls, items):
        return [(2, "subsets(normalised=True)")]


class Intersection(OnBags):
    """``|A∩B|`` of sets; of multisets, the sum of the smaller counts.

    Examples
    --------
    >>> from mercer.kernels import Intersection
    >>> Intersection()([["egg", "egg", "salt"]], [["egg", "egg", "egg"]])
    array([[2.]])
    """

    good_for = "how much two sets share, large ones more"
    statistic = SHARED_COUNTS

    def __init__(self) -> None:
        pass

    def apply(self, shared, left, right):
        return shared

    def features(self, A):
        return self.statistic.features(A)

    def keyed(self, A):
        return self.statistic.counts(A)

    def named_features(self, A):
        # Σ min(a, b) is the dot product of the counts in unary: the first egg, the second egg, …
        return [{Name(str(item), level): 1.0 for item, times in bag.items() for level in range(times)} for bag in A]

    @classmethod
    def suggestions(cls, items):
        return [(1, "normalised(intersection)")]

    def cheaper_in_primal(self, A, B):
        return np.ones(len(A), bool)


class PartOfUnion(OnBags, named=False):
    """s(A, B)/(s(A, A) + s(B, B) − s(A, B)), and 1 where nothing is there to be shared."""

    def __init__(self) -> None:
        pass

    def apply(self, shared, left, right):
        union = left + right - shared
        return np.divide(shared, union, out=np.ones(np.shape(shared)), where=union > 0)


class Jaccard(PartOfUnion):
    """``|A∩B|/|A∪B|`` of the different items; 1 for two empty sets.

    Examples
    --------
    >>> from mercer.kernels import Jaccard
    >>> Jaccard()([{1, 2, 3}], [{2, 3, 4}])
    array([[0.5]])
    """

    good_for = "the share of items in common, whatever the size"
    statistic = SHARED_ITEMS


class MinMax(PartOfUnion):
    """Jaccard for multisets: the sum of the smaller counts over the sum of the larger; 1 for two empty multisets.

    Examples
    --------
    >>> from mercer.kernels import MinMax
    >>> MinMax()([["egg", "egg", "salt"]], [["egg", "egg", "egg"]])
    array([[0.5]])
    """

    good_for = "multisets: Jaccard with counts"
    statistic = SHARED_COUNTS

    @classmethod
    def suggestions(cls, items):
        return [(0, "minmax")]


class Tanimoto(PartOfUnion):
    """⟨a, b⟩/(‖a‖² + ‖b‖² − ⟨a, b⟩) of the vectors of counts; 1 for two empty multisets. For sets it is Jaccard.

    Examples
    --------
    >>> from mercer.kernels import Tanimoto
    >>> Tanimoto()([["egg", "egg"]], [["egg"]]).round(4)
    array([[0.6667]])
    """

    good_for = "counts and fingerprints of molecules"
    statistic = COUNT_PRODUCTS
