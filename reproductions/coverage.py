"""How often intervals contain the target that they are asked to contain, over many draws of rows.

    python -m reproductions.coverage [--repetitions 200] [--json results.json]

Each repetition draws training and test rows anew. Held-out rows promise a coverage between c and c + 1/(n + 1) on
average over all draws: with 99 of them and c = 0.9 between 0.9 and 0.91. Folds and leave-one-out promise 1 − 2·(1 − c),
and are known to give c or a little more in practice. The target scatters more in some places than in others, and has
heavy tails.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import Conformal, KernelQuantiles, KernelRegressor

from .results import Results

#: Rows to learn from, of which a quarter is held out, and rows to count in.
TRAINING, TEST = 396, 400
COVERAGE = 0.9

POINTS = make_pipeline(StandardScaler(), KernelRegressor("gaussian(gamma=0.5)", lam=1e-2))
QUANTILES = make_pipeline(StandardScaler(), KernelQuantiles("gaussian(gamma=0.5)", (0.05, 0.5, 0.95), lam=1e-3))

CONTESTANTS = {
    "split": Conformal(POINTS, "split", COVERAGE),
    "cross": Conformal(POINTS, "cross", COVERAGE),
    "jackknife+": Conformal(POINTS, "jackknife+", COVERAGE),
    "split, quantiles": Conformal(QUANTILES, "split", COVERAGE),
    "cross, quantiles": Conformal(QUANTILES, "cross", COVERAGE),
}


def drawn(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    X = rng.uniform(-2, 2, (TRAINING + TEST, 2))
    scatter = 0.1 + 0.3 * np.square(X[:, 1])
    return X, np.sin(2 * X[:, 0]) + scatter * rng.standard_t(4, len(X))


def measured(model: Any, rng: np.random.Generator) -> tuple[float, float, float]:
    """The share of test targets inside their intervals, that share where targets scatter most, the mean width."""
    X, y = drawn(rng)
    model.set_params(random_state=int(rng.integers(2**31))).fit(X[:TRAINING], y[:TRAINING])
    low, high = model.predict_interval(X[TRAINING:]).T
    inside = (low <= y[TRAINING:]) & (y[TRAINING:] <= high)
    return float(inside.mean()), float(inside[np.abs(X[TRAINING:, 1]) > 1.5].mean()), float(np.mean(high - low))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", help="write the figures to this file")
    parser.add_argument("--repetitions", type=int, default=200)
    options = parser.parse_args()
    results = Results()
    for name, model in CONTESTANTS.items():
        rng = np.random.default_rng(0)
        found = np.array([measured(model, rng) for _ in range(options.repetitions)])
        inside, widest, width = found.mean(axis=0)
        error = found[:, 0].std() / np.sqrt(options.repetitions)
        print(
            f"{name:<17} inside {100 * inside:.2f} % ± {100 * error:.2f}, where it scatters most {100 * widest:.1f} %, "
            f"mean width {width:.3f}"
        )
        note = f"{options.repetitions} draws of {TRAINING} rows, standard error {error:.4f}, mean width {width:.3f}, "
        note += f"{widest:.3f} where targets scatter most"
        exact = name.startswith("split")
        fine = abs(inside - COVERAGE) <= 0.01 if exact else inside >= COVERAGE - 0.01
        note += "" if exact else f"; at least {1 - 2 * (1 - COVERAGE):.1f} is certain"
        results.add(f"{name}: coverage", round(float(inside), 4), COVERAGE, fine, note)
    print(f"{results.count_ok()} of {len(results.rows)} figures within their bars")
    results.write(options.json)


if __name__ == "__main__":
    main()
