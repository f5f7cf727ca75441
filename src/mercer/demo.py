"""The textbook learners side by side on the embedded data set: what ``make demo`` runs."""

from __future__ import annotations

import time
import warnings

from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler

from .datasets import make_margins
from .estimators import Pegasos, Perceptron

SEED = 0


def learners() -> dict[str, list]:
    """Every learner, as the steps of a pipeline after scaling."""
    expand = PolynomialFeatures(2, include_bias=False)
    found: dict[str, list] = {}
    for degree, before in (("linear", []), ("degree 2", [expand])):
        found[f"Perceptron, {degree}"] = [*before, Perceptron(epochs=50, variant="averaged", random_state=SEED)]
        found[f"Pegasos SVM, {degree}"] = [*before, Pegasos(lam=1e-3, random_state=SEED)]
        found[f"Pegasos logistic, {degree}"] = [*before, Pegasos(lam=1e-3, loss="logistic", random_state=SEED)]
    for kernel in ("gaussian(gamma=0.125)", "polynomial(degree=3)"):
        found[f"kernel Perceptron, {kernel}"] = [Perceptron(kernel, epochs=20, random_state=SEED)]
        lam = 1e-5 if kernel.startswith("gaussian") else 1e-2
        found[f"kernel Pegasos, {kernel}"] = [Pegasos(kernel, lam=lam, random_state=SEED)]
    return found


def main() -> None:
    warnings.simplefilter("ignore")  # the table says who has converged
    begin = time.perf_counter()
    X, y = make_margins(10_000, random_state=SEED)
    X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.2, random_state=SEED)
    print(f"mercer.datasets.make_margins(): {len(y_train)} training rows, {len(y_test)} test rows, 10 features\n")
    print(f"{'learner':<46} {'train error':>11} {'test error':>10} {'seconds':>8}  status")
    for name, steps in learners().items():
        model = make_pipeline(StandardScaler(), *steps)
        start = time.perf_counter()
        model.fit(X_train, y_train)
        seconds = time.perf_counter() - start
        errors = [100 * (1 - model.score(*rows)) for rows in ((X_train, y_train), (X_test, y_test))]
        print(f"{name:<46} {errors[0]:>9.2f} % {errors[1]:>8.2f} % {seconds:>8.2f}  {model[-1].status_}")
    print(
        f"\nThe boundary is cubic: lines cannot follow it, degree 2 nearly can. ({time.perf_counter() - begin:.1f} s)"
    )


if __name__ == "__main__":
    main()
