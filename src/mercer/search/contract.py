"""What a machine offers, so that a search can share work between its fits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Protocol

from .._runtime.compile import Array
from ..estimators.training import Training
from ..grams import Placement
from ..kernels import Kernel

__all__ = ["Machine"]


class Machine(Protocol):
    """What a search asks of a machine whose fits it computes together: a ``KernelMachine`` that offers this too.

    A search reads the items of all folds once, computes one kernel matrix for all folds, and follows machines that
    differ in one parameter alone along that parameter. In the order in which they are asked for, it needs

    1. :attr:`path`, :attr:`shares_path`: whether and along which parameter there is anything to share;
    2. :meth:`read_kernel`, :meth:`read_items`, :meth:`read_targets`: the user's data, checked as ``fit`` does;
    3. :attr:`placement`, :meth:`beside`: what the kernel matrix may be, and what a fit takes beside it;
    4. :meth:`encoded`: targets and weights of a fold, as ``fit`` makes them of its training items;
    5. :meth:`along`: the scores of all items, for one value of the path after the other; the machine, a copy of the
       user's, may change on the way;
    6. :meth:`decisions_of`, :meth:`predictions_of`, :meth:`probabilities_of`: what scorers ask for, from the scores;
       ``score_of(y, predictions, sample_weight)`` where ``score`` is neither the accuracy nor R².

    What comes out must be what plain fits give, within the tolerance of the solver. A class says so by naming its own
    ``path``; one that inherits it says nothing, and is fitted one by one.
    """

    #: The parameter along which fits go on from each other: "C", "nu", "lam", "epochs", "steps".
    path: str
    #: Whether models become richer as the path falls, as they do with λ and ν.
    path_falls: bool
    #: What rows of numbers may be kept in.
    precisions: tuple[type, ...]
    kernel: Any
    memory: Any

    def beside(self, n: int) -> int:
        """Bytes that a fit of n items has beside their kernel matrix."""
        ...

    @property
    def shares_path(self) -> bool:
        """Whether fits along the path, with the other parameters as they are, are what fits one by one would be."""

    @property
    def placement(self) -> Placement:
        """What the machine allows for its kernel matrix."""

    def read_kernel(self) -> Kernel:
        """The kernel as an object, whose parameters may still be for the training items to decide."""

    def read_items(self, X: Any, kernel: Kernel, *, reset: bool) -> Any:
        """The items, checked, in the form that the kernel works on."""

    def read_targets(self, y: Any) -> Array:
        """The targets, checked."""

    def encoded(self, y: Any, sample_weight: Any, items: Any) -> tuple[Array, Array | None]:
        """Targets and weights to learn from. A classifier takes its ``classes_`` from them."""

    def along(self, data: Training, values: list[Any], scores_of: Callable[[Any], Array]) -> Iterator[Array]:
        """For each value of the path, from the simplest model on: the scores of all items, a column for each score.

        ``scores_of`` gives those of a model; a machine that knows them already need not ask.
        """

    def decisions_of(self, scores: Array, numbers: Array | None = None) -> Array:
        """Decision values from scores, or an error that names a row (by its number) without any."""

    def predictions_of(self, decisions: Array) -> Array:
        """What ``predict`` makes of decision values."""

    def probabilities_of(self, decisions: Array, log: bool = False) -> Array:
        """What ``predict_proba`` makes of decision values, where the machine has it."""
