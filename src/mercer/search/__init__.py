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

from .advice import Advice
from .out_of_fold import (
    NestedResult,
    OutOfFold,
    ProtocolResult,
    nested_cross_validation,
    out_of_fold,
    train_validate_test,
)
from .search_cv import KernelSearchCV

__all__ = [
    "Advice",
    "KernelSearchCV",
    "NestedResult",
    "OutOfFold",
    "ProtocolResult",
    "nested_cross_validation",
    "out_of_fold",
    "train_validate_test",
]
