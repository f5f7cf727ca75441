"""Kernels on strings and graphs against the peers.

    python -m benchmarks.structured [--only spectrum,mismatch,graphs] [--repeats 3] [--json results.json]

- spectrum: the kernel matrix of random DNA and of C. elegans splice sites, against scikit-learn's CountVectorizer and a
  sparse product. Both sides start from Python strings and fill the matrix in blocks of rows, as 20 000 rows of it would
  not fit in memory twice;
- mismatch: against strkernel, whose time grows with the square of the strings: it runs once;
- graphs: Weisfeiler–Lehman and shortest path kernels of NCI1 against GraKeL, and exact graphlets, which GraKeL samples.
"""

from __future__ import annotations

import argparse
import bz2
import contextlib
import io
import resource
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from mercer.io.fasta import read_fasta
from mercer.io.graphs import read_tu
from mercer.kernels import Graphlet, Graphs, Mismatch, ShortestPath, Spectrum, Strings, WeisfeilerLehman
from mercer.kernels.pairing import Pairing
from reproductions.data import data_path
from reproductions.results import Results

from .timing import Timed, race, touch_memory

_ROWS = 2000
_READ_BYTES = 64_000_000


def peak() -> str:
    return f"peak memory so far {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB"


def compare(what: str, times: dict[str, Timed], bar: float, peer: str, note: str, results: Results) -> None:
    ratio = times["ours"].median / times["theirs"].median
    print(f"{what}\n    mercer {times['ours']}   {peer} {times['theirs']}   ratio {ratio:.4f}   {peak()}")
    results.add(f"{what}: time / {peer}'s", round(ratio, 4), bar, ratio <= bar, f"{note}; {peak()}")


def random_dna(n: int, length: int) -> list[str]:
    return ["".join(row) for row in np.random.default_rng(0).choice(list("ACGT"), (n, length))]


def splice_sites(n: int) -> list[str] | None:
    path = data_path("celegans_acceptor/C_elegans_acc_100000.fasta.bz2")
    if path is None:
        return None
    with bz2.open(path) as file:
        return read_fasta(file.read(_READ_BYTES)).sequences[:n]


def ours_in_blocks(strings: list[str], p: int) -> float:
    kernel = Spectrum(p)
    items = Strings.of(strings)
    pairing = Pairing(kernel, items, items)
    total = 0.0
    for begin in range(0, len(items), _ROWS):
        rows = np.arange(begin, min(begin + _ROWS, len(items)))
        total += kernel.block(pairing, rows)[0].sum()
    return total


def theirs_in_blocks(strings: list[str], p: int) -> float:
    counts = CountVectorizer(analyzer="char", ngram_range=(p, p), lowercase=False).fit_transform(strings)
    counts = counts.astype(np.float64)
    columns = counts.T.tocsr()
    total = 0.0
    for begin in range(0, counts.shape[0], _ROWS):
        total += (counts[begin : begin + _ROWS] @ columns).toarray()[0].sum()
    return total


def spectrum(what: str, strings: list[str] | None, p: int, repeats: int, results: Results) -> None:
    """Without repeats, the peer runs once and cold, ours after a first run that compiles."""
    if strings is None:
        return

    def ours() -> float:
        return ours_in_blocks(strings, p)

    def theirs() -> float:
        return theirs_in_blocks(strings, p)

    if repeats:
        times = race(repeats, ours=ours, theirs=theirs)
    else:
        ours_in_blocks(strings[:100], p)
        times = {"ours": once(ours), "theirs": once(theirs)}
    same = times["ours"].value == times["theirs"].value
    compare(f"spectrum p={p}, {what}", times, 0.3, "CountVectorizer", f"same sums: {same}", results)


def once(run: Callable[[], Any]) -> Timed:
    begin, used = time.perf_counter(), time.process_time()
    value = run()
    return Timed([time.perf_counter() - begin], [time.process_time() - used], value)


def mismatch(results: Results) -> None:
    try:
        from strkernel.mismatch_kernel import MismatchKernel
    except ImportError:
        print("skipped: strkernel is not installed.")
        return
    strings = random_dna(500, 200)
    letters = {letter: place for place, letter in enumerate("ACGT")}
    numbers = [[letters[letter] for letter in string] for string in strings]

    def theirs() -> np.ndarray:
        with contextlib.redirect_stdout(io.StringIO()):
            return MismatchKernel(l=4, k=5, m=1).get_kernel(numbers, normalize=False).kernel

    ours = race(5, ours=lambda: Mismatch(5, 1)(strings))["ours"]
    times = {"ours": ours, "theirs": once(theirs)}
    worst = float(np.abs(times["ours"].value - times["theirs"].value).max())
    compare("mismatch(5, 1), 500 strings of 200", times, 0.01, "strkernel", f"largest difference {worst:g}", results)


def grakel_graphs(graphs: Graphs) -> list[Any]:
    from grakel import Graph

    out = []
    for place in range(len(graphs)):
        n, edges, labels = graphs[place]
        both = [(u, v) for u, v in edges] + [(v, u) for u, v in edges]
        out.append(Graph(both or {v: [] for v in range(n)}, node_labels=dict(enumerate(labels))))
    return out


def graph_kernels(repeats: int, results: Results) -> None:
    path = data_path("tu_NCI1/NCI1.tar.xz")
    if path is None:
        return
    nci1 = read_tu(path).graphs
    everything = np.arange(len(nci1))
    graphlets = race(repeats, ours=lambda: Graphlet(4)(nci1.take(everything)))["ours"]
    print(f"exact graphlets of size 4, NCI1\n    mercer {graphlets}   {peak()}")
    results.add(
        "exact graphlets of size 4 on NCI1: seconds", round(graphlets.median, 3), 20, graphlets.median <= 20,
        "all 11 kinds, 4110 graphs, with the kernel matrix",
    )  # fmt: skip
    try:
        from grakel.kernels import ShortestPath as TheirPaths
        from grakel.kernels import VertexHistogram
        from grakel.kernels import WeisfeilerLehman as TheirRefinement
    except ImportError:
        print("skipped: GraKeL is not installed.")
        return
    theirs = grakel_graphs(nci1)
    refinement = TheirRefinement(n_iter=5, base_graph_kernel=VertexHistogram)
    contestants: list[tuple[str, Any, Any]] = [
        ("Weisfeiler–Lehman, h=5", WeisfeilerLehman(5), refinement),
        ("shortest path", ShortestPath(), TheirPaths(with_labels=True)),
    ]
    for what, kernel, peer in contestants:
        ours = race(repeats, ours=lambda kernel=kernel: kernel(nci1.take(everything)))["ours"]
        times = {"ours": ours, "theirs": once(lambda peer=peer: peer.fit_transform(theirs))}
        other = times["theirs"].value
        agree = np.corrcoef(ours.value[:200, :200].ravel(), np.asarray(other)[:200, :200].ravel())[0, 1]
        compare(f"{what}, NCI1", times, 0.3, "GraKeL", f"correlation of the two matrices {agree:.6f}", results)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", help="write the figures to this file")
    parser.add_argument("--only", default="spectrum,mismatch,graphs")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    chosen = options.only.split(",")
    results = Results()
    touch_memory()
    if "spectrum" in chosen:
        for p in (3, 6):
            spectrum("2000 random strings of 200", random_dna(2000, 200), p, options.repeats, results)
        for p in (3, 6):
            spectrum("20 000 splice sites of 398", splice_sites(20_000), p, 0, results)
    if "mismatch" in chosen:
        mismatch(results)
    if "graphs" in chosen:
        graph_kernels(options.repeats, results)
    print(f"{results.count_ok()} of {len(results.rows)} figures within their bars; {peak()}")
    results.write(options.json)


if __name__ == "__main__":
    main()
