"""Where the kernel matrix lives. A :class:`Placement` chooses a :class:`Gram`, and a solver never asks which one."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
