"""Vectors of the feature space, as arrays that a solver adds and scales without knowing what they are.

Every model is a sum of items, w = Σ zᵢ·φ(xᵢ). With features at hand w is kept as it is. With a kernel alone it is kept
as its coefficients together with its scores: the pair (z, Kz), for which all sums are sums of pairs and
⟨u, v⟩ = z_u·(Kz_v). Several models at once are the columns of one array.

Newton's step solves  (λ + Σ hᵢ·φᵢφᵢᵀ)·d = r, bordered by the intercept, by conjugate gradients. They need fewer steps
the closer to one all eigenvalues are, so a span also offers the inverse of an operator that is nearly that one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import linalg, sparse

from ..runtime.compile import Array, jit
from ..runtime.numerics import cholesky_solver, product, turned_product, weighted_squares
from ..runtime.threads import for_each

if TYPE_CHECKING:
    from .base import Gram

# A few directions of the feature space that hold most of what the items are.
#
# Items are picked at random, each with a chance in proportion to how much of it the directions so far do not hold (its
# residual self-similarity): a randomly pivoted Cholesky factorisation of the kernel matrix, several pivots at a time.
# With Q the orthonormal directions, every item has coordinates L = ΦQ, and K ≈ L·Lᵀ with an error that is positive
# semi-definite and whose trace is what is left.


#: Directions at most: so many, or this many times √n. To work with m directions takes about n·m² operations, a product
#: with the matrix n²: m in proportion to √n keeps the two in balance. Small matrices are quickly multiplied with, so
#: that many directions cost more than they save: an item in eight is enough, or a few in all.
_WIDEST, _TIMES_ROOT, _SHARE, _FEW = 512, 3, 8, 64
#: Pivots picked together.
TOGETHER = 64
#: Items whose new coordinates are computed at a time.
_ITEMS = 4096
#: A direction that is this much shorter than the longest item is a rounding error.
_NOTHING = 1e-10


def directions(n: int, memory: int) -> int:
    """How many directions are worth their while for n items, and have room."""
    most = max(_WIDEST, int(_TIMES_ROOT * np.sqrt(n)))
    return min(n, most, max(_FEW, n // _SHARE), memory // (8 * max(1, n)))


class Basis:
    """Orthonormal directions Q of the span of a Gram's items, more of them when asked for.

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.grams import Features
    >>> from mercer.grams.span import Basis
    >>> Phi = np.random.default_rng(0).normal(size=(50, 3))
    >>> basis = Basis(Features(Phi))
    >>> basis.deepen(0.0)
    >>> np.allclose(basis.coordinates @ basis.coordinates.T, Phi @ Phi.T)
    True
    """

    def __init__(self, gram: Gram) -> None:
        self.gram = gram
        n = len(gram)
        self.pivots = np.empty(0, dtype=np.int64)
        #: Q = Σ pivots·weights: a column for each direction.
        self.weights = np.empty((0, 0))
        self._rng = np.random.default_rng(0)
        self._left = np.clip(gram.diag(), 0.0, None)
        self._nothing = _NOTHING * float(self._left.max(initial=0.0))
        self._widest = directions(n, gram.workspace)
        #: Coordinates, in the first columns of what there is room for.
        self._room = np.empty((n, self._widest))
        self._width = 0

    @property
    def coordinates(self) -> Array:
        """L: a row for each item, a column for each direction."""
        return self._room[:, : self._width]

    def deepen(self, enough: float) -> None:
        """Add directions until the items' mean squared distance from their span is ``enough``, or there is no room."""
        while self._width < self._widest and float(self._left.mean()) > max(enough, self._nothing):
            picked = self._pick()
            similar, known = self.gram.rows(picked), self.coordinates[picked]
            missing = similar[:, picked].T - product(known, known.T)
            squares, turns = linalg.eigh((missing + missing.T) / 2)
            real = squares > self._nothing
            if not real.any():
                self._left[picked] = 0.0
                continue
            whiten = turns[:, real] / np.sqrt(squares[real])
            # Each new direction is its pivots less what the old directions hold of them.
            old = -self.weights @ (known.T @ whiten)
            self.weights = np.block([[self.weights, old], [np.zeros((picked.size, self.weights.shape[1])), whiten]])
            self.pivots = np.concatenate([self.pivots, picked])
            width = self._width + whiten.shape[1]
            for begin in range(0, len(self.gram), _ITEMS):
                some = slice(begin, begin + _ITEMS)
                fresh = product(similar[:, some].T - product(self.coordinates[some], known.T), whiten)
                self._room[some, self._width : width] = fresh
                self._left[some] = np.clip(self._left[some] - np.einsum("ij,ij->i", fresh, fresh), 0.0, None)
            self._width = width
            self._left[picked] = 0.0

    @property
    def missing(self) -> float:
        """The mean squared distance of the items from the span of the directions."""
        return float(self._left.mean())

    def _pick(self) -> Array:
        room = min(TOGETHER, self._widest - self._width, int(np.count_nonzero(self._left)))
        return np.sort(self._rng.choice(len(self.gram), room, replace=False, p=self._left / self._left.sum()))


#: Solves nearly Newton's equations for a vector and a change of the intercept.
Preconditioner = Callable[[Array, Array], tuple[Array, Array]]

#: So many features, sparse or dense, or fewer: the exact inverse costs less than the steps that it saves.
_NARROW, _NARROW_DENSE = 512, 2048
#: How much of the diagonal to believe where only the diagonal is known: all of it overstates what others share.
_TRUST = 0.3
#: So many models at once, or fewer, get an inverse each.
_APART = 4
#: Directions that add less than this many λ are left to the conjugate gradients.
_SLIGHT = 4.0
#: Where the basis leaves out so many times more than it should, and the items are not too many, the whole matrix helps.
_POOR, _SMALL = 30.0, 2000
#: Matrices of all items that are in memory at once where the whole matrix helps.
_MATRICES = 5


class Span:
    """What a solver may ask of the space that a Gram's items span."""

    #: The part of a gradient that the errors of products leave of it, where that is more than rounding in float64.
    error: float = 0.0
    #: Of a space whose products are quick, the next one on the way to those that are exact.
    sharper: Span | None = None

    @property
    def quick(self) -> Span:
        """The same space with products that are quicker and less exact, where there are such."""
        return self

    def combine(self, g: Array) -> Array:
        """The vector Σ gᵢ·φ(xᵢ)."""
        raise NotImplementedError

    def scores(self, v: Array) -> Array:
        """⟨v, φ(xᵢ)⟩ for every item."""
        raise NotImplementedError

    def dot(self, u: Array, v: Array) -> float:
        """⟨u, v⟩, summed over the columns."""
        raise NotImplementedError

    def gradient(self, lam: float, w: Array, g: Array) -> Array:
        """λw + Σ gᵢ·φ(xᵢ)."""
        raise NotImplementedError

    def zero(self, columns: tuple[int, ...]) -> Array:
        """The vector 0, or several as columns."""
        raise NotImplementedError

    def moved(self, w: Array, f: Array, t: float, d: Array, p: Array) -> tuple[Array, Array]:
        """w + t·d and its scores, from the scores f of w and p of d."""
        raise NotImplementedError

    def hessian_product(self, h: Array, v: Array, b: Array) -> tuple[Array, Array]:
        """The scores of v with intercept b, and what the Hessian of the loss makes of both, Σ hᵢ·scoreᵢ·φ(xᵢ)."""
        scores = self.scores(v) + b
        return scores, self.combine(h * scores)

    def vector(self, z: Array, w: Array | None = None) -> Array:
        """The vector of a model that is known by its coefficients, or by its weights."""
        return self.combine(z)

    def sharpened(self, w: Array) -> Array:
        """A vector as spaces with more exact products keep it."""
        return w

    def coefficients(self, w: Array) -> Array | None:
        """z with w = Σ zᵢ·φ(xᵢ), where it is known."""
        return None

    def weights(self, w: Array) -> Array | None:
        """The weights of the model, one for each feature, where the vector is known by them."""
        return None

    def size_of(self, g: Array) -> float:
        """Nearly the length of Σ gᵢ·φ(xᵢ), where that costs no more than a product; else 0."""
        return 0.0

    def preconditioner(self, lam: float, h: Array, intercept: bool) -> Preconditioner:
        """Nearly the inverse of λ + Σ hᵢ·φᵢφᵢᵀ, bordered by the intercept; one column of h for each model."""
        raise NotImplementedError


class FeatureSpan(Span):
    """The space of the features themselves: a vector is a vector.

    ``Phi`` may hold only the ``used`` of all ``width`` features; no model has a weight for another.
    """

    def __init__(self, Phi: Any, used: Array | None, width: int) -> None:
        self.Phi, self.used, self.width = Phi, used, width

    @property
    def _narrow(self) -> bool:
        """Whether the exact inverse pays."""
        return self.Phi.shape[1] <= (_NARROW if sparse.issparse(self.Phi) else _NARROW_DENSE)

    @cached_property
    def _squares(self) -> Array:
        return np.square(self.Phi)

    def _weighted_squares(self, h: Array) -> Array:
        """Σ hᵢ·φᵢⱼ² for every feature j."""
        if not sparse.issparse(self.Phi):
            return self._squares.T @ h
        if h.ndim == 2:
            return np.column_stack([self._weighted_squares(column) for column in np.ascontiguousarray(h.T)])
        out = np.zeros(self.Phi.shape[1])
        _add_squares(self.Phi.data, *self._unsigned, h, out)
        return out

    def combine(self, g):
        return turned_product(self.Phi, g)

    def scores(self, v):
        return product(self.Phi, v)

    def dot(self, u, v):
        return float(np.vdot(u, v))

    def gradient(self, lam, w, g):
        return lam * w + self.combine(g)

    def hessian_product(self, h, v, b):
        if not sparse.issparse(self.Phi):
            return super().hessian_product(h, v, b)
        scores, total = np.empty(self.Phi.shape[0]), np.zeros(self.Phi.shape[1])
        _weigh(self.Phi.data, *self._unsigned, h, v, float(b), scores, total)
        return scores, total

    @property
    def _unsigned(self) -> tuple[Array, Array]:
        """Columns and beginnings of sparse rows: numbers without a sign count from the front only, which saves a look
        at every one of them."""
        places, starts = self.Phi.indices, self.Phi.indptr
        return places.view(f"u{places.itemsize}"), starts.view(f"u{starts.itemsize}")

    def zero(self, columns):
        return np.zeros((self.Phi.shape[1], *columns))

    def vector(self, z, w=None):
        if w is None:
            return self.combine(z)
        return w if self.used is None else w[self.used]

    def weights(self, w):
        if self.used is None:
            return w
        out = np.zeros((self.width, *w.shape[1:]))
        out[self.used] = w
        return out

    def moved(self, w, f, t, d, p):
        return w + t * d, f + t * p

    def preconditioner(self, lam, h, intercept):
        if self._narrow:
            return Exact(self.Phi, lam, h, intercept)
        scale = lam + _TRUST * self._weighted_squares(h)
        total = h.sum(axis=0) if intercept else 1.0
        return lambda v, vb: (v / scale, vb / total)


class KernelSpan(Span):
    """The space behind a kernel: a vector is its coefficients and its scores."""

    def __init__(self, gram: Gram) -> None:
        self.gram = gram
        self.basis = Basis(gram)

    @property
    def quick(self) -> Span:
        return self._quicker or self

    @cached_property
    def _quicker(self) -> Span | None:
        rounded = self.gram.rounded()
        return None if rounded is None else RoughSpan(self, rounded)

    def combine(self, g):
        return np.stack([g, self.gram.matvec(g)])

    def vector(self, z, w=None):
        return np.stack([z, self.gram.matvec(z)])

    @cached_property
    def matrix(self) -> Array:
        """The kernel matrix as a whole."""
        return np.asarray(self.gram.rows(np.arange(len(self.gram))), dtype=np.float64)

    def scores(self, v):
        return v[1]

    def dot(self, u, v):
        return float(np.vdot(u[0], v[1]))

    def gradient(self, lam, w, g):
        return self.combine(lam * w[0] + g)

    def zero(self, columns):
        return np.zeros((2, len(self.gram), *columns))

    def moved(self, w, f, t, d, p):
        # Coefficients and scores are added up apart from each other; here they become each other's again.
        w = self.vector(w[0] + t * d[0])
        return w, w[1]

    def coefficients(self, w):
        return w[0]

    def size_of(self, g):
        return float(np.sqrt(max(np.vdot(g, self.combine(g)[1]), 0.0)))

    def preconditioner(self, lam, h, intercept):
        # Along the basis the operator is a small matrix; across it, it is λ and what the basis leaves out. Dividing by
        # λ what is then taken off again costs digits; with a basis of half the items their matrix costs no more.
        enough = _SLIGHT * lam / max(float(h.sum(axis=0).max()), 1e-300)
        self.basis.deepen(enough)
        basis = self.basis
        small = len(self.gram) <= _SMALL and _MATRICES * 8 * len(self.gram) ** 2 <= self.gram.workspace
        if small and (basis.missing > _POOR * enough or 2 * len(basis.pivots) >= len(self.gram)):
            return Whole(self.matrix, lam, h, intercept)
        along = Exact(basis.coordinates, lam, h, intercept)

        def solve(v: Array, vb: Array) -> tuple[Array, Array]:
            inside = turned_product(basis.coordinates, v[0])
            found, step = along(inside, vb)
            x = found - inside / lam
            out = v / lam
            out[0][basis.pivots] += basis.weights @ x
            out[1] += product(basis.coordinates, x)
            return out, step

        return solve


class QuickSpan(KernelSpan):
    """The space behind a kernel for a solver on its way: products of a rounded matrix, and models with exact scores.

    What a solver is after vanishes for the scores of the model as they are. They come from the matrix itself; how to
    get there may come from one that is nearly the same.
    """

    def __init__(self, exact: KernelSpan, rounded: Gram) -> None:
        self.gram, self.basis, self.rounded = exact.gram, exact.basis, rounded

    def combine(self, g):
        return np.stack([g, self.rounded.matvec(g)])


class RoughSpan(QuickSpan):
    """The space behind a kernel for a solver that is far away: the scores of models are those of the rounded matrix.

    Nothing but products of the rounded matrix is asked for, until they say no more.
    """

    error = 1e-5

    def __init__(self, exact: KernelSpan, rounded: Gram) -> None:
        super().__init__(exact, rounded)
        self.sharper = QuickSpan(exact, rounded)

    def vector(self, z, w=None):
        return self.combine(z)

    def sharpened(self, w):
        return super().vector(w[0])

    def moved(self, w, f, t, d, p):
        w = w + t * d
        return w, w[1]


class Whole:
    """The inverse of λ + Σ hᵢ·φᵢφᵢᵀ, bordered by the intercept, from the whole kernel matrix.

    For v = Σ uᵢφᵢ the coefficients of the solution satisfy  λ·dᵢ + hᵢ·((K·d)ᵢ + db) = uᵢ: where hᵢ = 0 that is
    dᵢ = uᵢ/λ; for the others, with dᵢ = √hᵢ·eᵢ, a symmetric system for e. Their sum gives the intercept:
    λ·Σd = Σu − v_b, as Σ hᵢ·((K·d)ᵢ + db) = v_b.
    """

    def __init__(self, K: Array, lam: float, h: Array, intercept: bool) -> None:
        self.K, self.lam, self.intercept = K, lam, intercept
        columns = h.reshape(h.shape[0], -1)
        if columns.shape[1] > _APART:
            columns = columns.mean(axis=1, keepdims=True)
        self.systems = [self._system(np.ascontiguousarray(weights)) for weights in columns.T]

    def _system(self, h: Array) -> tuple[Array, Callable[[Array], Array], Array]:
        bent = np.flatnonzero(h > 1e-300)
        straight = np.setdiff1d(np.arange(h.size), bent, assume_unique=True)
        root = np.sqrt(h[bent])
        K = self.K[np.ix_(bent, bent)] * root[:, None] * root
        inner = cholesky_solver(K, np.full(bent.size, self.lam))
        across = self.K[np.ix_(bent, straight)]

        def solve(u: Array) -> Array:
            d = u / self.lam
            right = u[bent] / root[:, None] - root[:, None] * (across @ d[straight])
            d[bent] = root[:, None] * inner(right) if bent.size else 0.0
            return d

        return h, solve, solve(h[:, None])[:, 0]

    def __call__(self, v: Array, vb: Array) -> tuple[Array, Array]:
        shape = v[0].shape
        u, ub = v[0].reshape(shape[0], -1), np.atleast_1d(np.asarray(vb, dtype=np.float64))
        parts = []
        steps = np.zeros_like(ub)
        for places, (_, solve, of_h) in zip(np.array_split(np.arange(u.shape[1]), len(self.systems)), self.systems):
            d = solve(u[:, places])
            if self.intercept and of_h.sum() > 0:
                steps[places] = (d.sum(axis=0) - (u[:, places].sum(axis=0) - ub[places]) / self.lam) / of_h.sum()
                d = d - of_h[:, None] * steps[places]
            parts.append(d)
        d = np.hstack(parts)
        return np.stack([d, product(self.K, d)]).reshape(2, *shape), steps.reshape(np.shape(vb))[()]


class Exact:
    """The inverse of λ + Σ hᵢ·lᵢlᵢᵀ, bordered by the intercept, for items with few coordinates l.

    Each column of h has an inverse of its own; many columns share that of their mean, which is not exact any more.
    """

    def __init__(self, L: Any, lam: float, h: Array, intercept: bool) -> None:
        self.intercept = intercept
        self.solvers = []
        columns = h.reshape(h.shape[0], -1)
        if columns.shape[1] > _APART:
            columns = columns.mean(axis=1, keepdims=True)
        for weights in columns.T:
            matrix = np.zeros((L.shape[1] + intercept,) * 2)
            matrix[: L.shape[1], : L.shape[1]] = _weighted_products(L, np.ascontiguousarray(weights))
            diagonal = np.full(matrix.shape[0], lam)
            if intercept:
                matrix[-1, :-1] = matrix[:-1, -1] = turned_product(L, weights)
                matrix[-1, -1], diagonal[-1] = weights.sum() or 1.0, 0.0
            self.solvers.append(cholesky_solver(matrix, diagonal))

    def __call__(self, v: Array, vb: Array) -> tuple[Array, Array]:
        right = np.concatenate([v, np.asarray(vb)[None]]) if self.intercept else v
        if not right.shape[0]:  # neither a coordinate nor an intercept
            return right, np.zeros_like(vb)
        columns = right.reshape(right.shape[0], -1)
        parts = np.split(columns, len(self.solvers), axis=1)
        found = np.hstack([solve(part) for solve, part in zip(self.solvers, parts, strict=True)])
        found = found.reshape(right.shape)
        return (found[:-1], found[-1]) if self.intercept else (found, np.zeros_like(vb))


def _weighted_products(L: Any, h: Array) -> Array:
    """Σ hᵢ·lᵢlᵢᵀ as a dense matrix."""
    width = L.shape[1]
    if sparse.issparse(L):
        halves = np.zeros((2, width, width))
        middle = L.shape[0] // 2

        def add(half: int) -> None:
            first, last = (0, middle) if half == 0 else (middle, L.shape[0])
            _add_sparse_products(L.data, L.indices, L.indptr, h, first, last, halves[half])

        for_each(add, range(2))
        out = halves.sum(axis=0)
        return out + np.triu(out, 1).T
    return weighted_squares(L, h)


@jit
def _weigh(
    data: Array, indices: Array, indptr: Array, h: Array, v: Array, b: float, scores: Array, total: Array
) -> None:
    """One pass over the rows; those without curvature, such as rows beyond a hinge's corner, are only scored."""
    for i in range(h.size):
        score = b
        for p in range(indptr[i], indptr[i + 1]):
            score += data[p] * v[indices[p]]
        scores[i] = score
        weight = h[i] * score
        if weight != 0.0:
            for p in range(indptr[i], indptr[i + 1]):
                total[indices[p]] += weight * data[p]


@jit
def _add_squares(data: Array, indices: Array, indptr: Array, h: Array, out: Array) -> None:
    for i in range(h.size):
        for p in range(indptr[i], indptr[i + 1]):
            out[indices[p]] += h[i] * (data[p] * data[p])


@jit
def _add_sparse_products(
    data: Array, indices: Array, indptr: Array, h: Array, first: int, last: int, out: Array
) -> None:
    """Add the upper triangle of some rows' products; the columns of a row are in order."""
    for i in range(first, last):
        if h[i] == 0.0:
            continue
        for p in range(indptr[i], indptr[i + 1]):
            scaled, row = h[i] * data[p], out[indices[p]]
            for q in range(p, indptr[i + 1]):
                row[indices[q]] += scaled * data[q]
