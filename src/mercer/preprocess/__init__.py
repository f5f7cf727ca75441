"""What happens to rows before a machine sees them, fitted on training rows alone.

Examples
--------
>>> from mercer import SVC
>>> from mercer import read
>>> from mercer.preprocess import pipeline
>>> table = read("margins:300")
>>> model = pipeline(table, SVC("gaussian(gamma=0.1)"), correlation=0.95, outliers="iqr").fit(table.X, table.y)
>>> model.report_.dropped
14
"""

from .numbers import Clipped, Filled, OutlierFilter, OutlierReport, Standardised, WithoutOutliers
from .prepare import pipeline, prepare
from .read_columns import ReadColumns
from .transformers import Constant, CorrelationFilter, Numbers, transformed_target, with_transformed_target
from .words import DateParts, Texts

__all__ = [
    "Clipped",
    "Constant",
    "CorrelationFilter",
    "DateParts",
    "Filled",
    "Numbers",
    "OutlierFilter",
    "OutlierReport",
    "ReadColumns",
    "Standardised",
    "Texts",
    "WithoutOutliers",
    "pipeline",
    "prepare",
    "transformed_target",
    "with_transformed_target",
]
