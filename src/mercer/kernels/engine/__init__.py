"""How kernel matrices are evaluated: statistics of pairs, tiles and strips, counts of features."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
