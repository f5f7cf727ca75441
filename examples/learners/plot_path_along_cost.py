"""
Along C with a warm start
=========================

From the softest margin to the hardest: fewer and fewer rows carry the machine. The solution for
one C is a good place to begin for the next, and with ``warm_start=True`` a machine goes on from
there.
"""

# %%
# Forty values of C, once each from the beginning and once along the path.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler

from mercer import SVC

X, y = load_breast_cancer(return_X_y=True)
X, X_test, y, y_test = train_test_split(
    StandardScaler().fit_transform(X), y, random_state=0, stratify=y
)
costs = np.geomspace(0.01, 1000, 40)


def path(warm):
    machine, facts = SVC("gaussian(gamma=0.02)", warm_start=warm), []
    for C in costs:
        machine.set_params(C=C).fit(X, y)
        right = machine.score(X, y), machine.score(X_test, y_test)
        facts.append((machine.n_iter_[0], len(machine.support_), *right))
    return np.array(facts).T


cold, warm = path(False), path(True)
print(f"steps, each from the beginning: {cold[0].sum():.0f}")
print(f"steps with a warm start: {warm[0].sum():.0f}")

# %%
# On the way the warm start saves little here; once no row pays any more, where all larger C have
# the same solution, it saves all. With C fewer rows lie within the margin and training error falls
# to zero; error on test rows falls at first, and rises again. Both ways lead to the same machines.

figure, (left, middle, right) = plt.subplots(1, 3, figsize=(10.5, 3.4))
left.plot(costs, np.cumsum(cold[0]), color="C1", label="from the beginning")
left.plot(costs, np.cumsum(warm[0]), color="C0", label="warm start")
left.set(title="steps of the solver so far", ylim=(0, None))
left.legend()
middle.plot(costs, warm[1], color="C0")
middle.set(title="support vectors", ylim=(0, None))
right.plot(costs, 100 - 100 * warm[2], color="C6", linestyle="--", label="training rows")
right.plot(costs, 100 - 100 * warm[3], color="C0", label="test rows")
right.set(title="error, %", ylim=(0, 12))
right.legend()
for ax in (left, middle, right):
    ax.set(xscale="log", xlabel="C")
plt.show()
