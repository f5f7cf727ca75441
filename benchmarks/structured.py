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
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import CountVectorizer

from mercer.io.structures import read_fasta, read_tu
from mercer.kernels import Graphlet, Graphs, Mismatch, ShortestPath, Spectrum, Strings, WeisfeilerLehman
from mercer.kernels.engine.tiles import Pairing, matrix_block
from reproductions.data import data_path
from reproductions.results import Results

from .timing import Timed, race, touch_memory

_ROWS = 2000
_READ_BYTES = 64_000_000


def high_water(reset: bool = False) -> float:
    """The most memory that this process has held since the last reset, in GB; NaN where the system does not tell."""
    try:
        if reset:
            Path("/proc/self/clear_refs").write_text("5")
        status = Path("/proc/self/status").read_text()
    except OSError:
        return float("nan")
    return int(status.split("VmHWM:")[1].split()[0]) / 1e6


def watched(run: Callable[[], Any], peaks: list[float]) -> Callable[[], Any]:
    """The same work, with its peak of memory written down."""

    def watching() -> Any:
        high_water(reset=True)
        value = run()
        peaks.append(high_water())
        return value

    return watching


def once(run: Callable[[], Any]) -> Timed:
    begin, used = time.perf_counter(), time.process_time()
    value = run()
    return Timed([time.perf_counter() - begin], [time.process_time() - used], value)


@dataclass(frozen=True)
class Contest:
    """Two ways to the same matrix. Without repeats the peer, far slower, runs once."""

    what: str
    peer: str
    bar: float
    ours: Callable[[], Any]
    theirs: Callable[[], Any]
    agreement: Callable[[Any, Any], str]

    def hold(self, repeats: int, results: Results) -> None:
        peaks: tuple[list[float], list[float]] = ([], [])
        ours, theirs = watched(self.ours, peaks[0]), watched(self.theirs, peaks[1])
        times = race(repeats, ours=ours, theirs=theirs) if repeats else race(3, ours=ours) | {"theirs": once(theirs)}
        ratio = times["ours"].median / times["theirs"].median
        memory = f"peak memory {max(peaks[0]):.2f} / {max(peaks[1]):.2f} GB"
        note = f"{self.agreement(times['ours'].value, times['theirs'].value)}; {memory}"
        print(f"{self.what}\n    mercer {times['ours']}   {self.peer} {times['theirs']}\n    ratio {ratio:.4f}; {note}")
        results.add(f"{self.what}: time / {self.peer}'s", round(ratio, 4), self.bar, ratio <= self.bar, note)


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
        total += matrix_block(pairing, rows)[0].sum()
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
    if strings is not None:
        Contest(
            f"spectrum p={p}, {what}", "CountVectorizer", 0.3,
            lambda: ours_in_blocks(strings, p), lambda: theirs_in_blocks(strings, p),
            lambda mine, other: f"same sums: {mine == other}",
        ).hold(repeats, results)  # fmt: skip


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

    Contest(
        "mismatch(5, 1), 500 strings of 200", "strkernel", 0.01, lambda: Mismatch(5, 1)(strings), theirs,
        lambda mine, other: f"largest difference {np.abs(mine - other).max():g}",
    ).hold(0, results)  # fmt: skip


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
    print(f"exact graphlets of size 4, NCI1\n    mercer {graphlets}")
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
        Contest(
            f"{what}, NCI1", "GraKeL", 0.3,
            partial(lambda kernel: kernel(nci1.take(everything)), kernel),
            partial(peer.fit_transform, theirs), correlation,
        ).hold(0, results)  # fmt: skip


def correlation(mine: np.ndarray, other: np.ndarray) -> str:
    """Conventions differ: GraKeL counts every path in both directions."""
    corner = np.corrcoef(mine[:200, :200].ravel(), np.asarray(other)[:200, :200].ravel())[0, 1]
    return f"correlation of the two matrices {corner:.6f}"


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
    print(f"{results.count_ok()} of {len(results.rows)} figures within their bars")
    results.write(options.json)


if __name__ == "__main__":
    main()
