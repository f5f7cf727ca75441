"""Models leave for other places: ONNX, LIBSVM, C and Python; and come here from LIBSVM.

Examples
--------
>>> from mercer.exports import TARGETS
>>> sorted(TARGETS)
['c', 'libsvm', 'onnx', 'python']
"""

from .libsvm import read_libsvm, read_range
from .targets import TARGETS, Target, export

__all__ = ["TARGETS", "Target", "export", "read_libsvm", "read_range"]
