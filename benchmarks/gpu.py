"""Kernel machines on a graphics card: rates of products first, then machines.

    python -m benchmarks.gpu [--rows 1000000] [--margin-rows 100000] [--large] [--json results.json]

- Products K·v with a symmetric matrix of n = 262 144 rows of 32 numbers. n² pairs count, though half of them are
  computed. Errors are relative to products in float64.
- Machines on generated rows of 28 numbers, a curved boundary, 8 % of the labels wrong, C = 1: logistic, squared hinge
  and squared loss by Newton's method to a relative gradient of 1e-4; the soft margin with its certificate.
  Small machines come first, so that compilation does not count.
- The soft margin beside that of all processor cores, on fewer rows.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any

import numpy as np

from mercer import SVC, KernelClassifier
from mercer.cuda import operands_of, product
from mercer.kernels import Gaussian, Kernel, Laplacian, Matern, Polynomial
from reproductions.results import Results

from . import datasets
from .svc import CASES

#: Rows whose products are compared with those in float64.
_COMPARED = 512


def seconds(run: Any, repeats: int = 5) -> float:
    """The median of what a piece of work takes on the card, after a first time for compilation."""
    import torch

    run()
    times = []
    for _ in range(repeats):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        run()
        torch.cuda.synchronize()
        times.append(time.perf_counter() - begin)
    return float(np.median(times))


def rate(kernel: Kernel, n: int, d: int, precision: str, bars: tuple[float, float] | None, results: Results) -> None:
    """Pairs per second of one product, and its error."""
    import torch

    rng = np.random.default_rng(0)
    X, some = rng.normal(size=(n, d)), np.sort(rng.choice(n, _COMPARED, replace=False))
    v = torch.from_numpy(rng.normal(size=(n, 1))).cuda()
    operands = operands_of(kernel, X, X, precision)
    found, exact = product(operands, v), product(operands_of(kernel, X[some], X, "double"), v)
    error = float((found[some] - exact).norm() / exact.norm())
    repeats = bool((product(operands, v) == found).all())
    pairs = n * n / seconds(lambda: product(operands, v)) / 1e12
    what = f"{kernel}, n={n}, d={d}, {precision}: trillion pairs/s"
    print(f"{what} {pairs:.3f}   error {error:.1e}   repeats to the last digit: {repeats}", flush=True)
    fine = repeats and (bars is None or (pairs >= bars[0] and error <= bars[1]))
    results.add(what, round(pairs, 3), None if bars is None else bars[0], fine, f"relative error {error:.1e}")


def labelled(n: int, d: int = 28, noise: float = 0.08) -> tuple[np.ndarray, np.ndarray]:
    """Rows with a curved boundary between two classes, and wrong labels."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, d))
    y = np.where(np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + X[:, 3] > 0, 1, -1)
    y[rng.random(n) < noise] *= -1
    return X, y


def warm_up() -> None:
    """Compile what machines need, and let the card's libraries make their preparations."""
    X, y = labelled(20_000)
    begin = time.perf_counter()
    KernelClassifier(Gaussian(gamma=1 / 28), lam=1e-4, tol=1e-4, device="cuda").fit(X, y)
    SVC(Gaussian(gamma=1 / 28), device="cuda").fit(X, y)
    print(f"compiled and prepared in {time.perf_counter() - begin:.1f} s", flush=True)


def smooth(n: int, loss: str, bar: float | None, results: Results) -> None:
    """A machine with a smooth loss, from rows in memory to a model with its certificate."""
    X, y = labelled(n)
    begin = time.perf_counter()
    model = KernelClassifier(Gaussian(gamma=1 / 28), loss, lam=1 / n, tol=1e-4, device="cuda").fit(X, y)
    taken = time.perf_counter() - begin
    gap = float(model.duality_gap_[0] / model.objective_[0])
    begin = time.perf_counter()
    wrong = float((model.predict(X[:100_000]) != y[:100_000]).mean())
    predicting = time.perf_counter() - begin
    what = f"{loss}, {n} x 28: seconds"
    note = f"{model.n_iter_} Newton steps, {model.status_}, relative gap {gap:.1e}, training error {wrong:.4f}"
    print(f"{what} {taken:.1f}   {note}   100 000 predictions {predicting:.1f} s", flush=True)
    results.add(what, round(taken, 1), bar, model.converged_ and (bar is None or taken <= bar), note)


def margin(n: int, bar: float | None, limit: float, results: Results) -> float:
    """The soft margin, certified in float64."""
    X, y = labelled(n)
    begin = time.perf_counter()
    model = SVC(Gaussian(gamma=1 / 28), C=1.0, device="cuda", memory="64GB", time_limit=limit).fit(X, y)
    taken = time.perf_counter() - begin
    gap = float(model.duality_gap_[0] / model.objective_[0])
    note = f"{model.status_}, relative gap {gap:.1e}, {model.support_.size} support vectors, {model.n_iter_[0]} steps"
    what = f"soft margin, {n} x 28: seconds"
    print(f"{what} {taken:.1f}   {note}", flush=True)
    results.add(what, round(taken, 1), bar, gap <= 1e-3 and (bar is None or taken <= bar), note)
    return float(model.objective_[0])


def beside_processor(name: str, X: Any, y: Any, C: float, gamma: float, results: Results) -> None:
    """The same soft margin on the card and on all cores, in turns; objectives beside that of a tight tolerance."""
    times: dict[str | None, list[float]] = {"cuda": [], None: []}
    objectives = {}
    for device in ("cuda", None, "cuda", None, "cuda"):
        begin = time.perf_counter()
        model = SVC(Gaussian(gamma=gamma), C=C, device=device, memory="16GB").fit(X, y)
        times[device].append(time.perf_counter() - begin)
        objectives[device] = float(model.objective_[0])
    tight = float(SVC(Gaussian(gamma=gamma), C=C, tol=1e-5, memory="16GB").fit(X, y).objective_[0])
    card, cores = min(times["cuda"]), min(times[None])
    apart, usual = abs(objectives["cuda"] / tight - 1), abs(objectives[None] / tight - 1)
    note = f"card {card:.2f} s, all cores {cores:.2f} s, {model.support_.size} support vectors"
    print(f"soft margin, {name}: {note}, objectives apart {apart:.1e} (all cores, usual tolerance: {usual:.1e})")
    results.add(
        f"soft margin, {name}: times faster than all cores", round(cores / card, 1), 10, cores >= 10 * card, note
    )
    what = f"soft margin, {name}: objective beside that of all cores at tolerance 1e-5"
    results.add(what, apart, 1e-6, apart <= 1e-6, f"all cores at the usual tolerance: {usual:.1e}")


def public(name: str) -> tuple[Any, Any, float, float] | None:
    """Rows, labels, C and γ of a data set, as the exact SVM is compared on it elsewhere."""
    load, C, gamma = CASES[name]
    found = datasets.mnist(60_000) if name == "mnist" else load()
    return None if found is None else (found[0], found[1], C, gamma)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000, help="rows of the machines with a smooth loss")
    parser.add_argument("--margin-rows", type=int, nargs="*", default=[100_000], help="rows of soft margins")
    parser.add_argument("--limit", type=float, default=120.0, help="seconds for each soft margin")
    parser.add_argument("--losses", nargs="*", default=["logistic", "squared_hinge", "squared"])
    parser.add_argument("--beside", type=int, nargs="*", default=[40_000], help="rows of soft margins on both")
    parser.add_argument("--sets", nargs="*", default=["ijcnn1", "cod-rna", "mnist"], help="data sets for both")
    parser.add_argument("--large", action="store_true", help="four million rows as well")
    parser.add_argument("--no-rates", action="store_true")
    parser.add_argument("--json", help="write the figures to this file")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    results = Results()
    if not options.no_rates:
        n = 262_144
        rate(Gaussian(gamma=1 / 32), n, 32, "exact", (2.0, 1e-5), results)
        rate(Gaussian(gamma=1 / 32), n, 32, "fast", (4.0, 1e-3), results)
        rate(Gaussian(gamma=1 / 32), 65_536, 32, "double", None, results)
        for kernel in (
            Matern(1.5, 8.0),
            Laplacian(0.02),
            Polynomial(3, 1.0, 1 / 32),
            Gaussian(1 / 32) * Matern(0.5, 8.0),
        ):
            rate(kernel, 65_536, 32, "exact", None, results)
        for d in (8, 128, 784):
            rate(Gaussian(gamma=1 / d), 65_536, d, "exact", None, results)
    warm_up()
    for loss in options.losses:
        smooth(options.rows, loss, 20.0 if loss == "logistic" and options.rows == 1_000_000 else None, results)
        results.write(options.json)
    for n in options.margin_rows:
        margin(n, 120.0 if n == 1_000_000 else None, options.limit, results)
        results.write(options.json)
    for n in options.beside:
        beside_processor(f"{n} x 28", *labelled(n), 1.0, 1 / 28, results)
        results.write(options.json)
    for name in options.sets:
        if (found := public(name)) is not None:
            beside_processor(name, *found, results)
            results.write(options.json)
    if options.large:
        smooth(4_000_000, "logistic", None, results)
    print(f"{results.count_ok()} of {len(results.rows)} figures within their bars")
    results.write(options.json)


if __name__ == "__main__":
    main()
