"""
A kernel of your own
====================

Days of the year live on a circle: 31 December is next to 1 January. No kernel of plain numbers
knows that. One that does takes a few lines, as a function or, once it has proved its worth, as a
class.
"""

# %%
# As a function of two collections of rows it works in every machine at once. Whether it is a
# kernel, :func:`~mercer.diagnostics.check_mercer` can tell by examples: it looks for rows whose
# matrix has negative eigenvalues.

import matplotlib.pyplot as plt
import numpy as np

from mercer import KernelRegressor
from mercer.diagnostics import check_mercer
from mercer.kernels import Function, Kernel, Linear


def same_season(A, B, sharpness=3.0):
    return np.exp(sharpness * (np.cos(2 * np.pi * (A - B.T) / 365.25) - 1))


rng = np.random.default_rng(0)
print(check_mercer(Function(same_season), rng.uniform(0, 365, (200, 1))))

# %%
# As a class it has parameters that searches can vary, a text form, ``+`` and ``*``, and a place in
# model files. ``evaluate`` gives the values of a block of pairs, ``diag`` those of each row with
# itself.


class Season(Kernel):
    def __init__(self, sharpness=3.0):
        self.sharpness = sharpness

    def evaluate(self, tile):
        return same_season(tile.left, tile.right, self.sharpness)

    def diag(self, A):
        return np.ones(len(A))


print(2 * Season(sharpness=1.5) + Linear())

# %%
# Temperatures of a year, of which January is missing. The kernel of plain numbers has to guess
# what follows the first days of February, backwards; the other one goes on from December.

day = np.sort(rng.uniform(32, 366, 250))[:, None]
temperature = 9 - 9 * np.cos(2 * np.pi * (day[:, 0] - 25) / 365.25) + rng.normal(0, 1.5, 250)
whole_year = np.linspace(0, 366, 400)[:, None]
figure, ax = plt.subplots(figsize=(7.6, 3.8))
ax.scatter(day, temperature, s=8, color="0.6", label="measured")
ax.axvspan(0, 31, color="C1", alpha=0.15, linewidth=0, label="January, not seen")
truth = 9 - 9 * np.cos(2 * np.pi * (whole_year[:, 0] - 25) / 365.25)
ax.plot(whole_year, truth, color="k", linewidth=0.8, linestyle=":", label="truth")
for kernel, name, colour in (
    ("gaussian(gamma=0.002)", "Gaussian of the day", "C4"),
    (Season(3.0), "Season", "C0"),
):
    machine = KernelRegressor(kernel, lam=1e-3).fit(day, temperature)
    ax.plot(whole_year, machine.predict(whole_year), color=colour, label=name)
ax.set(xlabel="day of the year", ylabel="temperature, °C", xlim=(0, 366))
ax.legend()
plt.show()
