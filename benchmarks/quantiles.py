"""Several quantiles at once against each alone and against boosted trees: loss, crossings, coverage, time.

    python -m benchmarks.quantiles [--json results.json]

Nine quantiles on three regression sets. λ and γ are searched once for all nine, and serve both kernel contestants;
boosted trees get 200 stages of depth 3 with a learning rate that is searched for each quantile by itself.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
from sklearn.datasets import load_diabetes, make_friedman1
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.metrics import make_scorer, mean_pinball_loss
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.preprocessing import StandardScaler

from mercer import Conformal, KernelQuantiles, KernelRegressor, KernelSearchCV
from mercer.losses import Pinball
from reproductions.results import Results

from .timing import race

LEVELS = (0.05, 0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9, 0.95)


def fans(n: int = 1500) -> tuple[np.ndarray, np.ndarray]:
    """Six columns; the scatter of the target grows with one of them, and is skewed."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (n, 6))
    scatter = 0.2 + 0.8 * (X[:, 1] + 1)
    return X, np.sin(3 * X[:, 0]) + X[:, 2] * X[:, 3] + scatter * (rng.gamma(2.0, 0.5, n) - 1)


SETS = {
    "diabetes": lambda: load_diabetes(return_X_y=True),
    "friedman1": lambda: make_friedman1(1500, noise=2.0, random_state=0),
    "fans": fans,
}


def loss_of(y: np.ndarray, quantiles: np.ndarray) -> float:
    columns = zip(LEVELS, quantiles.T, strict=True)
    return float(np.mean([mean_pinball_loss(y, column, alpha=tau) for tau, column in columns]))


def crossings_of(quantiles: np.ndarray) -> int:
    """Rows in which a quantile lies below a lower one."""
    return int((np.diff(quantiles, axis=1) < 0).any(axis=1).sum())


def share_inside(y: np.ndarray, ends: np.ndarray) -> float:
    return float(np.mean((ends[:, 0] <= y) & (y <= ends[:, 1])))


def tuned_trees(tau: float, X: np.ndarray, y: np.ndarray) -> Any:
    trees = GradientBoostingRegressor(loss="quantile", alpha=tau, n_estimators=200, random_state=0)
    scorer = make_scorer(mean_pinball_loss, greater_is_better=False, alpha=tau)
    return GridSearchCV(trees, {"learning_rate": [0.01, 0.03, 0.1]}, cv=3, scoring=scorer).fit(X, y).best_estimator_


def compare(name: str, X: np.ndarray, y: np.ndarray, results: Results) -> None:
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.3, random_state=0)
    scale = StandardScaler().fit(X)
    X, X_test = scale.transform(X), scale.transform(X_test)
    grid = {"lam": np.logspace(-5, -1, 9), "kernel__gamma": np.logspace(-2.5, 0, 6) / 2}
    found = KernelSearchCV(KernelQuantiles(quantiles=LEVELS), grid, cv=5).fit(X, y).best_params_
    lam = float(found["lam"])
    kernel = f"gaussian(gamma={float(found['kernel__gamma'])!r})"
    trees = {tau: tuned_trees(tau, X, y) for tau in LEVELS}

    def ours() -> Any:
        return KernelQuantiles(kernel, LEVELS, lam).fit(X, y)

    def alone() -> Any:
        return [KernelRegressor(kernel, Pinball(tau), lam).fit(X, y) for tau in LEVELS]

    def boosted() -> Any:
        return [trees[tau].fit(X, y).predict(X_test) for tau in LEVELS]

    times = race(3, ours=ours, alone=alone) | race(1, boosted=boosted)
    model = times["ours"].value
    q_ours = model.predict(X_test)
    q_alone = np.column_stack([each.predict(X_test) for each in times["alone"].value])
    q_trees = np.column_stack(times["boosted"].value)
    losses = {"ours": loss_of(y_test, q_ours), "alone": loss_of(y_test, q_alone), "trees": loss_of(y_test, q_trees)}
    raw = share_inside(y_test, q_ours[:, [0, -1]])
    conformal = Conformal(KernelQuantiles(kernel, LEVELS, lam), "cross", 0.9).fit(X, y)
    inside = share_inside(y_test, conformal.predict_interval(X_test))
    for what, quantiles in (("ours", q_ours), ("alone", q_alone), ("trees", q_trees)):
        print(f"{name:>10} {what:>6}: mean pinball loss {losses[what]:.5g}, crossed rows {crossings_of(quantiles)}")
    print(f"{'':>10} 0.05 to 0.95 contain {100 * raw:.1f} % of {len(y_test)} test rows, conformal {100 * inside:.1f} %")
    print(f"{'':>10} together {times['ours']}   alone {times['alone']}   trees {times['boosted']}")
    note = f"{crossings_of(q_alone)} of {len(y_test)} test rows crossed when each is fitted alone"
    results.add(f"{name}: test rows whose quantiles cross", crossings_of(q_ours), 0, crossings_of(q_ours) == 0, note)
    ratio = losses["ours"] / losses["alone"]
    results.add(
        f"{name}: pinball loss / each alone", round(ratio, 6), 1.0, ratio <= 1 + 1e-4, f"{losses['ours']:.5g}, 9 levels"
    )
    ratio = losses["ours"] / losses["trees"]
    results.add(
        f"{name}: pinball loss / boosted trees'", round(ratio, 4), 1.0, ratio <= 1, f"trees {losses['trees']:.5g}"
    )
    within = abs(inside - 0.9) <= 3 * float(np.sqrt(0.09 / len(y_test)))
    results.add(
        f"{name}: inside of 0.05 to 0.95, conformal",
        round(inside, 3),
        0.9,
        within,
        f"within 3 standard errors; {raw:.3f} as they are learned",
    )
    ratio = times["ours"].median / times["alone"].median
    results.add(f"{name}: time / each alone", round(ratio, 3), 1.0, ratio <= 1, f"{times['ours'].median:.3f} s")
    ratio = times["ours"].median / times["boosted"].median
    results.add(f"{name}: time / boosted trees'", round(ratio, 3), 1.0, ratio <= 1, f"{times['boosted'].median:.3f} s")
    gap = float(np.max(model.duality_gap_ / model.objective_))
    results.add(f"{name}: largest relative duality gap", gap, 1e-4, gap <= 1e-4, "of nine levels")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--json", help="write the figures to this file")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    results = Results()
    for name, make in SETS.items():
        compare(name, *make(), results)
    print(f"{results.count_ok()} of {len(results.rows)} figures within their bars")
    results.write(options.json)


if __name__ == "__main__":
    main()
