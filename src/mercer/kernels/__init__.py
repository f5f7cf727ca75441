"""What "similar" means: kernels and their algebra.

Examples
--------
>>> from mercer.kernels import Gaussian, Linear, parse
>>> parse("2*gaussian(gamma=0.5) + linear") == 2 * Gaussian(gamma=0.5) + Linear()
True
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
