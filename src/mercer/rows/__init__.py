"""Items that a machine learns from wherever they are: in memory, in files, or on the workers of a cluster.

:class:`Rows` is all that a low-rank Gram asks for: some items by their numbers, and work done on every chunk of them.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
