"""From the user's data to what a machine learns from: the first leg of every fit, every partial fit and every fold."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from .._runtime.compile import Array
from .._validation.labels import checked_weights
from .._validation.memory import bytes_of
from ..cuda import as_host, on_card
from ..grams import Gram, Placement, is_linear
from ..grams.streamed import sample_of
from ..kernels import Kernel
from ..rows import Rows, values_of_dask
from .content import fingerprints
from .sanity import refuse_indefinite, refuse_indefinite_items, refuse_unlearned, refuse_unusable

if TYPE_CHECKING:
    from .base import KernelMachine

__all__ = ["Training", "fold_of", "known_gram", "training_of"]

#: The Gram of the items of the next fit, where somebody has computed it before.
_known: ContextVar[Gram | None] = ContextVar("known_gram", default=None)

#: Rows not in memory that are looked at, where all of them would take too long.
_LOOKED_AT = 20_000

#: Makes targets and weights of what the user gave: from (labels or numbers, weights, items).
Encode = Callable[[Any, Any, Any], tuple[Array, Array | None]]


@dataclass(frozen=True)
class Training:
    """Checked training items with their targets and weights, and the Gram that is learned from."""

    #: The kernel with every parameter that the data decide.
    kernel: Kernel
    items: Any
    #: For each item the number of its class, a real number, or a row of 0 and 1 for many labels.
    targets: Array
    #: For each item its weight; ``None`` where all count the same.
    weight: Array | None
    gram: Gram
    #: The items as the user gave them, where they are not rows of numbers.
    given: Any = None
    #: Memory that solvers have used before and may use again.
    workspace: Any = None

    @property
    def linear(self) -> bool:
        """Whether the kernel is linear, so that the model is known by the weights of the columns."""
        return is_linear(self.kernel)

    @property
    def by_weights(self) -> bool:
        """Whether solvers find weights of features: of the columns, or of landmarks that stand for all items."""
        return self.linear or self.gram.landmarks is not None

    def signs(self, position: int, classes: int) -> Array:
        """Labels ±1 of the problem that scores class ``position`` against the rest (the second class, of two)."""
        return np.where(self.targets == (1 if classes == 2 else position), 1.0, -1.0)

    def label_signs(self) -> Array:
        """Labels ±1 of the problems of many labels, a row for each."""
        return np.where(self.targets.T == 1, 1.0, -1.0)

    def constant_labels(self) -> Array:
        """For each of many labels 1 or −1 where all items that count have it, or have it not; else 0."""
        counted = self.targets if self.weight is None else self.targets[self.weight > 0]
        return np.where(counted.all(axis=0), 1, np.where(counted.any(axis=0), 0, -1))

    def exact_gram(self) -> Gram:
        """The kernel matrix in float64, never in memory as a whole."""
        return Placement.exact(self.kernel, self.items, self.gram)

    @cached_property
    def fingerprints(self) -> Any:
        """Rows of numbers that are equal where items are; ``None`` where items do not tell whether they are equal."""
        if self.kernel.on_rows:
            return None if self.kernel.precomputed else self.items
        return fingerprints(self.given)


def looked_at(items: Any) -> tuple[Any, Any]:
    """The items that decide parameters of the kernel, in memory, and their numbers: all, or some of many."""
    if not isinstance(items, Rows):
        return items, slice(None)
    drawn = sample_of(len(items), min(len(items), _LOOKED_AT))
    return items[drawn].astype(np.float64, copy=False), drawn


@contextmanager
def known_gram(gram: Gram | None) -> Iterator[None]:
    """Inside this block a machine is fitted to items whose Gram is known; ``None`` where it is not."""
    token = _known.set(gram)
    try:
        yield
    finally:
        _known.reset(token)


def training_of(
    machine: KernelMachine, X: Any, y: Any, sample_weight: Any, reset: bool = True, encode: Encode | None = None
) -> Training:
    """Check everything that ``fit`` or ``partial_fit`` was given, and place the kernel matrix.

    ``reset`` where these are the first items that the machine sees.
    """
    kernel = machine.read_kernel()
    refuse_unlearned(type(machine).__name__, kernel, machine.learns_weights)
    bytes_of(machine.memory)
    sample_weight = values_of_dask(sample_weight)
    items, targets = machine.read_items(X, kernel, y, reset=reset)
    sample_weight = as_host(sample_weight)
    coded, weight = (encode or machine.encoded)(targets, sample_weight, items)
    some, drawn = looked_at(items)
    kernel = kernel.resolved(some, None if sample_weight is None else checked_weights(sample_weight, items)[drawn])
    refuse_unusable(kernel, some, machine.largest_similarity)
    known = _known.get()
    assert known is None or len(known) == len(coded)
    placement = machine.placement
    if on_card(X) and machine.rank is None:
        placement = replace(placement, device="cuda")
    if machine.rank is not None:
        refuse_indefinite_items(kernel, some)
    gram = placement.gram(kernel, items, weight) if known is None else known
    return _placed(kernel, items, X, coded, weight, gram)


def fold_of(
    machine: KernelMachine,
    kernel: Kernel,
    items: Any,
    y: Any,
    sample_weight: Any,
    given: Any,
    gram: Gram | None = None,
    workspace: Any = None,
) -> Training:
    """The training items of a fold, checked already as part of all items, for a kernel that is resolved on them.

    ``gram`` where their matrix is known.
    """
    refuse_unlearned(type(machine).__name__, kernel, machine.learns_weights)
    coded, weight = machine.encoded(y, sample_weight, items)
    if machine.rank is not None:
        refuse_indefinite_items(kernel, items)
    gram = machine.placement.gram(kernel, items, weight) if gram is None else gram
    return _placed(kernel, items, given, coded, weight, gram, workspace)


def _placed(
    kernel: Kernel, items: Any, given: Any, targets: Array, weight: Array | None, gram: Gram, workspace: Any = None
) -> Training:
    refuse_indefinite(gram, kernel)
    return Training(kernel, items, targets, weight, gram, None if kernel.on_rows else given, workspace)
