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

from ..checks.labels import could_be_numbers, looks_in_words
from ..io.table import DataError
from ..messages import guide

if TYPE_CHECKING:
    from ..io import Table
    from ..kernels import Kernel
    from .catalogue import Learner

__all__ = ["kernels_for", "refuse_unfit", "spread_of", "suited"]


def kernels_for(table: Table) -> list[str]:
    """Texts of the kernels that are worth trying on a table of strings, sets or graphs, the usual one first."""
    return [text for _, text in sorted(each for kernel in _fitting(table) for each in kernel.suggestions(table.items))]


def _fitting(table: Table) -> list[type[Kernel]]:
    """Kernels on what a table holds, the usual ones first."""
    from ..kernels.text_form import registered

    def rank(kernel: type[Kernel]) -> float:
        return min((rank for rank, _ in kernel.suggestions(table.items)), default=np.inf)

    return sorted((kernel for kernel in registered() if kernel.kind() == table.kind), key=rank)


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

    if learner.prepares and learner.task != table.task:  # its twin goes by the same name for those who ask for it
        from .catalogue import named

        learner = named(learner.counterpart)
    if table.y is not None and table.labelled.any():
        _refuse_other_task(learner, table)
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


def _refuse_other_task(learner: Learner, table: Table) -> None:
    """Refuse a learner of classes where numbers are to be learned, and the reverse."""
    if learner.task == table.task:
        return
    does = {"classify": "is a classifier", "regress": "is a regressor"}[learner.task]
    assert table.y is not None
    if table.asked:
        why = f"{'numbers' if table.measured else 'classes'} are to be learned of the target {table.target!r}"
    else:
        why = looks_in_words(table.target, table.y[table.labelled])
    numeric = could_be_numbers(table.y[table.labelled])
    otherwise = f", or say --task {learner.task}" if numeric else ""
    raise DataError(f"{learner.name} {does}, and {why}; use {learner.counterpart}{otherwise}.")


def refuse_unfit(kernel: Any, table: Table) -> None:
    """Refuse a kernel that compares something else than what a table holds."""
    if table.kind == "rows":
        return
    names = ", ".join(each.__name__.lower() for each in _fitting(table))
    remedy = f"kernels on {table.kind} are {names} {guide('structures')}"
    if kernel.on_rows:
        raise DataError(f"the kernel {kernel} compares rows of numbers, and {table.name} holds {table.kind}; {remedy}.")
    try:
        kernel.items(table.items[:1])
    except ValueError:
        raise DataError(
            f"the kernel {kernel} does not compare {table.kind}, which {table.name} holds; {remedy}."
        ) from None


# The size of a target, by which parameters that depend on its unit are chosen.


#: The middle half of a bell-shaped target is so many standard deviations wide.
_QUARTILES = 1.349


def spread_of(y: Any) -> float:
    """The spread of a target: its standard deviation as the middle half of the values shows it.

    A few huge values do not change it. Where half of the values are the same it is the standard deviation itself, and
    1 where all are. It has two digits, as no more are meant.

    Examples
    --------
    >>> spread_of([1, 2, 3, 4, 1e9]), spread_of([0, 0, 0, 0, 10]), spread_of([7, 7])
    (1.5, 4.0, 1.0)
    """
    values = np.asarray(y, dtype=np.float64)
    lower, upper = np.quantile(values, [0.25, 0.75])
    largest = float(np.abs(values).max(initial=0.0)) or 1.0
    spread = (upper - lower) / _QUARTILES or largest * float(np.std(values / largest)) or 1.0
    return float(f"{spread:.2g}")
