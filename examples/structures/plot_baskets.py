"""
What shopping baskets have in common
====================================

A basket is a set, or a multiset where counts matter: a list of what is in it, in any order and of
any length. Kernels on sets compare baskets by what is in both. These are generated: three kinds of
shoppers, each with things of their own and many that everybody buys.
"""

# %%
# A list is a basket. Nothing is encoded.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import cross_val_score

from mercer import SVC
from mercer.displays import KernelHeatmap
from mercer.explain import overview
from mercer.kernels import Intersection, Jaccard, MinMax, Normalised, Subsets

rng = np.random.default_rng(0)
everybody = ["milk", "bread", "apples", "cheese", "water", "onions", "pasta", "coffee"]
own = {
    "baker": ["flour", "yeast", "butter", "sugar", "vanilla", "eggs", "baking tin", "nuts"],
    "griller": ["sausages", "charcoal", "beer", "mustard", "corn", "buns", "tongs", "ice"],
    "hiker": ["bars", "plasters", "nuts", "bananas", "sun cream", "batteries", "water", "socks"],
}


def basket(kind):
    common = rng.choice(everybody, rng.integers(2, 6))
    special = rng.choice(own[kind], rng.integers(2, 5))
    return [*common.tolist(), *special.tolist()]


kinds = rng.permutation(np.repeat(list(own), 60))
baskets = [basket(kind) for kind in kinds]
print(kinds[0], baskets[0])

# %%
# Several kernels, each on folds that the machine has not seen. Which of them it is matters little
# here.

kernels = [
    Intersection(),
    Normalised(Intersection()),
    Jaccard(),
    MinMax(),
    Subsets(normalised=True),
]
for kernel in kernels:
    print(
        f"{100 * cross_val_score(SVC(kernel), baskets, kinds, cv=5).mean():.1f} % right  {kernel}"
    )

# %%
# On the left, baskets of a kind resemble each other. Kernels with a list of features can also say
# what they look at: on the right, the things that set each kind apart from the others. Nobody told
# the machine what is common to all.

machine = SVC(Intersection(), strategy="ovr").fit(baskets, kinds)
found = [each for each in overview(machine, baskets, kinds, top=18).features if each.value > 0]

figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4.2))
KernelHeatmap.from_kernel(MinMax(), baskets, kinds).plot(left)
left.images[0].set_clim(0, 0.6)
left.set_title("MinMax similarity of 180 baskets")
shown = sorted(found, key=lambda each: (each.label, -each.value))
colours = dict(zip(own, ("C0", "C1", "C2")))
right.barh(
    range(len(shown)), [each.value for each in shown], color=[colours[each.label] for each in shown]
)
right.set_yticks(range(len(shown)), [f"{each.label}: {each.name}" for each in shown])
right.set(xlabel="moves the score of its kind by")
right.invert_yaxis()
plt.show()
