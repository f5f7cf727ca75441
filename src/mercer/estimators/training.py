"""A fit on its way, and what a machine learns from: the first leg of every fit, every partial fit and every fold."""

from __future__ import annotations

import contextlib
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import sklearn
from scipy import sparse

from ..checks.labels import checked_weights
from ..checks.parameters import bytes_of, is_number
from ..grams import Gram, Placement, is_linear
from ..kernels import Function, Kernel
from ..kernels.engine.tiles import length
from ..kernels.reading import refuse_asymmetric
from ..messages import guide
from ..problems import Certificate, Iterate, Problem, Status
from ..rows import Rows, in_memory, on_card, sample_of
from ..runtime.compile import Array
from ..runtime.interrupts import until
from ..runtime.threads import one_blas_thread
from .contents import fingerprints

if TYPE_CHECKING:
    from ..mixtures import Components, LearnedWeights
    from .base import KernelMachine

__all__ = [
    "CallbackSupportMixin",
    "Mixed",
    "NotInTimeError",
    "Run",
    "Training",
    "components_of",
    "fold_of",
    "mixed",
    "running",
    "task_below",
    "training_of",
    "warn",
    "with_callbacks",
]

# A fit on its way: its time limit, its threads, its warnings, and what callbacks of scikit-learn (1.9) are told.


try:
    from sklearn.callback import CallbackSupportMixin, with_callbacks
except ImportError:  # an older scikit-learn: fits run without progress

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Nothing to support."""

    def with_callbacks(method: Any) -> Any:
        return method


#: Seconds beyond the limit that items may take to be made ready, so that there is a model to show under any limit.
_GRACE = 1.0


class NotInTimeError(ValueError):
    """A time limit was over before there was any model."""


@dataclass(frozen=True)
class Run:
    """One call of ``fit``: of which estimator, on which data as the user gave them, and since when."""

    estimator: Any
    X: Any = None
    y: Any = None
    sample_weight: Any = None
    #: By ``time.monotonic``; ``None`` for work outside of a fit, such as a line of a search, which has its full time.
    begun: float | None = None
    #: The group of each row, where rows of a group are to be left out together.
    groups: Any = None

    def seconds_left(self) -> float:
        """What is left of the estimator's time limit."""
        limit = getattr(self.estimator, "time_limit", None)
        if limit is None:
            return float("inf")
        spent = 0.0 if self.begun is None else time.monotonic() - self.begun
        return max(0.0, float(limit) - spent)

    @contextmanager
    def preparing(self) -> Iterator[None]:
        """A block of work without which there is no model at all; where it takes too long, a sentence says so."""
        limit = getattr(self.estimator, "time_limit", None)
        if limit is None:
            yield
            return
        ready = False
        with until(time.monotonic() + self.seconds_left() + _GRACE):
            yield
            ready = True
        if not ready:
            raise NotInTimeError(
                f"{type(self.estimator).__name__}: the time limit of {limit:g} s was over before the items were ready "
                "for the solver, and there is no model to show; raise time_limit, choose fewer landmarks by rank, or "
                "learn from fewer items."
            )

    @contextmanager
    def reported(self, parts: int, name: str) -> Iterator[Callable[[int, Callable[[], Any]], Any]]:
        """Inside this block, ``run(k, work)`` does part k of the fit, and callbacks know when it begins and ends."""
        estimator, told = self.estimator, {"estimator": self.estimator, "X": self.X, "y": self.y}
        start = getattr(estimator, "_init_callback_context", None)
        if start is None or not (
            getattr(estimator, "_skl_callbacks", ()) or hasattr(estimator, "_parent_callback_ctx")
        ):
            yield lambda k, work: work()
            return
        context = start(max_subtasks=parts, sequential_subtasks=False)
        context.call_on_fit_task_begin(**told)

        def run(k: int, work: Callable[[], Any]) -> Any:
            part = context.subcontext(task_name=name, task_id=k)
            part.call_on_fit_task_begin(**told)
            try:
                return work()
            finally:
                part.call_on_fit_task_end(**told)

        yield run
        context.call_on_fit_task_end(**told)


@contextmanager
def running(estimator: Any, X: Any, y: Any, sample_weight: Any, groups: Any = None) -> Iterator[Run]:
    """Inside this block the estimator is fitted: its time runs, and matrix products have one thread each.

    Large ones are cut into pieces for threads of ours. The threads of a BLAS library would make other cuts for another
    number of threads, and so other last digits; idle ones, waiting for more, take time from ours.
    """
    run = Run(estimator, X, y, sample_weight, time.monotonic(), groups)
    with one_blas_thread():
        yield run


#: What stands between a fit and the user's line that called it: this library, and what calls it for the user.
_BETWEEN = (str(Path(__file__).parents[1]), str(Path(sklearn.__file__).parent), contextlib.__file__)


def warn(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the user's line that has called for a fit, however many functions are in between."""
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_BETWEEN):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, category, stacklevel=level)


@contextmanager
def task_below(context: Any, owner: Any, name: str, subtasks: int | None, sequential: bool) -> Iterator[Any]:
    """A task below another for scikit-learn's callbacks, where its version has them."""
    if context is None:
        yield None
        return
    task = context.subcontext(task_name=name, max_subtasks=subtasks, sequential_subtasks=sequential)
    task.call_on_fit_task_begin(estimator=owner)
    yield task
    task.call_on_fit_task_end(estimator=owner)


# What a machine cannot learn from: kernels that are none, numbers that overflow, items that are all the same.


#: Items on which a kernel from outside is tried before the whole matrix is computed, and of which it is asked first
#: whether they differ.
_SAMPLE = 16
#: Rows that are not in memory of which it is asked whether they differ.
_SOME = 1000
#: Items on which a kernel that promises nothing is tested for negative eigenvalues.
_TESTED = 500
#: Items whose similarities to all others are looked at where a solver came to no end.
_SAMPLED_ROWS = 100
#: Self-similarities beyond this, or below its inverse, leave the range of numbers in products of a few.
LARGEST_SIMILARITY = 1e100
#: Scores that cannot differ from each other by more than this are the same for all purposes.
_NO_REACH = 1e-6


def refuse_unusable(kernel: Kernel, items: Any, largest: float = LARGEST_SIMILARITY) -> None:
    """Raise where a matrix, a function or its values cannot be those of a kernel, before the real work starts.

    ``largest`` is the self-similarity that a machine can still work with.
    """
    if kernel.precomputed:
        if items.shape[0] != items.shape[1]:
            raise ValueError(
                f"kernel='precomputed' needs the square matrix of the training rows; X has shape {items.shape}."
            )
        refuse_asymmetric(items, kernel)
        own = items.diagonal()
    elif isinstance(kernel, Function) or any(isinstance(part, Function) for part in kernel.get_params().values()):
        places = np.unique(np.linspace(0, length(items) - 1, min(length(items), _SAMPLE)).astype(np.int64))
        K = kernel.matrix(items[places], items[places])  # two collections: of one, pairs would be asked for once
        refuse_asymmetric(K, kernel, places)
        own = K.diagonal()
    else:
        own = kernel.diag(items)
    # |k(x, z)|² ≤ k(x, x)·k(z, z), so self-similarities tell of all.
    size = float(np.abs(own).max(initial=0.0))
    what, remedy = ("rows", "scale the columns first") if kernel.on_rows else ("items", "use normalised(...)")
    if not size <= largest:
        raise ValueError(f"the kernel {kernel} overflows on these {what}; {remedy}, or use smaller parameters.")
    if 0 < size < 1 / LARGEST_SIMILARITY:
        raise ValueError(f"the kernel {kernel} vanishes on these {what}, with values up to {size:.3g}; {remedy}.")


def refuse_unlearned(name: str, kernel: Kernel, learns: bool) -> None:
    """Raise where nobody would learn the weights of a mixture."""
    if kernel.learns and not learns:
        raise ValueError(
            f"{name} does not learn the weights of {kernel}; use SVC, KernelClassifier, KernelRegressor or "
            "KernelQuantiles, or give the mixture weights."
        )


def refuse_indefinite(gram: Gram, kernel: Kernel) -> None:
    """Raise where the kernel matrix of some items has a clearly negative eigenvalue, and no objective is convex.

    Kernels that are positive semi-definite by what they are need no look.
    """
    if not kernel.trusted:
        index = np.unique(np.linspace(0, len(gram) - 1, min(len(gram), _TESTED)).astype(np.int64))
        K = gram.take(index).rows(np.arange(index.size))
        _refuse_wrong_diagonal(K.diagonal(), gram.diag()[index], kernel)
        _refuse_negative(K, kernel)


def refuse_indefinite_items(kernel: Kernel, items: Any) -> None:
    """The same, before an approximation by landmarks takes the place of the matrix and hides it."""
    if not kernel.trusted:
        index = np.unique(np.linspace(0, length(items) - 1, min(length(items), _TESTED)).astype(np.int64))
        some = items[index]
        _refuse_negative(some[:, index] if kernel.precomputed else kernel.matrix(some, some), kernel)


def _refuse_wrong_diagonal(own: Array, told: Array, kernel: Kernel) -> None:
    bad = np.flatnonzero(~np.isclose(own, told, rtol=1e-3, atol=1e-3 * float(np.abs(own).max(initial=0.0))))
    if bad.size:
        raise ValueError(
            f"the kernel {kernel} contradicts itself: k(x, x) is {own[bad[0]]:.4g} by its values and "
            f"{told[bad[0]]:.4g} by diag; correct its method diag."
        )


def _refuse_negative(K: Array, kernel: Kernel) -> None:
    eigenvalues = np.linalg.eigvalsh(K.astype(np.float64))
    if eigenvalues[0] < -1e-5 * max(abs(eigenvalues[-1]), 1e-300):
        what = "rows" if kernel.on_rows else "items"
        raise ValueError(
            f"the kernel {kernel} is not positive semi-definite: on {len(K)} of the {what} its matrix has the "
            f"eigenvalue {eigenvalues[0]:.4g} (largest {eigenvalues[-1]:.4g}), so the machine has no unique solution. "
            f"Use another kernel, or add that amount to the diagonal of a precomputed matrix {guide('good kernels')}."
        )


def refuse_undefined(gram: Gram, kernel: Kernel) -> None:
    """Raise where the similarities of some items are no numbers, which is why a solver may have come to no end."""
    sample = np.unique(np.linspace(0, len(gram) - 1, min(len(gram), _SAMPLED_ROWS)).astype(np.int64))
    bad = np.flatnonzero(~np.isfinite(gram.rows(sample)).all(axis=1))
    if bad.size:
        raise ValueError(
            f"the kernel {kernel} is not a finite number between item {sample[bad[0]]} and some others; scale the "
            "columns, or use another kernel."
        )


def warn_if_alike(name: str, kernel: Kernel, items: Any, gram: Gram) -> None:
    """Say so where no item differs from another: in its numbers, in its row of a kernel matrix, or for the kernel."""
    if isinstance(items, Rows):  # some of which are in memory, as features
        features = (gram if gram.sample is None else gram.sample).features()
        some = np.unique(np.linspace(0, len(items) - 1, _SOME).astype(int))
        items = items[some] if features is None else features
    if len(gram) < 2:
        return
    if kernel.on_rows and _same_rows(items):
        what = "rows of the kernel matrix" if kernel.precomputed else "rows"
    elif not gram.by_passes and _same_to_kernel(gram):
        what = f"{'rows' if kernel.on_rows else 'items'}, as {kernel} sees them,"
    else:
        return
    warn(
        f"{name}: all {len(gram)} {what} are the same, so that nothing can be learned from them; every prediction will "
        "be the same."
    )


def warn_if_out_of_reach(machine: Any, gram: Gram) -> None:
    """Say so where regularisation leaves scores no room beside similarities that are so small.

    Where every item pulls by C at most, or by 1/(λn), no score is farther from the intercept than C·n or 1/λ times the
    largest self-similarity.
    """
    params = machine.get_params(deep=False)
    if gram.by_passes or not (is_number(params.get("C")) or is_number(params.get("lam"))):
        return
    pull = params["C"] * len(gram) if "C" in params else 1 / params["lam"]
    largest = float(np.abs(gram.diag()).max(initial=0.0))
    if 0 < pull * largest < _NO_REACH:
        remedy = "raise C" if "C" in params else "lower lam"
        warn(
            f"{type(machine).__name__}: similarities are no larger than {largest:.3g}, so that every prediction will "
            f"be the same but for {pull * largest:.1g}; scale the columns first, or {remedy} "
            f"{guide('scaling columns')}."
        )


def _same_rows(rows: Any) -> bool:
    if not sparse.issparse(rows):
        return bool((rows[0] == rows[-1]).all() and (rows == rows[0]).all())
    sizes = np.diff(rows.indptr)
    if (sizes != sizes[0]).any():
        return False
    return all(bool((part == part[0]).all()) for part in (rows.indices.reshape(len(sizes), -1),
                                                          rows.data.reshape(len(sizes), -1)))  # fmt: skip


def _same_to_kernel(gram: Gram) -> bool:
    """Whether all items are alike; a few of them tell as a rule that they are not."""
    few = np.unique(np.linspace(0, len(gram) - 1, min(len(gram), _SAMPLE)).astype(np.int64))
    return _alike(gram.take(few)) and _alike(gram)


def _alike(gram: Gram) -> bool:
    """‖φᵢ − φ₀‖² = k(i, i) + k(0, 0) − 2k(i, 0) = 0 for every item."""
    first = gram.rows(np.zeros(1, np.int64))[0]
    near = 4 * np.finfo(first.dtype).eps * abs(first[0])
    return bool((np.abs(first - first[0]) <= near).all() and (np.abs(gram.diag() - first[0]) <= near).all())


def warn_of_constant_labels(machine: Any, data: Any) -> None:
    """Say which of many labels all items have, or none has: there is nothing to be learned of them."""
    for label, known in enumerate(data.constant_labels()):
        if known:
            warn(f"{type(machine).__name__}: label {label} is {max(known, 0)} in all rows, and so in all predictions.")


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
    #: For each item the number of its class, a real number, or a row of 0 and 1 for many labels; ``None`` where items
    #: are all that is learned from.
    targets: Any
    #: For each item its weight; ``None`` where all count the same.
    weight: Array | None
    gram: Gram
    #: The items as the user gave them, where they are not rows of numbers.
    given: Any
    #: The fit that learns from it.
    run: Run
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


def training_of(
    machine: KernelMachine,
    X: Any,
    y: Any,
    sample_weight: Any,
    run: Run,
    *,
    reset: bool = True,
    encode: Encode | None = None,
    gram: Gram | None = None,
) -> Training:
    """Check everything that ``fit`` or ``partial_fit`` was given, and place the kernel matrix.

    ``reset`` where these are the first items that the machine sees, ``gram`` where their matrix is known.
    """
    kernel = machine.read_kernel().suited(X)
    refuse_unlearned(type(machine).__name__, kernel, machine.learns_weights)
    bytes_of(machine.memory)
    items, targets = machine.read_training(X, y, kernel, reset)
    sample_weight = None if sample_weight is None else in_memory(sample_weight)
    coded, weight = (encode or machine.encoded)(targets, sample_weight, items)
    some, drawn = looked_at(items)
    kernel = kernel.resolved(some, None if sample_weight is None else checked_weights(sample_weight, items)[drawn])
    refuse_unusable(kernel, some, machine.largest_similarity)
    assert gram is None or len(gram) == length(items)
    placement = machine.placement
    if type(X) is not np.ndarray and on_card(X) and machine.rank is None:
        placement = replace(placement, device="cuda")
    if machine.rank is not None:
        refuse_indefinite_items(kernel, some)
    gram = placement.gram(kernel, items, weight) if gram is None else gram
    return _placed(kernel, items, X, coded, weight, gram, run)


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
    return _placed(kernel, items, given, coded, weight, gram, Run(machine), workspace)


def _placed(
    kernel: Kernel,
    items: Any,
    given: Any,
    targets: Any,
    weight: Array | None,
    gram: Gram,
    run: Run,
    workspace: Any = None,
) -> Training:
    refuse_indefinite(gram, kernel)
    return Training(kernel, items, targets, weight, gram, None if kernel.on_rows else given, run, workspace)


# Machines whose kernel is a mixture that is still to learn: first the weights, then the usual way with them.


#: A joint gap of at most this part of the objective is that of a solution.
_SMALL_GAP = 1e-4
#: The part of the time that may go into the weights.
_SHARE = 0.7


@dataclass(frozen=True)
class Mixed:
    """What a machine learns from once the weights are known: a kernel, its Gram, and models to begin with."""

    data: Training
    learned: LearnedWeights

    @property
    def solver(self) -> Any:
        """The solver for the rest, with the tolerance that the weights have needed."""
        return self.learned.solver

    @property
    def starts(self) -> list[Iterate]:
        return [Iterate(each.z, each.b) for each in self.learned.starts]

    def certificate(self, found: Sequence[Iterate], certificates: Sequence[Certificate]) -> Certificate:
        """Of weights and models together."""
        return self.learned.certificate(found, certificates)

    def status(self, certificate: Certificate) -> Status:
        """Whether the weights are the best ones."""
        if self.learned.status is Status.INTERRUPTED:
            return Status.INTERRUPTED
        small = certificate.gap <= _SMALL_GAP * abs(certificate.objective)
        return Status.CONVERGED if small else Status.NOT_CONVERGED


def components_of(data: Training, placement: Placement) -> Components:
    """The kernels of the mixture on the training items."""
    from ..mixtures import Components

    kernel: Any = data.kernel
    return Components(kernel, data.items, placement)


def mixed(
    data: Training,
    problems: Sequence[tuple[Problem, Array | None]],
    components: Components,
    solver: Any,
    seconds: float = np.inf,
    seed: int = 0,
) -> Mixed:
    """Learn the weights of a mixture for the problems of a machine, each with the rows that it is of."""
    from ..mixtures import Part, learn_weights

    mixture: Any = data.kernel
    learned = learn_weights([Part(*each) for each in problems], components, solver, seed, _SHARE * seconds)
    return Mixed(replace(data, kernel=mixture.weighted(learned.weights), gram=learned.gram), learned)
