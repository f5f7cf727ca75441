"""From a table to an honest comparison of learners: facts first (:func:`compare`), a page second (:func:`write`).

Examples
--------
>>> from mercer.report import compare, page
>>> facts = compare(table, seed=0, learners=["logistic", "svc"])  # doctest: +SKIP
>>> html = page(facts)  # doctest: +SKIP
"""

from .page import page, write
from .study import DEFAULT_LEARNERS, compare

__all__ = ["DEFAULT_LEARNERS", "compare", "page", "write"]
