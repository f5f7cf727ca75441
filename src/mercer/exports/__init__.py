"""Models leave for other places: ONNX, LIBSVM, C and Python; and come here from LIBSVM.

Examples
--------
>>> from mercer.exports import TARGETS
>>> sorted(TARGETS)
['c', 'libsvm', 'onnx', 'python']
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
