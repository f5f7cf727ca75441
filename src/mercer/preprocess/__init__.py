"""What happens to rows before a machine sees them, fitted on training rows alone.

Examples
--------
>>> from mercer import SVC
>>> from mercer import read
>>> from mercer.preprocess import pipeline
>>> table = read("margins:300")
>>> model = pipeline(table, SVC("gaussian(gamma=0.1)"), correlation=0.95, outliers="iqr").fit(table.X, table.y)
>>> model.report_.dropped
14
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
