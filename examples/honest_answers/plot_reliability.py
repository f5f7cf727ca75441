"""
Probabilities that mean what they say
=====================================

Of all rows with a probability of 80 %, eight in ten should be of the class. A reliability diagram
counts whether they are. Scores of a margin machine are no probabilities;
:class:`~mercer.Calibrated` makes some of them, from scores of rows that the machine has not seen.
"""

# %%
# Labels at random, with probabilities that are known here and hidden from the machines.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import calibration_curve
from sklearn.metrics import log_loss

from mercer import SVC, Calibrated, KernelClassifier

rng = np.random.default_rng(0)


def draw(n):
    X = rng.normal(size=(n, 4))
    score = 1.5 * np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] - 0.5
    return X, (rng.random(n) < 1 / (1 + np.exp(-2 * score))).astype(int)


(X, y), (X_new, y_new) = draw(800), draw(10_000)

# %%
# Squeezed into 0 to 1 by a curve as steep as somebody thought of, scores are too sure of
# themselves, as here, or not sure enough. Kernel logistic regression has probabilities of its own,
# as good as its λ.

rbf = "gaussian(gamma=0.3)"
raw = SVC(rbf).fit(X, y)
said = {"scores squeezed into 0 to 1": 1 / (1 + np.exp(-4 * raw.decision_function(X_new)))}
models = {
    "sigmoid": Calibrated(SVC(rbf)),
    "isotonic": Calibrated(SVC(rbf), method="isotonic"),
    "Venn–Abers": Calibrated(SVC(rbf), method="venn_abers"),
    "kernel logistic": KernelClassifier(rbf, lam=3e-4),
}
said |= {name: model.fit(X, y).predict_proba(X_new)[:, 1] for name, model in models.items()}

# %%
# Venn–Abers gives two probabilities, one for each label that the row may turn out to have. How far
# they are apart says how much the rows leave open: less with more of them.

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.2))
left.plot([0, 1], [0, 1], color="k", linewidth=0.8, linestyle=":")
for (name, p), mark in zip(said.items(), "sovD^"):
    truth, stated = calibration_curve(y_new, p, n_bins=12, strategy="quantile")
    left.plot(
        stated, truth, marker=mark, markersize=4, label=f"{name}, log loss {log_loss(y_new, p):.3f}"
    )
left.set(
    xlabel="stated probability",
    ylabel="share that is of the class",
    title="10 000 new rows",
    ylim=(0, 1.35),
)
left.set_yticks(np.linspace(0, 1, 6))
left.legend(loc="upper left", fontsize="small")
for n, colour in ((100, "C1"), (800, "C0")):
    model = Calibrated(SVC(rbf), method="venn_abers").fit(X[:n], y[:n])
    low, high = model.predict_proba_interval(X_new[:60]).T
    order = np.argsort(low + high)
    offset = 0.3 * (n == 800)
    right.vlines(
        np.arange(60) + offset,
        low[order],
        high[order],
        color=colour,
        linewidth=2,
        label=f"{n} training rows",
    )
right.set(xlabel="60 new rows, by their probability", title="Venn–Abers intervals", ylim=(0, 1))
right.legend(loc="upper left")
plt.show()
