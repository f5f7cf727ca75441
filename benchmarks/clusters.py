"""Clusters beside scikit-learn's on the sets of a public suite, and kernel k-means on many rows beside tslearn's.

    python -m benchmarks.clusters [--rows 20000] [--repeats 1] [--json results.json]

- The batteries fcps, graves and wut of Gagolewski's suite, columns standardised, as many clusters as each reference
  labelling has: spectral clustering with a Gaussian of γ = 1 (scikit-learn's default) and γ = 10, and k-means. A result
  counts by the adjusted Rand index of the reference that it agrees with best; reference label 0 is noise.
- Kernel k-means with one seeding and the same kernel matrix; tslearn is left out where it is not installed.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.cluster import SpectralClustering as TheirClustering
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

from mercer import KernelKMeans, SpectralClustering
from mercer.kernels import Gaussian
from reproductions.data import data_path
from reproductions.results import Results

from .timing import race, touch_memory

BATTERIES = ("fcps", "graves", "wut")
#: Indices that differ by less are equal.
_EQUAL = 1e-3
#: Seconds that a processor's clock tells apart.
_TICK = 0.01


def sets() -> Iterator[tuple[str, np.ndarray, list[np.ndarray]]]:
    """Each set by its name, with the reference labellings of different numbers of clusters."""
    for battery in BATTERIES:
        folder = data_path(f"clusters/{battery}")
        for path in sorted(Path(folder).glob("*.data.gz")) if folder else ():
            references = sorted(path.parent.glob(path.name.replace(".data.gz", ".labels*.gz")))
            rows = StandardScaler().fit_transform(np.loadtxt(path, ndmin=2))
            yield f"{battery}/{path.name[:-8]}", rows, [np.loadtxt(file, dtype=int) for file in references]


def agreement(references: list[np.ndarray], labels: np.ndarray) -> float:
    """The adjusted Rand index with the reference that the labels agree with best."""
    return max(adjusted_rand_score(each[each > 0], labels[each > 0]) for each in references)


def pairs(k: int) -> dict[str, tuple[Any, Any]]:
    """Ours and theirs of each kind."""
    spectral = {
        f"spectral clustering, gamma {gamma:g}": (
            SpectralClustering(Gaussian(gamma=gamma), k),
            TheirClustering(k, gamma=gamma, random_state=0),
        )
        for gamma in (1.0, 10.0)
    }
    return {**spectral, "k-means": (KernelKMeans(None, k, n_init=10), KMeans(k, n_init=10, random_state=0))}


def beside_scikit_learn(repeats: int, results: Results) -> None:
    found: dict[str, list[tuple[float, float, float, float]]] = {}
    for name, rows, references in sets():
        for k in sorted({np.unique(each[each > 0]).size for each in references}):
            same = [each for each in references if np.unique(each[each > 0]).size == k]
            for kind, (ours, theirs) in pairs(k).items():
                timed = race(repeats, ours=lambda m=ours, X=rows: m.fit(X), theirs=lambda m=theirs, X=rows: m.fit(X))
                mine, other = (agreement(same, timed[who].value.labels_) for who in ("ours", "theirs"))
                seconds = [float(np.median(timed[who].cpu)) for who in ("ours", "theirs")]
                found.setdefault(kind, []).append((mine, other, *seconds))
                mark = "" if mine >= other - _EQUAL else "  <"
                print(f"{name:22s} {len(rows):6d} rows, k = {k:2d}  {kind:30s} {mine:6.3f} beside {other:6.3f}"
                      f"  cpu {seconds[0]:7.3f} beside {seconds[1]:7.3f} s{mark}", flush=True)  # fmt: skip
    for kind, rows_of in found.items():
        mine, other, here, there = np.array(rows_of).T
        good = float((mine >= other - _EQUAL).mean())
        note = f"{len(mine)} problems; means {mine.mean():.3f} beside {other.mean():.3f}"
        results.add(f"{kind}: share with an index equal to scikit-learn's or better",
                    round(good, 3), 0.9, good >= 0.9, note)  # fmt: skip
        ratio = here.sum() / there.sum()
        mean = float(np.exp(np.log(np.maximum(here, _TICK) / np.maximum(there, _TICK)).mean()))
        note = f"cpu {here.sum():.1f} beside {there.sum():.1f} s in all; geometric mean of the ratios {mean:.3f}"
        results.add(f"{kind}: cpu time / scikit-learn's", round(ratio, 3), 0.3, ratio <= 0.3, note)


def many_rows(rows: int, repeats: int, results: Results) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(rows, 10)) + 1.5 * rng.normal(size=(8, 10))[rng.integers(0, 8, rows)]
    ours = KernelKMeans("gaussian(gamma=0.05)", 8, n_init=1)
    contestants = {"ours": lambda: ours.fit(X)}
    try:
        from tslearn.clustering import KernelKMeans as TheirKMeans
    except ImportError:
        print("tslearn is not installed; its time is left out")
    else:
        theirs = TheirKMeans(8, kernel="rbf", kernel_params={"gamma": 0.05}, random_state=0)
        contestants["theirs"] = lambda: theirs.fit(X[:, :, None])
    timed = race(repeats, **contestants)
    above = 100 * (ours.cost_ / ours.cost_bound_ - 1)
    note = f"{timed['ours']}; cost {ours.cost_:.1f}, at most {above:.1f} % above the best possible"
    if "theirs" in timed:
        ratio = timed["ours"].median / timed["theirs"].median
        note += f"; {timed['theirs']} and cost {timed['theirs'].value.inertia_:.1f}"
        results.add(f"kernel k-means, {rows} rows: time / tslearn's", round(ratio, 4), 0.1, ratio <= 0.1, note)
    print(note)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--json", metavar="FILE")
    given = parser.parse_args()
    results = Results()
    touch_memory()
    warnings.simplefilter("ignore")
    beside_scikit_learn(given.repeats, results)
    many_rows(given.rows, given.repeats, results)
    for row in results.rows:
        print(f"{'ok ' if row['ok'] else 'NOT'} {row['what']}: {row['value']} (bar {row['bar']}); {row['note']}")
    results.write(given.json)


if __name__ == "__main__":
    main()
