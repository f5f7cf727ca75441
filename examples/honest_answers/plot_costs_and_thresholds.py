"""
When one mistake is dearer than another
=======================================

To miss a malignant tumour is worse than to call a benign one back for a second look. Say by how
much, and the machine answers accordingly; or name the score that matters, and it finds the
threshold for it.
"""

# %%
# Breast cancer data, of which three columns are used, so that there is something to decide.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.metrics import confusion_matrix, fbeta_score, make_scorer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from mercer import SVC, Calibrated, TunedThreshold

X, y = load_breast_cancer(return_X_y=True)
X = StandardScaler().fit_transform(X[:, [0, 1, 4]])
kind = np.where(y == 0, "malignant", "benign")
X, X_test, kind, kind_test = train_test_split(X, kind, test_size=0.5, random_state=0, stratify=kind)

# %%
# A missed tumour costs as much as ``ratio`` false alarms. Probabilities stay as they are; the
# answer is the one of least expected cost.

ratios = [1, 2, 5, 10, 20, 40]
missed, alarms = [], []
for ratio in ratios:
    model = Calibrated(SVC("gaussian"), costs={("malignant", "benign"): ratio}).fit(X, kind)
    counts = confusion_matrix(kind_test, model.predict(X_test), labels=["malignant", "benign"])
    missed.append(100 * counts[0, 1] / counts[0].sum())
    alarms.append(100 * counts[1, 0] / counts[1].sum())

# %%
# Without costs in numbers, a score may stand for them. With the tumours found (TP) and missed (FN)
# and the false alarms (FP), F₂ = 5 TP/(5 TP + 4 FN + FP): a missed tumour weighs as four false
# alarms.

f2 = make_scorer(fbeta_score, beta=2, pos_label="malignant")
tuned = TunedThreshold(SVC("gaussian"), scoring=f2, store_cv_results=True).fit(X, kind)

figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.6))
places = np.arange(len(ratios))
left.bar(places - 0.2, missed, 0.38, color="C4", label="tumours missed")
left.bar(places + 0.2, alarms, 0.38, color="C0", label="false alarms")
left.set_xticks(places, ratios)
left.set(xlabel="false alarms that a missed tumour is worth", ylabel="% of their kind")
left.legend()
right.plot(tuned.cv_results_["thresholds"], tuned.cv_results_["scores"], color="C0")
right.axvline(0, color="0.6", linewidth=0.8)
right.plot(tuned.best_threshold_, tuned.best_score_, "o", color="C4")
right.annotate(
    "best on held-out folds",
    (tuned.best_threshold_, tuned.best_score_),
    (6, 6),
    textcoords="offset points",
)
right.set(xlabel="threshold on the score", ylabel="F₂ of malignant", ylim=(0, 1))
plt.show()
