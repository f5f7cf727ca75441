"""A doctor for kernels: is a matrix valid and any good for these labels, is a function a kernel, which one fits best.

Examples
--------
>>> from mercer.diagnostics import diagnose
>>> from mercer.kernels import Gaussian
>>> X = [[0.0], [0.1], [5.0], [5.1]]
>>> print(diagnose(Gaussian(gamma=1.0), X, ["a", "a", "b", "b"]))
gaussian(gamma=1.0) on 4 items
verdict: good
  - symmetric and positive semi-definite
  - items are alike: 0.99 for the nearest in the median
  - blocks by class: 0.99 within, 0.00 between
eigenvalues: 0.00995 to 1.99; rank 4, condition 200, effective dimension 2.0
similarity: 0.330 for two items in the mean, 0.990 for the nearest in the median
by class: 0.990 within, 0.000 between
same label as the most similar item: 100.0 % of the items
alignment with y: 1.000 (15.0 % of shufflings do as well)
"""

from .diagnosis import Diagnosis, diagnose
from .mercer_check import Alignment, MercerCheck, align, check_mercer

__all__ = ["Alignment", "Diagnosis", "MercerCheck", "align", "check_mercer", "diagnose"]
