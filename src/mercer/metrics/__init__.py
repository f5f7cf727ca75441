"""Metrics that kernels learn: gradients by columns, leave-one-out from one fit, and weights of columns by both.

Examples
--------
>>> import numpy as np
>>> from mercer.metrics import learned_metric
>>> X = np.random.default_rng(0).normal(size=(150, 4))
>>> found = learned_metric(X, np.abs(X[:, [2]]))
>>> int(np.argmax(found.best.weights))
2
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
