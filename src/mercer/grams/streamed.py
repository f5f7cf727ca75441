"""Nyström's approximation where even its features have no room: they are computed chunk by chunk, pass by pass.

Features are Φ = K[:, S]·T for landmarks S. Weights w score the items as Φ·w = K[:, S]·(T·w), so that a pass over the
items needs their similarities to the landmarks and never the product with T: n·m·d operations in place of n·m². What
Newton's method asks for most often, Σ hᵢ·⟨v, φᵢ⟩·φᵢ, is one such pass. Where the items are does
not matter: a pass is work done on each chunk of :class:`mercer.rows.Rows`.

The inverse that preconditions conjugate gradients comes from a sample of the items, drawn at random, whose features are
in memory: (n/s)·Σ hᵢφᵢφᵢᵀ over the sample is close to the sum over all items, and the solution of the sample's own
problem is a good start. A few passes are then enough.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from copy import copy
from functools import cached_property, partial
from typing import Any

import numpy as np

from ..checks.parameters import bytes_of, memory_in_words, size_in_words
from ..kernels import Kernel
from ..kernels.engine.tiles import Pairing, accumulate, accumulate_turned, length
from ..rows import Held, Rows, sample_of
from ..runtime.compile import Array
from ..runtime.threads import for_each
from .base import Gram
from .dense import Lazy
from .landmarks import Nystrom
from .span import Exact, FeatureSpan, Preconditioner

__all__ = [
    "Scattered",
    "Streamed",
    "combined",
    "featured",
    "multiplied",
    "scored",
    "self_similarities",
    "weighed",
    "write_features",
]

# What is done with a chunk of items that is compared with landmarks, wherever the chunk is.
#
# Similarities K of some items to all landmarks fill a block that stays in the processor's cache. Scores K·v of these
# items, and sums Kᵀ·g over them, are made of it at once, in float64 whatever K is in, and the block is forgotten. Sums
# over blocks are added up in the order of the items: they are the same for any number of threads.


#: Similarities of a block: one core's second-level cache in float32.
_BLOCK = 250_000
#: Numbers that a kernel which cannot be cut into blocks may make at once.
_AT_ONCE = 20_000_000


def _on_blocks(items: Any, kernel: Kernel, landmarks: Any, work: Callable[[int, slice, Array], None]) -> int:
    """Call ``work(number, place, K)`` on each block of similarities, on all threads; returns how many there were."""
    pairing = Pairing(kernel, items, landmarks)
    n, m = length(items), length(landmarks)
    size = max(1, (_BLOCK if kernel.splits else _AT_ONCE) // max(1, m))
    if kernel.splits and n:
        pairing.warm()

    def compare(number: int) -> None:
        place = slice(number * size, min(n, (number + 1) * size))
        work(number, place, kernel.evaluate(pairing.tile(place, slice(0, m))))

    count = -(-n // size)
    for_each(compare, range(count), threads=None if kernel.splits else 1)
    return count


def self_similarities(items: Any, kernel: Kernel) -> Array:
    """k(x, x) of every item."""
    return kernel.diag(items).astype(np.float64)


def featured(items: Any, kernel: Kernel, landmarks: Any, transform: Array) -> Array:
    """K·T."""
    out = np.zeros((length(items), transform.shape[1]))
    write_features(items, out, kernel, landmarks, transform)
    return out


def write_features(items: Any, out: Array, kernel: Kernel, landmarks: Any, transform: Array) -> None:
    """K·T, where there is room for it already."""

    def work(number: int, place: slice, K: Array) -> None:
        np.matmul(K.astype(np.float64, copy=False), transform, out=out[place])

    _on_blocks(items, kernel, landmarks, work)


def scored(items: Any, kernel: Kernel, landmarks: Any, own: Array) -> Array:
    """K·own, for a vector or for several as columns."""
    columns = own.reshape(own.shape[0], -1)
    out = np.zeros((length(items), columns.shape[1]))
    _on_blocks(items, kernel, landmarks, lambda number, place, K: accumulate(K, columns, out[place]))
    return out.reshape(len(out), *own.shape[1:])


def combined(items: Any, g: Array, kernel: Kernel, landmarks: Any) -> Array:
    """Kᵀ·g, for a vector or for several as columns."""
    parts: dict[int, Array] = {}
    columns = np.ascontiguousarray(g.reshape(len(g), -1).T)

    def work(number: int, place: slice, K: Array) -> None:
        parts[number] = _turned(K, columns[:, place])

    count = _on_blocks(items, kernel, landmarks, work)
    total = _added([parts[number] for number in range(count)], (columns.shape[0], length(landmarks)))
    return total.T.reshape(length(landmarks), *g.shape[1:])


def weighed(items: Any, h: Array, kernel: Kernel, landmarks: Any, own: Array, b: Array) -> tuple[Array, Array]:
    """Scores s = K·own + b, and Kᵀ·(h·s): in one pass."""
    scores, parts = np.zeros((length(items), 1)), dict[int, Array]()

    def work(number: int, place: slice, K: Array) -> None:
        accumulate(K, own[:, None], scores[place])
        scores[place] += b
        parts[number] = _turned(K, (h[place] * scores[place, 0])[None])

    count = _on_blocks(items, kernel, landmarks, work)
    return scores[:, 0], _added([parts[number] for number in range(count)], (1, own.size))[0]


def multiplied(items: Any, g: Array, kernel: Kernel, landmarks: Any, own: Array) -> tuple[Array, Array]:
    """K·own and Kᵀ·g, for vectors or for several as columns: in one pass."""
    columns, turned = own.reshape(own.shape[0], -1), np.ascontiguousarray(g.reshape(len(g), -1).T)
    scores, parts = np.zeros((length(items), columns.shape[1])), dict[int, Array]()

    def work(number: int, place: slice, K: Array) -> None:
        accumulate(K, columns, scores[place])
        parts[number] = _turned(K, turned[:, place])

    count = _on_blocks(items, kernel, landmarks, work)
    total = _added([parts[number] for number in range(count)], (turned.shape[0], length(landmarks)))
    return scores.reshape(len(scores), *own.shape[1:]), total.T.reshape(length(landmarks), *g.shape[1:])


def _turned(K: Array, columns: Array) -> Array:
    """Kᵀ·g, a row for each g."""
    out = np.zeros((columns.shape[0], K.shape[1]))
    accumulate_turned(K, columns.T, out.T)
    return out


def _added(parts: list[Array], shape: tuple[int, ...]) -> Array:
    return np.sum(parts, axis=0) if parts else np.zeros(shape)


#: Items of the sample: this many for each landmark, or as many as there is memory for, and never fewer than the least.
_FOR_EACH, _LEAST = 20, 2
#: Other items that tell what landmarks leave out, at most.
_OTHERS = 1000
#: Similarities of rows in float32 are computed in float32 where features keep so many digits, as this many show.
_ROUGH, _TRIED = 1e-5, 256
#: Curvatures that have changed by less than this part of themselves have the same preconditioner.
_ALIKE = 0.1
#: Features of the sample, and similarities of as many items in a pass: numbers for each landmark.
_SAMPLE = 2


#: λ, whether there is an intercept, and the curvatures of the sample.
_Asked = tuple[float, bool, Array]


class Streamed(Gram):
    """A low-rank Gram whose features are never in memory as a whole.

    Parameters
    ----------
    kernel : Kernel
    rows : Rows
        The items, wherever they are.
    sample : Nystrom
        The approximation of some of the items, whose landmarks stand for all.
    drawn : array
        Which items these are.
    landmark_items : collection
        The landmarks themselves.
    landmark_items : collection
        The landmarks themselves.
    missing : float
        About the share of the trace of the matrix that they leave out.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams.streamed import Streamed
    >>> from mercer.kernels import Gaussian
    >>> X = np.random.default_rng(0).normal(size=(1000, 2))
    >>> gram = Streamed.of(Gaussian(gamma=0.1), X, rank=20, memory="200kB")
    >>> gram.matvec(np.ones(1000)).shape, gram.landmarks.size
    ((1000,), 20)
    """

    sample: Nystrom
    ready = by_passes = True

    def __init__(
        self, kernel: Kernel, rows: Rows, sample: Nystrom, drawn: Array, landmark_items: Any, missing: float
    ) -> None:
        self.kernel, self.items, self.sample, self.drawn = kernel, rows, sample, drawn
        self.landmark_items = landmark_items
        #: The numbers of the items that count, where others have no weight.
        self.counted: Array | None = None
        #: The numbers of the landmarks among all items.
        self.landmarks: Array = drawn[sample.landmarks]
        self.transform, self.missing = sample.transform, missing
        self._compared = {"kernel": kernel, "landmarks": landmark_items}
        if rows.dtype == np.float32:
            single = landmark_items.astype(np.float32)
            error = _rounding(kernel, single, landmark_items, self.transform)
            if error <= _ROUGH:
                self._compared["landmarks"], self.error = single, error

    @classmethod
    def of(
        cls,
        kernel: Kernel,
        items: Any,
        rank: int,
        landmarks: str = "pivoted",
        memory: int | str = "1GB",
        seed: int = 0,
        counted: Array | None = None,
    ) -> Streamed:
        """The approximation by landmarks that are chosen among a sample of the items, or of those that are ``counted``.

        The sample depends on the number of items, and not on where they are; only where all features have no room may
        memory make it smaller.
        """
        n = length(items)
        rank, fits = min(rank, n), Nystrom.fits(n, rank, memory)
        if not fits and bytes_of(memory) < (least := _least(rank)):
            most = bisect_right(range(1, rank), bytes_of(memory), key=_least)
            raise ValueError(
                f"{rank} landmarks take {size_in_words(least)}, more than {memory_in_words(memory)}; raise memory, or "
                f"take a rank of at most {most}."
            )
        room = max(1, (bytes_of(memory) - Nystrom.beside(0, rank)) // (8 * _SAMPLE * rank))
        rows = items if isinstance(items, Rows) else Held(items, room)
        numbers = np.arange(n) if counted is None else counted
        size = min(numbers.size, _FOR_EACH * rank, n if fits else room)
        # Of what landmarks leave out, other items tell than those that they were chosen among.
        seen = numbers[sample_of(numbers.size, min(numbers.size, size + min(size, _OTHERS)), seed)]
        among = np.zeros(seen.size, bool)
        among[sample_of(seen.size, size, seed)] = True
        some = _double(rows[seen])
        own, others = some[np.flatnonzero(among)], some[np.flatnonzero(~among)]
        sample = Nystrom.of(kernel, own, rank, landmarks, memory, seed)
        chosen, missing = own[sample.landmarks], sample.missing
        if length(others):
            features = kernel.matrix(others, chosen) @ sample.transform
            whole = kernel.diag(others).astype(np.float64)
            left = np.clip(whole - np.einsum("ij,ij->i", features, features), 0.0, None)
            trace, rest = float(kernel.diag(own).sum()), (numbers.size - size) / length(others)
            total = trace + rest * float(whole.sum())
            missing = (missing * trace + rest * float(left.sum())) / total if total > 0 else 0.0
        made = cls(kernel, rows, sample, seen[among], chosen, missing)
        made.counted = counted
        return made

    def __len__(self) -> int:
        return len(self.items)

    def diag(self) -> Array:
        """The self-similarities of the kernel itself: those of the approximation are no larger."""
        if self.kernel.translation_invariant and self.landmarks.size:  # k(x, x) is the same for all x
            return np.broadcast_to(self.kernel.diag(self.landmark_items[:1]).astype(np.float64), len(self))
        out = np.empty(len(self))
        for place, values in self.items.each(partial(self_similarities, kernel=self.kernel)):
            out[place] = values
        return out

    def coefficients(self, weights: Array) -> Array:
        """The coefficients of the landmarks in models with these weights (a row each)."""
        return weights @ self.transform.T

    def model(self, z: Array) -> Array:
        return self.span.combine(np.asarray(z, dtype=np.float64))

    def matvec(self, z: Array) -> Array:
        return self.span.scores(self.model(z))

    def square(self, z: Array) -> float:
        w = self.model(z)
        return float(np.vdot(w, w))

    def rows(self, index: Any) -> Array:
        return self.span.scores(self._features(index).T).T

    def take(self, index: Any) -> Gram:
        """The Gram of these items alone, with all their features."""
        if index is self.drawn:
            return self.sample
        return Nystrom(self._features(index), self.landmarks, self.transform, self.missing)

    def held(self) -> Nystrom:
        """The same Gram with all features in memory."""
        if len(self.sample) == len(self):
            self.sample.landmark_items = self.landmark_items
            return self.sample
        Phi = np.empty((len(self), self.transform.shape[1]))
        compared = {"transform": self.transform, **self._compared}
        if self.items.apart:
            for place, part in self.items.each(partial(featured, **compared)):
                Phi[place] = part
        else:  # those of a chunk may be as large as the whole, and are written where they belong
            for _ in self.items.each(partial(write_features, **compared), Phi):
                pass
        own = slice(None) if self.counted is None else self.counted
        trace = float(self.diag()[own].sum())
        missing = max(0.0, 1 - float(np.einsum("ij,ij->i", Phi, Phi)[own].sum()) / trace) if trace > 0 else 0.0
        return Nystrom(Phi, self.landmarks, self.transform, missing, self.landmark_items)

    def _features(self, index: Any) -> Array:
        return self.kernel.matrix(_double(self.items[np.asarray(index)]), self.landmark_items) @ self.transform

    def combined(self, g: Array) -> Array:
        """Σ gᵢ·k(xᵢ, landmark) for every landmark."""
        return self.items.total(partial(combined, **self._compared), g)

    def scored(self, own: Array) -> Array:
        """Σ ownⱼ·k(xᵢ, landmark j) for every item."""
        out = np.empty((len(self), *own.shape[1:]))
        for place, part in self.items.each(partial(scored, own=own, **self._compared)):
            out[place] = part
        return out

    def weighed(self, h: Array, own: Array, b: Array) -> tuple[Array, Array]:
        """The scores of :meth:`scored` with an intercept, and :meth:`combined` of h times them, in one pass."""
        scores, total = np.empty(len(self)), np.zeros(self.landmarks.size)
        for place, part in self.items.each(partial(weighed, own=own, b=b, **self._compared), h):
            scores[place] = part[0]
            total += part[1]
        return scores, total

    @cached_property
    def span(self) -> StreamedSpan:
        return StreamedSpan(copy(self))


class StreamedSpan(FeatureSpan):
    """The space of features that are computed when they are needed."""

    def __init__(self, gram: Streamed) -> None:
        super().__init__(gram.sample.Phi, None, gram.transform.shape[1])
        self.gram = gram
        #: How many items each of the sample stands for.
        self.share = len(gram) / gram.drawn.size
        self._last: tuple[_Asked, Preconditioner] | None = None

    def combine(self, g):
        return self.gram.transform.T @ self.gram.combined(g)

    def scores(self, v):
        return self.gram.scored(self.gram.transform @ v)

    def hessian_product(self, h, v, b):
        scores, total = self.gram.weighed(h, self.gram.transform @ v, b)
        return scores, self.gram.transform.T @ total

    def size_of(self, g):
        return self.share * float(np.linalg.norm(self.Phi.T @ g[self.gram.drawn]))

    def preconditioner(self, lam, h, intercept) -> Preconditioner:
        """From the sample; the last one where curvatures have hardly changed since."""
        some = self.share * h[self.gram.drawn]
        if self._last is None or not _alike((lam, intercept, some), self._last[0]):
            self._last = (lam, intercept, some), Exact(self.Phi, lam, some, intercept)
        return self._last[1]


def _least(rank: int) -> int:
    """Bytes without which so many landmarks cannot be passed over."""
    return 8 * _SAMPLE * _LEAST * rank * rank + Nystrom.beside(0, rank)


def _alike(asked: _Asked, before: _Asked) -> bool:
    """Whether a preconditioner that was made for something else before will do."""
    (lam, intercept, h), (old, had, known) = asked, before
    if (lam, intercept, h.shape) != (old, had, known.shape):
        return False
    return bool(np.abs(h - known).sum() <= _ALIKE * known.sum())


def _rounding(kernel: Kernel, single: Any, double: Any, transform: Array) -> float:
    """The relative error of features that come from similarities in float32.

    T has large numbers where landmarks are much alike, and what they add up to is small: there the error is large.
    """
    some = slice(0, _TRIED)
    exact = kernel.matrix(double[some], double.copy()) @ transform
    near = kernel.matrix(single[some], single.copy()) @ transform
    return float(np.linalg.norm(near - exact) / max(float(np.linalg.norm(exact)), 1e-300))


def _double(items: Any) -> Any:
    """Rows of numbers in float64."""
    return items.astype(np.float64, copy=False) if hasattr(items, "astype") else items


# A kernel matrix of rows on the workers of a cluster, computed anew in every product and never written down.


class Scattered(Gram):
    """The matrix of a kernel on rows of a cluster: a product is a sum over pairs of chunks, one task each.

    A pair of chunks serves both: K is symmetric, and the half of it below the diagonal is not computed. Rows travel
    from worker to worker, once as long as these have room for them; the client sends a number a row and gets one back.

    Parameters
    ----------
    kernel : Kernel
    items : OnWorkers
    """

    ready = True

    def __init__(self, kernel: Kernel, items: Any) -> None:
        self.kernel, self.items = kernel, items

    def __len__(self) -> int:
        return len(self.items)

    def diag(self) -> Array:
        out = np.empty(len(self))
        for place, values in self.items.each(partial(self_similarities, kernel=self.kernel)):
            out[place] = values
        return out

    def matvec(self, z: Array) -> Array:
        out = np.empty(np.shape(z))
        for place, part in self.items.paired(partial(_both_ways, kernel=self.kernel), np.asarray(z, dtype=np.float64)):
            out[place] = part
        return out

    def rows(self, index: Any) -> Array:
        others = self.items[np.asarray(index)]
        out = np.empty((len(others), len(self)))
        for place, part in self.items.each(partial(_similarities, kernel=self.kernel, others=others)):
            out[:, place] = part.T
        return out

    def take(self, index: Any) -> Gram:
        """The Gram of these items alone, in this process."""
        return Lazy(self.kernel, self.items[np.arange(len(self))[index]])

    def scaled(self, factor: float) -> Scattered:
        return Scattered(self.kernel * factor, self.items)


# -- what is done on a worker -----------------------------------------------------------------------------------------


def _similarities(items: Any, kernel: Kernel, others: Any) -> Array:
    return kernel.matrix(items, others).astype(np.float64, copy=False)


def _both_ways(left: Any, right: Any, z_left: Array, z_right: Array, kernel: Kernel) -> tuple[Array, Array]:
    """K·z for the items on the left of a pair of chunks, and Kᵀ·z for those on its right."""
    return multiplied(left, z_left, kernel, right, z_right)
