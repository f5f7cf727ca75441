"""From the user's data to what a machine learns from: the first leg of every fit, every partial fit and every fold."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass, replace
from functools import cached_property
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np
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
from ..runtime.compile import Array, jit
from .running import Run, warn

if TYPE_CHECKING:
    from ..mixtures import Components, LearnedWeights
    from .base import KernelMachine

__all__ = ["Mixed", "Training", "components_of", "fold_of", "mixed", "training_of"]

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
        _refuse_negative(gram.take(index).rows(np.arange(index.size)), kernel)


def refuse_indefinite_items(kernel: Kernel, items: Any) -> None:
    """The same, before an approximation by landmarks takes the place of the matrix and hides it."""
    if not kernel.trusted:
        index = np.unique(np.linspace(0, length(items) - 1, min(length(items), _TESTED)).astype(np.int64))
        some = items[index]
        _refuse_negative(some[:, index] if kernel.precomputed else kernel.matrix(some, some), kernel)


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


# Items as a set: the same fit whatever the order of the file, and a weight of two the same as an item given twice.
#
# A learner that visits items at random depends on how they are numbered. So it numbers them by their content instead:
# :func:`content_order` sorts rows in a way that only the rows themselves decide. A learner that visits each row once an
# epoch also has to see equal rows with equal labels as one row with the sum of their weights: :func:`merged`. Strings,
# sets, graphs and other items are told apart by their :func:`fingerprints`, which are rows of numbers.


@jit
def _dense_keys(X: Array, mix: Array, out: Array) -> None:
    for i in range(X.shape[0]):
        for k in range(X.shape[1]):
            out[i] += X[i, k] * mix[k]


@jit
def _sparse_keys(data: Array, indices: Array, indptr: Array, mix: Array, out: Array) -> None:
    for i in range(out.size):
        for p in range(indptr[i], indptr[i + 1]):
            out[i] += data[p] * mix[indices[p]]


def row_keys(X: Any, codes: Array) -> Array:
    """A number for each row and label: equal for equal ones, different (but for freak accidents) for different ones."""
    mix = np.random.RandomState(1618).standard_normal(X.shape[1])
    keys = codes * np.pi
    if sparse.issparse(X):
        _sparse_keys(X.data, X.indices, X.indptr, mix, keys)
    else:
        _dense_keys(X, mix, keys)
    return keys


@jit
def _dense_equal(X: Array, left: Array, right: Array, out: Array) -> None:
    for p in range(left.size):
        k = 0
        while k < X.shape[1] and X[left[p], k] == X[right[p], k]:
            k += 1
        out[p] = k == X.shape[1]


@jit
def _sparse_equal(data: Array, indices: Array, indptr: Array, left: Array, right: Array, out: Array) -> None:
    for p in range(left.size):
        a, b = indptr[left[p]], indptr[right[p]]
        size = indptr[left[p] + 1] - a
        k = 0
        if size == indptr[right[p] + 1] - b:
            while k < size and data[a + k] == data[b + k] and indices[a + k] == indices[b + k]:
                k += 1
        out[p] = k == size == indptr[right[p] + 1] - b


def content_order(X: Any, codes: Array) -> tuple[Array, Array]:
    """The rows in an order that only their content decides, and for each its key."""
    keys = row_keys(X, codes)
    order = np.argsort(keys)
    return order, keys[order]


def merged(X: Any, codes: Array, weight: Array | None) -> tuple[Array, Array | None]:
    """Distinct (row, label) pairs in the order of their content, and weights in which each counts for its equals.

    Rows of weight zero are left out.

    Examples
    --------
    >>> import numpy as np
    >>> order, weight = merged(np.array([[1.0], [0.0], [1.0]]), np.array([1, 0, 1]), None)
    >>> order.tolist(), weight.tolist()
    ([1, 0], [2.0, 1.0, 0.0])
    """
    order, keys = content_order(X, codes)
    if weight is not None:
        alive = weight[order] > 0
        order, keys = order[alive], keys[alive]
    suspects = np.flatnonzero((keys[:-1] == keys[1:]) & (codes[order[:-1]] == codes[order[1:]]))
    if not suspects.size:
        return order, weight
    left, right = order[suspects], order[suspects + 1]
    equal = np.empty(suspects.size, dtype=np.bool_)
    if sparse.issparse(X):
        _sparse_equal(X.data, X.indices, X.indptr, left, right, equal)
    else:
        _dense_equal(X, left, right, equal)
    first = np.ones(order.size, dtype=bool)
    first[suspects[equal] + 1] = False
    kept = order[first]
    each = np.ones(order.size) if weight is None else weight[order]
    together = np.zeros(codes.size)
    together[kept] = np.bincount(np.cumsum(first) - 1, weights=each)
    return kept, together


# -- items that are not rows of numbers ---------------------------------------------------------------------------


class _Opaque(TypeError):
    """An item whose content cannot be read."""


def fingerprints(given: Any) -> Array | None:
    """Four whole numbers for each item, made from its content alone; ``None`` where an item does not show its content.

    Examples
    --------
    >>> a, b, c = fingerprints([{"milk", "salt"}, {"bread"}, {"salt", "milk"}])
    >>> bool((a == c).all()), bool((a == b).any())
    (True, False)
    """
    try:
        marks = [blake2b(_content(item), digest_size=16).digest() for item in _each(given)]
    except _Opaque:
        return None
    return np.frombuffer(b"".join(marks), dtype=np.uint32).reshape(-1, 4).astype(np.float64)


def _each(given: Any) -> Iterable[Any]:
    """The items one by one; of a frame, its rows."""
    if not hasattr(given, "columns"):
        return given
    columns = [given[name] for name in given.columns]
    if any(hasattr(column, "columns") for column in columns):
        raise _Opaque("two columns have the same name")
    return zip(*(column.to_list() for column in columns), strict=True)


def _content(item: Any) -> bytes:
    """The content of an item, so written that different items are written differently."""
    match item:
        case np.generic():
            return _content(item.item())
        case None | str() | bytes() | bool() | int() | float() | complex():
            return repr(item).encode("utf-8", "surrogatepass")
        case np.ndarray() if item.dtype != object:
            return _framed("array", [item.dtype.str.encode(), repr(item.shape).encode(), item.tobytes()])
        case np.ndarray() | list() | tuple():
            return _framed("sequence", map(_content, item))
        case set() | frozenset():
            return _framed("set", sorted(map(_content, item)))
        case Mapping():
            return _framed("mapping", sorted(_content(pair) for pair in item.items()))
    if sparse.issparse(item):
        rows = sparse.coo_array(item)
        rows.sum_duplicates()
        return _content(("sparse", rows.shape, [np.asarray(c, np.int64) for c in rows.coords], rows.data))
    if is_dataclass(item):
        return _content((type(item).__name__, [getattr(item, field.name) for field in fields(item)]))
    if hasattr(item, "nodes") and hasattr(item, "edges") and hasattr(item, "is_directed"):
        return _graph_content(item)
    raise _Opaque(type(item).__name__)


def _graph_content(graph: Any) -> bytes:
    """A networkx graph, whatever the order in which nodes and edges were added."""
    together = tuple if graph.is_directed() else frozenset
    edges = sorted(_content((together(ends), data)) for *ends, data in graph.edges(data=True))
    return _framed("graph", [_content(dict(graph.nodes(data=True))), *edges])


def _framed(kind: str, pieces: Iterable[bytes]) -> bytes:
    return b"".join([kind.encode(), *(b"%d:%b" % (len(piece), piece) for piece in pieces)])


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
