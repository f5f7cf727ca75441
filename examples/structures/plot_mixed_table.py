"""
A table of numbers, words and texts
===================================

Each column of a table has its own idea of what is alike: ages by their difference, jobs by being
the same, remarks by their words. A kernel bound to a column by ``.on`` says so; ``+`` lets columns
speak one after the other, ``*`` lets them speak together.
"""

# %%
# A generated table of people who did or did not renew a subscription. Among students the young
# renew, among all others the old; a complaint in the remark spoils it.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.model_selection import cross_val_score

from mercer import SVC
from mercer.kernels import Equal, Gaussian, Normalised, Spectrum

rng = np.random.default_rng(0)
n = 400
content = [
    "likes the crossword",
    "asked for the archive",
    "moved to a new flat",
    "reads it on the train",
]
complaints = [
    "paper came late again",
    "asked for a refund",
    "delivery late twice",
    "wants a refund now",
]
complains = rng.random(n) < 0.3
people = pd.DataFrame(
    {
        "age": rng.integers(18, 80, n),
        "job": rng.choice(["student", "clerk", "nurse"], n),
        "remark": [str(rng.choice(complaints if each else content)) for each in complains],
    }
)
renews = ((people["age"] > 42) ^ (people["job"] == "student")) & ~complains
renews ^= rng.random(n) < 0.03
print(people.assign(renews=renews).head(4).to_string(index=False))

# %%
# The frame goes in as it is. Each kernel sees its own columns.

age = Gaussian(gamma=0.01).on("age")
job = Equal().on("job")
remark = Normalised(Spectrum(p=1, tokens="words")).on("remark")
kernels = {
    "age": age,
    "job": job,
    "remark": remark,
    "age + job + remark": age + job + remark,
    "age·job + remark": age * job + remark,
    "age·job + remark + age·job·remark": age * job + remark + age * job * remark,
}
scores = {
    name: 100 * cross_val_score(SVC(kernel, C=10), people, renews, cv=5)
    for name, kernel in kernels.items()
}

# %%
# A sum cannot say "students, but only young ones": in it, each age adds the same for every job.
# The product of age and job can. The last kernel also lets a complaint count differently for each
# of them, which is not needed here.

figure, ax = plt.subplots(figsize=(7.6, 3.4))
means, spreads = (measure(list(scores.values()), axis=1) for measure in (np.mean, np.std))
ax.barh(list(scores), means, xerr=spreads, color=["C1"] * 3 + ["C0"] * 3)
ax.axvline(100 * max(renews.mean(), 1 - renews.mean()), color="k", linewidth=0.8, linestyle=":")
ax.set(xlabel="% of people right (dotted: always the same answer)", xlim=(40, 100))
ax.invert_yaxis()
plt.show()
