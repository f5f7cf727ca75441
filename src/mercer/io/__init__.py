"""From files to tables.

Examples
--------
>>> from mercer import read
>>> table = read("margins:200")
>>> table.n_rows, table.target
(200, 'y')
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
