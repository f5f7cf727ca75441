"""
Sites in DNA
============

Where a gene is cut, the letters around the cut follow a pattern, loosely. Kernels on strings learn
it from whole sequences. These are generated, after the rule below, so that it is known what there
is to find; real sites are less regular.
"""

# %%
# Every sequence has ``GT`` in its middle. Around it, true sites follow the pattern ``CAG GT
# AAGT``, each letter with a probability of 75 %; other sequences have random letters there, and
# the pattern somewhere else.

import matplotlib.pyplot as plt
import numpy as np

from mercer import SVC
from mercer.kernels import Mismatch, Normalised, Spectrum, WeightedDegree

rng = np.random.default_rng(0)
LENGTH, BEGIN, PATTERN = 40, 17, "CAGGTAAGT"


def sequence(site):
    letters = rng.choice(list("ACGT"), LENGTH)
    place = BEGIN if site else rng.choice([2, 5, 29, 31])
    for offset, letter in enumerate(PATTERN):
        if rng.random() < 0.75:
            letters[place + offset] = letter
    letters[BEGIN + 3 : BEGIN + 5] = "G", "T"
    return "".join(letters)


is_site = rng.random(1400) < 0.5
sequences = [sequence(site) for site in is_site]
labels = np.where(is_site, "site", "other")

# %%
# Substrings anywhere say little, as all sequences hold the pattern. The weighted degree kernel
# asks for common substrings at the same place.

kernels = {
    "substrings of 3": Normalised(Spectrum(p=3)),
    "of 5, one may differ": Normalised(Mismatch(k=5, m=1)),
    "at the same place": Normalised(WeightedDegree(k=4)),
}
sizes = [25, 50, 100, 200, 400]
test = slice(400, None)


def error(kernel, n):
    machine = SVC(kernel, C=10).fit(sequences[:n], labels[:n])
    return 100 * (1 - machine.score(sequences[test], labels[test]))


# %%
# On the left, what there is to learn. On the right, the error on 1000 sequences against the number
# that was learned from.

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), width_ratios=(1.3, 1))
table = np.array([list(text) for text in sequences])[is_site]
bottom = np.zeros(LENGTH)
for letter, colour in zip("ACGT", ("C2", "C0", "C1", "C4")):
    share = (table == letter).mean(axis=0)
    left.bar(range(LENGTH), share, 0.98, bottom=bottom, color=colour, label=letter)
    bottom += share
left.set(title="letters at each place of the true sites", xlabel="place", ylabel="share")
left.set_xlim(-0.5, LENGTH - 0.5)
figure.legend(*left.get_legend_handles_labels(), loc="outside left center")
for (name, kernel), dash in zip(kernels.items(), ("--", "-.", "-")):
    errors = [error(kernel, n) for n in sizes]
    right.plot(sizes, errors, dash, marker="o", markersize=4, label=name)
right.axhline(50, color="0.7", linewidth=0.8)
right.set(title="error, %", xlabel="training sequences", xscale="log", ylim=(0, 55))
right.set_xticks(sizes, sizes)
right.minorticks_off()
right.legend(title="common substrings")
plt.show()
