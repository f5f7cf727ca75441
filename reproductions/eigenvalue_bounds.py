"""Every eigenvalue within its stated bound: random problems against dense LAPACK in float64.

    python -m reproductions.eigenvalue_bounds [--problems 1000] [--json results.json]

Each problem has items, a kernel, a place for the kernel matrix, weights or none, a tolerance and a number of
components, all drawn at random: rows far from the origin and that come twice, strings, sets and graphs; matrices in
memory and computed anew, in double precision and from a start in single, landmarks in memory and streamed; all at once
by LAPACK, or by products. The eigenvalues that :func:`mercer.solvers.leading_eigenpairs` finds for the centred matrix
are compared with those of the matrix as a whole: there must be an eigenvalue within the bound of each, one for each of
them. Whether it is that of the same rank is counted, too. Residuals cannot prove that: where a hundred eigenvalues lie
within the tolerance of each other, a larger one among them may be passed over.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from typing import Any

import numpy as np

from mercer.grams import Dense, Gram, Lazy, Nystrom, Streamed
from mercer.kernels import (
    Cosine,
    Gaussian,
    Intersection,
    Jaccard,
    Kernel,
    Laplacian,
    Linear,
    Matern,
    MinMax,
    Mismatch,
    Normalised,
    Polynomial,
    ShortestPath,
    Spectrum,
    Subsets,
    WeisfeilerLehman,
)
from mercer.solvers import leading_eigenpairs

from .results import Results

ROWS: list[Kernel] = [
    Gaussian(gamma=0.01),
    Gaussian(gamma=0.3),
    Gaussian(gamma=5.0),
    Laplacian(gamma=0.2),
    Matern(nu=1.5),
    Polynomial(degree=2),
    Polynomial(degree=3, gamma=0.1),
    Cosine(),
    Linear() + 0.5 * Gaussian(gamma=1.0),
]
STRINGS: list[Kernel] = [Spectrum(p=2), Spectrum(p=(1, 3)), Normalised(Spectrum(p=2)), Mismatch(k=3, m=1)]
SETS: list[Kernel] = [Intersection(), Jaccard(), MinMax(), Normalised(Subsets())]
GRAPHS: list[Kernel] = [WeisfeilerLehman(h=2), Normalised(WeisfeilerLehman(h=1)), ShortestPath()]
PLACES = ("memory", "anew", "single", "landmarks", "streamed")


@dataclass
class Problem:
    """A matrix to decompose, in the place that the solver sees and as a whole."""

    what: str
    gram: Gram
    exact: Gram | None
    K: np.ndarray
    scale: np.ndarray | None
    count: int
    tol: float


def _items(rng: np.random.Generator, n: int) -> tuple[Kernel, Any]:
    kind = rng.choice(["rows", "rows", "rows", "strings", "sets", "graphs"])
    if kind == "rows":
        X = rng.normal(size=(n, int(rng.integers(1, 9)))) * rng.uniform(0.1, 3) + rng.choice([0.0, 100.0])
        if rng.random() < 0.3:
            X[n // 2 :] = X[: n - n // 2]
        return ROWS[rng.integers(len(ROWS))], X
    if kind == "strings":
        letters = list("ACGT")[: int(rng.integers(2, 5))]
        return STRINGS[rng.integers(len(STRINGS))], [
            "".join(rng.choice(letters, rng.integers(3, 30))) for _ in range(n)
        ]
    if kind == "sets":
        return SETS[rng.integers(len(SETS))], [set(rng.choice(20, rng.integers(1, 9)).tolist()) for _ in range(n)]
    n = min(n, 120)
    return GRAPHS[rng.integers(len(GRAPHS))], [_graph(rng) for _ in range(n)]


def _graph(rng: np.random.Generator) -> tuple[int, list[list[int]]]:
    nodes = int(rng.integers(3, 9))
    return nodes, [[a, b] for a in range(nodes) for b in range(a + 1, nodes) if rng.random() < 0.4] or [[0, 1]]


def problem(seed: int) -> Problem:
    """A problem that the seed alone decides."""
    rng = np.random.default_rng(seed)
    n = int(rng.choice([rng.integers(20, 200), rng.integers(420, 600)]))
    kernel, given = _items(rng, n)
    items = kernel.items(given)
    n = len(items)
    place, K = str(rng.choice(PLACES)), kernel.matrix(items, items)
    rank = int(rng.integers(5, 40))
    exact: Gram | None = None
    if place == "single" and kernel.on_rows:
        exact, moved = Lazy(kernel, items), items - items.mean(axis=0) if kernel.translation_invariant else items
        gram: Gram = Lazy(kernel, moved.astype(np.float32))
    elif place == "landmarks":
        gram = Nystrom.of(kernel, items, rank=rank)
    elif place == "streamed":
        gram = Streamed.of(kernel, items, rank, "pivoted", "1MB")
    else:
        gram = Lazy(kernel, items) if place == "anew" else Dense(K)
    if gram.landmarks is not None:
        K = np.asarray(gram.rows(np.arange(n)), dtype=np.float64)
    weight = rng.integers(1, 5, n) if rng.random() < 0.3 else None
    scale = None if weight is None else np.sqrt(weight / 2.0)
    most = n - 1 if rng.random() < 0.1 else max(1, n // 8)
    return Problem(f"seed {seed}: {kernel} on {n} items, {place}", gram, exact, K, scale,
                   int(rng.integers(1, most + 1)), float(10 ** rng.uniform(-9, -1)))  # fmt: skip


@dataclass
class Outcome:
    """What became of a problem."""

    what: str
    #: Whether there is an eigenvalue within the bound of each that was found, one for each of them.
    within: bool
    #: Whether each is within its bound of the eigenvalue of its own rank.
    in_order: bool
    #: The largest error of an eigenvalue as a part of it.
    error: float


def outcome(seed: int) -> Outcome:
    """The eigenvalues of a problem beside those that LAPACK finds."""
    given = problem(seed)
    found = leading_eigenpairs(given.gram, given.count, centred=True, scale=given.scale, tol=given.tol,
                               rng=np.random.default_rng(seed), exact=given.exact)  # fmt: skip
    s = np.ones(len(given.K)) if given.scale is None else given.scale
    C = np.eye(len(s)) - np.outer(s, s) / (s @ s)
    A = C @ (s[:, None] * given.K * s) @ C
    true = np.linalg.eigvalsh(0.5 * (A + A.T))[::-1]
    errors = np.abs(found.values - true[: given.count])
    scale = np.maximum(np.abs(true[: given.count]), found.bounds)
    within = one_in_each(true, found.values - found.bounds, found.values + found.bounds)
    return Outcome(given.what, within, bool((errors <= found.bounds).all()), float((errors / scale).max()))


def one_in_each(points: np.ndarray, low: np.ndarray, high: np.ndarray) -> bool:
    """Whether each interval has a point of its own: of those that a point lies in, the one that ends first gets it."""
    waiting = list(range(len(low)))
    for point in np.sort(points):
        inside = [k for k in waiting if low[k] <= point <= high[k]]
        if inside:
            waiting.remove(min(inside, key=lambda k: high[k]))
    return not waiting


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--problems", type=int, default=1000)
    parser.add_argument("--json", metavar="FILE")
    given = parser.parse_args()
    results = Results()
    outcomes = []
    for seed in range(given.problems):
        outcomes.append(outcome(seed))
        if not (outcomes[-1].within and outcomes[-1].in_order):
            what = "of another rank" if outcomes[-1].within else "beyond its bound"
            print(f"an eigenvalue is {what}, by {outcomes[-1].error:.1e} of it: {outcomes[-1].what}", flush=True)
    within = sum(each.within for each in outcomes)
    in_order = sum(each.in_order for each in outcomes)
    note = f"in {in_order} of them it is the eigenvalue of the same rank; the largest error is "
    note += f"{max(each.error for each in outcomes if each.within):.1e} of an eigenvalue, at tolerances up to 0.1"
    print(f"{within} of {given.problems} problems with an eigenvalue within each bound; {note}")
    results.add("problems with an eigenvalue within each bound", within, given.problems, within == given.problems, note)
    results.write(given.json)


if __name__ == "__main__":
    main()
