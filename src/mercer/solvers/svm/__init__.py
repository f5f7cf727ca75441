"""The exact support vector machine: the dual, solved on blocks of the kernel matrix and certified in float64."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
