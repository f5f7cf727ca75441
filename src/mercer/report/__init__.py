"""From a table to an honest comparison of learners: facts first (:func:`compare`), a page second (:func:`write`).

Examples
--------
>>> from mercer.report import page
>>> from mercer.study import compare
>>> facts = compare(table, seed=0, learners=["logistic", "svc"])  # doctest: +SKIP
>>> html = page(facts)  # doctest: +SKIP
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
