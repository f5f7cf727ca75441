"""Margins, and what follows from them: distances, widths, mistake bounds and generalisation bounds.

Every function returns a small object that prints itself, converts to ``float`` where it is one number, and keeps the
parts it was made of. ``plot()`` draws it, where matplotlib is installed.

Examples
--------
>>> import numpy as np
>>> from mercer.margins import geometric_margins, width
>>> geometric_margins(np.array([[1.0, 1.0]]), [1], w=[1.0, 1.0], b=-1.0).values.round(4)
array([0.7071])
>>> round(float(width(w=[2.0, 2.0])), 4)
0.7071
"""

from ..estimators.decision_margins import decision_margins
from .bounds import Bound, leave_one_out_bound, margin_bound, mistake_bound, mistake_bound_separable, vc_bound, width
from .of_items import Margins, distances, functional_margins, geometric_margins, norm, sides

__all__ = [
    "Bound",
    "Margins",
    "decision_margins",
    "distances",
    "functional_margins",
    "geometric_margins",
    "leave_one_out_bound",
    "margin_bound",
    "mistake_bound",
    "mistake_bound_separable",
    "norm",
    "sides",
    "vc_bound",
    "width",
]
