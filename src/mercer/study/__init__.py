"""From a table to an honest comparison of learners, as plain facts; :mod:`mercer.report` writes them as a page.

Examples
--------
>>> from mercer.study import compare
>>> facts = compare(table, seed=0, learners=["logistic", "svc"])  # doctest: +SKIP
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
