"""What others do on a card with a million rows: 10 000 centres, or preconditioned steps, in plain PyTorch.

    python -m benchmarks.centres [--rows 1000000] [--json results.json]

- as Falkon does: least squares over 10 000 centres, conjugate gradients preconditioned by two Cholesky factors of the
  centres' own matrix, products block by block;
- as EigenPro does: least squares over all rows by stochastic gradients, whose steps are shortened along the leading
  eigenvectors of a sample.

Both write kernel values to memory, as code without fused products must. After each part of the work the test error is
looked at, off the clock. Beside them mercer's exact logistic machine, to a loose tolerance; λ is chosen for each.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

from mercer import KernelClassifier
from mercer.kernels import Gaussian
from reproductions.results import Results

from .gpu import labelled, warm_up

GAMMA = 1 / 28
TEST = 100_000


def similarities(A: Any, B: Any) -> Any:
    """exp(−γ‖a − b‖²) as a matrix."""
    import torch

    squares = (A * A).sum(1)[:, None] + (B * B).sum(1)[None, :]
    return torch.addmm(squares, A, B.T, alpha=-2.0).clamp_min_(0.0).mul_(-GAMMA).exp_()


def wrong(scores: Any, y: Any) -> float:
    return float(((scores > 0) != (y > 0)).double().mean())


def falkon(
    X: Any, y: Any, X_test: Any, y_test: Any, lam: float, centres: int = 10_000
) -> Iterator[tuple[float, float]]:
    """Seconds and test errors of least squares over some centres, after each few steps of conjugate gradients."""
    import torch

    rng = np.random.default_rng(0)
    begin = time.perf_counter()
    C = X[torch.from_numpy(rng.choice(len(X), centres, replace=False)).cuda()]
    inner = similarities(C, C).double()
    inner.diagonal().add_(1e-6 * centres)
    T = torch.linalg.cholesky(inner).T
    small = T @ T.T / centres
    small.diagonal().add_(lam)
    A = torch.linalg.cholesky(small).T

    def preconditioned(v: Any) -> Any:
        return torch.linalg.solve_triangular(T, torch.linalg.solve_triangular(A, v, upper=True), upper=True)

    def back(v: Any) -> Any:
        return torch.linalg.solve_triangular(A.T, torch.linalg.solve_triangular(T.T, v, upper=False), upper=False)

    def summed(v: Any, targets: Any = None) -> Any:
        total = torch.zeros_like(v)
        for k in range(0, len(X), 50_000):
            K = similarities(X[k : k + 50_000], C)
            inside = K @ v.float() if targets is None else targets[k : k + 50_000, None]
            total += (K.T @ inside).double()
        return total / len(X)

    def operator(v: Any) -> Any:
        inside = preconditioned(v)
        regular = torch.linalg.solve_triangular(A, v, upper=True)
        return back(summed(inside)) + lam * torch.linalg.solve_triangular(A.T, regular, upper=False)

    r = back(summed(torch.zeros((centres, 1), dtype=torch.float64, device="cuda"), y))
    x, p, square = torch.zeros_like(r), r.clone(), float((r * r).sum())
    spent = 0.0
    for step in range(1, 21):
        q = operator(p)
        length = square / float((p * q).sum())
        x, r = x + length * p, r - length * q
        new = float((r * r).sum())
        p, square = r + (new / square) * p, new
        if step % 5 == 0:
            torch.cuda.synchronize()
            spent += time.perf_counter() - begin
            yield spent, wrong(similarities(X_test, C) @ preconditioned(x).float(), y_test[:, None])
            begin = time.perf_counter()


def eigenpro(X: Any, y: Any, X_test: Any, y_test: Any, epochs: int = 2) -> Iterator[tuple[float, float]]:
    """Seconds and test errors of preconditioned stochastic gradients over all rows, after each epoch."""
    import torch

    rng = np.random.default_rng(0)
    begin = time.perf_counter()
    n, sampled, leading, batch = len(X), 12_000, 160, 4096
    sample = torch.from_numpy(rng.choice(n, sampled, replace=False)).cuda()
    own = X[sample]
    values, vectors = torch.linalg.eigh(similarities(own, own).double() / sampled)
    values, vectors = values.flip(0)[: leading + 1], vectors.flip(1)[:, :leading]
    tail, top = values[-1], values[:-1]
    scale = ((1 - tail / top) / top / sampled).float()
    vectors = vectors.float()
    # The largest batch for which gradients still add up, and its step.
    batch = int(min(batch, max(1, float(1 / tail))))
    step = 0.9 * batch / (1.0 + (batch - 1) * float(tail))
    alpha, spent = torch.zeros(n, device="cuda"), 0.0
    for _ in range(epochs):
        for part in np.array_split(rng.permutation(n), n // batch):
            index = torch.from_numpy(part).cuda()
            rows = X[index]
            residual = torch.zeros(len(part), device="cuda")
            for k in range(0, n, 200_000):
                residual += similarities(rows, X[k : k + 200_000]) @ alpha[k : k + 200_000]
            residual -= y[index]
            alpha[index] -= step / len(part) * residual
            across = similarities(own, rows) @ residual
            alpha[sample] += step / len(part) * (vectors @ (scale * (vectors.T @ across)))
        torch.cuda.synchronize()
        spent += time.perf_counter() - begin
        scores = torch.zeros(len(X_test), device="cuda")
        for k in range(0, n, 20_000):
            scores += similarities(X_test, X[k : k + 20_000]) @ alpha[k : k + 20_000]
        yield spent, wrong(scores, y_test)
        begin = time.perf_counter()


def main() -> None:
    import torch

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--tolerance", type=float, default=0.1, help="of mercer's machine")
    parser.add_argument("--lams", type=float, nargs="*", default=[0.2, 1, 10, 100], help="λ in units of 1/rows")
    parser.add_argument("--json", help="write the figures to this file")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    results = Results()
    X, y = labelled(options.rows + 2 * TEST)
    parts = [slice(2 * TEST, None), slice(0, TEST), slice(TEST, 2 * TEST)]
    (X, y), (X_near, y_near), (X_test, y_test) = [(X[part], y[part]) for part in parts]
    warm_up()
    # λ is chosen on rows that are neither learned from nor tested on, for each alike.
    ours = []
    for lam in options.lams:
        begin = time.perf_counter()
        machine = KernelClassifier(Gaussian(gamma=GAMMA), lam=lam / len(X), tol=options.tolerance, device="cuda")
        model = machine.fit(X, y)
        taken = time.perf_counter() - begin
        errors = [
            float((model.predict(rows) != labels).mean()) for rows, labels in ((X_near, y_near), (X_test, y_test))
        ]
        ours.append((errors[0], errors[1], taken))
        print(
            f"mercer, λ = {lam}/n: {taken:.1f} s, errors {errors[0]:.4f} and, on test rows, {errors[1]:.4f}", flush=True
        )
    own = min(ours)
    near, test = (
        [torch.from_numpy(part).float().cuda() for part in pair] for pair in ((X_near, y_near), (X_test, y_test))
    )
    rows = [torch.from_numpy(part).float().cuda() for part in (X, y)]
    for name, run, lams in (
        ("10 000 centres as in Falkon", falkon, options.lams),
        ("all rows as in EigenPro", lambda *given: eigenpro(*given[:-1]), [0]),
    ):
        trails = [
            [
                (*first, second[1])
                for first, second in zip(run(*rows, *near, lam / len(X)), run(*rows, *test, lam / len(X)))
            ]
            for lam in lams
        ]
        for lam, trail in zip(lams, trails, strict=True):
            print(f"{name}, λ = {lam}/n: " + ", ".join(f"{s:.1f} s {e:.4f}" for s, _, e in trail), flush=True)
        seconds, _, error = min((each for trail in trails for each in trail), key=lambda each: each[1])
        note = f"theirs {error:.4f} after {seconds:.1f} s; ours {own[1]:.4f} after {own[2]:.1f} s; λ chosen for both"
        results.add(f"{name}: test error of mercer's machine", round(own[1], 4), round(error, 4), own[1] <= error, note)
        results.add(f"{name}: mercer's time as a part of theirs", round(own[2] / seconds, 2), 1.0,
                    own[2] <= seconds and own[1] <= error, note)  # fmt: skip
        results.write(options.json)


if __name__ == "__main__":
    main()
