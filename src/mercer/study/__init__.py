"""From a table to an honest comparison of learners, as plain facts; :mod:`mercer.report` writes them as a page.

Examples
--------
>>> from mercer.study import compare
>>> facts = compare(table, seed=0, learners=["logistic", "svc"])  # doctest: +SKIP
"""

from .comparison import DEFAULT_LEARNERS, Comparison, compare

__all__ = ["DEFAULT_LEARNERS", "Comparison", "compare"]
