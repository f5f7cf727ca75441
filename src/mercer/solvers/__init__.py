"""The ways down: from a :class:`~mercer.problems.Problem` to a :class:`~mercer.problems.Solution`."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
