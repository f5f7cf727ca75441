"""From a table to an honest comparison of learners: facts first (:func:`compare`), a page second (:func:`write`).

Examples
--------
>>> from mercer.report import compare, page
>>> facts = compare(table, seed=0, learners=["logistic", "svc"])  # doctest: +SKIP
>>> html = page(facts)  # doctest: +SKIP
"""

from ..study.comparison import DEFAULT_LEARNERS, Comparison, compare
from .page import page, write

__all__ = ["DEFAULT_LEARNERS", "Comparison", "compare", "page", "write"]
