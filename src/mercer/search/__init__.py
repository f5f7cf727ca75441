"""Tuning at the price of a few fits: cross-validation that computes nothing twice.

Examples
--------
>>> from sklearn.datasets import make_moons
>>> from mercer import SVC
>>> from mercer.search import KernelSearchCV
>>> X, y = make_moons(120, noise=0.2, random_state=0)
>>> search = KernelSearchCV(SVC(), {"C": [1, 10], "kernel__gamma": [0.5, 2.0]}, cv=3).fit(X, y)
>>> sorted(search.best_params_)
['C', 'kernel__gamma']
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
