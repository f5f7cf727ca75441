"""Do two samples differ, do two variables depend on each other: tests with any kernel, by permutations.

Examples
--------
>>> import numpy as np
>>> from mercer.statistics import mmd
>>> rng = np.random.default_rng(0)
>>> X, Y = rng.normal(size=(60, 2)), rng.normal(size=(80, 2)) * [1.0, 2.0]
>>> found = mmd(X, Y)
>>> found.pvalue < 0.05, bool(found.witness.columns[1] > found.witness.columns[0])
(True, True)
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
