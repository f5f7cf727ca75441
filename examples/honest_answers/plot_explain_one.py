"""
Why this answer?
================

One prediction, taken apart: what each column does to its score beside the values that other rows
have there, and which training rows it rests on.
"""

# %%
# A pipeline on wines of three cultivars. The names of columns go through it.

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from mercer import SVC
from mercer.explain import explain, permutation_importance_of

wine = load_wine(as_frame=True)
cultivar = wine.target.map({0: "first", 1: "second", 2: "third"})
X, X_test, y, y_test = train_test_split(
    wine.data, cultivar, test_size=0.4, random_state=0, stratify=cultivar
)
model = make_pipeline(StandardScaler(), SVC("gaussian(gamma=0.05)", C=3)).fit(X, y)
print(f"{100 * model.score(X_test, y_test):.1f} % of the test rows are right")

# %%
# Of the test rows, the one that the machine is least sure of.

scores = model.decision_function(X_test)
scores.sort(axis=1)
unsure = (scores[:, -1] - scores[:, -2]).argmin()
row = X_test.iloc[[unsure]]
found = explain(model, row, among=X, top=8)
print("truth:", y_test.iloc[unsure])
print(found)

# %%
# Left, this row: columns that speak for the answer and against it. Right, the model as a whole:
# how much accuracy is lost when a column is shuffled. What matters for one row need not matter for
# all.

figure, (left, right) = plt.subplots(1, 2, figsize=(10.5, 3.8))
pushes = found.columns[::-1]
colours = ["C0" if push.value > 0 else "C1" for push in pushes]
left.barh([found.named(push) for push in pushes], [push.value for push in pushes], color=colours)
left.axvline(0, color="k", linewidth=0.8)
left.set(title=f"this row: {found.predicted!r}", xlabel=f"adds to the score for {found.label!r}")
importances = permutation_importance_of(model, X_test, y_test)[:8][::-1]
right.barh(
    [each["column"] for each in importances],
    [100 * each["drop"] for each in importances],
    color="C6",
)
right.set(title="all rows", xlabel="accuracy lost when it is shuffled, %")
plt.show()
