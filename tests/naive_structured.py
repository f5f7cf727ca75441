"""Independent oracles for kernels on strings, sets and graphs: everything enumerated, in plain Python."""

from __future__ import annotations

from collections import Counter
from functools import cache
from itertools import combinations, permutations, product
from math import sqrt

import numpy as np
from scipy.linalg import expm

from mercer import kernels


def tokens(text, kind):
    return {"characters": list, "bytes": lambda t: list(t.encode()), "words": str.split}[kind](text)


def substrings(sequence, size):
    return Counter(tuple(sequence[i : i + size]) for i in range(len(sequence) - size + 1))


def dot(a, b):
    return sum(a[key] * b[key] for key in a)


def mismatches(text, k, m, alphabet):
    """For every possible string of length k, how many substrings are near enough."""
    return Counter(
        {
            word: sum(sum(a != b for a, b in zip(word, text[i : i + k])) <= m for i in range(len(text) - k + 1))
            for word in product(alphabet, repeat=k)
        }
    )


def subsequences(sequence, k, decay):
    out = Counter()
    for places in combinations(range(len(sequence)), k):
        out[tuple(sequence[p] for p in places)] += decay ** (places[-1] - places[0] + 1)
    return out


def weighted_degree(x, z, k):
    total = 0.0
    for d in range(1, k + 1):
        same = sum(x[i : i + d] == z[i : i + d] for i in range(len(x) - d + 1))
        total += 2 * (k - d + 1) / (k * (k + 1)) * same
    return total


def local_alignment(x, z, match, mismatch, gap_open, gap_extend):
    """The best of all alignments of all stretches, by the definition: the last gap may have any length."""
    best = [[0.0] * (len(z) + 1) for _ in range(len(x) + 1)]
    for i in range(1, len(x) + 1):
        for j in range(1, len(z) + 1):
            best[i][j] = max(
                0.0,
                best[i - 1][j - 1] + (match if x[i - 1] == z[j - 1] else mismatch),
                *(best[i - g][j] - gap_open - (g - 1) * gap_extend for g in range(1, i + 1)),
                *(best[i][j - g] - gap_open - (g - 1) * gap_extend for g in range(1, j + 1)),
            )
    return max(map(max, best))


class Simple:
    """A graph as dictionaries: labels of nodes, and of edges both ways."""

    def __init__(self, n, edges, nodes=None, links=None):
        self.n = n
        self.label = dict(enumerate(nodes if nodes is not None else [None] * n))
        self.link = {}
        for place, (u, v) in enumerate(edges):
            if u != v:
                self.link[u, v] = self.link[v, u] = None if links is None else links[place]

    def near(self, v):
        return [u for u in range(self.n) if (v, u) in self.link]


def refined(graph, rounds):
    """Labels as nested tuples: a node's own, and the sorted ones around it."""
    labels = dict(graph.label)
    for _ in range(rounds):
        labels = {
            v: (labels[v], tuple(sorted(repr((labels[u], graph.link[v, u])) for u in graph.near(v)))) for v in labels
        }
    return Counter(repr(label) for label in labels.values())


def shortest_paths(graph):
    """Floyd and Warshall."""
    far = float("inf")
    d = [[0 if u == v else 1 if (u, v) in graph.link else far for v in range(graph.n)] for u in range(graph.n)]
    for w, u, v in product(range(graph.n), repeat=3):
        d[u][v] = min(d[u][v], d[u][w] + d[w][v])
    return Counter(
        (*sorted([str(graph.label[u]), str(graph.label[v])]), d[u][v])
        for u, v in combinations(range(graph.n), 2)
        if d[u][v] < far
    )


def common_walks(a, b, decay, longest=60):
    """Walks in both graphs at once, counted step by step until they no longer matter."""
    ends = {(u, v): 1.0 for u in range(a.n) for v in range(b.n) if a.label[u] == b.label[v]}
    total = 0.0
    for step in range(longest):
        total += decay**step * sum(ends.values())
        ends = {
            (u, v): sum(ends.get((s, t), 0.0) for s in a.near(u) for t in b.near(v) if a.link[u, s] == b.link[v, t])
            for u, v in ends
        }
    return total


@cache
def renamings(size, kinds):
    return [
        {frozenset(frozenset((order[a], order[b])) for a, b in edges) for order in permutations(range(size))}
        for edges in kinds
    ]


def graphlets(graph, size, connected, kinds):
    """Every set of nodes, compared with every kind under every renaming."""
    shapes = renamings(size, tuple(map(tuple, kinds)))
    counts = [0] * len(kinds)
    for nodes in combinations(range(graph.n), size):
        induced = frozenset(
            frozenset((a, b)) for a, b in combinations(range(size), 2) if (nodes[a], nodes[b]) in graph.link
        )
        found = [place for place, shape in enumerate(shapes) if induced in shape]
        assert len(found) == 1 or (connected and not found)
        for place in found:
            counts[place] += 1
    return np.array(counts, dtype=float)


def as_bag(items):
    return Counter(items)


def value(kernel, x, z):
    """k(x, z) for the structured kernels of ``cases.py``."""
    p = kernel.get_params(deep=False)
    match kernel:
        case kernels.Spectrum():
            shortest, longest = p["p"] if isinstance(p["p"], tuple) else (p["p"], p["p"])
            weights = p["weights"] or [1.0] * (longest - shortest + 1)
            a, b = tokens(x, p["tokens"]), tokens(z, p["tokens"])
            sizes = range(shortest, longest + 1)
            return sum(w * dot(substrings(a, size), substrings(b, size)) for w, size in zip(weights, sizes))
        case kernels.Mismatch():
            return dot(mismatches(x, **p), mismatches(z, **p))
        case kernels.Subsequence():
            sides = [subsequences(tokens(text, p["tokens"]), p["k"], p["decay"]) for text in (x, z)]
            return dot(*sides)
        case kernels.WeightedDegree():
            return weighted_degree(x, z, p["k"])
        case kernels.LocalAlignment():
            return local_alignment(x, z, *(p[name] for name in ("match", "mismatch", "gap_open", "gap_extend")))
        case kernels.Subsets():
            common = 2.0 ** len(set(x) & set(z))
            return common / sqrt(2.0 ** len(set(x)) * 2.0 ** len(set(z))) if p["normalised"] else common
        case kernels.Intersection():
            return sum((as_bag(x) & as_bag(z)).values())
        case kernels.Jaccard():
            union = len(set(x) | set(z))
            return len(set(x) & set(z)) / union if union else 1.0
        case kernels.MinMax():
            union = sum((as_bag(x) | as_bag(z)).values())
            return sum((as_bag(x) & as_bag(z)).values()) / union if union else 1.0
        case kernels.Tanimoto():
            a, b = as_bag(x), as_bag(z)
            union = dot(a, a) + dot(b, b) - dot(a, b)
            return dot(a, b) / union if union else 1.0
        case kernels.WeisfeilerLehmanAssignment():
            return assignment(Simple(*x), Simple(*z), p["h"])
        case kernels.WeisfeilerLehman():
            return sum(dot(refined(Simple(*x), t), refined(Simple(*z), t)) for t in range(p["h"] + 1))
        case kernels.ShortestPath():
            return dot(shortest_paths(Simple(*x)), shortest_paths(Simple(*z)))
        case kernels.RandomWalk():
            return common_walks(Simple(*x), Simple(*z), p["decay"])
        case kernels.Graphlet():
            a, b = (graphlets(Simple(*graph), p["size"], p["connected"], kernel.kinds()) for graph in (x, z))
            if p["scale"] == "frequencies":
                a, b = a / max(a.sum(), 1), b / max(b.sum(), 1)
            if p["scale"] == "cosine":
                a, b = a / max(sqrt(a @ a), 1), b / max(sqrt(b @ b), 1)
            return float(a @ b)
        case kernels.Diffusion():
            n, edges = p["graph"]
            laplacian = np.zeros((n, n))
            for u, v in edges:
                laplacian[u, u] += 1
                laplacian[v, v] += 1
                laplacian[u, v] -= 1
                laplacian[v, u] -= 1
            return expm(-p["beta"] * laplacian)[x, z]
        case kernels.Sum():
            return value(p["left"], x, z) + value(p["right"], x, z)
        case kernels.Scaled():
            return p["scale"] * value(p["kernel"], x, z)
        case kernels.Product():
            return value(p["left"], x, z) * value(p["right"], x, z)
        case kernels.Power():
            return value(p["kernel"], x, z) ** p["exponent"]
        case kernels.Normalised():
            lengths = sqrt(value(p["kernel"], x, x) * value(p["kernel"], z, z))
            return value(p["kernel"], x, z) / lengths if lengths else 0.0
        case kernels.Mixture():
            terms = zip(p["kernels"], p["weights"], p["scales"], strict=True)
            return sum(weight * value(k, x, z) / scale for k, weight, scale in terms)
    raise NotImplementedError(type(kernel))


def labels_after(graph, rounds):
    labels = dict(graph.label)
    for _ in range(rounds):
        labels = {
            v: repr((labels[v], sorted(repr((labels[u], graph.link[v, u])) for u in graph.near(v)))) for v in labels
        }
    return labels


def assignment(a, b, h):
    """The best one-to-one pairing of nodes, by trying all of them."""
    if a.n > b.n:
        a, b = b, a
    sides = [[labels_after(graph, t) for t in range(h + 1)] for graph in (a, b)]
    alike = [[sum(sides[0][t][u] == sides[1][t][v] for t in range(h + 1)) for v in range(b.n)] for u in range(a.n)]
    return max((sum(alike[u][v] for u, v in enumerate(chosen)) for chosen in permutations(range(b.n), a.n)), default=0)
