"""The five machines of LIBSVM beside LIBSVM: the same objectives, the same predictions.

    python -m reproductions.family [--cases 60] [--first 0] [--json results.json]

SVC, NuSVC, SVR, NuSVR and OneClassSVM at a tolerance of 1e-6, beside scikit-learn's classes of the same names, which
are LIBSVM. Random problems (rows, kernel, C, ν, ε, weights) and six public tables, whose first column that is not
constant is the target of the regressions. What is compared is the value of the dual,

    ½·zᵀKz − yᵀz + ε·Σ|z|,

computed here from the published coefficients, and what is predicted of new rows. A margin that is found along with the
machine leaves coefficients free by a factor: they are compared at Σ|z| = 1. Bars: no objective more than 1e-6,
relative, above LIBSVM's; predictions equal where a score is clear of the boundary by 1e-3. Where LIBSVM's own objective
is higher by more than that it has stopped early, as it does where margins are very small: such problems are counted,
and predictions are not compared.
"""

from __future__ import annotations

import argparse
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn import datasets, svm
from sklearn.metrics.pairwise import pairwise_kernels
from sklearn.preprocessing import StandardScaler

import mercer
from mercer.kernels import Gaussian, Linear, Polynomial

from .data import data_path
from .results import Results

MACHINES = ("SVC", "NuSVC", "SVR", "NuSVR", "OneClassSVM")
BAR, CLEAR = 1e-6, 1e-3
#: A margin, or a distance from the origin, that is less than this, when all coefficients sum to one, is none.
NO_MARGIN = {"NuSVC": 1e-6, "OneClassSVM": 1e-3}


@dataclass
class Case:
    """Rows and targets to learn from, new rows, a kernel in the words of both libraries, and settings."""

    name: str
    X: Any
    labels: Any
    numbers: Any
    new: Any
    kernel: str
    gamma: float
    C: float
    nu: float
    epsilon: float
    weight: Any

    @property
    def ours(self) -> Any:
        return {
            "rbf": Gaussian(gamma=self.gamma),
            "poly": Polynomial(degree=2, gamma=self.gamma, coef0=1.0),
            "linear": Linear(),
        }[self.kernel]

    @property
    def theirs(self) -> dict[str, Any]:
        return {"kernel": self.kernel, "gamma": self.gamma, "degree": 2, "coef0": 1.0, "cache_size": 1000}

    def K(self, A: Any, B: Any) -> Any:
        own = {"rbf": {"gamma": self.gamma}, "poly": {"gamma": self.gamma, "degree": 2, "coef0": 1.0}, "linear": {}}
        return pairwise_kernels(A, B, metric=self.kernel, **own[self.kernel])

    def settings(self, machine: str) -> dict[str, float]:
        return {
            "SVC": {"C": self.C},
            "NuSVC": {"nu": self.nu},
            "SVR": {"C": self.C, "epsilon": self.epsilon},
            "NuSVR": {"C": self.C, "nu": self.nu},
            "OneClassSVM": {"nu": self.nu},
        }[machine]


def drawn(seed: int) -> Case:
    """A random problem."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(30, 300)), int(rng.integers(1, 12))
    X = rng.normal(size=(n + 50, d)) * np.exp(rng.normal(size=d) * 0.5)
    target = np.sin(X @ rng.normal(size=d)) + 0.3 * rng.normal(size=n + 50)
    labels = np.where(target[:n] > np.quantile(target[:n], rng.uniform(0.3, 0.7)), 1, -1)
    kernel = str(rng.choice(["rbf", "rbf", "poly", "linear"]))
    most = 2 * min(np.mean(labels > 0), np.mean(labels < 0))
    return Case(
        f"draw {seed}", X[:n], labels, 10.0 ** rng.uniform(-2, 2) * target[:n], X[n:], kernel,
        float(10.0 ** rng.uniform(-2, 0) / d), float(10.0 ** rng.uniform(-1, 1)), float(rng.uniform(0.6, 0.98) * most),
        float(rng.uniform(0, 0.3) * np.std(target)), rng.uniform(0.2, 2.0, n) if rng.random() < 0.3 else None,
    )  # fmt: skip


def tables() -> list[Case]:
    """Six public tables, scaled."""
    found: list[tuple[str, Any, Any]] = []
    for name in ("breast_cancer", "wine", "digits", "diabetes"):
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        found.append((name, X, y > np.median(y) if name in ("diabetes", "digits") else y == y[0]))
    for name in ("svmguide1/svmguide1.bz2", "mushrooms/mushrooms.bz2"):
        path = data_path(name)
        if path is not None:
            X, y = datasets.load_svmlight_file(str(path))
            found.append((name.partition("/")[0], X.toarray(), y == y.max()))
    cases = []
    for name, X, positive in found:
        some = np.random.default_rng(0).permutation(X.shape[0])[:1500]
        X = StandardScaler().fit_transform(X[some])
        labels, train = np.where(positive[some], 1, -1), int(0.8 * some.size)
        most = 2 * min(np.mean(labels[:train] > 0), np.mean(labels[:train] < 0))
        nu = 0.57 * most
        target = int(np.argmax(X.std(axis=0) > 0))
        numbers, rows = X[:, target].copy(), np.delete(X, target, axis=1)
        gamma = 1 / rows.shape[1]
        parts = rows[:train], labels[:train], numbers[:train], rows[train:]
        cases.append(Case(name, *parts, "rbf", gamma, 1.0, nu, 0.1, None))
    return cases


def objective(case: Case, machine: str, model: Any) -> tuple[float, float]:
    """The value of the dual at the published coefficients, and the margin at Σ|z| = 1 where it is free."""
    z = np.zeros(len(case.X))
    z[model.support_] = np.asarray(model.dual_coef_)[0]
    if machine == "NuSVC":
        total = np.abs(z).sum()
        return float(0.5 * z @ case.K(case.X, case.X) @ z) / total**2, 1 / total
    curve = float(0.5 * z @ case.K(case.X, case.X) @ z)
    if machine == "OneClassSVM":
        return curve, np.sqrt(2 * max(curve, 0.0)) / np.abs(z).sum()
    y = case.labels if machine == "SVC" else case.numbers
    return curve - float(y @ z) + (case.epsilon * float(np.abs(z).sum()) if machine == "SVR" else 0.0), np.inf


def compared(case: Case, machine: str) -> tuple[float, float] | None:
    """How far ours is above theirs, relative, and the share of clear predictions that differ; ``None``: no margin."""
    y = None if machine == "OneClassSVM" else case.labels if machine.endswith("SVC") else case.numbers
    weight = None if machine == "NuSVC" else case.weight
    options = case.settings(machine)
    our = getattr(mercer, machine)(case.ours, tol=1e-6, **options).fit(case.X, y, sample_weight=weight)
    mine, margin = objective(case, machine, our)
    if margin < NO_MARGIN.get(machine, 0.0) or our.status_ == "not found":  # LIBSVM would not come to an end
        return None
    their = getattr(svm, machine)(tol=1e-6, **case.theirs, **options).fit(case.X, y, sample_weight=weight)
    other, _ = objective(case, machine, their)
    apart = (mine - other) / max(abs(mine), abs(other), 1e-300)
    if apart < -BAR:
        return apart, 0.0
    if machine.endswith("SVR"):
        a, b = our.predict(case.new), their.predict(case.new)
        if machine == "NuSVR":  # where no coefficient is free at a wall of the tube, its middle may be anywhere between
            a = a - np.median(a - b)
        return apart, float(np.mean(np.abs(a - b) > CLEAR * np.std(case.numbers)))
    a, b = our.decision_function(case.new), their.decision_function(case.new)
    clear = np.abs(b) > CLEAR * np.abs(b).max()
    return apart, float(np.mean((a >= 0)[clear] != (b >= 0)[clear])) if clear.any() else 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=60, help="random problems")
    parser.add_argument("--first", type=int, default=0, help="the seed of the first")
    parser.add_argument("--json", help="write the figures to this file")
    options = parser.parse_args()
    cases = [drawn(options.first + k) for k in range(options.cases)] + tables()
    results = Results()
    for machine in MACHINES:
        worst, differ, skipped, early, beyond = -np.inf, 0.0, 0, 0, []
        for case in cases:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = compared(case, machine)
            if found is None:
                skipped += 1
                continue
            if found[0] > BAR or found[1] > 0:
                beyond.append(f"{case.name} ({case.kernel}): {found[0]:.1e}, {found[1]:.1%}")
            worst, differ, early = max(worst, found[0]), max(differ, found[1]), early + (found[0] < -BAR)
        count = f"{len(cases) - skipped} problems" + (f", {skipped} without a margin" if skipped else "")
        count += f", {early} where LIBSVM stopped early" if early else ""
        print(f"{machine:12} objective above LIBSVM's by {worst:.1e} at most; predictions differ {differ:.2%}; {count}")
        for line in beyond:
            print(f"    {line}")
        results.add(f"{machine}: objective above LIBSVM's, relative, at most", worst, BAR, worst <= BAR, count)
        results.add(f"{machine}: share of clear predictions that differ", differ, 0.0, differ == 0, count)
    results.write(options.json)
    print(f"{results.count_ok()} of {len(results.rows)} as they should be")


if __name__ == "__main__":
    main()
