"""Which kernels suit which items: strings, sets and graphs each have their own.

Examples
--------
>>> from mercer.io.table import Table
>>> from mercer.kernels import Bags
>>> from mercer.learners import LEARNERS
>>> from mercer.learners import kernels_for, suited
>>> table = Table("baskets", None, items=Bags.of([{"milk"}, {"egg"}]), kind="sets")
>>> kernels_for(table)
['minmax', 'normalised(intersection)', 'subsets(normalised=True)']
>>> suited(LEARNERS["svc"], table).build(C=10)
SVC(C=10, kernel='minmax')
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..io.table import DataError

if TYPE_CHECKING:
    from ..io import Table
    from .catalogue import Learner

__all__ = ["kernels_for", "refuse_unfit", "suited"]

_KERNELS = {
    "strings": ["normalised(spectrum(p=3))", "normalised(spectrum(p=(2, 5)))"],
    "sets": ["minmax", "normalised(intersection)", "subsets(normalised=True)"],
    "graphs": [
        "normalised(weisfeilerlehman(h=4))",
        "normalised(weisfeilerlehmanassignment(h=3))",
        "normalised(shortestpath)",
        "graphlet(scale='cosine')",
    ],
}
#: Kernels by the names that messages list.
_NAMES = {
    "strings": "spectrum, mismatch, subsequence, weighteddegree, localalignment",
    "sets": "minmax, jaccard, tanimoto, intersection, subsets",
    "graphs": "weisfeilerlehman, weisfeilerlehmanassignment, shortestpath, randomwalk, graphlet",
}
#: Strings of fewer different letters than this are sequences, in which a letter may stand for another.
_SEQUENCE_LETTERS = 30


def kernels_for(table: Table) -> list[str]:
    """Texts of the kernels that are worth trying on a table of strings, sets or graphs, the usual one first."""
    kernels = list(_KERNELS[table.kind])
    if table.kind == "strings":
        kernels.append(_third_on_strings(table.items))
    return kernels


def _third_on_strings(strings: Any) -> str:
    """What fits the strings best besides spectra: places where all are aligned, mismatches in sequences, words."""
    sizes = np.diff(strings.starts)
    if sizes.size and sizes.min() == sizes.max() > 1:
        return "normalised(weighteddegree(k=8))"
    letters = "".join(map(chr, np.unique(strings.codes).tolist()))
    if 2 <= len(letters) < _SEQUENCE_LETTERS:
        return f"normalised(mismatch(alphabet={letters!r}))"
    return "normalised(spectrum(p=1, tokens='words'))"


def suited(learner: Learner, table: Table, kernels: Sequence[str] = ()) -> Learner:
    """A learner with the kernels that it is to try on a table: those given, or those that suit its items.

    Parameters
    ----------
    learner : Learner
    table : Table
    kernels : sequence of str
        Texts of kernels.

    Returns
    -------
    Learner
    """
    from ..kernels import parse

    for text in kernels:
        refuse_unfit(parse(text), table)
    if table.kind == "rows" and (not kernels or not learner.takes_kernel):
        return learner
    if table.kind != "rows" and not learner.takes_any_kernel:
        raise DataError(
            f"{learner.name} learns from columns of numbers, and {table.name} holds {table.kind}; use "
            f"{learner.kernelised}."
        )
    return learner.with_kernels(list(kernels) or kernels_for(table))


def refuse_unfit(kernel: Any, table: Table) -> None:
    """Refuse a kernel that compares something else than what a table holds."""
    if table.kind == "rows":
        return
    remedy = f"kernels on {table.kind} are {_NAMES[table.kind]}"
    if kernel.on_rows:
        raise DataError(f"the kernel {kernel} compares rows of numbers, and {table.name} holds {table.kind}; {remedy}.")
    try:
        kernel.items(table.items[:1])
    except ValueError:
        raise DataError(
            f"the kernel {kernel} does not compare {table.kind}, which {table.name} holds; {remedy}."
        ) from None
